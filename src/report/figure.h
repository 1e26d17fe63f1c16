/* Figures (curves with labelled axes, which report/plot.h draws), lists of figures, and labels of
 * axes. */
#ifndef ORRERY_REPORT_FIGURE_H
#define ORRERY_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "formats/csv.h"
#include "model/units.h"

enum {
    FIGURE_LABEL_SIZE = 160,
    FIGURE_MAX_LINES = 10,
    FIGURE_MAX_TICKS = 16,
    FIGURE_MAX_CURVES = 3 * FIGURE_MAX_LINES /* a line may have two bands or a fit */
};

struct curve {
    char label[FIGURE_LABEL_SIZE];  /* in the legend; "": not listed there */
    char column[FIGURE_LABEL_SIZE]; /* the "diagnostic.column" that the curve draws, or "" */
    bool compared;                  /* stands for its run in a figure of several runs */
    int beneath; /* number of curves that it hides: a line gets gaps in which these show */
    int above;   /* number of curves that hide it: a path is drawn wider, so that it shows */
    enum curve_kind kind;
    int color; /* index of the colour, from 0; beyond the palette colours come again, dashed */
    size_t count;
    double *x, *y; /* [count], owned: one allocation, at x, holds x, y and upper */
    double *upper; /* [count]: of a band the upper edge, y being the lower one; else NULL */
};

struct figure {
    char name[FIGURE_LABEL_SIZE]; /* name of its files, without a suffix */
    char title[FIGURE_LABEL_SIZE];
    struct text caption; /* owned; what the figure shows, the same for any run */
    struct text finding; /* owned; what its numbers mean for this run; may be empty */
    char x_label[FIGURE_LABEL_SIZE], y_label[FIGURE_LABEL_SIZE];
    bool x_log, y_log;
    bool y_signed;   /* the y axis is logarithmic on both sides of 0 */
    bool equal_axes; /* a unit is as long along x as along y */
    bool over_time;  /* x is the time */
    double range[2]; /* least and greatest value on both axes; 0, 0: as the curves need */
    double x_range[2], y_range[2];  /* range of one axis, if it is linear */
    double ticks[FIGURE_MAX_TICKS]; /* ticks along x at these values, or none */
    size_t tick_count;
    struct curve curves[FIGURE_MAX_CURVES];
    size_t curve_count;
    size_t left_out;                /* number of curves, or of runs, for which there was no room */
    char column[FIGURE_LABEL_SIZE]; /* the only "diagnostic.column" that the figure draws, or "" */
    const char *systems;            /* which systems of an ensemble are drawn, in words; or NULL */
    bool alone;                     /* is never combined with figures of other runs */
    enum figure_place {
        FIGURE_EXPECTED, /* the config expects something of a quantity in the figure */
        FIGURE_PATHS,    /* shows the bodies themselves, with equal axes */
        FIGURE_MEASURED,
        FIGURE_CONSERVED, /* energies, momenta and the virial ratio */
        /* shows only that round-off alone has changed a vector */
        FIGURE_PASSED
    } place; /* figures stand on the page of a run in this order */
};

/* The least and the greatest of some numbers, NaN left out. extent_of() returns the extent of an
 * array, extent_add() includes the numbers of one more. */
struct extent {
    double low, high; /* INFINITY and -INFINITY if there is no number */
};
struct extent extent_of(const double *values, size_t count);
void extent_add(struct extent *extent, const double *values, size_t count);

/*
 * Adds a curve of `count` points, which are copied. Points that are not finite, or not positive on
 * a logarithmic axis (set x_log and y_log first), are left out; a CURVE_PATH has a gap there. A
 * line of many points is thinned, one of a single point becomes CURVE_POINTS. A curve without
 * points is not added, nor is one past FIGURE_MAX_LINES, which left_out counts. STATUS_MEMORY.
 */
enum status figure_curve(struct figure *figure, const char *label, enum curve_kind kind, int color,
                         size_t count, const double *x, const double *y, struct error *error);

/* Tells whether a curve is a mark: circles, crosses or rings in the colour of text. */
bool figure_is_mark(enum curve_kind kind);

/* Tells whether a curve stands by itself, as lines, paths and points do; bands, fits and marks
 * belong to other curves. */
bool figure_is_line(enum curve_kind kind);

/* Returns the number of curves for which figure_is_line() is true. */
size_t figure_lines(const struct figure *figure);

/* Marks the points (x[i], y[i]), i < count, where paths begin and, unless its label `focus` is
 * NULL, the point (0, 0) about which they go. */
enum status figure_marks(struct figure *figure, size_t count, const double *x, const double *y,
                         const char *focus, struct error *error);

/* Adds a pale band between the curves `lower` and `upper`, as figure_curve() adds a curve, without
 * an entry in the legend. */
enum status figure_band(struct figure *figure, int color, size_t count, const double *x,
                        const double *lower, const double *upper, struct error *error);

void figure_free(struct figure *figure);

struct figures {
    size_t count;
    struct figure *figures; /* owned */
};

/* Adds an empty figure at the end, and returns it; NULL with STATUS_MEMORY. The pointer is valid
 * until the next figure is added. */
struct figure *figure_add(struct figures *figures, struct error *error);
/* Removes the last figure if it has no curve. */
void figure_drop_empty(struct figures *figures);
void figure_free_all(struct figures *figures);

struct figure *figure_find(const struct figures *figures, const char *name);

/* Appends a blank to a figure's finding unless that is empty, and returns it, for one more
 * sentence. */
struct text *figure_sentence(struct figure *figure);

/* Writes "name [unit]", or "name" if `unit` is "", and returns `buffer`. The unit "km s^-1" becomes
 * "km s⁻¹". */
const char *figure_label(const char *name, const char *unit, char buffer[FIGURE_LABEL_SIZE]);

/* Writes a name as words, with a blank for each character in `signs`: "Tidal field" for
 * "tidal_field". */
void figure_words(const char *name, const char *signs, char words[FIGURE_LABEL_SIZE]);

/* Converts the x of all figures over time from the run's unit of time to `unit`. */
void figures_change_time(struct figures *figures, const struct time_unit *unit);

/* --- figures that a user has named ------------------------------------------------------------ */

/*
 * Keeps only the figures that `words` (--plot) names, in that order: names of figures and of
 * columns, also "diagnostic.column", with commas between; '_' and '-' count as one character.
 * STATUS_USAGE for a word that names nothing, with all names that there are. STATUS_MEMORY.
 */
enum status figures_select(const char *words, struct figures *figures, struct error *error);

/* --- members of an ensemble ------------------------------------------------------------------- */

/* The part of an array [systems][stride] that a curve draws: in each system `rows` rows from row
 * `first` on. */
struct members {
    size_t systems;
    size_t first, rows;
    size_t stride;
};

/*
 * Adds a curve of the median of y over the systems, row by row, against x of system 1 and, if
 * `bands`, two bands beneath it: from the 10 % to the 90 % quantile, and from the least to the
 * greatest y. A single system has the curve of its y alone. The colour is the next that the figure
 * does not have yet. STATUS_MEMORY.
 */
enum status members_curve(struct figure *figure, const char *label, enum curve_kind kind,
                          const struct members *members, const double *x, const double *y,
                          bool bands, struct error *error);

/* Adds the sentence that lines are medians of `systems` systems, what the bands hold, and how many
 * systems the statistics of the run leave out (`left_out`); nothing for one system. */
void members_caption(struct figure *figure, size_t systems, double left_out);

#endif
