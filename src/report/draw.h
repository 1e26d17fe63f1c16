/*
 * Makes figures of what a diagnostic has measured: one for each struct drawing of its class, called
 * a hint here (diagnostics/diagnostic.h). If the class has no hints, or this program does not know
 * the diagnostic, every column is drawn, columns of the same unit in one figure.
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

enum draw_extent {
    DRAW_PAGE,
    /* for comparing runs: also hints with `comparative`; without hints one for each column */
    DRAW_COMPARISON,
    /* those of DRAW_COMPARISON, and one for each column even with hints */
    DRAW_ALL
};

/* The beginning of the sentence under a figure of several runs that lists those which did not end
 * well. */
#define DRAW_RUNS_GONE_WRONG "Runs that failed, or did not come to their end: "

/* The measurements of one diagnostic of a run (from its file NAME.csv), its class, type and
 * name. */
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

/* A figure that is being drawn: its numbers, and the run that they are from. */
struct drawn {
    const struct series *series;
    const struct result *result;
    double largest; /* the largest y of the figure's first curve, over all systems */
    bool relative;  /* `largest` is a change of a vector relative to its size at the start */
};

/* Appends sentences to `words` that say what the numbers of the figure mean for this run, above all
 * if the run went wrong; of an ensemble, for the worst system. Nothing if the figure's name is not
 * in the table of findings.c. */
void finding_tell(const char *figure, const struct drawn *drawn, struct text *words);

/* The sentence for a momentum or angular momentum that only rounding has changed. */
extern const char finding_round_off[];

/* --- the page of a run: arrange.c ------------------------------------------------------------- */

/* Adds a figure for each column of a diagnostic of which the config expects something and which
 * none of the figures from index `first` on draws. STATUS_MEMORY, STATUS_DATA. */
enum status arrange_expected(const struct measured *measured, struct figures *figures, size_t first,
                             struct error *error);

/* Puts the figures of a run's page in order: first those of quantities of which the config expects
 * something, to which the bounds are added; last those that only show that a check has passed. A
 * dashed curve that would hide a solid one, since it lies upon it, is taken out, and a sentence
 * under the figure says so. STATUS_MEMORY. */
enum status arrange_page(const struct result *result, struct figures *figures, struct error *error);

/* --- a run: picture.c ------------------------------------------------------------------------- */

/* Adds all figures that the files of a run give. Figures of its bodies show the paths of few
 * bodies, or of many the first and the last frame of `trajectory` (NULL: the run has none); the
 * others show what its diagnostics measured. STATUS_MEMORY, or why a file of the run cannot be
 * read. */
enum status draw_run(const struct result *result, struct trajectory *trajectory,
                     enum draw_extent extent, struct figures *figures, struct error *error);

/* --- several runs: overlay.c ------------------------------------------------------------------ */

/*
 * Several runs in one figure: each has one curve, in the place of all that the figure of the run
 * alone shows. Hints of a diagnostic (`compared`) say which curve that is.
 */

struct overlay_run {
    const struct result *result;
    const char *mark;              /* how the run went wrong ("failed"); or "" */
    char label[FIGURE_LABEL_SIZE]; /* name of the run in the legend */
};

/* Adds every figure that at least two of the runs have. Only the first FIGURE_MAX_LINES runs are
 * drawn; figure->left_out counts the others too. STATUS_MEMORY, or why a file of a run cannot be
 * read. */
enum status overlay_draw(const struct overlay_run *runs, size_t count, enum draw_extent extent,
                         struct figures *figures, struct error *error);

/* --- the errors of several runs: errors.c ----------------------------------------------------- */

/* The errors of several runs as points over the value of a config key, or over the runs' cost, with
 * a power law fitted to the points of runs that have the same label. */

struct errors_axis {
    /* words for x in the name of the files, in the title and at the axis */
    const char *name, *title, *label;
    const char *caption;
    const char *slope; /* sentence for the caption on the slope of fitted lines; or NULL */
    size_t count;
    double *x, *y; /* [count]: a point for each run; NaN: unknown */
    /* [count]: runs of one label share a colour and a fit */
    const char (*labels)[FIGURE_LABEL_SIZE];
    const char *const *marks; /* [count]: how a run went wrong ("failed"); or "" */
    bool chosen;              /* x is a key of the config, whose values become ticks */
};

/* Adds the figure of axis->y over axis->x; `name` is the quantity y, such as "energy_error".
 * STATUS_MEMORY. */
enum status errors_draw(const struct errors_axis *axis, const char *name, struct figures *figures,
                        struct error *error);

/* --- what an asked error costs: errors.c ------------------------------------------------------ */

/* Adds, for a run whose config asks for an accuracy, a figure of the settings (integrators with
 * their steps) among which the program has chosen: expected error against cost, with the chosen one
 * and its margin. Adds nothing for any other run. STATUS_MEMORY. */
enum status error_cost_draw(const struct result *result, struct figures *figures,
                            struct error *error);

#endif
