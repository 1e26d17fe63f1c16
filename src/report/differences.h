/* The differences between the configurations of several runs, and the name of each run among
 * them. */
#ifndef ORRERY_REPORT_DIFFERENCES_H
#define ORRERY_REPORT_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "report/figure.h"
#include "report/result.h"

enum { DIFFERENCES_KEYS = 64, DIFFERENCES_KEY_SIZE = 128, DIFFERENCES_SWEPT_SIZE = 2048 };

struct differences {
    const struct result *results; /* borrowed */
    size_t count;
    char swept[DIFFERENCES_SWEPT_SIZE]; /* ",time.step,compute.threads,": keys of a study */
    char keys[DIFFERENCES_KEYS][DIFFERENCES_KEY_SIZE]; /* those that all runs have come first */
    size_t key_count;                                  /* of these */
    size_t differing;                                  /* of all that differ */
    bool by_name; /* the values of these do not tell the runs apart */
    int x;        /* index of the key that figures are drawn against; -1: none is a number */
    int asked;    /* of the error for which all steps were chosen; -1: it was not varied */
};

/* Finds the keys that differ: those that the results of a run may follow from, and those that a
 * study has swept, of which `table` is the study.csv; there may be none. STATUS_DATA,
 * STATUS_MEMORY.
 */
enum status differences_find(const struct result *results, size_t count, const char *table,
                             struct differences *differences, struct error *error);

/* The index of a swept number that changes nothing but the time that a run takes; -1: none. */
int differences_speed_key(const struct differences *differences);

/* The number that a run has for key `x`, which there must be. */
double differences_x(const struct differences *differences, size_t run);

/* The value of a key in words, into buffer; a dash where the run has none. */
const char *differences_value(const struct differences *differences, size_t run, size_t key,
                              char *buffer, size_t size);

/* The directory of a run, without the folders that it is in; where another run's is called the
 * same, with them. */
const char *differences_name(const struct differences *differences, size_t run);

/* Writes the name of a run among the others: the values of all keys that differ, but for `except`,
 * or its directory if these do not tell; if they are too many, the first one that has them. */
void differences_label(const struct differences *differences, size_t run, int except,
                       char label[FIGURE_LABEL_SIZE]);

/* "step", the last part of "time.step". */
const char *differences_short_key(const char *key);

/* --- seeds in common -------------------------------------------------------------------------- */

/* A test for runs in a comparison that have systems in common, though their seeds differ. */

enum { SHARED_SEEDS_TEXT_SIZE = 768 };

/*
 * The systems of an ensemble take its seed and those after it, so that the one with seed 43 has all
 * but one of the systems of that with seed 42. The warning names the first two runs of which that
 * holds; "" where it holds of none. Runs with the same first seed are paired on purpose, and not
 * meant. STATUS_MEMORY.
 */
enum status shared_seeds_warning(const struct differences *runs,
                                 char warning[SHARED_SEEDS_TEXT_SIZE], struct error *error);

#endif
