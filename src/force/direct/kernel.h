/*
 * The kernels of one instruction set: functions that sum over the pairs of ranges of bodies of one
 * system. They know nothing of threads; sums.c calls them in an order that does not depend on
 * threads.
 *
 * A system is packed into the precision of its kernel first (see packing.h), and the sums come out
 * in the units of the packing.
 */
#ifndef ORRERY_FORCE_DIRECT_KERNEL_H
#define ORRERY_FORCE_DIRECT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "force/direct/packing.h"
#include "force/force-options.h"
#include "force/isa.h"

enum { PRECISION_COUNT = PRECISION_SINGLE + 1 };
enum { KERNEL_ESTIMATES = 1024 };

/* The variants of a kernel: for open space and for periodic boxes, for any masses and for equal
 * masses (packed as 1). */
enum { FORM_OPEN, FORM_PERIODIC, FORM_COUNT };
enum { MASSES_ANY, MASSES_EQUAL, MASSES_COUNT };

typedef void kernel_plain(const struct packed *packed, struct range i, double *const total[3]);
typedef void kernel_tile_self(const struct packed *packed, struct range i, const struct sums *sums);
typedef void kernel_tile_pair(const struct packed *packed, struct range i, struct range j,
                              const struct sums *sums);
typedef void kernel_batch(const struct packed_batch *batch);
/* Adds the pulls of the bodies j of a range to sums[0..5][k], acceleration and jerk of the body at
 * index active[k], for k < count; a kernel without jerks adds to sums[0..2][k] alone. */
typedef void kernel_jerk(const struct packed_motion *all, const uint32_t *active, size_t count,
                         struct range j, double *const sums[6]);
typedef void kernel_potential(const struct packed *packed, struct range i, double *phi,
                              double *psi);

struct force_kernels {
    /* The factor by which all sums of the kernels are to be multiplied: the leading coefficient of
     * the series for 1/r^3, which the kernels leave out for speed. */
    double factor;
    /* sum[FORCE_PLAIN] has the kernels that compute total = sum_j m_j r_ij / r_ij^3 over the system
     * for the bodies i of a range; NULL for the other kernels, which work otherwise. */
    kernel_plain *sum[FORCE_KERNELS][FORM_COUNT][MASSES_COUNT];
    /* The third-law update of two tiles, ranges of bodies that do not overlap: adds the forces m_i
     * m_j r_ij / r_ij^3 of all pairs to the sums of the bodies of both; these sums are to be
     * divided by m_i in the end. */
    kernel_tile_pair *tile_pair[FORM_COUNT][MASSES_COUNT];
    /* The third-law update for all pairs of bodies of one tile; as tile_pair, it sums forces. */
    kernel_tile_self *tile_self[FORM_COUNT][MASSES_COUNT];
    /* The kernels of a batch pack and sum `lanes` interleaved systems at once, in open space, with
     * the same bits as packing_fill() and the plain kernel. */
    size_t lanes;
    kernel_batch *batch[MASSES_COUNT];
    /* The kernels for bodies that are due (jerk.h) sum accelerations and jerks over a range of
     * bodies j whose ends are multiples of JERK_PADDING; the sums are to be multiplied by
     * `jerk_factor`. */
    double jerk_factor;
    kernel_jerk *jerk[FORM_COUNT];
    kernel_jerk *due[FORM_COUNT]; /* as `jerk`, but without jerks; velocities are not read */
    /* Adds the sums of `rounds` rounds to the totals of a range of bodies: total += sums[0], then
     * sums[1], and so on. */
    void (*reduce)(struct range i, const struct sums *sums, size_t rounds, double *const total[3]);
};

struct kernels {
    const char *isa;
    struct force_kernels force[PRECISION_COUNT];
    /* Copy an array of `lanes` systems, in which each system stands `stride` numbers after the one
     * before, to an interleaved array of a batch, and back. `stride` is a multiple of
     * BODIES_PADDING; `lanes` is that of struct force_kernels. */
    void (*interleave)(const double *systems, size_t stride, size_t lanes, double *batch);
    void (*deinterleave)(const double *batch, size_t stride, size_t lanes, double *systems);
    /* Computes the least and the greatest of the first `count` numbers of each system in an
     * interleaved array. */
    void (*bounds)(const double *batch, size_t count, size_t lanes, struct bounds *bounds);
    /* Computes the origin of each system of a batch along one axis, from an interleaved array of
     * coordinates, as origin_find() does; `count` is at most ORIGIN_ONE_SAMPLE. */
    void (*origins)(const double *batch, size_t count, size_t lanes, double *origins);
    /* Compute phi = sum_j m_j / s and psi = sum_j m_j r^2 / s^3 over j other than i, where r is the
     * distance and s^2 = r^2 + eps^2, for bodies packed as PRECISION_DOUBLE. */
    kernel_potential *potential[FORM_COUNT];
    /* The kernels of FORCE_PORTABLE, which read the bodies' own arrays (packing_lend()). */
    kernel_plain *portable[FORM_COUNT];
    kernel_potential *portable_potential[FORM_COUNT];
    /* Computes the CPU's estimates of 1/sqrt(a) for a = 1 + 3 k / KERNEL_ESTIMATES, in float and in
     * double; see vector.h. */
    void (*estimates)(double of_float[KERNEL_ESTIMATES], double of_double[KERNEL_ESTIMATES]);
};

/* The tables of kernels, one for each instruction set. Those with "zen" in their names are for
 * AMD's CPUs, which have units of their own for additions. */
#define DECLARED(family, set, ...) extern const struct kernels kernels_##set;
FORCE_ISAS(DECLARED)
#undef DECLARED

#endif
