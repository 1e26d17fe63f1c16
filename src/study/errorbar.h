/*
 * The distance that a value may have from the result of an infinitely small step in exact
 * arithmetic, from three runs with steps dt, dt/2 and dt/4. docs/theory.md has the derivation.
 */
#ifndef ORRERY_STUDY_ERRORBAR_H
#define ORRERY_STUDY_ERRORBAR_H

#include <stdbool.h>
#include <stddef.h>

enum { ERRORBAR_LEVELS = 3 };

/* The cause that limits how exact a value is. */
enum errorbar_limit {
    ERRORBAR_NONE,    /* not to be said: the runs do not converge */
    ERRORBAR_STEP,    /* the step: it converges */
    ERRORBAR_ROUNDING /* arithmetic: smaller steps would not help */
};

extern const char *const errorbar_limit_names[]; /* "none", "step", "rounding" */

/* One column of the three runs, the smallest step last, at equal times. */
struct errorbar_column {
    const double *values[ERRORBAR_LEVELS];
    const double *times;
    size_t rows;
};

struct errorbar_method {
    double order;        /* nominal, of the integrator */
    double rounding;     /* of one operation on a number as large as the column's can be */
    double steps;        /* of the run with the smallest step */
    double dynamic_time; /* in which errors cannot have grown yet */
    bool coarse_forces;  /* err more than double precision does */
    double bias;         /* what an error that all forces share makes of a number as large as the
                            column's can be within a dynamic time; 0 unless forces are coarse */
};

struct errorbar {
    enum errorbar_limit limit;
    double order; /* observed, by the rms differences over all rows; NaN unless the step decides */
    double error; /* of the last row's value at the smallest step; NaN where nothing can be said */
};

void errorbar_measure(const struct errorbar_column *column, const struct errorbar_method *method,
                      struct errorbar *bar);

#endif
