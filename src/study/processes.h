/* Runs the members (single runs) of a study in processes, as many at a time as cores allow. */
#ifndef ORRERY_STUDY_PROCESSES_H
#define ORRERY_STUDY_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/status.h"
#include "config/configuration.h"
#include "study/study.h"
#include "study/table.h"

struct member {
    pid_t process; /* process that runs it now; 0: none */
    bool ended;
    int status;           /* exit status of the run, once `ended` */
    int signal;           /* signal that killed the process; or 0 */
    struct stat manifest; /* file status of its run.json when `ended` was read there */
};

struct work {
    const struct study *study;
    const struct study_options *options;
    struct member *members;
    struct table *table; /* rows of study.csv, for members that have ended */
    int jobs, threads;
    size_t running, done;
    size_t first, next; /* the first member that may be running, and the next to be started */
    bool stopping;
    size_t *notices; /* number of messages of all runs so far, in shared memory; or NULL */
};

const char *work_path(const struct work *work, size_t member, char buffer[STUDY_PATH_SIZE]);

/* Tells whether this process is to run the member: true unless options->only is another one. */
bool work_is_ours(const struct work *work, size_t member);

/* Tells whether the member has a run.json, whoever wrote it. */
bool work_has_begun(const struct work *work, size_t member);

/* Loads the config of a member, which the caller frees. */
enum status work_load(const struct work *work, size_t member, struct config **config,
                      struct error *error);

void work_notice(const struct work *work, const char *line);

/* Runs the members that have not ended, until all have or the study must stop. Passes signals that
 * ask for a checkpoint or for the end on to the members. */
void work_run(struct work *work);

#endif
