/*
 * The runs that an earlier command has left in the directory of a study, and whether they still
 * count: a member is done only if it has finished, and with the config that would run now.
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

/* The files of bodies that were looked at last: most members share theirs. All zero at first. */
struct existing_input {
    char *path; /* of several, one in each line */
    char hash[INPUT_HASH_SIZE];
};

/*
 * Compares the grid that DIR/study.json describes with the present one, which `now` is in the same
 * form. A line in `error` for each difference (STATUS_CONFIG); none where there is no such file, or
 * it is not a study's.
 */
void existing_grid(const char *directory, const struct study *study, const json_t *now,
                   struct error *error);

/* Opens the run of a member. STATUS_NO_INPUT where there is none, STATUS_CANT_CREATE where another
 * program's file has the place of its manifest; otherwise what result_open() says. */
enum status existing_open(const char *directory, struct result *result, struct error *error);

/*
 * Compares the config of a run in `directory` with the one that it would have now, as a restart
 * does; what a restart may change although rows, frames or verdicts
 * would differ counts here, once the run has finished. *done: it stands as it is, with the exit
 * status *status; not, where it goes on to a later end. A line in `error` for each difference
 * (STATUS_CONFIG); `quiet_keys`: the keys of this study are not looked at (they are told already).
 */
void existing_member(const char *directory, const struct result *result,
                     const struct config *config, const struct study *quiet_keys,
                     struct existing_input *input, bool *done, int *status, struct error *error);

#endif
