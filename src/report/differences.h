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
    const struct result *results; /* [count], borrowed */
    size_t count;
    char swept[DIFFERENCES_SWEPT_SIZE];                /* keys that a study has varied:
                                                          ",time.step,compute.threads," */
    char keys[DIFFERENCES_KEYS][DIFFERENCES_KEY_SIZE]; /* keys of configs whose values differ; those
                                                          that all runs have come first */
    size_t key_count;                                  /* number of `keys` */
    size_t differing; /* number of all keys that differ, also if there is no room in `keys` */
    bool by_name; /* runs are named by directories: their values of `keys` are alike, or too long */
    int x; /* index in `keys` of the one that is the x axis of figures; -1: no key is a number */
    int asked; /* index in `keys` of time.energy_error, if it differs and each run has chosen its
                  steps for it; or -1 */
};

/* Finds the keys whose values differ between configs, of those on which the results of a run may
 * depend and those that a study has varied. `table` is the path of the study's study.csv, which
 * need not be there. STATUS_DATA, STATUS_MEMORY. */
enum status differences_find(const struct result *results, size_t count, const char *table,
                             struct differences *differences, struct error *error);

/* Returns the index in `keys` of a number that a study has varied although no result but the time
 * of a run depends on it, such as compute.threads; -1: there is none. */
int differences_speed_key(const struct differences *differences);

/* Returns the value, in the config of a run, of the key with index differences->x, which must not
 * be -1; NaN if that is no number, as the step of an integrator that chooses its own. */
double differences_x(const struct differences *differences, size_t run);

/* Writes the value that a run has for the key of index `key`, or a dash if its config has no such
 * key, and returns `buffer`. */
const char *differences_value(const struct differences *differences, size_t run, size_t key,
                              char *buffer, size_t size);

/* Returns the name of a run's directory; its path, if another run's directory has the same name. */
const char *differences_name(const struct differences *differences, size_t run);

/* Writes a name that tells a run from the others, for the key of a figure: its values of all `keys`
 * but that of index `except` (-1: none is left out), "eta = 0.02, hermite4". It is the name of its
 * directory if by_name is set and `except` is -1; if the values are too long, that of the directory
 * of the first run that has the same values. */
void differences_label(const struct differences *differences, size_t run, int except,
                       char label[FIGURE_LABEL_SIZE]);

/* Returns the last part of a key: "step" for "time.step". */
const char *differences_short_key(const char *key);

/* --- seeds in common -------------------------------------------------------------------------- */

/* A test whether runs in a comparison have systems in common, though their first seeds differ. */

enum { SHARED_SEEDS_TEXT_SIZE = 768 };

/*
 * Warns of runs that share systems. The systems of an ensemble are drawn from its seed and those
 * after it, so that the ensemble with seed 43 has all but one of the systems of that with seed 42.
 * The warning names the first two such runs; it is "" if there are none. Runs with the same first
 * seed are paired on purpose, and cause no warning. STATUS_MEMORY.
 */
enum status shared_seeds_warning(const struct differences *runs,
                                 char warning[SHARED_SEEDS_TEXT_SIZE], struct error *error);

#endif
