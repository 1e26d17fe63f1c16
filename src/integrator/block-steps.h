/*
 * Block steps of one system: every body has a step of its own, the grid step over a power of two.
 * Those that are due at the same time make a block, and at grid points all bodies are due. The
 * integrator, a struct block_method, says how the bodies of a block move.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_STEPS_H
#define ORRERY_INTEGRATOR_BLOCK_STEPS_H

#include "base/barrier.h"
#include "force/direct/reference.h"
#include "force/jerk.h"
#include "integrator/adaptive-systems.h"

/* The grid step is halved this many times at most. A body that asks for a shorter step ends the
 * run. Times in units of the shortest step are exact in a double. */
enum { BLOCK_DEEPEST = ADAPTIVE_LEVELS - 1 };

/* The number of shortest steps in a grid step. */
#define BLOCK_TICKS ((double)(UINT64_C(1) << BLOCK_DEEPEST))

/* Returns dt over the least power of two that makes it `wanted` or shorter; 0 if more than
 * BLOCK_DEEPEST halvings would be needed. */
double block_round_step(double dt, double wanted);

/* One system: bodies, and the state that a grid step leaves beside them. Arrays of `count` numbers;
 * jerk and low are those of methods with jerks, otherwise NULL. */
struct block_system {
    size_t count;
    size_t index;           /* in the bodies */
    double *x[3], *v[3];    /* of the bodies */
    double *low[3];         /* rounding errors of x: x + low is the position */
    double *a[3], *jerk[3]; /* acceleration and jerk */
    double *step;           /* each body's next step: dt over a power of two */
    struct adaptive_clock *clock;
};

/* Memory for the steps of one system, for one thread or a team. Arrays of one number per body;
 * at_v and sum_jerk are NULL if the method has no jerks. */
struct block_workspace {
    struct jerk *forces;            /* sums accelerations, and jerks if the method has them */
    double *at_x[3], *at_v[3];      /* of all bodies, predicted at the time of the block */
    double *sum_a[3], *sum_jerk[3]; /* sums for the bodies of the block, in its order */
    double *time, *next; /* begin and end of each body's step, in units of the shortest step */
    double *wanted;      /* the step that each body of the block wants next */
    uint32_t *block;     /* numbers of the bodies that are due */
    size_t block_size;
    size_t refined; /* pairs in second evaluations of a block */
    double now;     /* time of the block, in units of the shortest step */
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
    const void *rule; /* how the method chooses steps: its own type */
    const struct block_system *system;
    const struct physics *physics;
    const struct bodies *bodies; /* all systems; x and v of the system lie in them */
    struct block_workspace *work;
    double dt, tick; /* dt over 2^BLOCK_DEEPEST */
    size_t thread, threads;
    size_t first, last; /* the thread's bodies, with the padding */
};

/* An integrator with block steps. Every thread calls its functions, unless they say otherwise, and
 * waits for the others before it reads what they have written. */
struct block_method {
    struct adaptive_method adaptive;
    bool jerks; /* whether it needs jerks */
    /* Returns the steps by a rule over those by another one. */
    double (*step_ratio)(const void *rule, const void *other);
    /* Copies the forces at the start from the sums of the block, for this thread's bodies. */
    void (*begin)(const struct block_worker *worker);
    /* Rounds the bodies' steps to powers of two of a new grid step. The first thread calls it.
     * NULL if the method chooses all steps at the beginning of each grid step. */
    void (*fit_steps)(const struct block_worker *worker);
    /* Begins a grid step: sets time and next of this thread's bodies, and wanted if the method
     * chooses their steps here. */
    void (*open_grid_step)(const struct block_worker *worker);
    /* Predicts at_x and at_v of this thread's bodies at the time of the block. */
    void (*predict)(const struct block_worker *worker);
    /* Ends the steps of this thread's part of the block with the sums, and chooses the next ones:
     * step, wanted, time, next. A step of 0 means that the body needs a shorter step than the
     * shortest. */
    void (*correct)(const struct block_worker *worker);
    /* Moves all bodies of a system that cannot go on to the time of the block. The first thread
     * calls it. */
    void (*bring_along)(const struct block_worker *worker);
};

/* Sets this thread's part of the block: numbers [*first, *last), if `threads` share the block. */
void block_share(const struct block_worker *worker, size_t threads, size_t *first, size_t *last);

/* Returns the system's bodies with positions x and velocities v, as the forces read them. */
struct reference_motion block_motion(const struct block_worker *worker, double *const x[3],
                                     double *const v[3]);

/*
 * Moves a system by `steps` grid steps of dt. Every thread of a team of `threads` calls it, or one
 * thread with 1. All return the same outcome, which the clock of the system has too.
 */
enum adaptive_outcome block_advance(const struct block_method *method, const void *rule,
                                    const struct block_system *system,
                                    const struct physics *physics, const struct bodies *bodies,
                                    struct block_workspace *work, double dt, uint64_t steps,
                                    size_t threads);

#endif
