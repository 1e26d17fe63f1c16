/*
 * Block steps of one system: every body has a step of its own, the grid step over a power of two.
 * Bodies that are due at the same time make a block; at grid points all bodies are due. The
 * integrator, a struct block_method, says how the bodies of a block move.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_STEPS_H
#define ORRERY_INTEGRATOR_BLOCK_STEPS_H

#include "base/barrier.h"
#include "force/direct/reference.h"
#include "force/jerk.h"
#include "integrator/adaptive-systems.h"

/* The most times that the grid step is halved. A body that needs a shorter step ends the run. Times
 * in units of the shortest step are exact in a double. */
enum { BLOCK_DEEPEST = ADAPTIVE_LEVELS - 1 };

/* The number of shortest steps in a grid step. */
#define BLOCK_TICKS ((double)(UINT64_C(1) << BLOCK_DEEPEST))

/* Returns dt / 2^k, with the least k for which it is no longer than `wanted`; 0 if k would be more
 * than BLOCK_DEEPEST. */
double block_round_step(double dt, double wanted);

/* One system: its bodies, and their state at a grid point. Pointers are to arrays of `count`
 * numbers; jerk and low are NULL if the method has no jerks. */
struct block_system {
    size_t count;
    size_t index;           /* number of the system in the bodies */
    double *x[3], *v[3];    /* positions and velocities, in the arrays of the bodies */
    double *low[3];         /* rounding errors of x; the position is x + low */
    double *a[3], *jerk[3]; /* acceleration and jerk */
    double *step;           /* each body's next step: dt over a power of two */
    struct adaptive_clock *clock;
};

/* Memory for the steps of one system, by one thread or a team. Arrays have one number per body;
 * at_v and sum_jerk are NULL if the method has no jerks. */
struct block_workspace {
    struct jerk *forces;            /* sums accelerations, and jerks if the method has them */
    double *at_x[3], *at_v[3];      /* x and v of all bodies, predicted at the time of the block */
    double *sum_a[3], *sum_jerk[3]; /* sums for the bodies of the block, in its order */
    double *time, *next; /* begin and end of each body's step, in units of the shortest step */
    double *wanted;      /* the step that each body of the block wants next */
    uint32_t *block;     /* numbers of the bodies that are due */
    size_t block_size;
    size_t refined; /* pairs in second evaluations of the block (hermite_refine()) */
    double now;     /* time of the block, in units of the shortest step */
    struct barrier barrier;
};

enum status block_workspace_create(struct block_workspace *work,
                                   const struct force_options *options,
                                   const struct physics *physics, size_t count, bool jerks,
                                   struct error *error);
void block_workspace_destroy(struct block_workspace *work);
double block_workspace_bytes(const struct force_options *options, double count, bool jerks);

/* The work of one thread on a system, which a team may share. */
struct block_worker {
    const struct block_method *method;
    const void *rule; /* parameters by which the method chooses steps; of its own type */
    const struct block_system *system;
    const struct physics *physics;
    const struct bodies *bodies; /* all systems; x and v of the system lie in them */
    struct block_workspace *work;
    double dt, tick; /* tick: the shortest step, dt over 2^BLOCK_DEEPEST */
    size_t thread, threads;
    size_t first, last; /* the thread's bodies, with the padding */
};

/* An integrator with block steps. Every thread calls its functions, unless they say otherwise, and
 * waits for the others before it reads what they have written. */
struct block_method {
    struct adaptive_method adaptive;
    bool jerks; /* whether it needs jerks */
    /* Returns the ratio of the steps by `rule` to those by `other`. */
    double (*step_ratio)(const void *rule, const void *other);
    /* Copies the forces at the start from the sums of the block, for this thread's bodies; may also
     * choose their first steps. */
    void (*begin)(const struct block_worker *worker);
    /* Rounds the steps of all bodies to the new grid step divided by powers of two. The first
     * thread calls it. NULL if the method chooses all steps anew at the beginning of each grid
     * step. */
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
