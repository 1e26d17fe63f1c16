/*
 * The runs that an earlier command has left in the directory of a study, and whether they still
 * count: a member (a single run of the study) is done only if it has finished with the config that
 * it would have now.
 */
#ifndef ORRERY_STUDY_EXISTING_H
#define ORRERY_STUDY_EXISTING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "config/configuration.h"
#include "initial/body-files.h"
#include "report/result.h"
#include "study/study.h"

/* The hash of the files of bodies that were read last, kept since most members read the same files.
 * All zero at first. */
struct existing_input {
    char *path; /* the paths of the files, one in each line */
    char hash[INPUT_HASH_SIZE];
};

/*
 * Compares the grid of keys and values in DIR/study.json with the present one: `now`, made by
 * folder_describe(). Adds a line to `error` for each difference (STATUS_CONFIG); none if the file
 * is missing or is not that of a study.
 */
void existing_grid(const char *directory, const struct study *study, const json_t *now,
                   struct error *error);

/* Opens the run of a member of `study`. STATUS_NO_INPUT if there is none, STATUS_CANT_CREATE if
 * another program's file is in the place of its manifest; else the errors of result_open(). */
enum status existing_open(const char *directory, const struct study *study, struct result *result,
                          struct error *error);

/*
 * Compares the config of the run in `directory` with `config`, as a restart does. Changes that a
 * restart allows although they change rows, frames or verdicts count as differences once the run
 * has finished. Adds a line to `error` for each difference (STATUS_CONFIG). Sets *done if the run
 * stands as it is, with the exit status *status; a run that must go on to a later end is not done.
 * `quiet_keys` is a study whose keys are not compared, since their differences were reported
 * already; or NULL.
 */
void existing_member(const char *directory, const struct result *result,
                     const struct config *config, const struct study *quiet_keys,
                     struct existing_input *input, bool *done, int *status, struct error *error);

#endif
