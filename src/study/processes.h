/* The members of a study at work: a process each, as many at a time as there are cores. */
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

/* The state of one member. */
struct member {
    pid_t process; /* 0: not at work */
    bool ended;
    int status;           /* exit status, once ended */
    int signal;           /* that killed it; or 0 */
    struct stat manifest; /* its run.json when `ended` was read from it */
};

struct work {
    const struct study *study;
    const struct study_options *options;
    struct member *members;
    struct table *table; /* has the rows of those that have ended */
    int jobs, threads;
    size_t running, done;
    size_t first, next; /* those at work are among the members from the first up to the next */
    bool stopping;
    size_t *notices; /* of all runs so far, in memory that their processes share; or NULL */
};

/* The directory of a member. */
const char *work_path(const struct work *work, size_t member, char buffer[STUDY_PATH_SIZE]);

/* Members that another job of an array takes are none of this one's business. */
bool work_is_ours(const struct work *work, size_t member);

/* Tells whether it has a run.json, whoever wrote that. */
bool work_has_begun(const struct work *work, size_t member);

/* The config of a member, which the caller frees. */
enum status work_load(const struct work *work, size_t member, struct config **config,
                      struct error *error);

/* Tells the user a line. */
void work_notice(const struct work *work, const char *line);

/* Runs those that have not ended, until all have or the study is to stop. Signals that ask for a
 * checkpoint or for the end are passed on to them. */
void work_run(struct work *work);

#endif
