/* The differences between the configs of several runs, and names that tell the runs apart. */
#ifndef ORRERY_REPORT_DIFFERENCES_H
#define ORRERY_REPORT_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "report/figure.h"
#include "report/result.h"

enum { DIFFERENCES_KEYS = 64, DIFFERENCES_KEY_SIZE = 128, DIFFERENCES_SWEPT_SIZE = 2048 };

struct differences {
    const struct result *results; /* [count], borrowed */
    size_t count;
    char swept[DIFFERENCES_SWEPT_SIZE];                /* keys that a study has varied:
                                                          ",time.step,compute.threads," */
    char keys[DIFFERENCES_KEYS][DIFFERENCES_KEY_SIZE]; /* keys of configs whose values differ; those
                                                          that all runs have come first */
    size_t key_count;                                  /* number of `keys` */
    size_t differing; /* number of all keys that differ, also if there is no room in `keys` */
    /* runs are named by their directories, since their values of `keys` are alike or too long */
    bool by_name;
    int x; /* index in `keys` of the key on the x axis of figures; -1: no key is a number */
    /* index in `keys` of time.energy_error, if it differs and every run chose its steps by it; or
     * -1 */
    int asked;
};

/* Finds the keys whose values differ between the runs' configs, among those on which results may
 * depend and those that a study has varied. `table` is the path of the study's study.csv, which
 * need not exist. STATUS_DATA, STATUS_MEMORY. */
enum status differences_find(const struct result *results, size_t count, const char *table,
                             struct differences *differences, struct error *error);

/* Returns the index in `keys` of a key with numbers on which no result depends, only perhaps the
 * time that a run takes, such as compute.threads; -1 if no such key was varied. */
int differences_speed_key(const struct differences *differences);

/* Returns the value of the key `x` (which must not be -1) in the config of run number `run`; NaN if
 * it is no number there. */
double differences_x(const struct differences *differences, size_t run);

/* Writes the value of the key with index `key` in the config of run number `run`, or a dash if the
 * config has no such key, and returns `buffer`. */
const char *differences_value(const struct differences *differences, size_t run, size_t key,
                              char *buffer, size_t size);

/* Returns the name of a run's directory, or its path if another run's directory has the same
 * name. */
const char *differences_name(const struct differences *differences, size_t run);

/* Writes the label of a run in the legend of a figure, such as "eta = 0.02, hermite4": its values
 * of all `keys` but that of index `except` (-1: of all). With by_name and `except` = -1 it is the
 * name of the run's directory. If the values are too long, it is the name of the first run's
 * directory that has the same values. */
void differences_label(const struct differences *differences, size_t run, int except,
                       char label[FIGURE_LABEL_SIZE]);

/* Returns the last part of a key: "step" for "time.step". */
const char *differences_short_key(const char *key);

/* --- seeds in common -------------------------------------------------------------------------- */

enum { SHARED_SEEDS_TEXT_SIZE = 768 };

/*
 * Warns of runs that share systems although their first seeds differ. The systems of an ensemble
 * are drawn from its seed and those after it, so that the ensemble with seed 43 has all but one of
 * the systems of that with seed 42. The warning names the first two such runs; it is "" if there
 * are none. Runs with the same first seed are paired on purpose. STATUS_MEMORY.
 */
enum status shared_seeds_warning(const struct differences *runs,
                                 char warning[SHARED_SEEDS_TEXT_SIZE], struct error *error);

#endif
