/*
 * Block steps of one system: every body has a step of its own, the grid step over a power of two.
 * Those that are due at the same time make a block, and at grid points all bodies are due. What the
 * bodies of a block do is the integrator's, a struct block_method.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_STEPS_H
#define ORRERY_INTEGRATOR_BLOCK_STEPS_H

#include "base/barrier.h"
#include "force/direct/reference.h"
#include "force/jerk.h"
#include "integrator/adaptive-systems.h"

/* Halvings of the grid step, at most: a body that asks for a shorter step ends the run. Times in
 * units of that step are exact in a double. */
enum { BLOCK_DEEPEST = ADAPTIVE_LEVELS - 1 };

/* The shortest steps in a grid step. */
#define BLOCK_TICKS ((double)(UINT64_C(1) << BLOCK_DEEPEST))

/* Returns dt over the least power of two that makes it no longer than what is wanted; 0: none
 * does. */
double block_round_step(double dt, double wanted);

/* One system: bodies, and the state that a grid step leaves beside them. Arrays of `count` numbers;
 * jerk and low are those of methods with jerks, otherwise NULL. */
struct block_system {
    size_t count;
    size_t index;           /* in the bodies */
    double *x[3], *v[3];    /* of the bodies */
    double *low[3];         /* what x lacks: x + low is the position */
    double *a[3], *jerk[3]; /* acceleration and jerk */
    double *step;           /* that the body takes next: dt over a power of two */
    struct adaptive_clock *clock;
};

/* Memory for the steps of one system: of a thread, or of a team. Arrays of a number per body;
 * at_v and sum_jerk are those of methods with jerks, otherwise NULL. */
struct block_workspace {
    struct jerk *forces;            /* what sums accelerations, and jerks */
    double *at_x[3], *at_v[3];      /* of all bodies, at the time of the block */
    double *sum_a[3], *sum_jerk[3]; /* of the block */
    /* The time at which the step of each body begins, and ends, in units of the grid step over
     * 2^BLOCK_DEEPEST; and the step that a body of the block wants next. */
    double *time, *next, *wanted;
    uint32_t *block; /* who is due */
    size_t block_size;
    size_t refined; /* pairs that a second evaluation of the block took */
    double now;     /* time of the block */
    struct barrier barrier;
};

enum status block_workspace_create(struct block_workspace *work,
                                   const struct force_options *options,
                                   const struct physics *physics, size_t count, bool jerks,
                                   struct error *error);
void block_workspace_destroy(struct block_workspace *work);
double block_workspace_bytes(const struct force_options *options, double count, bool jerks);

/* One thread of those that work on a system. */
struct block_worker {
    const struct block_method *method;
    const void *rule; /* of the method, for its steps */
    const struct block_system *system;
    const struct physics *physics;
    const struct bodies *bodies; /* that x and v of the system are part of */
    struct block_workspace *work;
    double dt, tick; /* dt over 2^BLOCK_DEEPEST */
    size_t thread, threads;
    size_t first, last; /* its bodies, with the padding */
};

/* An integrator with block steps. Its functions are called by every thread; where they end, others
 * may read what they have written. */
struct block_method {
    struct adaptive_method adaptive;
    bool jerks; /* it has them */
    /* Takes in the forces of the start, which stand in the sums of the block, for this thread's
     * bodies. */
    void (*begin)(const struct block_worker *worker);
    /* Makes steps of another grid powers of two of this one, by the first thread; NULL: they are
     * chosen at the beginning of each grid step. */
    void (*fit_steps)(const struct block_worker *worker);
    /* Begins a grid step: sets time and next of this thread's bodies, and if it chooses their steps
     * what they want. */
    void (*open_grid_step)(const struct block_worker *worker);
    /* Takes this thread's bodies to the time of the block, at_x and at_v. */
    void (*predict)(const struct block_worker *worker);
    /* Ends the steps of this thread's part of the block by its sums, and chooses the next ones:
     * step, wanted, time, next; step 0: it cannot go on. */
    void (*correct)(const struct block_worker *worker);
    /* Leaves a system that cannot go on as it is at the time of the block, by the first thread. */
    void (*bring_along)(const struct block_worker *worker);
};

/* This thread's part of the block: numbers [*first, *last), if `threads` share it. */
void block_share(const struct block_worker *worker, size_t threads, size_t *first, size_t *last);

/* Returns all bodies of the system with these positions and velocities. */
struct reference_motion block_motion(const struct block_worker *worker, double *const x[3],
                                     double *const v[3]);

/*
 * Takes a system `steps` grid steps of dt further. To be called by every thread of a team of
 * `threads`, or by one thread with 1; all find the same outcome, which is in the clock too.
 */
enum adaptive_outcome block_advance(const struct block_method *method, const void *rule,
                                    const struct block_system *system,
                                    const struct physics *physics, const struct bodies *bodies,
                                    struct block_workspace *work, double dt, uint64_t steps,
                                    size_t threads);

#endif
