/* The display of a run: a bar or lines of progress on standard error, and a table of chosen
 * quantities on standard output; after the run, its summary. */
#ifndef ORRERY_COMMANDS_DISPLAY_H
#define ORRERY_COMMANDS_DISPLAY_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "estimate/choice.h"
#include "run/options.h"
#include "run/record.h"

struct display {
    bool terminal; /* standard error is a terminal */
    bool quiet;    /* no progress is shown, and only loud notices */
    bool bar_shown;
    double last;  /* clock_seconds() when progress was last shown; 0 before */
    bool tabular; /* the header of the table was printed */
};

struct display display_begin(bool quiet);

/* Shows the progress, if it is time: a few times a second on a terminal, once a minute elsewhere.
 * `run` may come from another process. */
void display_progress(struct display *display, const struct run_progress *run);
/* Append the part of the steps that is done, "[####....]  37.5 %", and the time until the others
 * are done, "3m20s". */
void display_part(const struct run_progress *run, struct text *text);
void display_time_left(const struct run_progress *run, struct text *text);

/* Removes the bar, so that something else can be printed. */
void display_clear(struct display *display);
/* Prints a line for people. */
void display_notice(struct display *display, bool loud, const char *line);

/*
 * Prints a row of the table, and its header before the first: step, time, then the cells, aligned
 * right; "-" for a quantity that was not measured at this step, "nan" for an undefined one. It is
 * handed to the system at once. A closed standard output is no error.
 */
void display_row(struct display *display, const struct run_row *row);

/* --- afterwards: summary.c -------------------------------------------------------------------- */

/* `orrery run` ends with the summary of the run. */

/* Prints the summary to standard output, within 80 columns: the computation, its hardware, its
 * accuracy, and the verdict. */
void summary_print(const struct run_record *record, enum status status);

/* --- choice-report.c: the choice for a run that asks for an error (estimate/choice.h) --------- */

/* Appends the candidates as the lines of a table, the cheapest that keeps the error first, each
 * behind `indent`: integrator, setting, the error expected at the end, the cost, and the least
 * error that is expected of its integrator. */
void choice_report_table(const struct choice *choice, const char *indent, struct text *text);

/* Appends the choice in words: "pefrl, step 0.001; hermite4, eta 0.02 for 3.2 times the cost". */
void choice_report_words(const struct choice *choice, struct text *text);

/* Appends the attempts in words: "missed the error: velocity-verlet, step 0.01; they cost 0.3 of
 * the run"; nothing if there were none. */
void choice_report_attempts(const struct choice *choice, struct text *text);

#endif
