/* run.json: what was run, by what, where, how it ended, and which files belong to it. */
#ifndef ORRERY_RUN_PROVENANCE_H
#define ORRERY_RUN_PROVENANCE_H

#include "base/status.h"
#include "run/parts.h"

/* The end of a run: `errors` are its messages, a line each, or NULL. */
struct provenance_end {
    enum status status;
    const char *errors;
};

/* Makes room for the files of a run that begins: directory_claim() for all of its manifest. */
enum status provenance_claim(const struct run *run, struct error *error);

/* Writes run.json into the run's directory, whole or not at all; `end` is NULL while it runs. */
enum status provenance_write(const struct run *run, const struct provenance_end *end,
                             struct error *error);

/* Takes over what run.json says of the run that is continued: its restarts and its files, and
 * in run->autosave.any whether it says that a checkpoint was written. STATUS_MEMORY. */
enum status provenance_resume(struct run *run, struct error *error);

/* Adds a member to the run.json that is there, in place of one of that name; everything else in it
 * stays. Takes over `value`. STATUS_DATA where run.json cannot be read. */
enum status provenance_add(struct run *run, const char *key, struct json_t *value,
                           struct error *error);

#endif
