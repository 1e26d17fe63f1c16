/*
 * Accelerations and their rates of change (jerks) of those bodies of a system that are due, by all
 * bodies of the system: what Hermite's method of 4th order integrates with. Direct sums by the
 * kernels of the CPU, for a team of OpenMP threads or for one thread. Softening and boundaries are
 * those of model/physics.h; reference_jerk() has the equations.
 *
 * A body's bits depend on the bodies as they are packed alone: not on the threads, nor on which
 * other bodies are due. In single and mixed precision pair terms are fp32 (in mixed from positions
 * and velocities in two parts), and sums over 2048 bodies are added in fp64.
 */
#ifndef ORRERY_FORCE_DIRECT_JERK_H
#define ORRERY_FORCE_DIRECT_JERK_H

#include <stdint.h>

#include "base/status.h"
#include "force/force-options.h"
#include "model/bodies.h"
#include "model/physics.h"

struct jerk; /* opaque: the kernel, and one system as it wants it */

/* For systems of `count` bodies. The kernel "reference" is plain loops in fp64; all others are
 * those of the instruction set. STATUS_MEMORY, STATUS_CONFIG, STATUS_UNAVAILABLE: as
 * force_create(). */
enum status jerk_create(const struct force_options *options, const struct physics *physics,
                        size_t count, struct jerk **jerk, struct error *error);
void jerk_destroy(struct jerk *jerk); /* accepts NULL */

/* The bytes that it will take at most. */
double jerk_bytes(const struct force_options *options, double count);

/* Takes a system: its masses, which are borrowed, and its extent, from which the scales of packing
 * follow. Bodies may go far beyond it before the next call. By one thread. */
void jerk_open(struct jerk *jerk, const struct bodies *bodies, size_t system);

/*
 * Positions and velocities of bodies [first, last) of the system, multiples of BODIES_PADDING, for
 * the sums that follow; x[axis] and v[axis] begin at body 0 and are borrowed until these are done.
 * Threads may divide the bodies.
 */
void jerk_pack(struct jerk *jerk, const double *const x[3], const double *const v[3], size_t first,
               size_t last);

/*
 * a[axis][k] and rate[axis][k], acceleration and jerk of body active[k] for k < count, by all
 * bodies of the system. To be called by every thread of a team of options.threads; starts and ends
 * with a barrier, unless that is 1. Allocates nothing.
 */
void jerk_sum(struct jerk *jerk, const uint32_t *active, size_t count, double *const a[3],
              double *const rate[3]);

/* What was chosen: "reference" or "hermite". */
const char *jerk_kernel(const struct jerk *jerk);

#endif
