/* The data on which kernels work: packed bodies, copies in the precision and the units of a kernel
 * (packing.h makes them), and sums over them. */
#ifndef ORRERY_FORCE_DIRECT_PACKED_H
#define ORRERY_FORCE_DIRECT_PACKED_H

#include <stdbool.h>
#include <stddef.h>

/* The indices first, first + 1, ... last - 1. For kernels both ends are multiples of
 * BODIES_PADDING. */
struct range {
    size_t first, last;
};

/* One system as a kernel wants it: arrays of float or of double, 64-byte aligned, padded with
 * bodies of mass 0 to a multiple of BODIES_PADDING. */
struct packed {
    size_t count;  /* bodies without the padding */
    size_t length; /* bodies with the padding */
    void *m;
    void *x[3];
    void *x_low[3]; /* the rest that rounding to float took from x; PRECISION_MIXED only */
    double eps2;    /* square of the softening length; positive, so that 1/r^3 is finite at r = 0 */
    double box;     /* side of the periodic box, or 0 in open space */
    bool touching;  /* the true eps is 0, so a pair at r = 0 counts for nothing in potentials */
    bool equal;     /* all masses are 1; m is filled only if there is padding */
};

/* Plain kernels start a new partial sum after FLUSH_COUNT bodies. The systems of a batch have at
 * most BATCH_COUNT bodies each, so that one partial sum is enough; a batch has at most as many
 * systems as the widest vector has lanes, BATCH_SYSTEMS. */
enum { FLUSH_COUNT = 256, BATCH_COUNT = FLUSH_COUNT, BATCH_SYSTEMS = 16 };

/* Sums for bodies: three arrays of float or double, one for each axis, in the precision of a
 * kernel. */
struct sums {
    void *x, *y, *z;
};

/* The least and the greatest number of an array. */
struct bounds {
    double least, greatest;
};

/* A batch of interleaved systems: element i x lanes + k of an array of bodies belongs to body i of
 * system k; other arrays have one element for each system. */
struct packed_batch {
    const double *x[3];
    double center[3][BATCH_SYSTEMS]; /* packed x = scale (true x - center) */
    double scale[BATCH_SYSTEMS];
    double eps2[BATCH_SYSTEMS]; /* square of the softening length, > 0 */
    double unit[BATCH_SYSTEMS]; /* factor that turns sums into accelerations */
    /* The systems in the form that kernels read, each of at most BATCH_COUNT bodies; the arrays are
     * lent by the caller, who has filled in the masses; the kernel fills in the positions. */
    struct packed system;
    struct sums sums; /* arrays for the sums, lent by the caller */
    double *a[3];     /* the results: unit x sum; 0 in the padding */
};

/* Bodies that move, for kernels that need velocities as well. */
struct packed_motion {
    struct packed position; /* always with masses; length is a multiple of JERK_PADDING */
    struct packed velocity; /* velocities in x and x_low; no other members are used */
};

enum { JERK_PADDING = 64 }; /* bodies: the most that one round of the kernels' loop takes */

#endif
