/* All that commands show: the display of a run (progress on standard error, as a bar or as lines,
 * and a table of chosen quantities on standard output) and its summary; the report of a check; the
 * state of a run or a study. */
#ifndef ORRERY_COMMANDS_DISPLAY_H
#define ORRERY_COMMANDS_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "accuracy/resolution.h"
#include "base/status.h"
#include "base/text.h"
#include "commands/commands.h"
#include "estimate/advice.h"
#include "estimate/choice.h"
#include "estimate/estimate.h"
#include "report/latest.h"
#include "report/outcome.h"
#include "report/result.h"
#include "run/options.h"
#include "run/record.h"
#include "study/study.h"

struct display {
    bool terminal;  /* standard error is a terminal */
    bool quiet;     /* no progress is shown, and only loud notices */
    bool bar_shown; /* the bar is on the terminal now */
    double last;    /* clock_seconds() at which progress was last shown; 0 before */
    bool tabular;   /* the header of the table was printed */
};

struct display display_begin(bool quiet);

/* For run_options: `display` is a struct display. */

/* Shows the progress of the run if the last display is long enough ago: 0.2 s on a terminal, a
 * minute elsewhere. `run` may describe a run of another process. */
void display_progress(void *display, const struct run_progress *run);
/* Append to `text` the part of the steps that is done, "[####....]  37.5 %", and the estimated wall
 * time that the remaining steps take, "3m20s". */
void display_part(const struct run_progress *run, struct text *text);
void display_time_left(const struct run_progress *run, struct text *text);

/* Removes the bar from the terminal, so that something else can be printed. */
void display_clear(struct display *display);
/* Prints a line on standard error; if the display is quiet, only a loud one. */
void display_notice(void *display, bool loud, const char *line);

/* Prints a row of the table and, before the first row, its header. The columns are step, time, then
 * the cells, aligned right: "-" for a quantity that was not measured at this step, "nan" for one
 * that is undefined. The row is handed to the operating system at once. A closed standard output is
 * no error. */
void display_row(void *display, const struct run_row *row);

/* --- afterwards: summary.c -------------------------------------------------------------------- */

/* Prints the summary of a run that ended with `status` to standard output, within 80 columns: what
 * was computed, on which hardware, how accurately, and the verdict. */
void summary_print(const struct run_record *record, enum status status);

/* --- the choice for a run that asks for an error (estimate/choice.h) -------------------------- */

/*
 * Appends a table of the candidate settings, the cheapest that keeps the accuracy first. Each line
 * begins with `indent`; the columns are integrator, setting, the error expected at the end, the
 * cost in units of that of the chosen setting, and the least error that is expected of the
 * integrator.
 */
void choice_report_table(const struct choice *choice, const char *indent, struct text *text);

/* Appends the chosen setting in words, and the others that keep the accuracy: "pefrl, step 0.001;
 * hermite4, eta 0.02 for 3.2 times the cost". */
void choice_report_words(const struct choice *choice, struct text *text);

/* Appends the settings that the run tried before and that missed the error: "missed the error:
 * velocity-verlet, step 0.01; they cost 0.3 of the run"; nothing if there were none. */
void choice_report_attempts(const struct choice *choice, struct text *text);

/* --- the terminal ----------------------------------------------------------------------------- */

enum terminal_colour {
    TERMINAL_PLAIN,
    TERMINAL_RED = 31,
    TERMINAL_GREEN = 32,
    TERMINAL_YELLOW = 33
};

/* Writes the text in `colour`; without colour if the file is not a terminal, TERM is missing or
 * "dumb", or the environment has a variable NO_COLOR that is not empty (no-color.org). */
void terminal_print(FILE *file, enum terminal_colour colour, const char *text);

/* Writes a text that may come from a stranger as terminal_print() does, after name_neutralise() has
 * replaced every character in it that a terminal would obey; frees the text. All text from a
 * directory or a config is written by this function or by error_set(). */
void terminal_put(FILE *file, enum terminal_colour colour, struct text *text);

/* The size of a terminal in lines and columns of characters: 24 and 80 if `file` is no terminal or
 * does not tell. */
struct terminal_size {
    size_t rows, columns;
};
struct terminal_size terminal_measure(FILE *file);

/* --- status-report.c: how far a run or a study is --------------------------------------------- */

/* Describes the state of a run or a study in words, for those who look at its directory from
 * outside: how far it is, or how it ended. */

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

/* --- check-report.c: the results of `orrery check` -------------------------------------------- */

/*
 * The results of `orrery check`, and how they are printed: an estimate of memory, disk and time;
 * the integrator and step that were chosen if the config asks for an accuracy; the steps that
 * suffice.
 */

/* The parts of the check, in the order in which they are done until the time of the check is over;
 * the number of parts is last. */
enum check_part { CHECK_BODIES, CHECK_ESTIMATE, CHECK_RESOLUTION, CHECK_ADVICE, CHECK_PARTS };

struct check_results {
    struct prepared prepared;
    struct estimate estimate;
    struct run_record record;
    struct resolution resolution;
    struct advice advice;
    struct text warnings; /* sentences by prospects_check(), on rows that will lack; owned */
};

/* Prints the results of the parts before part `done`, which were ready in time; names the parts
 * that were not; and prints the disk space that the runs of a sweep take together. */
void check_report(const struct check_results *check, int done, const struct sweep_estimate *sweep);

#endif
