/* The display of a run at work: a bar or lines of progress on standard error, and a table of chosen
 * quantities on standard output; and, afterwards, its summary. */
#ifndef ORRERY_COMMANDS_DISPLAY_H
#define ORRERY_COMMANDS_DISPLAY_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "estimate/choice.h"
#include "run/options.h"
#include "run/record.h"

struct display {
    bool terminal; /* standard error is one */
    bool quiet;    /* no progress, and of notices the loud ones */
    bool bar_shown;
    double last;  /* clock_seconds() when progress was shown; 0 before */
    bool tabular; /* the table has its header */
};

struct display display_begin(bool quiet);

/* Progress, if it is time for some: a few times a second on a terminal, once a minute elsewhere.
 * `run` may be from another process. */
void display_progress(struct display *display, const struct run_progress *run);
/* "[####....]  37.5 %", of the steps that are done, and "3m20s": until the others are. */
void display_part(const struct run_progress *run, struct text *text);
void display_time_left(const struct run_progress *run, struct text *text);

/* Takes the bar away: something else is to be printed. */
void display_clear(struct display *display);
/* A line for people. */
void display_notice(struct display *display, bool loud, const char *line);

/*
 * A row of the table, before the first of them its header: step, time, then the cells, aligned
 * right; "-" for what is not measured at this step, "nan" for what is undefined. It is handed to
 * the system at once. A closed standard output is no error.
 */
void display_row(struct display *display, const struct run_row *row);

/* --- afterwards: summary.c -------------------------------------------------------------------- */

/* The last words of `orrery run`: the summary of a run. */

/* To standard output, within 80 columns: what was computed on what, how well, and the verdict. */
void summary_print(const struct run_record *record, enum status status);

/* --- choice-report.c: the choice for a run that asks for an error (estimate/choice.h) --------- */

/* Lines of a table, the cheapest candidate first, each behind `indent`: integrator, setting, the
 * error expected at the end, the cost, and the smallest error that was seen. */
void choice_report_table(const struct choice *choice, const char *indent, struct text *text);

/* "pefrl, step 0.001; next hermite4, eta 0.02 for 3.2 times the cost". */
void choice_report_words(const struct choice *choice, struct text *text);

/* "2 missed the error before and began anew: velocity-verlet, step 0.01 was off by 3e-05; ...";
 * nothing where none did. */
void choice_report_attempts(const struct choice *choice, struct text *text);

#endif
