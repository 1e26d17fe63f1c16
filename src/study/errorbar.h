/*
 * The error bar of a value is the distance that it may have from the result of an infinitely small
 * step in exact arithmetic. It is estimated from three runs with steps dt, dt/2 and dt/4.
 * docs/theory.md has the derivation.
 */
#ifndef ORRERY_STUDY_ERRORBAR_H
#define ORRERY_STUDY_ERRORBAR_H

#include <stdbool.h>
#include <stddef.h>

enum { ERRORBAR_LEVELS = 3 };

/* The cause that limits how exact a value is. */
enum errorbar_limit {
    ERRORBAR_NONE,    /* unknown: the runs do not converge */
    ERRORBAR_STEP,    /* the step: the value converges */
    ERRORBAR_ROUNDING /* arithmetic: smaller steps would not help */
};

extern const char *const errorbar_limit_names[]; /* "none", "step", "rounding" */

/* One column of the three runs at equal times, values[run][row]; run 0 has the largest step. */
struct errorbar_column {
    const double *values[ERRORBAR_LEVELS];
    const double *times;
    size_t rows;
};

struct errorbar_method {
    double order;    /* nominal order of the integrator */
    double rounding; /* error that rounding and inexact forces make in one step, in a number of the
                        size that is usual for the column's unit in the run */
    double steps;    /* number of steps of the run with the smallest step */
    double dynamic_time; /* size over speed: the time before which errors cannot have grown */
    bool coarse_forces;  /* forces have errors larger than the rounding of double precision */
    double bias; /* change in a dynamic time, by the error that all forces share, of a number of the
                    usual size (a length: at most the largest of the column); 0 unless forces are
                    coarse */
};

struct errorbar {
    enum errorbar_limit limit;
    double order; /* observed order, by rms differences over all rows; NaN unless ERRORBAR_STEP */
    double error; /* error of the last row's value at the smallest step; NaN: unknown */
};

void errorbar_measure(const struct errorbar_column *column, const struct errorbar_method *method,
                      struct errorbar *bar);

#endif
