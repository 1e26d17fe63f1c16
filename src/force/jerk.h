/*
 * Accelerations of some bodies of a system, by all bodies of the system, for integrators with block
 * steps: of the bodies that are due, those whose steps end at the present time. Hermite's method of
 * 4th order also needs the jerks, the rates of change of these accelerations. The method of the
 * force (method.h) finds them, with a team of OpenMP threads or with one thread. Softening and
 * boundaries are those of model/physics.h; reference_jerk() has the equations.
 *
 * The bits of a body's acceleration and jerk depend on the bodies as they are packed, on the
 * tolerance (below) and on whether few bodies are due, but not on the threads, nor on which other
 * bodies are due.
 */
#ifndef ORRERY_FORCE_JERK_H
#define ORRERY_FORCE_JERK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "force/force-options.h"
#include "model/bodies.h"
#include "model/physics.h"

/*
 * The motion of the bodies of a system between the ends of their steps, for methods that predict it
 * where they sum, as a GPU does: x + h v or, with jerks, the polynomials at the end of this header
 * in h = (now - time) tick. Arrays have one number for each body.
 */
struct jerk_motion {
    const double *x[3], *v[3];    /* the state of each body at its `time` */
    const double *a[3], *jerk[3]; /* used with jerks only */
    const double *time;           /* in units of `tick`, as `now` is */
    double now, tick;
};

struct jerk; /* the first member of every method's own struct, which holds one system */

/* The functions of a method, with the contracts of the functions jerk_create(), ... below, which
 * call them. */
struct jerk_class {
    enum status (*create)(const struct force_options *options, const struct physics *physics,
                          size_t count, bool rates, struct jerk **jerk, struct error *error);
    double (*bytes)(const struct force_options *options, double count);
    void (*open)(struct jerk *jerk, const struct bodies *bodies, size_t system);
    void (*pack)(struct jerk *jerk, const double *const x[3], const double *const v[3],
                 size_t first, size_t last);
    bool (*predict)(struct jerk *jerk, const struct jerk_motion *motion, const uint32_t *active,
                    size_t count); /* NULL: the method sums for packed bodies only */
    void (*sum)(struct jerk *jerk, const uint32_t *active, size_t count, double *const a[3],
                double *const rate[3]);
    void (*destroy)(struct jerk *jerk);
};

struct jerk {
    const struct jerk_class *class_;
    const char *kernel; /* the chosen kernel: "reference", "hermite", "due" (no jerks), "fmm" */
    double work; /* work for each due body in the last sum, over that in a sum over all pairs */
    /* How coarse the sums of an approximate method are. The method finds the tolerance in a sum for
     * all bodies, and keeps it for the sums for fewer bodies until the next sum for all. It belongs
     * to the state of the system: after jerk_open() the caller sets it to its value after the last
     * sum of the system, or to 0 if that is not known; then a later sum finds it. Direct sums do
     * not use it. */
    double tolerance;
    struct error failure; /* why a sum failed, if it is one on a device; sums are NaN then */
};

/* Creates the sums for systems of `count` bodies, with jerks if `rates`. The kernel "reference" is
 * plain loops in fp64; all others are those of the instruction set. STATUS_MEMORY; STATUS_CONFIG,
 * STATUS_UNAVAILABLE: as force_create(), or because the method has no jerks. */
enum status jerk_create(const struct force_options *options, const struct physics *physics,
                        size_t count, bool rates, struct jerk **jerk, struct error *error);

/* Returns the most bytes that jerk_create() allocates for systems of `count` bodies. */
double jerk_bytes(const struct force_options *options, double count);

/* Destroys what jerk_create() made; accepts NULL. */
static inline void jerk_destroy(struct jerk *jerk)
{
    if (jerk)
        jerk->class_->destroy(jerk);
}

/* Makes `system` the system whose forces are summed next: takes its masses, which are borrowed, and
 * its extent, from which the units of the kernels follow. Bodies may go far beyond the extent
 * before the next call. One thread calls it. */
static inline void jerk_open(struct jerk *jerk, const struct bodies *bodies, size_t system)
{
    jerk->class_->open(jerk, bodies, system);
}

/*
 * Packs the positions and velocities of the bodies [first, last) of the system, multiples of
 * BODIES_PADDING: copies them into the form in which the sums that follow read them. x[axis] and
 * v[axis] begin at body 0 and are borrowed until these sums are done. Without jerks velocities are
 * not used. Threads may divide the bodies.
 */
static inline void jerk_pack(struct jerk *jerk, const double *const x[3], const double *const v[3],
                             size_t first, size_t last)
{
    jerk->class_->pack(jerk, x, v, first, last);
}

/*
 * Takes the place of jerk_pack() if the method itself predicts the bodies from their motion;
 * returns false if it does not. The method begins with the sums for the bodies `active`, for which
 * jerk_sum() then waits. Since the last such call after jerk_open(), `motion` may have changed for
 * the bodies that were active then, and all of these now have one time; after jerk_open() this
 * holds for all bodies. Every thread of the team calls.
 */
static inline bool jerk_predict(struct jerk *jerk, const struct jerk_motion *motion,
                                const uint32_t *active, size_t count)
{
    return jerk->class_->predict && jerk->class_->predict(jerk, motion, active, count);
}

/*
 * Sums a[axis][k] and rate[axis][k], acceleration and jerk of body active[k] for k < count, by all
 * bodies of the system; `rate` is not used if there are no jerks. Every thread of a team of
 * options.threads calls; the call starts and ends with a barrier, unless there is one thread only.
 * Allocates nothing.
 */
static inline void jerk_sum(struct jerk *jerk, const uint32_t *active, size_t count,
                            double *const a[3], double *const rate[3])
{
    jerk->class_->sum(jerk, active, count, a, rate);
}

/* --- prediction ------------------------------------------------------------------------------- */

/*
 * The prediction of a body by Hermite's method (Makino & Aarseth 1992, PASJ 44, 141, eq. 1 and 2),
 * for CPUs and for the kernels of a GPU, which get the same bits: position and velocity at the time
 * h after that of x, v, acceleration a and jerk.
 */

/* Returns x + h v + h^2/2 a + h^3/6 jerk. */
DEVICE_INLINE double predicted_position(double x, double v, double a, double jerk, double h)
{
    return x + h * (v + h * (0.5 * a + h * (1.0 / 6) * jerk));
}

/* Returns v + h a + h^2/2 jerk. */
DEVICE_INLINE double predicted_velocity(double v, double a, double jerk, double h)
{
    return v + h * (a + h * 0.5 * jerk);
}

#endif
