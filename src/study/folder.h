/*
 * The directory of a study: claimed, locked and written as that of a run is. Its manifest is
 * study.json: the keys and values of the study, and its files and the directories of its members.
 */
#ifndef ORRERY_STUDY_FOLDER_H
#define ORRERY_STUDY_FOLDER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "output/directory.h"
#include "study/study.h"

/* Returns the description of the study in study.json: its keys, and the values of each member. A
 * new reference; NULL when memory is exhausted. */
json_t *folder_describe(const struct study *study);

/*
 * Makes the directory, or finds the same study there, and holds it until directory_close(): alone
 * for a whole study, together with other jobs of the array for a single member. With
 * `options->force` the runs of the study that is there are removed, as their manifests list their
 * files; a notice names what stays because Orrery did not write it. STATUS_CANT_CREATE where it
 * holds another study or foreign files in the place of its own, or where another process is at
 * work.
 */
enum status folder_open(const struct study *study, const struct study_options *options,
                        struct directory **directory, struct error *error);

/* Tells whether all members in that directory have finished, whatever their verdict. An error
 * where that cannot be read. */
enum status folder_is_complete(const struct study *study, const char *path, bool *complete,
                               struct error *error);

#endif
