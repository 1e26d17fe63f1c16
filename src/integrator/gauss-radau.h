/*
 * Gauss-Radau quadrature of 15th order with steps that follow the motion: Everhart (1985), Rein &
 * Spiegel (2015, MNRAS 446, 1424), Pham, Rein & Spiegel (2024, OJAp 7, 1).
 *
 *   gauss-radau.c                 all systems of a run, and what steps are chosen by
 *   gauss-radau-step.inc          the arithmetic of a step; a table says which letter of the papers
 *                                 stands where
 *   gauss-radau-large.c           one system of many bodies, with the force as a callback, and the
 *                                 threads that take such systems
 *   gauss-radau-kernel.c          systems of few bodies in vectors, and their forces
 *   gauss-radau-slots.inc         which system a slot moves, and by which step; a part of the
 * kernel gauss-radau-coefficients.inc  numbers, which gauss-radau-coefficients.py makes
 *
 * Within a step the acceleration is a0 plus a polynomial of degree 7 in h = (t - t0) / dt, which
 * goes through the accelerations at seven nodes. Its coefficients are kept in two bases: b_k of
 * h^(k+1), from which those of the next step are predicted, and g_k of Newton's products h (h -
 * h_1) ... (h - h_(k-1)), each divided by its value at node k. In that basis a new acceleration
 * at node n changes g_n alone: g_n = f_n - sum over k < n of basis[n][k] g_k, where f_n = a_n - a0.
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
    RADAU_NODES = 7, /* beside the start of the step */
    RADAU_TERMS = 7,
    RADAU_RATES = 4,  /* acceleration, jerk, snap, crackle */
    RADAU_PASSES = 12 /* of predictor and corrector, at most */
};

extern const struct adaptive_class gauss_radau_class;

enum { GAUSS_RADAU_PARAMETERS = 2 };
extern const struct parameter gauss_radau_parameters[GAUSS_RADAU_PARAMETERS];

/* --- numbers ---------------------------------------------------------------------------------- */

/* All of them belong to the nodes as doubles have them; node n is at index n - 1, as is g_n. */
struct radau_coefficients {
    double h[RADAU_NODES];
    double basis[RADAU_NODES][RADAU_TERMS];          /* of g_k at node n, k < n */
    double path[RADAU_NODES][RADAU_TERMS];           /* of g_k, integrated twice to node n */
    double end[RADAU_RATES][RADAU_TERMS];            /* of g_k at h = 1, and of its derivatives */
    double in_v[RADAU_NODES], in_v_low[RADAU_NODES]; /* weights of f_n in v, with their rest */
    double in_x[RADAU_NODES], in_x_low[RADAU_NODES]; /* and in x */
    double c[RADAU_TERMS][RADAU_TERMS];              /* b_j = sum over k >= j of c[j][k] g_k */
    double d[RADAU_TERMS][RADAU_TERMS];              /* g_k = sum over j >= k of d[k][j] b_j */
    /* C(k + 1, j + 1): what h^(k+1) about one end of a step is about the other */
    double binomial[RADAU_TERMS][RADAU_TERMS];
};

extern const struct radau_coefficients radau;

/* The arrays of a system that last from step to step, each of three axes of `stride` numbers. */
enum radau_array {
    RADAU_X, /* x + csx is the position: what an addition has lost is added with the next */
    RADAU_CSX,
    RADAU_V,
    RADAU_CSV,
    RADAU_A,                          /* a0, where it is known */
    RADAU_B,                          /* b_0 ... b_6 of the last step */
    RADAU_BE = RADAU_B + RADAU_TERMS, /* by how much they differed from what was predicted */
    RADAU_ARRAYS = RADAU_BE + RADAU_TERMS
};

struct radau_system {
    size_t count, stride;
    double *arrays; /* [RADAU_ARRAYS][3][stride]; padding is 0 */
    struct adaptive_clock *clock;
};

/* The scratch of a step while it is tried. */
struct radau_scratch {
    double *terms;       /* [RADAU_SCRATCH_ARRAYS][3][stride]: g, f and e */
    double *x[3], *a[3]; /* positions for the force, and what it gives */
};

enum { RADAU_SCRATCH_ARRAYS = 3 * RADAU_TERMS };

/* The constants of the problem. Borrowed by whoever takes steps. */
struct radau_problem {
    const struct physics *physics;
    const double *m; /* of the system's bodies */
    double grid;     /* the grid step; see radau_floor() */
};

/* Returns the state of system s, whose grid steps are dt long. */
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

/* [3][stride] */
static inline double *radau_array_of(const struct radau_system *system, size_t array)
{
    return system->arrays + array * 3 * system->stride;
}

/* --- one system of any number of bodies ------------------------------------------------------- */

/*
 * One thread's share of a system. All threads of a team call alike, each with its own bodies
 * [first, last) and a clock of its own; a thread alone has [0, count), and NULL for what makes a
 * team agree.
 */
struct radau_worker {
    size_t first, last;
    struct radau_scratch scratch;
    double length; /* of a step, in units of the time scale */
    void *context;
    /* scratch.a from scratch.x, of all bodies; by the whole team, which has written before it. */
    void (*force)(void *context);
    /* To all: the larger ones of two numbers; the least number with the body that it belongs to,
     * the first of equal ones. */
    void (*largest)(void *context, double values[2]);
    void (*least)(void *context, double *value, size_t *body);
    void (*wait)(void *context);
};

/* (5040 eps)^(1/7), the length of steps with the accuracy eps. */
double radau_length(double accuracy);

/* Clears the clock, and chooses the first step to try: a small part of the time scale of the
 * fastest pair; 1 where no pair has one. */
void radau_begin(const struct radau_system *system, const struct radau_problem *problem);

/* Takes as many steps as end at `target` or before; with `land` one more, which ends there. */
enum adaptive_outcome radau_advance(const struct radau_worker *worker,
                                    const struct radau_system *system,
                                    const struct radau_problem *problem, double target, bool land);

/* --- what steps are chosen by ----------------------------------------------------------------- */

/* A step of dt has been taken. */
void radau_tick(struct adaptive_clock *clock, double dt);

/* Time from here to the target. */
double radau_left(const struct adaptive_clock *clock, double target);

/* Steps below it would add nothing to a time that has one double only. */
double radau_floor(const struct adaptive_clock *clock, double grid);

/* Is b_6 as it will be, or as near to it as it gets? `change` is that of a pass, in units in which
 * accelerations have the size `size`; `before` that of the pass before. */
bool radau_converged(int pass, double change, double before, double size);

/* An acceleration smaller than the largest one by this factor is a remainder of forces that
 * cancel: it has no digits of which a time scale could be made. */
#define RADAU_CANCELLED 1e-14

/* The step after one of dt, at whose end the time scale is the root of `scale`, in units of dt. */
double radau_next(double dt, double scale, double length);
/* Tells whether the step should have been so much shorter that it is tried again. */
bool radau_rejects(double dt, double next);

/* The step of dt, which is the smallest so far, is that of the body clock->limiting: remembers it
 * with the body that pulls it most. */
void radau_remember_smallest(struct adaptive_clock *clock, const struct physics *physics,
                             const struct reference_motion *motion, double dt);

/* --- all systems of many bodies --------------------------------------------------------------- */

/*
 * As many systems as there are threads, or more: each
 * thread takes whole systems. Fewer: the team takes one after the other, and every thread has its
 * own bodies of it. What is observed at a grid point is reached by a step of a copy of the
 * system's state, so that the motion knows nothing of it.
 */
struct radau_large;

/* Memory for steps of the systems' bodies, whose arrays and clocks are borrowed, as are the
 * kernels; NULL in their place: the reference. `length` is that of struct radau_worker. NULL with
 * STATUS_MEMORY. */
struct radau_large *radau_large_create(const struct adaptive_systems *systems,
                                       struct force *kernels, int threads, double length,
                                       struct error *error);
void radau_large_destroy(struct radau_large *all);

/* Every system to its grid point, clock->grid steps of dt from the start, where it is shown in the
 * arrays of the bodies. clock->stuck says whether it has failed. */
void radau_large_advance(struct radau_large *all, double dt);

/* --- systems of few bodies -------------------------------------------------------------------- */

/*
 * With the widest vectors of an instruction set: a system in each lane, with its own steps, or the
 * bodies of one system in the lanes. Both do the same operations in the same order, so that a
 * system has the same bits alone and among others, and may change from a lane to all of them
 * between any two steps.
 */
/* Bodies up to which a system is small, and lanes that an instruction set has at most. */
enum { RADAU_SMALL = 32, RADAU_LANES = 8 };

/* The systems of a run that all threads share, to be taken one after the other. */
struct radau_batch {
    struct adaptive_systems *systems;
    double length, dt;   /* of steps, see struct radau_worker; the grid step */
    const size_t *which; /* [count] systems to take; NULL: the first `count` */
    size_t count, next;  /* next: of them that nobody has taken */
    /* [threads * RADAU_LANES] Systems that were still on their way when nothing was left to take
     * and few lanes were busy: they are moved alone faster. Used with `lanes` only. */
    size_t *deferred;
    size_t deferred_count;
};

struct radau_kernels {
    const char *isa; /* as force->isa names it */
    /*
     * To be called by every thread, each with radau_workspace() reals: takes systems until
     * there are no more, each to its grid point, and shows it there, but for those that are left
     * deferred. `lanes`: a system to each; otherwise one at a time. clocks->stuck says whether it
     * has failed.
     */
    void (*advance)(struct radau_batch *batch, double *work, bool lanes);
};

/* Numbers in a thread's workspace, aligned as memory_array() does it. */
size_t radau_workspace(size_t count, size_t stride);

#define DECLARED(registers) extern const struct radau_kernels radau_##registers;
FORCE_ISA_REGISTERS(DECLARED)
#undef DECLARED

#endif
