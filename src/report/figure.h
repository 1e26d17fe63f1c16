/* Figures: curves with labelled axes, drawn by report/plot.h; lists of them, and what stands at
 * their axes. */
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
    FIGURE_MAX_CURVES = 3 * FIGURE_MAX_LINES /* with two bands or a fit for each */
};

struct curve {
    char label[FIGURE_LABEL_SIZE];  /* "" keeps it out of the key */
    char column[FIGURE_LABEL_SIZE]; /* "diagnostic.column" whose values it draws, or "" */
    bool compared;                  /* stands for its run where several are compared */
    int beneath;                    /* curves that it lies upon: a line has gaps for them to show */
    int above;                      /* curves that lie upon it: a path is wider, so that it shows */
    enum curve_kind kind;
    int color; /* from 0; beyond those of the palette, they come again, dashed */
    size_t count;
    double *x, *y; /* owned: one allocation at x, for all three */
    double *upper; /* of a band, else NULL */
};

struct figure {
    char name[FIGURE_LABEL_SIZE]; /* of its files */
    char title[FIGURE_LABEL_SIZE];
    struct text caption; /* owned; what is drawn, of any run */
    struct text finding; /* owned; what the numbers of this run say, or empty */
    char x_label[FIGURE_LABEL_SIZE], y_label[FIGURE_LABEL_SIZE];
    bool x_log, y_log;
    bool y_signed;   /* logarithmic on both sides of 0, where curves differ much in size */
    bool equal_axes; /* a length is the same in x and in y */
    bool over_time;  /* x is the time */
    double range[2]; /* of both axes; 0, 0: what the curves need */
    double x_range[2], y_range[2];  /* of an axis that is not logarithmic, likewise */
    double ticks[FIGURE_MAX_TICKS]; /* along x, where values were chosen; or none */
    size_t tick_count;
    struct curve curves[FIGURE_MAX_CURVES];
    size_t curve_count;
    size_t left_out;                /* curves that there was no room for */
    char column[FIGURE_LABEL_SIZE]; /* the single "diagnostic.column" of the figure, or "" */
    const char *systems;            /* of an ensemble: which of them are drawn; or NULL */
    bool alone;                     /* shows one run, and is not laid over another's */
    enum figure_place {
        FIGURE_EXPECTED, /* the config expects something of it */
        FIGURE_PATHS,    /* of the bodies themselves; lengths are equal along both axes */
        FIGURE_MEASURED,
        FIGURE_CONSERVED, /* energies and what goes with them */
        FIGURE_PASSED     /* shows a check that has passed, and no more */
    } place;              /* on the page of a run, in this order */
};

/* The least and the greatest of some numbers; NaN does not count. */
struct extent {
    double low, high; /* of no number: INFINITY and -INFINITY */
};
struct extent extent_of(const double *values, size_t count);
void extent_add(struct extent *extent, const double *values, size_t count);

/*
 * Adds a curve; x and y are copied. Points that are not finite, or not positive on a logarithmic
 * axis (set the axes first), are left out, which breaks a path; a curve without points is not
 * added, and one past FIGURE_MAX_LINES is counted in left_out.
 */
enum status figure_curve(struct figure *figure, const char *label, enum curve_kind kind, int color,
                         size_t count, const double *x, const double *y, struct error *error);

/* Tells whether a curve of this kind is a mark: signs in the colour of text at points of others. */
bool figure_is_mark(enum curve_kind kind);

/* Tells whether a curve of this kind stands by itself. Bands, fits and marks belong to others. */
bool figure_is_line(enum curve_kind kind);

/* Returns the number of curves that stand by themselves. */
size_t figure_lines(const struct figure *figure);

/* Marks the points where paths begin and, unless its name `focus` is NULL, the point (0, 0) that
 * they go about. */
enum status figure_marks(struct figure *figure, size_t count, const double *x, const double *y,
                         const char *focus, struct error *error);

/* Adds a pale band between two lines as figure_curve() adds a curve; the key does not have it. */
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

/* Begins one more sentence of a figure's finding, behind a blank if others stand before it, and
 * returns the text. */
struct text *figure_sentence(struct figure *figure);

/* Writes "name [unit]", or the name alone for a pure number, and returns `buffer`. */
const char *figure_label(const char *name, const char *unit, char buffer[FIGURE_LABEL_SIZE]);

/* Writes a name, "tidal_field", as words, "Tidal field", with a blank for each of the signs. */
void figure_words(const char *name, const char *signs, char words[FIGURE_LABEL_SIZE]);

/* Changes the axes of time from the unit of the run to another one. */
void figures_change_time(struct figures *figures, const struct time_unit *unit);

/* --- figures that a user has named ------------------------------------------------------------ */

/* The figures that a user has named with --plot. */

/*
 * Keeps the figures that `words` names, in that order: names of figures and columns of diagnostics,
 * also as "diagnostic.column", with commas between; '_' and '-' are one. STATUS_USAGE for a
 * word that is none of them, with those that there are. STATUS_MEMORY.
 */
enum status figures_select(const char *words, struct figures *figures, struct error *error);

/* --- members of an ensemble ------------------------------------------------------------------- */

/* The members of an ensemble in one curve: their median, and bands about it. */

/* Part of a series, the same of every system: `rows` rows from `first` on. */
struct members {
    size_t systems;
    size_t first, rows;
    size_t stride; /* from a system's first row to the next one's */
};

/*
 * Adds the median of y over the systems, against x of the first one, and if `bands` are wanted
 * two of them beneath it: from the 10 % to the 90 % quantile, and from the least to the greatest.
 * A single system has its curve alone. The colour is the next one. STATUS_MEMORY.
 */
enum status members_curve(struct figure *figure, const char *label, enum curve_kind kind,
                          const struct members *members, const double *x, const double *y,
                          bool bands, struct error *error);

/* Says under the figure what lines and bands are; nothing if there is one system. `left_out` of the
 * systems do not count in the statistics. */
void members_caption(struct figure *figure, size_t systems, double left_out);

#endif
