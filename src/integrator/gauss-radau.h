/*
 * Gauss-Radau quadrature of 15th order with steps that follow the motion: Everhart (1985), Rein &
 * Spiegel (2015, MNRAS 446, 1424), Pham, Rein & Spiegel (2024, OJAp 7, 1). Here is the method for
 * one system, over any range of its bodies, with the force as a callback; the systems of a run, and
 * the kernels for small ones, are in gauss-radau-systems.c and gauss-radau-kernel.c.
 *
 * Within a step the acceleration is a0 plus a polynomial of degree 7 in h = (t - t0) / dt, which
 * goes through the accelerations at seven nodes. Its coefficients are kept in two bases: b_k of
 * h^(k+1), from which those of the next step are predicted, and q_k of Newton's products h (h -
 * h_1) ... (h - h_k), each divided by its value at the next node. In that basis a new acceleration
 * at node n changes q_n alone: q_n = f_n - sum over k < n of basis[n][k] q_k, where f_n = a_n - a0.
 */
#ifndef ORRERY_INTEGRATOR_GAUSS_RADAU_H
#define ORRERY_INTEGRATOR_GAUSS_RADAU_H

#include <stdbool.h>
#include <stddef.h>

#include "integrator/adaptive-systems.h"

enum {
    RADAU_NODES = 7, /* beside the start of the step */
    RADAU_TERMS = 7,
    RADAU_RATES = 4,  /* acceleration, jerk, snap, crackle */
    RADAU_PASSES = 12 /* of predictor and corrector, at most */
};

/* All of them belong to the nodes as doubles have them; node n is at index n - 1, as is q_n. */
struct radau_coefficients {
    double node[RADAU_NODES];
    double basis[RADAU_NODES][RADAU_TERMS];          /* of q_k at node n, k < n */
    double path[RADAU_NODES][RADAU_TERMS];           /* of q_k, integrated twice to node n */
    double end[RADAU_RATES][RADAU_TERMS];            /* of q_k at h = 1, and of its derivatives */
    double in_v[RADAU_NODES], in_v_low[RADAU_NODES]; /* weights of f_n in v, with their rest */
    double in_x[RADAU_NODES], in_x_low[RADAU_NODES]; /* and in x */
    double powers[RADAU_TERMS][RADAU_TERMS];         /* b_j = sum over k >= j of powers[j][k] q_k */
    double newton[RADAU_TERMS][RADAU_TERMS];         /* q_k = sum over j >= k of newton[k][j] b_j */
    /* C(k + 1, j + 1): what h^(k+1) about one end of a step is about the other */
    double binomial[RADAU_TERMS][RADAU_TERMS];
};

extern const struct radau_coefficients radau;

/* What is kept of a system from step to step: so many arrays of three axes of `stride` numbers. */
enum radau_array {
    RADAU_X, /* x + x_low is the position: what an addition has lost is added with the next */
    RADAU_X_LOW,
    RADAU_V,
    RADAU_V_LOW,
    RADAU_A,                         /* a0, where it is known */
    RADAU_B,                         /* b_0 ... b_6 of the last step */
    RADAU_C = RADAU_B + RADAU_TERMS, /* by how much they differed from what was predicted */
    RADAU_ARRAYS = RADAU_C + RADAU_TERMS
};

struct radau_system {
    size_t count, stride;
    double *arrays; /* [RADAU_ARRAYS][3][stride]; padding is 0 */
    struct adaptive_clock *clock;
};

/* What a step needs while it is tried. */
struct radau_scratch {
    double *q, *f, *e;   /* [7][3][stride]: q, f, and the b that were predicted without C */
    double *x[3], *a[3]; /* positions for the force, and what it gives */
};

enum { RADAU_SCRATCH_ARRAYS = 3 * RADAU_TERMS };

/* What does not change. Borrowed by whoever takes steps. */
struct radau_problem {
    const struct physics *physics;
    const double *m; /* of the system's bodies */
    double grid;     /* the grid step; see radau_floor() */
};

/* Of system s, whose grid steps are dt long. */
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

/* Evaluates the force at the start of the next step, unless it is known. */
void radau_know_force(const struct radau_worker *worker, const struct radau_system *system);

/* Takes as many steps as end at `target` or before; with `land` one more, which ends there. */
enum adaptive_outcome radau_advance(const struct radau_worker *worker,
                                    const struct radau_system *system,
                                    const struct radau_problem *problem, double target, bool land);

/* --- what the kernels for small systems decide by, too --- */

/* A step of dt has been taken. */
void radau_tick(struct adaptive_clock *clock, double dt);

/* Time from here to the target. */
double radau_left(const struct adaptive_clock *clock, double target);

/* Steps below it would add nothing to a time that has one double only. */
double radau_floor(const struct adaptive_clock *clock, double grid);

/* Is b_6 as it will be, or as near to it as it gets? `change` is that of a pass, in units in which
 * accelerations have the size `size`; `before` that of the pass before. */
bool radau_converged(int pass, double change, double before, double size);

/* An acceleration so many times smaller than the largest one is what forces left over that cancel:
 * it has no digits of which a time scale could be made. */
#define RADAU_CANCELLED 1e-14

/* The step after one of dt, at whose end the time scale is the root of `scale`, in units of dt. */
double radau_next(double dt, double scale, double length);
/* Should the step have been so much shorter that it is tried again? */
bool radau_rejects(double dt, double next);

#endif
