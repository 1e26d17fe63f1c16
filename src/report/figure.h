/* Figures, that is curves with labelled axes, as report/plot.h draws them; lists of figures, and
 * the labels of axes. */
#ifndef ORRERY_REPORT_FIGURE_H
#define ORRERY_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "formats/csv.h"
#include "model/time-unit.h"

enum {
    FIGURE_LABEL_SIZE = 160,
    FIGURE_MAX_LINES = 10,
    FIGURE_MAX_TICKS = 16,
    FIGURE_MAX_CURVES = 3 * FIGURE_MAX_LINES /* a line may have two bands or a fit */
};

struct curve {
    char label[FIGURE_LABEL_SIZE];  /* in the key of the figure; "": not in the key */
    char column[FIGURE_LABEL_SIZE]; /* "diagnostic.column" whose values the curve draws, or "" */
    bool compared;                  /* the curve stands for its run if several runs are compared */
    int beneath; /* number of curves that it covers: a line gets gaps in which they show */
    int above;   /* number of curves that cover it: a path is drawn wider, so that it shows */
    enum curve_kind kind;
    int color; /* index of the colour, from 0; past the palette its colours come again, dashed */
    size_t count;
    double *x, *y; /* [count], owned: one allocation at x holds x, y and upper */
    double *upper; /* [count]: upper edge of a band, with y as the lower one; else NULL */
};

struct figure {
    char name[FIGURE_LABEL_SIZE]; /* name of its files, without a suffix */
    char title[FIGURE_LABEL_SIZE];
    struct text caption; /* owned; says what the figure shows, the same for any run */
    struct text finding; /* owned; says what the numbers of this run mean, or is empty */
    char x_label[FIGURE_LABEL_SIZE], y_label[FIGURE_LABEL_SIZE];
    bool x_log, y_log;
    bool y_signed;   /* y is logarithmic on both sides of 0, for curves that differ much in size */
    bool equal_axes; /* a unit is as long along x as along y */
    bool over_time;  /* x is the time */
    double range[2]; /* least and greatest value on both axes; 0, 0: as the curves need */
    double x_range[2], y_range[2];  /* the same for one axis, if it is linear */
    double ticks[FIGURE_MAX_TICKS]; /* places of ticks along x: the chosen values of a key */
    size_t tick_count;
    struct curve curves[FIGURE_MAX_CURVES];
    size_t curve_count;
    size_t left_out;                /* number of curves that there was no room for */
    char column[FIGURE_LABEL_SIZE]; /* the only "diagnostic.column" that the figure draws, or "" */
    const char *systems;            /* words on which systems of an ensemble are drawn; or NULL */
    bool alone; /* shows one run, and is never laid over figures of other runs */
    enum figure_place {
        FIGURE_EXPECTED, /* the config has an expectation of a quantity in the figure */
        FIGURE_PATHS,    /* shows the bodies themselves, with equal axes */
        FIGURE_MEASURED,
        FIGURE_CONSERVED, /* energies, momenta and the virial ratio */
        FIGURE_PASSED /* shows only that a check has passed: just round-off has changed a vector */
    } place;          /* figures stand on the page of a run in the order of these */
};

/* The least and the greatest of some numbers; NaN does not count. extent_of() returns the extent of
 * an array, extent_add() adds the numbers of one more. */
struct extent {
    double low, high; /* INFINITY and -INFINITY if there is no number */
};
struct extent extent_of(const double *values, size_t count);
void extent_add(struct extent *extent, const double *values, size_t count);

/*
 * Adds a curve of `count` points, which are copied. Points that are not finite, or not positive on
 * a logarithmic axis (set x_log and y_log first), are left out, which breaks a path. A curve
 * without points is not added; neither is a line past FIGURE_MAX_LINES, which left_out counts.
 * STATUS_MEMORY.
 */
enum status figure_curve(struct figure *figure, const char *label, enum curve_kind kind, int color,
                         size_t count, const double *x, const double *y, struct error *error);

/* Tells whether a curve of this kind is a mark: circles, crosses or rings in the colour of text, at
 * points of other curves. */
bool figure_is_mark(enum curve_kind kind);

/* Tells whether a curve of this kind stands by itself, as lines, paths and points do. Bands, fits
 * and marks belong to other curves. */
bool figure_is_line(enum curve_kind kind);

/* Returns the number of curves for which figure_is_line() is true. */
size_t figure_lines(const struct figure *figure);

/* Marks `count` points (x[i], y[i]) where paths begin and, unless its label `focus` is NULL, the
 * point (0, 0) about which the paths go. */
enum status figure_marks(struct figure *figure, size_t count, const double *x, const double *y,
                         const char *focus, struct error *error);

/* Adds a pale band between the curves `lower` and `upper`, as figure_curve() adds a curve; the key
 * does not list it. */
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

/* Returns the first figure of this name; NULL if there is none. */
struct figure *figure_find(const struct figures *figures, const char *name);

/* Begins one more sentence of a figure's finding, with a blank before it if it is not the first,
 * and returns the text of the finding. */
struct text *figure_sentence(struct figure *figure);

/* Writes "name [unit]", or the name alone for a pure number, and returns `buffer`. Powers are
 * raised: the unit "km s^-1" becomes "km s⁻¹". */
const char *figure_label(const char *name, const char *unit, char buffer[FIGURE_LABEL_SIZE]);

/* Writes a name as words: "Tidal field" for "tidal_field". Each character that is in `signs`
 * becomes a blank, the first letter a capital. */
void figure_words(const char *name, const char *signs, char words[FIGURE_LABEL_SIZE]);

/* Converts the x of all figures over time from the run's unit of time to `unit`. */
void figures_change_time(struct figures *figures, const struct time_unit *unit);

/* --- figures that a user has named ------------------------------------------------------------ */

/* The figures that a user has named with --plot. */

/*
 * Keeps the figures that `words` names, in that order: names of figures and columns of diagnostics,
 * also as "diagnostic.column", with commas between; '_' and '-' count as one character.
 * STATUS_USAGE for a word that names nothing, with all names that there are. STATUS_MEMORY.
 */
enum status figures_select(const char *words, struct figures *figures, struct error *error);

/* --- members of an ensemble ------------------------------------------------------------------- */

/* The members of an ensemble in one curve: their median, and bands about it. */

/* A range of rows in an array of values [systems][stride], the same for every system: `rows` rows
 * from row `first` on. */
struct members {
    size_t systems;
    size_t first, rows;
    size_t stride; /* number of all rows of a system */
};

/*
 * Adds a curve of the median of y over the systems, row by row, against x of the first system, and
 * if `bands` is true two bands beneath it: from the 10 % to the 90 % quantile, and from the least
 * to the greatest y. A single system has the curve of its y alone. The colour is the next one that
 * the figure does not have yet. STATUS_MEMORY.
 */
enum status members_curve(struct figure *figure, const char *label, enum curve_kind kind,
                          const struct members *members, const double *x, const double *y,
                          bool bands, struct error *error);

/* Adds the sentence that lines are medians of `systems` systems, and what the bands hold; nothing
 * for one system. The statistics of the run leave out `left_out` of these systems. */
void members_caption(struct figure *figure, size_t systems, double left_out);

#endif
