/* The state of a run or a study in words: how far it is, or how it ended, for those who look at its
 * directory from outside. */
#ifndef ORRERY_COMMANDS_STATUS_REPORT_H
#define ORRERY_COMMANDS_STATUS_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "report/latest.h"
#include "report/outcome.h"
#include "report/result.h"
#include "run/options.h"
#include "study/study.h"

/* Fills the progress of a run at work, as that run would report it; its texts are those of
 * `result`. Returns false if its process has reported nothing yet. */
bool status_report_progress(const struct result *result, struct run_progress *progress);

/* Appends some lines: the process at work, how far the run is or how it ended, the last row of
 * every table, and the command that continues it. `owner` names the process that holds the
 * directory, or is "". */
void status_report_of_run(const struct result *result, const char *owner,
                          const struct latest *latest, struct text *text);

/* Returns the exit status of a run that no process is at work on: its own, or STATUS_STOPPED if it
 * was killed. STATUS_DATA if its run.json has none. */
enum status status_report_status(const struct result *result, struct error *error);

/* A study: the outcomes of its members. */
struct status_report_study {
    size_t members;
    enum outcome *outcomes; /* outcome of each; one that went well is not read again */
    enum status status;     /* status with which its command would end if nobody continues it */
};

/* Opens a study by its study.json. STATUS_NO_INPUT if there is none; STATUS_DATA, STATUS_MEMORY. */
enum status status_report_open_study(const char *path, struct status_report_study *study,
                                     struct error *error);
void status_report_close_study(struct status_report_study *study);
/* Reads the members; appends the number of runs for each outcome, and lines for those at work and
 * those that did not go well, with the values that the study varies if `values` is given. */
void status_report_of_members(const char *path, const struct study *values,
                              struct status_report_study *study, struct text *text);
/* Appends how far a study is, the process at work on it, or the way to continue it. */
void status_report_of_study(const char *path, const char *owner, struct status_report_study *study,
                            struct text *text);

#endif
