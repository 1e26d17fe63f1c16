/* How far a run or a study is, or how it ended, in words: for those who look at its directory. */
#ifndef ORRERY_COMMANDS_STATUS_REPORT_H
#define ORRERY_COMMANDS_STATUS_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "report/latest.h"
#include "report/outcome.h"
#include "report/result.h"
#include "run/options.h"
#include "study/study.h"

/* Fills the progress of a run at work, as that run would report it; its texts are of the result.
 * False if its process has reported nothing yet. */
bool status_report_progress(const struct result *result, struct run_progress *progress);

/* Appends some lines: who is at work, how far it is or how it ended, the last row of every table,
 * and the command that goes on. `owner`: the process that holds the directory, or "". */
void status_report_of_run(const struct result *result, const char *owner,
                          const struct latest *latest, struct text *text);

/* The exit status of a run that nobody is at work on: its own, and STATUS_STOPPED for one that was
 * killed; STATUS_DATA where its run.json does not say it. */
enum status status_report_status(const struct result *result, struct error *error);

/* A study: the outcomes of its members, and of those at work how far they are. */
struct status_report_study {
    size_t members;
    enum outcome *outcomes; /* of each; those that are known to have gone well are not read */
    enum status status;     /* as its command would end if nobody goes on with it */
};

/* STATUS_NO_INPUT where there is no study; STATUS_DATA, STATUS_MEMORY. */
enum status status_report_open_study(const char *path, struct status_report_study *study,
                                     struct error *error);
void status_report_close_study(struct status_report_study *study);
/* Looks at all members; appends how many have ended in which way, and lines for those at work and
 * those that did not go well, with their values of what the study varies if `values` has them. */
void status_report_of_members(const char *path, const struct study *values,
                              struct status_report_study *study, struct text *text);
/* Reports how far a study is, who is at work on it, or how it is continued. */
void status_report_of_study(const char *path, const char *owner, struct status_report_study *study,
                            struct text *text);

#endif
