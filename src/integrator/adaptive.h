/*
 * Integrators that choose their own steps: they have no list of stages, keep a state from one call
 * to the next, and bring the bodies to the times at which the run observes them, the grid points:
 * multiples of the grid step, the config's time.step. A row of the table in integrator.c names the
 * class of such an integrator. The backends create an object of the class for their bodies and call
 * its advance() in place of the stages; with `cuda` a GPU sums the forces, and `auto` takes the
 * CPU. With several MPI ranks each rank has an object, and rank 0 one more that keeps the state of
 * all systems (backend/rank-work.c). Copies of a simulation by which a run finds its own errors
 * (shadows, trial runs, replays) have backends, and so objects, of their own.
 *
 * An object keeps the promises of the program:
 *   - The results have the same bits for any number of threads, and for a system alone or among
 *     others: every system has its own steps, which depend on nothing but that system.
 *   - The times of observations change no bit: advancing by a grid steps and then by b gives the
 *     bits of advancing by a + b. Observers read bodies->x ... vz at a grid point and leave them
 *     unchanged, but they overwrite bodies->ax, ay, az, which therefore belong to no state.
 *   - After save() and load(), as in a restart, the motion goes on with the same bits as without.
 */
#ifndef ORRERY_INTEGRATOR_ADAPTIVE_H
#define ORRERY_INTEGRATOR_ADAPTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "force/method.h"
#include "model/bodies.h"
#include "model/physics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of different steps that a body under block steps (block-steps.h) can have: the grid
 * step over 2^k with 0 <= k < ADAPTIVE_LEVELS. */
enum { ADAPTIVE_LEVELS = 51 };

struct adaptive_options {
    /* The values of the integrator's own config keys, in the order of its row's variant.parameters;
     * borrowed during create() only. NULL: the defaults of the keys. */
    const double *values;
    /*
     * The factor by which the steps are to be shorter than the config asks for: 1 for the run, 2
     * for copies of it (shadow, replay) that show how the motion depends on the length of the
     * steps. The caller divides the grid step by the factor too. Each integrator changes its own
     * key accordingly: a tolerance, for example, becomes that of steps shorter by the factor.
     */
    double refinement;
    /*
     * The backend's options for the forces: precision, kernel ("reference" for the serial backend),
     * instruction set, and the number of threads, at least 1. The integrator refuses options that
     * it cannot follow with STATUS_CONFIG: 'compute.precision = "single": gauss-radau ...'.
     */
    const struct force_options *force;
    /* The object by which the backend computes the forces on these bodies: `openmp` in teams of
     * force->threads threads, `cuda` on a GPU; borrowed for the life of the integrator's object.
     * NULL for the serial backend. */
    struct force *kernels;
    /* For an integrator with block steps whose bodies are a sample of a larger system: others[k] is
     * the number of bodies outside the sample whose step is the grid step over 2^k. They would move
     * at the same times as the sample's bodies, and count where a decision depends on how many
     * bodies move at one time. Borrowed during create(); NULL: none. */
    const double *others; /* [ADAPTIVE_LEVELS] */
};

/* The work by which one system was moved since the beginning of the run. save() and load() keep it
 * in checkpoints; for integrators that are lists of stages simulation_work_done() computes it. */
struct work_done {
    double steps;        /* steps taken; with block steps the sum of those of each body */
    double bodies;       /* bodies that one step moves: all, or 1 with block steps */
    double rejections;   /* steps that were tried and rejected, not counted in `steps`; NaN if the
                            integrator rejects none */
    double interactions; /* ordered pairs that were summed, also in rejected steps; with fmm those
                            that a direct sum would do in the same time */
    double smallest;     /* smallest step so far, in the unit of time; INFINITY before the first */
    double current;  /* length of the next step; with block steps that of the body with the smallest
                        one */
    int64_t pair[2]; /* ids of the body that asked for the smallest step, and of the body that
                        pulled it most at that time; 0, 0 before the first step */
    double time;     /* time at the end of the last step: the grid point, or a time before it */
    bool stuck;      /* the system cannot go on: advance() has returned STATUS_NUMERICAL */
};

/*
 * The receiver of the arrays that save() puts, and the source from which load() gets them. An array
 * has a name, unique in the object, of at most ADAPTIVE_NAME_SIZE - 1 characters without ':'. It
 * has `rows` rows of `count` words, `stride` words apart in memory; a word is a double or an
 * integer of 64 bits.
 */
enum { ADAPTIVE_NAME_SIZE = 32 };

struct adaptive_writer {
    void *context;
    void (*put)(void *context, const char *name, const void *words, size_t rows, size_t count,
                size_t stride);
};

struct adaptive_reader {
    void *context;
    /* Copies the array of that name to `words`. STATUS_DATA if there is none, or if it has another
     * number of words; STATUS_IO. */
    enum status (*get)(void *context, const char *name, void *words, size_t rows, size_t count,
                       size_t stride, struct error *error);
};

struct adaptive; /* the first member of the struct of every integrator that chooses its own steps */

struct adaptive_class {
    /* true: the integrator works with every force method that can sum the accelerations of some
     * bodies alone (force/jerk.h). false: it also needs rates of change, or all pairs, and works
     * with direct sums only. */
    bool takes_any_method;
    /*
     * Creates an object. Every system begins with its bodies as they are, at 0 grid steps. Borrows
     * physics and bodies until destroy(); allocates all memory that steps need. STATUS_CONFIG for
     * force options that the integrator refuses; STATUS_MEMORY. The first evaluation of the force
     * is left to the first advance().
     */
    enum status (*create)(const struct adaptive_options *options, const struct physics *physics,
                          struct bodies *bodies, struct adaptive **adaptive, struct error *error);
    /*
     * Advances by `steps` grid steps of dt: on return the positions and velocities of a system are
     * those at t = (number of its grid steps so far) dt. dt is the same in all calls for one
     * object. Called by one thread, outside any parallel region. STATUS_NUMERICAL, with the names
     * of system and bodies, if a step falls below the least that the integrator allows or a force
     * is not finite; the other systems then still reach the grid point.
     */
    enum status (*advance)(struct adaptive *adaptive, double dt, uint64_t steps,
                           struct error *error);
    /* Hands to `writer` all that load() needs in addition to the bodies at the grid point; this
     * includes the counts for statistics(). */
    void (*save)(const struct adaptive *adaptive, const struct adaptive_writer *writer);
    /* Loads a saved state into a new object with the same options, whose bodies already are those
     * at the grid point of save(). */
    enum status (*load)(struct adaptive *adaptive, const struct adaptive_reader *reader,
                        struct error *error);
    /* Makes system `to_system`, whose bodies are copies already, go on like `from_system` of the
     * object `from`, with its number of grid steps and its statistics. Both have the same number of
     * bodies, but the refinement and the force may differ. Does not read the physics and bodies
     * that `from` has borrowed, so they may have been freed. */
    void (*copy_system)(struct adaptive *to, size_t to_system, const struct adaptive *from,
                        size_t from_system);
    void (*statistics)(const struct adaptive *adaptive, size_t system,
                       struct work_done *statistics);
    /* Sets levels[k] to the number of bodies of a system whose next step is the grid step over 2^k;
     * all are 0 before the first step. NULL: the integrator has no block steps. */
    void (*count_levels)(const struct adaptive *adaptive, size_t system,
                         double levels[ADAPTIVE_LEVELS]);
    /* Returns the name of the kernel that sums the forces, such as "hermite", for run.json. NULL:
     * the kernel is that of the backend. */
    const char *(*kernel)(const struct adaptive *adaptive);
    /* Returns the most bytes that an object takes for `systems` systems of `count` bodies. */
    double (*bytes)(const struct force_options *force, double systems, double count);
    void (*destroy)(struct adaptive *adaptive); /* accepts NULL */
};

struct adaptive {
    const struct adaptive_class *class_;
};

#ifdef __cplusplus
}
#endif

#endif
