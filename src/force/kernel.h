/*
 * The kernels of one instruction set: sums over pairs of ranges of bodies. They know nothing of
 * threads, tiles or systems; sums.c calls them in an order that does not depend on threads.
 *
 * A system is packed into the precision of its kernel first (see packing.h), and the sums come out
 * in the units of the packing.
 */
#ifndef ORRERY_FORCE_KERNEL_H
#define ORRERY_FORCE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "force/force.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PRECISION_COUNT = PRECISION_SINGLE + 1 };

/* The indices first, first + 1, ... last - 1. Those of kernels are multiples of BODIES_PADDING. */
struct range {
    size_t first, last;
};

/* One system as a kernel wants it: arrays of float or of double, 64-byte aligned, padded with
 * bodies of mass 0 to a multiple of BODIES_PADDING. */
struct packed {
    size_t count;  /* without the padding */
    size_t length; /* with it */
    void *m;
    void *x[3];
    void *x_low[3]; /* what rounding to float took from x; PRECISION_MIXED only */
    double eps2;    /* positive: 1/r^3 is finite at r = 0, and 0/r^3 is 0 there */
    double box;     /* side of the periodic box, or 0 in open space */
    bool touching;  /* the true eps is 0: a pair at r = 0 has no potential */
    bool equal;     /* all masses are 1; m is not there, unless there is padding */
};

/* Plain kernels start a new partial sum after so many bodies, and small systems need only one. */
enum { FLUSH_COUNT = 256, ABREAST_COUNT = FLUSH_COUNT, ABREAST_SYSTEMS = 16 /* at most */ };

/* Three arrays, one for each axis. */
struct sums {
    void *x, *y, *z;
};

/* Of the numbers of one array. */
struct bounds {
    double least, greatest;
};

/* Systems side by side: number i lanes + k of every array belongs to body i of system k. */
struct abreast {
    const double *x[3];
    double center[3][ABREAST_SYSTEMS]; /* packed = scale (true - center) */
    double scale[ABREAST_SYSTEMS];
    double eps2[ABREAST_SYSTEMS]; /* as that of a struct packed */
    double unit[ABREAST_SYSTEMS]; /* of the sums */
    /* Of each system, at most ABREAST_COUNT bodies. The masses are there; the kernel fills the
     * positions. */
    struct packed packed;
    struct sums sums; /* lent */
    double *a[3];     /* unit x sum; 0 in the padding */
};

/* A function compiled for open space and for periodic boxes, without and with equal masses. */
enum { FORM_OPEN, FORM_PERIODIC, FORM_COUNT };
enum { MASSES_ANY, MASSES_EQUAL, MASSES_COUNT };

typedef void kernel_plain(const struct packed *packed, struct range i, double *const total[3]);
typedef void kernel_within(const struct packed *packed, struct range i, const struct sums *sums);
typedef void kernel_meet(const struct packed *packed, struct range i, struct range j,
                         const struct sums *sums);
typedef void kernel_abreast(const struct abreast *abreast);
typedef void kernel_potential(const struct packed *packed, struct range i, double *phi,
                              double *psi);

struct force_kernels {
    /* Of r_ij / r_ij^3, left out of all sums for speed: the leading coefficient of the series. */
    double factor;
    /* total = sum_j m_j r_ij / r_ij^3 over the system, for the bodies of a range. */
    kernel_plain *plain[FORM_COUNT][MASSES_COUNT];
    /*
     * Newton's third law. Adds m_i m_j r_ij / r_ij^3 to the sums of the bodies of two ranges that
     * do not overlap; to be divided by m_i in the end.
     */
    kernel_meet *meet[FORM_COUNT][MASSES_COUNT];
    /* The same for all pairs within one range. */
    kernel_within *within[FORM_COUNT][MASSES_COUNT];
    /* What packing and `plain` do, bit for bit, for `lanes` systems at once, in open space. */
    size_t lanes;
    kernel_abreast *abreast[MASSES_COUNT];
    /* total += sums[0] + sums[1] + ..., in this order. */
    void (*gather)(struct range i, const struct sums *sums, size_t rounds, double *const total[3]);
};

struct kernels {
    const char *isa;
    struct force_kernels force[PRECISION_COUNT];
    /*
     * From `lanes` systems, each `stride` numbers after the one before, to an array of them side by
     * side, and the way back. `stride` is a multiple of BODIES_PADDING, `lanes` that of a
     * precision.
     */
    void (*deal)(const double *systems, size_t stride, size_t lanes, double *across);
    void (*collect)(const double *across, size_t stride, size_t lanes, double *systems);
    /* Of the first `count` numbers of each system of such an array. */
    void (*bounds)(const double *across, size_t count, size_t lanes, struct bounds *bounds);
    /* And origin_find() of them, of one axis; count is at most ORIGIN_ONE_SAMPLE. */
    void (*origins)(const double *across, size_t count, size_t lanes, double *origins);
    /* sum_j m_j / r_ij and sum_j m_j r^2 / r_ij^3 without j = i; packed as PRECISION_DOUBLE. */
    kernel_potential *potential[FORM_COUNT];
};

/* "zen": for CPUs whose additions do not take the multipliers' time, as those of AMD. */
extern const struct kernels kernels_avx512, kernels_avx512_zen;
extern const struct kernels kernels_avx2, kernels_avx2_zen;
extern const struct kernels kernels_baseline;

#ifdef __cplusplus
}
#endif

#endif
