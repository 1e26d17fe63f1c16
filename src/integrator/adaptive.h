/*
 * Integrators that choose their own steps: they are no program of fixed stages, keep a state of
 * their own between two grid points, and come to the grid where the run observes. A row of the
 * table in integrator.c names the class of such an integrator; the backends `serial` and `openmp`
 * create an object of it for their bodies and let it advance in place of the stages, `cuda`
 * refuses, and `auto` takes the CPU. Ranks have an object each, and rank 0 one more that keeps the
 * state of all systems (backend/rank-work.c). The run's shadows, trial runs and replays get objects
 * of their own in the same way, each with a backend of its own.
 *
 * What the program promises holds for them as well:
 *   - Equal bits for any number of threads, and for a system alone or among others: every system
 * has its own steps, which depend on nothing but that system.
 *   - How often the run observes changes no bit: advance(a) and then advance(b) give the bits of
 *     advance(a + b). Observers see bodies->x ... vz at a grid point; they change nothing, but they
 *     do overwrite bodies->ax, ay, az, which therefore belong to no state.
 *   - What save() has put and load() has taken goes on to the same bits as without them.
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

/* Steps of the grid over 2^k, k from 0 on, that a body may have. */
enum { ADAPTIVE_LEVELS = 51 };

struct adaptive_options {
    /* The values of the integrator's own keys, by the rows of its variant's parameters; borrowed
     * during create() only. NULL: their defaults, as tests of the code use it. */
    const double *values;
    /* 1, or the factor by which the steps are to be finer than the config asks: 2 for the shadow
     * and the replay that show what the length of the steps does to the motion. Whoever asks for it
     * divides the grid step by it as well. What it means for a tolerance is the integrator's to
     * know (its error per step falls as if its steps were shorter by this factor). */
    double refinement;
    /* The forces of the backend: precision, kernel ("reference" from the serial backend),
     * instruction set, and the threads to use (resolved, at least 1). The integrator refuses
     * options that it cannot follow with STATUS_CONFIG: 'compute.precision = "single": gauss-radau
     * ...'. */
    const struct force_options *force;
    /* The force of these bodies by the kernels of `openmp`, for teams of force->threads; borrowed
     * for the life of the object. NULL from the serial backend. */
    struct force *kernels;
    /* For an integrator with block steps whose bodies stand for those of a larger system: how many
     * other bodies of that have a step of the grid's over 2^k. They are due with these, and blocks
     * are treated by the size that they have with them. Borrowed during create(); NULL: none. */
    const double *others; /* [ADAPTIVE_LEVELS] */
};

/* The work that moved one system since the beginning of the run. With steps of one length, the
 * same is known of them (simulation_work_done()); else it goes through save() and load(). */
struct work_done {
    double steps;        /* of its own; block steps count each body's */
    double bodies;       /* that one of them moves: all, or the one of a block step */
    double rejections;   /* steps that were tried and rejected, not among `steps`; NaN where a
                            method takes none back */
    double interactions; /* ordered pairs that were summed, those of rejected steps included */
    double smallest;     /* step that was taken, in the unit of time; INFINITY before the first */
    double current;      /* step that would be taken next (of block steps: the smallest one) */
    int64_t pair[2];     /* ids of the body that asked for the smallest step and of the one that
                            pulled it most then; 0, 0 before the first step */
    double time;         /* to which `steps` have come, the grid point or before it */
    bool stuck;          /* cannot go on: advance() has returned STATUS_NUMERICAL because of it */
};

/* The place where save() puts its words, and load() finds them. Names are unique in an object, of
 * at most ADAPTIVE_NAME_SIZE - 1 characters, and without ':'. Words are doubles or integers of 64
 * bits, in `rows` parts of `count`, `stride` apart in memory. */
enum { ADAPTIVE_NAME_SIZE = 32 };

struct adaptive_writer {
    void *context;
    void (*put)(void *context, const char *name, const void *words, size_t rows, size_t count,
                size_t stride);
};

struct adaptive_reader {
    void *context;
    /* STATUS_DATA where there is no such name or it has another number of words; STATUS_IO. */
    enum status (*get)(void *context, const char *name, void *words, size_t rows, size_t count,
                       size_t stride, struct error *error);
};

struct adaptive; /* the first member of every such integrator's own struct */

struct adaptive_class {
    /* It needs the accelerations of bodies that are due and no jerks, so that every method of the
     * force that has them will do (jerk.h). false: direct sums alone. */
    bool takes_any_method;
    /* Every system begins from its bodies as they stand, at 0 of its own count of grid steps.
     * Borrows physics and bodies until destroy(); allocates all that steps need. STATUS_CONFIG (see
     * above), STATUS_MEMORY. The force has not been evaluated yet; that is left to the first
     * advance(). */
    enum status (*create)(const struct adaptive_options *options, const struct physics *physics,
                          struct bodies *bodies, struct adaptive **adaptive, struct error *error);
    /*
     * `steps` grid steps of dt further: positions and velocities of a system are those at
     * t = (its grid steps so far) dt when it returns. dt is the same in all calls of one object.
     * Called by one thread, outside any team. STATUS_NUMERICAL, naming system and pair, where a
     * step falls below the floor or a force is not finite: the other systems are at the grid point
     * all the same.
     */
    enum status (*advance)(struct adaptive *adaptive, double dt, uint64_t steps,
                           struct error *error);
    /* All that load() needs beside the bodies at the grid point, the statistics included. */
    void (*save)(const struct adaptive *adaptive, const struct adaptive_writer *writer);
    /* Into a new object of the same options, whose bodies are those of the grid point already. */
    enum status (*load)(struct adaptive *adaptive, const struct adaptive_reader *reader,
                        struct error *error);
    /* System `to_system`, whose bodies are copies already, goes on like `from_system` of the other,
     * with its count of grid steps and its statistics. Systems have the same number of bodies, but
     * the refinement and the force may be others. Reads nothing that `from` has borrowed. */
    void (*copy_system)(struct adaptive *to, size_t to_system, const struct adaptive *from,
                        size_t from_system);
    void (*statistics)(const struct adaptive *adaptive, size_t system,
                       struct work_done *statistics);
    /* Counts the bodies of a system whose next step is that of the grid over 2^k; all 0 before the
     * first step. NULL: bodies have no steps of their own. */
    void (*count_levels)(const struct adaptive *adaptive, size_t system,
                         double levels[ADAPTIVE_LEVELS]);
    /* The kernel that sums its forces, for run.json: "hermite"; NULL: the backend's. */
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
