/*
 * Packing: a copy of one system in the precision and the units in which the kernels sum.
 *
 * Lengths are scaled so that a system of any size fits the range of its precision: 1/r^3 of the
 * closest and the widest pair, times masses, neither overflow nor vanish. Masses are measured by
 * the largest one. Scales are powers of two but for a float kernel in a periodic box, whose side
 * becomes one. Float kernels measure positions from where most bodies are (origin.h). All of it
 * follows from the bodies as they stand, so that a restart finds the same.
 */
#ifndef ORRERY_FORCE_DIRECT_PACKING_H
#define ORRERY_FORCE_DIRECT_PACKING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "force/force-options.h"
#include "model/bodies.h"
#include "model/physics.h"

/* --- the data on which kernels work ----------------------------------------------------------- */

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

/* --- packing ---------------------------------------------------------------------------------- */

struct packing {
    enum precision precision;
    struct packed packed; /* the caller lends the arrays; packing_open() sets the rest */
    size_t first;         /* index of the system's first body in the arrays of the bodies */
    double center[3];
    double length_scale, mass_scale; /* packed = scale x true value; equal masses are packed as 1 */
    double velocity_scale;           /* packed v = scale x true v; only jerks need velocities */
    /* All masses are large enough for kernels that use Newton's third law, which sum terms with m_i
     * m_j and divide by m_i in the end. */
    bool massive;
};

/* Tells whether packed positions are measured from the origin of origin_find(); otherwise they are
 * measured from 0. */
bool packing_has_origin(enum precision precision, const struct physics *physics);

/* Choose the scale of lengths, from the bounds of the three coordinates, the origin if there is
 * one, and the precision; and the scale of masses, from their bounds. */
void packing_scale_lengths(struct packing *packing, const struct physics *physics,
                           const struct bounds box[3], const double origin[3]);
void packing_scale_masses(struct packing *packing, struct bounds m);

/*
 * Create arrays for `length` numbers each. Both may fail with STATUS_MEMORY, and their results are
 * to be destroyed in any case. The arrays of packed_create() have room for doubles whatever the
 * precision, since potentials are computed in double; mixed precision puts high and low parts
 * there.
 */
void packed_create(struct packed *packed, enum precision precision, size_t length,
                   struct error *error);
void packed_destroy(struct packed *packed);
struct sums sums_create(enum precision precision, size_t length, struct error *error);
void sums_destroy(const struct sums *sums);

/* Finds the centre and the scales for system number `system`. The caller has set packing->precision
 * and the arrays of packing->packed. */
void packing_open(struct packing *packing, const struct physics *physics,
                  const struct bodies *bodies, size_t system);

/* Lends the arrays of the bodies themselves, in their own units and with their own softening, to
 * the kernel `portable`, which needs no copy. */
void packing_lend(struct packing *packing, const struct physics *physics,
                  const struct bodies *bodies, size_t system);

/* Packs the masses and positions of a range of the system's bodies. */
void packing_fill(const struct packing *packing, const struct bodies *bodies, struct range range);

/* Pack masses, positions or velocities of a range of the system's bodies, from arrays that begin
 * with the first body of the system. */
void packing_fill_masses(const struct packing *packing, const double *m, struct range range);
void packing_fill_positions(const struct packing *packing, const double *const x[3],
                            struct range range);
void packing_fill_velocities(const struct packing *packing, const double *const v[3],
                             const struct packed *velocity, struct range range);

/* Finds the scale of velocities, by which the greatest component becomes less than 2^-8, so that
 * the jerk of a close pair does not overflow. */
void packing_scale_velocities(struct packing *packing, const double *const v[3], size_t count);

/* Returns the coordinate u, limited to sizes of at most 2^60, so that its square does not overflow;
 * NaN if u is NaN. (Compilers turn this form, which is not the shortest, into vector code.) */
static inline double packing_clamp(double u)
{
    const double farthest = 0x1p60;
    return copysign(fabs(u) > farthest ? farthest : fabs(u), u);
}

/* Return the factors, without G, that turn the sums of kernels into the units of the run: those for
 * accelerations (of m r / r^3), for jerks, and for potentials (of m / r). */
double packing_force_unit(const struct packing *packing);
double packing_jerk_unit(const struct packing *packing);
double packing_potential_unit(const struct packing *packing);

#endif
