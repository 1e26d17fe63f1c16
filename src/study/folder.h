/*
 * The directory of a study, which is claimed, locked and written as that of a run is. Its manifest,
 * study.json, has the keys and values of the study, its files, and the directories of its members.
 */
#ifndef ORRERY_STUDY_FOLDER_H
#define ORRERY_STUDY_FOLDER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "output/directory.h"
#include "study/study.h"

/* Returns the description of the study for study.json: its keys, and the values of each member. A
 * new reference; NULL when memory is exhausted. */
json_t *folder_describe(const struct study *study);

/*
 * Makes the directory, or finds the same study there, and locks it until directory_close(): for
 * this process alone, or for a single member together with other jobs of the array. With
 * `options->force` removes the runs of the study that is there, with the files in their manifests,
 * but not those of the same study if a single member is to run; notices name files that stay
 * because Orrery did not write them. STATUS_CANT_CREATE if the directory holds another study, or
 * files with the study's own names that Orrery did not write, or if another process works there.
 */
enum status folder_open(const struct study *study, const struct study_options *options,
                        struct directory **directory, struct error *error);

/* Sets *complete if all members in the directory `path` have finished, whatever their verdict. The
 * errors of result_open(). */
enum status folder_is_complete(const struct study *study, const char *path, bool *complete,
                               struct error *error);

#endif
