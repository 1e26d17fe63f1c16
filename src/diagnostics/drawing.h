/*
 * The drawing of a diagnostic in a report: hints that stand beside its columns, one for each
 * figure. The report knows nothing else of a diagnostic; of one without hints it draws every
 * column, those of one unit together.
 */
#ifndef ORRERY_DIAGNOSTICS_DRAWING_H
#define ORRERY_DIAGNOSTICS_DRAWING_H

#include <stdbool.h>

enum curve_kind {
    CURVE_LINE,   /* y over x; thinned to what the eye can see */
    CURVE_DASHED, /* the same, dashed: a reference or a bound */
    CURVE_PATH,   /* a path through the plane, in the order of its points */
    CURVE_POINTS, /* a few measured points */
    CURVE_DISCS,  /* hundreds of them */
    CURVE_DOTS,   /* thousands */
    CURVE_FIT,    /* a dashed line through points, in their colour */
    CURVE_BAND,   /* the room between two lines */
    CURVE_STARTS, /* circles in the colour of text: where paths begin */
    CURVE_FOCUS   /* a cross of that colour: what paths go about */
};

/* The value of a column that is drawn. */
enum drawn_value {
    DRAWN_VALUE,
    DRAWN_MAGNITUDE, /* |value| */
    DRAWN_CHANGE     /* |v - v0| of the vector in the columns <column>_x, <column>_y, <column>_z */
};

struct drawn_curve {
    const char *column; /* "radius_*": all columns that begin so, labelled by their ends */
    const char *label;  /* in the key, behind such an end; NULL: the time of the event */
    enum curve_kind kind;
    enum drawn_value value;
    const char
        *relative; /* label of |v - v0| / |v0|, drawn where v0 is no rounding error; or NULL */
    bool first;    /* of a table: that of the first event, otherwise that of the last */
    const char *x; /* column along x; NULL: the time, or of a table its first column */
};

/* The scale of the axes: y, and of a table x too. */
enum drawing_scale {
    SCALE_LINEAR,
    SCALE_LOGARITHMIC,
    SCALE_BY_RANGE, /* logarithmic where values without a sign span decades */
    SCALE_SIGNED    /* on both sides of 0 where one curve is much larger than another */
};

enum drawing_space { ANY_SPACE, OPEN_SPACE, PERIODIC_SPACE };

enum { DRAWING_CURVES = 10 };

struct drawing {
    const char *name; /* of the figure's files */
    const char *title, *y_label;
    const char *caption; /* what is drawn */
    enum drawing_scale scale;
    enum drawing_space space; /* where it is drawn */
    bool equal_axes;          /* a length is the same in x and in y; of the first system alone */
    const char *focus;        /* of paths: what lies at 0, 0; their first points are marked too */
    bool comparative;         /* drawn where runs are compared; of one run where it is asked for */
    const char *compared;     /* column that stands for a run beside others; NULL: the first */
    struct drawn_curve curves[DRAWING_CURVES]; /* ends with a column of NULL, if before */
};

#endif
