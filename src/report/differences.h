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
    char swept[DIFFERENCES_SWEPT_SIZE]; /* ",time.step,compute.threads,": swept keys */
    char keys[DIFFERENCES_KEYS][DIFFERENCES_KEY_SIZE]; /* those that all runs have come first */
    size_t key_count;                                  /* number of `keys` */
    size_t differing;                                  /* number of all keys that differ */
    bool by_name; /* the values of `keys` do not tell the runs apart */
    int x;        /* index of the key that figures are drawn against; -1: none is a number */
    int asked;    /* index of the error for which all steps were chosen; -1: it was not varied */
};

/* Finds the keys that differ: those on which the results of a run may depend, and those that a
 * study has swept. `table` is the path of the study's study.csv, which need not be there.
 * STATUS_DATA, STATUS_MEMORY. */
enum status differences_find(const struct result *results, size_t count, const char *table,
                             struct differences *differences, struct error *error);

/* Returns the index of a number that was swept and changes nothing but the time that a run takes;
 * -1: there is none. */
int differences_speed_key(const struct differences *differences);

/* Returns the number that a run has for the key of index differences->x, which must not be -1. */
double differences_x(const struct differences *differences, size_t run);

/* Writes the value of a key in words, or a dash if the run has none, and returns `buffer`. */
const char *differences_value(const struct differences *differences, size_t run, size_t key,
                              char *buffer, size_t size);

/* Returns the name of a run's directory; its path, if another run's directory has the same name. */
const char *differences_name(const struct differences *differences, size_t run);

/* Writes the name of a run among the others: the values of all keys that differ, but for `except`,
 * or its directory if these do not tell; if they are too long, the directory of the first run that
 * has the same values. */
void differences_label(const struct differences *differences, size_t run, int except,
                       char label[FIGURE_LABEL_SIZE]);

/* Returns "step", the last part of "time.step". */
const char *differences_short_key(const char *key);

/* --- seeds in common -------------------------------------------------------------------------- */

/* A test for runs in a comparison that have systems in common, though their seeds differ. */

enum { SHARED_SEEDS_TEXT_SIZE = 768 };

/*
 * Warns of runs that share systems. The systems of an ensemble take its seed and those after it, so
 * that the ensemble with seed 43 has all but one of the systems of that with seed 42. The warning
 * names the first two such runs; it is "" if there are none. Runs with the same first seed are
 * paired on purpose, and no cause of a warning. STATUS_MEMORY.
 */
enum status shared_seeds_warning(const struct differences *runs,
                                 char warning[SHARED_SEEDS_TEXT_SIZE], struct error *error);

#endif
