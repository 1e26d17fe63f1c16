/*
 * The figures of a diagnostic's measurements: one figure for each hint of its class
 * (diagnostics/diagnostic.h). Without hints, and of a diagnostic that this program does not know,
 * every column is drawn, those of one unit in one figure.
 */
#ifndef ORRERY_REPORT_DRAW_H
#define ORRERY_REPORT_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "formats/csv.h"
#include "output/directory.h"
#include "report/figure.h"
#include "report/result.h"
#include "report/trajectory.h"

/* The extent of a drawing. */
enum draw_extent {
    DRAW_PAGE,       /* what a page of one run shows */
    DRAW_COMPARISON, /* what can be laid over other runs; without hints, a figure for each column */
    DRAW_ALL         /* the same, and each column of a diagnostic with hints too */
};

/* The words under a figure before the runs of which it may show something else than the end. */
#define DRAW_RUNS_GONE_WRONG "Runs that failed, or did not come to their end: "

/* The measurements of a diagnostic of a run: its file `name`.csv. */
struct measured {
    const struct result *result;
    const struct series *series;
    const struct diagnostic_class *class_; /* of its type; NULL: this program does not know it */
    const char *type, *name;
};

/* Adds the figures of a diagnostic. STATUS_MEMORY, STATUS_DATA. */
enum status draw_diagnostic(const struct measured *measured, enum draw_extent extent,
                            struct figures *figures, struct error *error);

/* --- what the numbers mean: findings.c -------------------------------------------------------- */

/* The meaning of the numbers of a figure for its run, in whole sentences under its caption. In an
 * ensemble, the worst system counts. The sentences must say if a run went wrong. Figures without a
 * finding have no row in the table of findings.c. */

/* A figure that is drawn: its numbers, and the run that they are of. */
struct drawn {
    const struct series *series;
    const struct result *result;
    double largest; /* the largest value of the first curve, of all systems */
    bool relative;  /* `largest` is over the initial size of the vector */
};

/* Adds the sentences for the figure of that name, if there are any. */
void finding_tell(const char *figure, const struct drawn *drawn, struct text *words);

/* The finding of a vector that only rounding has changed. */
extern const char finding_round_off[];

/* --- the page of a run: arrange.c ------------------------------------------------------------- */

/* Adds the columns of a diagnostic that the config expects something of and that no figure from
 * `first` on shows. STATUS_MEMORY, STATUS_DATA. */
enum status arrange_expected(const struct measured *measured, struct figures *figures, size_t first,
                             struct error *error);

/* Puts the figures of a run's page in order: those of expected quantities first, with their bounds;
 * last those that show no more than that a check has passed. A dashed curve that lies upon another
 * one is told and not drawn. STATUS_MEMORY. */
enum status arrange_page(const struct result *result, struct figures *figures, struct error *error);

/* --- a run: picture.c ------------------------------------------------------------------------- */

/* All figures of a run. Those of the bodies themselves show the paths of a few, or the first and
 * the last frame of many. */

/* Adds all figures that the files of a run give: of its bodies, and of what its diagnostics
 * measured. `trajectory` is the run's, NULL without. STATUS_MEMORY, or why a file of the run cannot
 * be read. */
enum status draw_run(const struct result *result, struct trajectory *trajectory,
                     enum draw_extent extent, struct figures *figures, struct error *error);

/* --- several runs: overlay.c ------------------------------------------------------------------ */

/*
 * Several runs laid over one another: the figures that at least two of them have, with one curve
 * for each run in the place of all those on the page of one run. The hints of a diagnostic
 * (diagnostics/diagnostic.h) say which curve that is.
 */

struct overlay_run {
    const struct result *result;
    const char *mark;              /* how the run went wrong, such as "failed"; or "" */
    char label[FIGURE_LABEL_SIZE]; /* in the key */
};

/* Adds the figures. As many runs as a figure shows are drawn, the others counted in its left_out.
 * STATUS_MEMORY, or why a file of a run cannot be read. */
enum status overlay_draw(const struct overlay_run *runs, size_t count, enum draw_extent extent,
                         struct figures *figures, struct error *error);

/* --- the errors of several runs: errors.c ----------------------------------------------------- */

/* The errors of several runs, as points over the value that was varied or over their cost, with a
 * power law fitted to the points of one label. */

struct errors_axis {
    const char *name, *title, *label; /* of the figure's files, in its title, at the axis */
    const char *caption;
    const char *slope;                       /* a sentence on the slope of fitted lines; or NULL */
    size_t count;                            /* of runs */
    double *x, *y;                           /* of each run; NaN: unknown */
    const char (*labels)[FIGURE_LABEL_SIZE]; /* of each run; those of one label belong together */
    const char *const *marks;                /* of each run: "" of one that ended well */
    bool chosen;                             /* x are values of the config, which become ticks */
};

/* Adds the figure of the quantity y, whose name this is. STATUS_MEMORY. */
enum status errors_draw(const struct errors_axis *axis, const char *name, struct figures *figures,
                        struct error *error);

/* --- what an asked error costs: error-cost.c -------------------------------------------------- */

/* Adds the figure of the error against the cost of what could be chosen for a run that was asked
 * for an error, with the choice and its margin; none for another run. STATUS_MEMORY. */
enum status error_cost_draw(const struct result *result, struct figures *figures,
                            struct error *error);

#endif
