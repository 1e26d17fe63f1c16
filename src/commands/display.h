/* The display of a run: progress on standard error, as a bar or as lines, and a table of chosen
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

#endif
