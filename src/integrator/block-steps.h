/*
 * Block steps of one system: every body has a step of its own, the grid step over a power of two.
 * The bodies whose steps end at the same time are due at this time and make a block; at grid
 * points, the multiples of the grid step, all bodies are due. The integrator, a struct
 * block_method, says how the bodies of a block move.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_STEPS_H
#define ORRERY_INTEGRATOR_BLOCK_STEPS_H

#include "base/barrier.h"
#include "config/parameter.h"
#include "force/direct/reference.h"
#include "force/jerk.h"
#include "integrator/adaptive-systems.h"
#include "integrator/adaptive.h"

/* The most times that the grid step is halved; a body that needs a shorter step ends the run. Times
 * within a grid step are counted in shortest steps: integers up to 2^50, exact in a double. */
enum { BLOCK_DEEPEST = ADAPTIVE_LEVELS - 1 };

/* The number of shortest steps in a grid step. */
#define BLOCK_TICKS ((double)(UINT64_C(1) << BLOCK_DEEPEST))

/* Returns the longest of the steps dt / 2^k (k = 0 to BLOCK_DEEPEST) that is no longer than
 * `wanted`; 0 if there is none. */
double block_round_step(double dt, double wanted);

/* One system: its bodies, and their state at the beginning of their steps (v of block-leapfrog in
 * the middle). Pointers are to arrays of `count` numbers; jerk and low are NULL if the method has
 * no jerks. */
struct block_system {
    size_t count;
    size_t index;           /* index of the system among all of the run */
    double *x[3], *v[3];    /* positions and velocities, in the arrays of the bodies */
    double *low[3];         /* rounding errors of x: the position is x + low */
    double *a[3], *jerk[3]; /* acceleration and jerk */
    double *step; /* each body's present (at its end, next) step: dt over a power of two */
    struct adaptive_clock *clock;
};

/* Memory for the steps of one system, which one thread or a team of threads moves. Arrays have one
 * number per body; at_v and sum_jerk are NULL if the method has no jerks. */
struct block_workspace {
    struct jerk *forces;            /* sums accelerations, and jerks if the method has them */
    double *at_x[3], *at_v[3];      /* x and v of all bodies at the time of the block */
    double *sum_a[3], *sum_jerk[3]; /* forces on the bodies of the block, in the order of `block` */
    double *time, *next; /* begin and end of each body's step within the grid step, in units of the
                            shortest step */
    double *wanted;      /* the step that each body of the block wants next */
    uint32_t *block;     /* indices of the bodies of the block, those that are due */
    size_t block_size;
    size_t refined; /* pairs summed by a second evaluation of the block's forces (hermite_refine());
                       0: none was made */
    double now;     /* time of the block since the grid step began, in units of the shortest step */
    struct barrier barrier;
};

enum status block_workspace_create(struct block_workspace *work,
                                   const struct force_options *options,
                                   const struct physics *physics, size_t count, bool jerks,
                                   struct error *error);
void block_workspace_destroy(struct block_workspace *work);
double block_workspace_bytes(const struct force_options *options, double count, bool jerks);

/* The data for the work of one thread on a system, alone or as one of a team. */
struct block_worker {
    const struct block_method *method;
    const void *rule; /* the integrator's parameters for the choice of steps; only the functions of
                         `method` know the type */
    const struct block_system *system;
    const struct physics *physics;
    const struct bodies *bodies; /* bodies of all systems; x and v of the system point into them */
    struct block_workspace *work;
    double dt, tick; /* grid step; shortest step, dt over 2^BLOCK_DEEPEST */
    size_t thread, threads;
    size_t first, last; /* this thread's bodies, [first, last), with padding behind the last one */
};

/* An integrator with block steps. All threads of the team call its functions, unless the comment
 * says otherwise, and wait for one another before they read what another has written. */
struct block_method {
    struct adaptive_method adaptive;
    bool jerks; /* whether it needs the jerks, the rates of change of accelerations */
    /* Returns the ratio of the lengths of steps that `rule` and `other` choose for the same
     * motion. */
    double (*step_ratio)(const void *rule, const void *other);
    /* Copies the forces on this thread's bodies at the start of the run from work->sum_a and
     * sum_jerk; may also choose the bodies' first steps. */
    void (*begin)(const struct block_worker *worker);
    /* Fits the steps of all bodies to a new grid step: rounds them to it divided by powers of two.
     * The first thread calls it. NULL if the method chooses all steps anew in each grid step. */
    void (*fit_steps)(const struct block_worker *worker);
    /* Begins a grid step: sets work->time and work->next of this thread's bodies, and `wanted` if
     * the method chooses their steps here. */
    void (*open_grid_step)(const struct block_worker *worker);
    /* Predicts positions and velocities of this thread's bodies at the time of the block,
     * work->at_x and at_v. */
    void (*predict)(const struct block_worker *worker);
    /* Ends the steps of this thread's part of the block by the forces in sum_a and sum_jerk, and
     * chooses the next steps: sets step, wanted, time and next. A step of 0 means that the body
     * needs a shorter step than the shortest. */
    void (*correct)(const struct block_worker *worker);
    /* Brings all bodies of a system that cannot go on to one time, that of the block. The first
     * thread calls it. */
    void (*bring_along)(const struct block_worker *worker);
};

/* Sets the range [*first, *last) of this thread's bodies in work->block, if the block is divided
 * among `threads` threads. */
void block_share(const struct block_worker *worker, size_t threads, size_t *first, size_t *last);

/* Returns the system's masses with the positions x and velocities v, in the form in which
 * reference.h takes bodies. */
struct reference_motion block_motion(const struct block_worker *worker, double *const x[3],
                                     double *const v[3]);

/* Moves a system by `steps` grid steps of dt. All `threads` threads of a team call it, or one
 * thread alone with threads = 1. All threads return the same outcome, which is also in
 * system->clock->stuck. */
enum adaptive_outcome block_advance(const struct block_method *method, const void *rule,
                                    const struct block_system *system,
                                    const struct physics *physics, const struct bodies *bodies,
                                    struct block_workspace *work, double dt, uint64_t steps,
                                    size_t threads);

/* --- the systems of a run --------------------------------------------------------------------- */

/*
 * The systems of a run with block steps (block-systems.c). If the systems are large and there are
 * fewer of them than threads, all threads move one system together, then the next one; otherwise
 * one thread moves each system. These functions are those of the class (adaptive.h) of every
 * integrator with block steps.
 */

/* The first parameter of every integrator with block steps: the config key `time.step`. */
/* clang-format off */
#define BLOCK_STEP_PARAMETER                                                                       \
    { KEY(REAL, step), OPTIONAL, POSITIVE, .dimension = DIMENSION_TIME,                            \
      .help = "Grid on which the run observes, and the longest step of a body: each takes this "   \
              "over a power of two. `every` and checkpoints count it. If the grid does not "       \
              "divide `end`, the program shortens it; unset: a thousandth of `end`." }
/* clang-format on */

/* Creates the state and the workspaces, and decides how many threads move a system. Copies the
 * `size` bytes of `rule` (struct block_worker). STATUS_MEMORY; errors of jerk_create(). */
enum status block_systems_create(const struct block_method *method, const void *rule, size_t size,
                                 const struct adaptive_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct adaptive **adaptive, struct error *error);

/* Returns the bytes that block_systems_create() allocates. */
double block_systems_bytes(const struct block_method *method, const struct force_options *force,
                           double systems, double count);

/* Functions that a struct adaptive_class (adaptive.h) points to. */
void block_systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                        size_t from_system);
void block_systems_destroy(struct adaptive *adaptive);
enum status block_systems_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                  struct error *error);
void block_systems_statistics(const struct adaptive *adaptive, size_t s,
                              struct work_done *statistics);
void block_systems_count_levels(const struct adaptive *adaptive, size_t s,
                                double levels[ADAPTIVE_LEVELS]);
const char *block_systems_kernel(const struct adaptive *adaptive);

/* Members of struct adaptive_method: the number of arrays of a system for methods without and with
 * jerks, and two functions. */
enum { BLOCK_ARRAYS = 4, BLOCK_ARRAYS_WITH_JERKS = 10 };
bool block_systems_makes_sense(const struct adaptive_systems *all, size_t s);
enum status block_systems_describe_stuck(const struct adaptive_systems *all, size_t s,
                                         struct error *error);

/* --- the leapfrog ----------------------------------------------------------------------------- */

/* The class of block-leapfrog (adaptive.h; block-leapfrog.c says how it works). Between grid points
 * the arrays of bodies hold, for each body, x at the beginning of its present step and v in the
 * middle of that step. */
extern const struct adaptive_class block_leapfrog_class;

enum { BLOCK_LEAPFROG_PARAMETERS = 2 };
extern const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS];

#endif
