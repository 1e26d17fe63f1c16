/*
 * Figures: curves with labelled axes, drawn by gnuplot. A figure leaves four files in the folder
 * of plots: NAME.dat (the numbers), NAME.gp (the commands: `gnuplot NAME.gp` draws it again),
 * NAME.svg and NAME.png.
 */
#ifndef ORRERY_REPORT_FIGURE_H
#define ORRERY_REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum curve_kind {
    CURVE_LINE,   /* y over x; thinned to what the eye can see */
    CURVE_DASHED, /* the same, dashed: a reference or a bound */
    CURVE_PATH,   /* a way through the plane, in the order of its points */
    CURVE_POINTS, /* a few measured points */
    CURVE_DISCS,  /* hundreds of them */
    CURVE_DOTS,   /* thousands */
    CURVE_BAND    /* the room between two lines; figure_band() */
};

enum {
    FIGURE_LABEL_SIZE = 96,
    FIGURE_CAPTION_SIZE = 640,
    FIGURE_MAX_LINES = 10,
    FIGURE_MAX_CURVES = 3 * FIGURE_MAX_LINES /* with bands */
};

struct curve {
    char label[FIGURE_LABEL_SIZE]; /* "" keeps it out of the key */
    enum curve_kind kind;
    int color; /* 0 .. FIGURE_COLORS - 1 */
    size_t count;
    double *x, *y; /* owned */
    double *upper; /* owned; of a band, else NULL */
};

enum { FIGURE_COLORS = 6 };

struct figure {
    char name[FIGURE_LABEL_SIZE]; /* of its files */
    char title[FIGURE_LABEL_SIZE];
    char caption[FIGURE_CAPTION_SIZE];
    char x_label[FIGURE_LABEL_SIZE], y_label[FIGURE_LABEL_SIZE];
    bool x_log, y_log;
    bool equal_axes; /* a length is the same in x and in y */
    double range[2]; /* of both axes; 0, 0: what the curves need */
    struct curve curves[FIGURE_MAX_CURVES];
    size_t curve_count;
};

/*
 * Adds a curve; x and y are copied. Points that are not finite, or not positive on a logarithmic
 * axis (set the axes first), are left out; a curve without points is not added, nor one past
 * FIGURE_MAX_LINES.
 */
enum status figure_curve(struct figure *figure, const char *label, enum curve_kind kind, int color,
                         size_t count, const double *x, const double *y, struct error *error);

/* Curves that are no bands. */
size_t figure_lines(const struct figure *figure);

/* Adds a pale band between two lines, likewise; not in the key. */
enum status figure_band(struct figure *figure, int color, size_t count, const double *x,
                        const double *lower, const double *upper, struct error *error);

void figure_free(struct figure *figure);

/* Can gnuplot be run? STATUS_UNAVAILABLE. */
enum status figure_probe(struct error *error);

/* Writes the four files into `folder`, which exists. STATUS_CANT_CREATE, STATUS_IO,
 * STATUS_UNAVAILABLE. */
enum status figure_draw(const struct figure *figure, const char *folder, struct error *error);

/*
 * The drawn figure for an HTML page: an <svg> element whose colours are CSS variables (--ink,
 * --muted, --grid, --c0 ... --c5), so that it follows the page into the dark. STATUS_IO.
 */
enum status figure_inline(const struct figure *figure, const char *folder, struct text *html,
                          struct error *error);

/* Runs `gnuplot SCRIPT` in `folder`. STATUS_UNAVAILABLE, STATUS_IO with what gnuplot said. */
enum status figure_gnuplot(const char *folder, const char *script, struct error *error);

/* The light colours as CSS variables, "--ink: #1f2430; ..."; and those for dark pages. */
void figure_css(struct text *css, bool dark);

#ifdef __cplusplus
}
#endif

#endif
