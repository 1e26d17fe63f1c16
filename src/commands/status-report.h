/* Describes the state of a run or a study in words, for those who look at its directory from
 * outside: how far it is, or how it ended. */
#ifndef ORRERY_COMMANDS_STATUS_REPORT_H
#define ORRERY_COMMANDS_STATUS_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "report/latest.h"
#include "report/outcome.h"
#include "report/result.h"
#include "run/options.h"
#include "study/study.h"

/* Fills *progress as the run at work would report it itself; its texts are borrowed from `result`.
 * Returns false if the process of the run has reported nothing yet. */
bool status_report_progress(const struct result *result, struct run_progress *progress);

/* Appends a description of a run: the process at work, how far the run is or how it ended, the last
 * row of every table, and the command that continues the run. `owner` names the process that holds
 * the lock of the directory; "" if there is none. */
void status_report_of_run(const struct result *result, const char *owner,
                          const struct latest *latest, struct text *text);

/* Returns the exit status of a run on which no process is at work: the one that it recorded, or
 * STATUS_STOPPED if it was killed. STATUS_DATA if its run.json has none. */
enum status status_report_status(const struct result *result, struct error *error);

/* A study, seen from outside: the outcomes of its members, which are runs. */
struct status_report_study {
    size_t members;
    enum outcome *outcomes; /* outcome of each member; a member that went well is not read again */
    double end;         /* the time.end to which all members are to come; NaN: it is not known */
    enum status status; /* exit status that the study's command would have now */
};

/* Opens the study in directory `path` by its study.json. STATUS_NO_INPUT if there is none;
 * STATUS_DATA, STATUS_MEMORY. */
enum status status_report_open_study(const char *path, struct status_report_study *study,
                                     struct error *error);
void status_report_close_study(struct status_report_study *study);
/* Reads the directories of the members; appends the number of runs for each outcome, and a line for
 * each of the first 20 runs that are at work or did not go well. If `values` is not NULL, the line
 * has the values of the keys that the study varies. */
void status_report_of_members(const char *path, const struct study *values,
                              struct status_report_study *study, struct text *text);
/* Appends how far a study is, and the process at work on it (`owner`) or, if that is "", how to
 * continue it. */
void status_report_of_study(const char *path, const char *owner, struct status_report_study *study,
                            struct text *text);

#endif
