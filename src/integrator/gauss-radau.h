/*
 * Gauss-Radau quadrature of 15th order with steps that follow the motion: Everhart (1985), Rein &
 * Spiegel (2015, MNRAS 446, 1424), Pham, Rein & Spiegel (2024, OJAp 7, 1).
 *
 *   gauss-radau.c                 all systems of a run, and the choice of the lengths of steps
 *   gauss-radau-step.inc          the arithmetic of a step, with a table of the papers' letters and
 *                                 the names here
 *   gauss-radau-system.c          steps of one system of any number of bodies, with the force as a
 *                                 callback
 *   gauss-radau-large.c           distributes such systems: one to each thread, or one to all
 *   gauss-radau-kernel.c          systems of few bodies in vectors, and their forces
 *   gauss-radau-slots.inc         a part of the kernel: which system a slot moves, and by which
 *                                 step
 *   gauss-radau-coefficients.inc  numbers, which gauss-radau-coefficients.py makes
 *
 * Within a step the acceleration is a0 plus a polynomial of degree 7 in h = (t - t0) / dt, which
 * goes through the accelerations at seven nodes. Its coefficients are kept in two bases: b_k of
 * h^(k+1), from which those of the next step are predicted, and g_k of Newton's products h (h -
 * h_1) ... (h - h_(k-1)), each divided by its value at node k. In that basis a new acceleration at
 * node n changes g_n alone: g_n = f_n - sum over k < n of basis[n][k] g_k, where f_n = a_n - a0.
 */
#ifndef ORRERY_INTEGRATOR_GAUSS_RADAU_H
#define ORRERY_INTEGRATOR_GAUSS_RADAU_H

#include <stdbool.h>
#include <stddef.h>

#include "config/parameter.h"
#include "force/direct/reference.h"
#include "force/isa.h"
#include "integrator/adaptive-systems.h"

enum {
    RADAU_NODES = 7, /* nodes in addition to the start of the step */
    RADAU_TERMS = 7,
    RADAU_RATES = 4,  /* the acceleration and its first three derivatives: jerk, snap, crackle */
    RADAU_PASSES = 12 /* most passes of predictor and corrector in one step */
};

extern const struct adaptive_class gauss_radau_class;

enum { GAUSS_RADAU_PARAMETERS = 2 };
extern const struct parameter gauss_radau_parameters[GAUSS_RADAU_PARAMETERS];

/* --- numbers ---------------------------------------------------------------------------------- */

/* The coefficients of the method, for the nodes as rounded to double. The entries for node n, and
 * for g_n and its Newton product (see the head of this file), have the index n - 1; b_k has the
 * index k. */
struct radau_coefficients {
    double h[RADAU_NODES];
    double basis[RADAU_NODES][RADAU_TERMS]; /* value of g_k's product at node n; 0 for k >= n */
    double speed[RADAU_NODES][RADAU_TERMS]; /* integral of g_k's product from 0 to node n */
    double path[RADAU_NODES][RADAU_TERMS];  /* double integral of that product */
    double end[RADAU_RATES][RADAU_TERMS];   /* products and their derivatives at h = 1 */
    double in_v[RADAU_NODES], in_v_low[RADAU_NODES]; /* weights of f_n in v at the end of a step,
                                                        and what rounding took from the weights */
    double in_x[RADAU_NODES], in_x_low[RADAU_NODES]; /* the same for x */
    double c[RADAU_TERMS][RADAU_TERMS];              /* b_j = sum over k > j of c[j][k - 1] g_k */
    double d[RADAU_TERMS][RADAU_TERMS]; /* g_k = sum over j >= k - 1 of d[k - 1][j] b_j */
    /* Binomial coefficients C(k + 1, j + 1): they expand h^(k+1) about the end of a step. */
    double binomial[RADAU_TERMS][RADAU_TERMS];
};

extern const struct radau_coefficients radau;

/* The arrays of a system that are kept from step to step, each of [3][stride] numbers: axes, then
 * bodies with their padding. */
enum radau_array {
    RADAU_X, /* x + csx is the position: csx is the rounding error of x, which the next step adds */
    RADAU_CSX,
    RADAU_V,
    RADAU_CSV,
    RADAU_A, /* a0, the accelerations at the start of the next step; valid if clock->known */
    RADAU_B, /* b_0 ... b_6 of the last step */
    RADAU_BE = RADAU_B + RADAU_TERMS, /* how much b_0 ... b_6 differed from their prediction */
    RADAU_ARRAYS = RADAU_BE + RADAU_TERMS
};

struct radau_system {
    size_t count, stride;
    double *arrays; /* [RADAU_ARRAYS][3][stride]; padding is 0 */
    struct adaptive_clock *clock;
};

/* The scratch memory of a step. */
struct radau_scratch {
    double *terms;       /* [RADAU_SCRATCH_ARRAYS][3][stride]: g_k, f_n and the predicted b_k */
    double *x[3], *a[3]; /* positions at which the force is evaluated; accelerations there */
    double *v[3];        /* velocities, if the force depends on them; otherwise NULL */
};

enum { RADAU_SCRATCH_ARRAYS = 3 * RADAU_TERMS };

/* The constants of a system's motion, borrowed for its steps. */
struct radau_problem {
    const struct physics *physics;
    const double *m; /* masses of the system's bodies */
    double grid;     /* length of a grid step, for radau_floor() */
};

/* Return the state of system s, and the constants of its motion; dt is the length of a grid
 * step. */
static inline struct radau_system radau_system_at(const struct adaptive_systems *all, size_t s)
{
    return (struct radau_system){ all->bodies->count, all->bodies->stride,
                                  adaptive_systems_arrays(all, s), &all->clocks[s] };
}

static inline struct radau_problem radau_problem_at(const struct adaptive_systems *all, size_t s,
                                                    double dt)
{
    return (struct radau_problem){ all->physics, all->bodies->m + s * all->bodies->stride, dt };
}

/* Returns array number `array` (enum radau_array) of a system: [3][stride]. */
static inline double *radau_array_of(const struct radau_system *system, size_t array)
{
    return system->arrays + array * 3 * system->stride;
}

/* --- one system of any number of bodies ------------------------------------------------------- */

/* The share of one thread in the steps of one system. All threads of a team make the same calls,
 * each with its own bodies [first, last) and its own copy of the clock. A thread that works alone
 * has the bodies [0, count). */
struct radau_worker {
    size_t first, last;
    struct radau_scratch scratch;
    double length; /* length of a step in units of the shortest time scale of the motion */
    void *context;
    /* Computes the accelerations scratch.a of all bodies at the positions scratch.x. The whole team
     * calls it after each thread has written the positions of its bodies. */
    void (*force)(void *context);
    /* Exchange results among the threads of a team (NULL for a thread alone): largest() replaces
     * each of the two values by the largest of all threads; least() replaces *value by the least of
     * all threads, and *body by the body that it belongs to (of equal values, that of the first
     * thread); wait() is a barrier. */
    void (*largest)(void *context, double values[2]);
    void (*least)(void *context, double *value, size_t *body);
    void (*wait)(void *context);
};

/* Returns the length of steps in units of the time scale of the motion (radau_next()), for the
 * config's time.accuracy eps: (5040 eps)^(1/7). */
double radau_length(double accuracy);

/* Clears the clock, and sets the first step to try: a small fraction of the shortest time scale of
 * a pair or of the fields; 1 if there is none. */
void radau_begin(const struct radau_system *system, const struct radau_problem *problem);

/* Evaluates the force at the start of the next step, unless clock->known says that it is known. */
void radau_know_force(const struct radau_worker *worker, const struct radau_system *system);

/* Takes all steps that end at the time `target` or before. With `land` it takes one more, shortened
 * so that it ends at `target`. */
enum adaptive_outcome radau_advance(const struct radau_worker *worker,
                                    const struct radau_system *system,
                                    const struct radau_problem *problem, double target, bool land);

/* --- the choice of steps ---------------------------------------------------------------------- */

/* Advances the clock by a step of dt that has been taken. */
void radau_tick(struct adaptive_clock *clock, double dt);

/* Returns the time that is left from the clock's time to the time `target`. */
double radau_left(const struct adaptive_clock *clock, double target);

/* Returns the smallest step that is allowed: about the rounding error of the time in one double, or
 * of the grid step if that is longer. */
double radau_floor(const struct adaptive_clock *clock, double grid);

/* Tells whether the passes of a step can end: if b_6, the last coefficient, has converged or comes
 * no nearer, or after RADAU_PASSES passes. `change` and `before` are the changes of b_6 in this
 * pass and in the one before; `size` is the size of accelerations, in the same units. */
bool radau_converged(int pass, double change, double before, double size);

/* The least acceleration from which a time scale is computed, relative to the largest one of the
 * system. A smaller one is the rounding error of forces that cancel, and has no correct digits. */
#define RADAU_CANCELLED 1e-14

/* The least acceleration of a body relative to the sum of the sizes of the pulls of external fields
 * on it: a smaller one is the rounding error of fields that cancel. This limit is larger because
 * the derivatives at the end of a step have some 5000 times the rounding errors of forces
 * (radau.end). */
#define RADAU_FIELDS_CANCELLED 1e-10

/* Returns the length of the step that follows one of dt. `scale` is the square of the shortest time
 * scale of the motion at the end of that step, in units of dt; `length` is that of struct
 * radau_worker. */
double radau_next(double dt, double scale, double length);
/* Tells whether `next` is so much shorter than dt that the step of dt is to be rejected and tried
 * again with the length `next`. */
bool radau_rejects(double dt, double next);

/* Notes that the step of dt is the smallest so far, with the body that asked for it
 * (clock->limiting) and the one that pulls that body most. */
void radau_remember_smallest(struct adaptive_clock *clock, const struct physics *physics,
                             const struct reference_motion *motion, double dt);

/* --- all systems of many bodies --------------------------------------------------------------- */

/*
 * If there are at least as many systems as threads, each thread moves whole systems. If there are
 * fewer, the team moves one system after the other, and each thread has its own bodies of it. The
 * last step to a grid point is taken by a copy of the system's state, so that observations do not
 * change the motion.
 */
struct radau_large;

/* Allocates the memory for steps of the systems. Their arrays and clocks are borrowed, as is
 * `kernels`, which computes the forces (NULL: reference.h does). `length` is that of struct
 * radau_worker. Returns NULL with STATUS_MEMORY. */
struct radau_large *radau_large_create(const struct adaptive_systems *systems,
                                       struct force *kernels, int threads, double length,
                                       struct error *error);
void radau_large_destroy(struct radau_large *all);

/* Moves every system to its grid point, at clock->grid steps of dt, and copies its state there into
 * the arrays of the bodies. clock->stuck says whether the system has failed. */
void radau_large_advance(struct radau_large *all, double dt);

/* --- systems of few bodies -------------------------------------------------------------------- */

/*
 * The kernels use the widest vectors of an instruction set: either each lane of a vector has a
 * system with its own steps, or the lanes have the bodies of one system. Both ways do the same
 * operations in the same order, so a system has the same bits alone and among others, and may
 * change from one lane to all lanes between two steps.
 */
/* The most bodies of a small system, and the most lanes (doubles in a vector) of an instruction
 * set. */
enum { RADAU_SMALL = 32, RADAU_LANES = 8 };

/* The systems of a run, which all threads share: a thread that has no system takes the next one
 * that is left. */
struct radau_batch {
    struct adaptive_systems *systems;
    double length, dt;   /* `length` is that of struct radau_worker, `dt` the grid step */
    const size_t *which; /* [count] indices of systems; NULL: the first `count` */
    size_t count, next;  /* number of systems, and number of those that have been taken */
    /* [threads * RADAU_LANES] Indices of systems that advance() with `lanes` has left before the
     * grid point, since no other systems were left for the remaining lanes; a second call moves
     * them one at a time, which is faster then. */
    size_t *deferred;
    size_t deferred_count;
};

struct radau_kernels {
    const char *isa; /* name of the instruction set, such as "avx512" */
    /* Takes systems of the batch until none is left, moves each to its grid point, and copies its
     * state there into the arrays of the bodies; puts late ones into `deferred` instead. Every
     * thread calls it, each with `work` of radau_workspace() doubles. `lanes`: each lane has a
     * system; otherwise systems are moved one at a time. clock->stuck says whether a system has
     * failed. */
    void (*advance)(struct radau_batch *batch, double *work, bool lanes);
};

/* Returns the number of doubles in a thread's workspace, which memory_array() allocates, for
 * systems of `count` bodies with their padding to `stride`. */
size_t radau_workspace(size_t count, size_t stride);

#define DECLARED(registers) extern const struct radau_kernels radau_##registers;
FORCE_ISA_REGISTERS(DECLARED)
#undef DECLARED

#endif
