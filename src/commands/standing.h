/* The standing of a run or a study, in words: for those who look at its directory. */
#ifndef ORRERY_COMMANDS_STANDING_H
#define ORRERY_COMMANDS_STANDING_H

#include <stdbool.h>

#include "base/text.h"
#include "report/latest.h"
#include "report/outcome.h"
#include "report/result.h"
#include "run/options.h"
#include "study/study.h"

/* Fills the progress of a run at work, as that run would report it; its texts are of the result.
 * False if its process has reported nothing yet. */
bool standing_progress(const struct result *result, struct run_progress *progress);

/* Appends some lines: who is at work, how far it is or how it ended, the last row of every table,
 * and the command that goes on. `owner`: the process that holds the directory, or "". */
void standing_of_run(const struct result *result, const char *owner, const struct latest *latest,
                     struct text *text);

/* The exit status of a run that nobody is at work on: its own, and STATUS_STOPPED for one that was
 * killed; STATUS_DATA where its run.json does not say it. */
enum status standing_status(const struct result *result, struct error *error);

/* A study: the outcomes of its members, and of those at work how far they are. */
struct standing_study {
    size_t members;
    enum outcome *outcomes; /* of each; those that are known to have gone well are not read */
    enum status status;     /* as its command would end if nobody goes on with it */
};

/* STATUS_NO_INPUT where there is no study; STATUS_DATA, STATUS_MEMORY. */
enum status standing_open_study(const char *path, struct standing_study *study,
                                struct error *error);
void standing_close_study(struct standing_study *study);
/* Looks at all members; appends how many have ended in which way, and lines for those at work and
 * those that did not go well, with their values of what the study varies if `values` has them. */
void standing_of_members(const char *path, const struct study *values, struct standing_study *study,
                         struct text *text);
/* The same, with who is at work on it or how to go on. */
void standing_of_study(const char *path, const char *owner, struct standing_study *study,
                       struct text *text);

#endif
