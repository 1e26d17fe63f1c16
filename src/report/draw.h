/*
 * The figures of a diagnostic's measurements: one for each hint of its class, which describes a
 * figure (struct drawing, diagnostics/diagnostic.h). For a diagnostic without hints, or that this
 * program does not know, every column is drawn, those of one unit in one figure.
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

/* The choice of figures that are drawn. */
enum draw_extent {
    DRAW_PAGE,       /* those for the page of one run */
    DRAW_COMPARISON, /* those to compare runs by; without hints, one for each column */
    DRAW_ALL /* those of DRAW_COMPARISON, and one for each column of a diagnostic with hints too */
};

/* The words under a figure of several runs, before the names of those that did not end well. */
#define DRAW_RUNS_GONE_WRONG "Runs that failed, or did not come to their end: "

/* The measurements of one diagnostic of a run, from its file NAME.csv, and the class, the type and
 * the name of the diagnostic. */
struct measured {
    const struct result *result;
    const struct series *series;
    const struct diagnostic_class *class_; /* NULL: this program does not know the type */
    const char *type, *name;
};

/* Adds the figures of a diagnostic that `extent` chooses. STATUS_MEMORY, STATUS_DATA. */
enum status draw_diagnostic(const struct measured *measured, enum draw_extent extent,
                            struct figures *figures, struct error *error);

/* --- what the numbers mean: findings.c -------------------------------------------------------- */

/* The meaning of the numbers of a figure for its run, in whole sentences under its caption. In an
 * ensemble, the worst system counts. The sentences must say if a run went wrong. A figure whose
 * name is not in the table of findings.c has no such sentences. */

/* The numbers of a figure that is being drawn, and the run from which they are. */
struct drawn {
    const struct series *series;
    const struct result *result;
    double largest; /* the largest y that the first hint for a curve gives, over all systems */
    bool relative;  /* `largest` is a change of a vector over its size at the start */
};

/* Appends the sentences for the figure of this name to `words`, if there are any. */
void finding_tell(const char *figure, const struct drawn *drawn, struct text *words);

/* The sentence on a momentum or an angular momentum that only rounding has changed. */
extern const char finding_round_off[];

/* --- the page of a run: arrange.c ------------------------------------------------------------- */

/* Adds a figure for each column of a diagnostic of which the config expects something, if none of
 * the figures from index `first` on draws it. STATUS_MEMORY, STATUS_DATA. */
enum status arrange_expected(const struct measured *measured, struct figures *figures, size_t first,
                             struct error *error);

/* Puts the figures of a run's page in order: first those of quantities of which the config expects
 * something, to which it adds the bounds; last those that only show that a check has passed. A
 * dashed curve of the data that lies upon a solid one, and would hide it, is taken out first, and a
 * sentence under the figure says that the two are equal. STATUS_MEMORY. */
enum status arrange_page(const struct result *result, struct figures *figures, struct error *error);

/* --- a run: picture.c ------------------------------------------------------------------------- */

/* All figures of a run. Figures of its bodies show the paths of all bodies if they are few, or else
 * the first and the last frame of the trajectory. */

/* Adds all figures that the files of a run give: of its bodies, and of what its diagnostics
 * measured. `trajectory` is that of the run; NULL if it has none. STATUS_MEMORY, or why a file of
 * the run cannot be read. */
enum status draw_run(const struct result *result, struct trajectory *trajectory,
                     enum draw_extent extent, struct figures *figures, struct error *error);

/* --- several runs: overlay.c ------------------------------------------------------------------ */

/*
 * Several runs laid over one another: the figures that at least two of them have. Each run has one
 * curve, in the place of all that its own page shows; the hints of a diagnostic
 * (diagnostics/diagnostic.h) say which one that is.
 */

struct overlay_run {
    const struct result *result;
    const char *mark;              /* how the run went wrong, such as "failed"; or "" */
    char label[FIGURE_LABEL_SIZE]; /* name of the run in the key of a figure */
};

/* Adds the figures that at least two of the runs have. The first FIGURE_MAX_LINES runs are drawn;
 * left_out of each figure counts the others. STATUS_MEMORY, or why a file of a run cannot be
 * read. */
enum status overlay_draw(const struct overlay_run *runs, size_t count, enum draw_extent extent,
                         struct figures *figures, struct error *error);

/* --- the errors of several runs: errors.c ----------------------------------------------------- */

/* The errors of several runs, as points over the value that was varied or over their cost, with a
 * power law fitted to the points of all runs that have the same label. */

struct errors_axis {
    const char *name, *title, *label; /* words for x: in names of files, title, at the axis */
    const char *caption;
    const char *slope; /* sentence on the slope of fitted lines, for the caption; or NULL */
    size_t count;      /* number of runs */
    double *x, *y;     /* [count]: coordinates of the runs' points; NaN: unknown */
    const char (*labels)[FIGURE_LABEL_SIZE]; /* [count]: one label has one colour and one fit */
    const char *const *marks;                /* [count]: how a run went wrong ("failed"); or "" */
    bool chosen; /* each x is a value of a key of the config, and becomes a tick */
};

/* Adds the figure of axis->y over axis->x; `name` is that of the quantity y, "energy_error".
 * STATUS_MEMORY. */
enum status errors_draw(const struct errors_axis *axis, const char *name, struct figures *figures,
                        struct error *error);

/* --- what an asked error costs: error-cost.c -------------------------------------------------- */

/* Adds, for a run whose config asks for an accuracy, the figure of the settings from which the
 * program has chosen: their error against their cost, with the chosen one and its margin. Adds
 * nothing for another run. STATUS_MEMORY. */
enum status error_cost_draw(const struct result *result, struct figures *figures,
                            struct error *error);

#endif
