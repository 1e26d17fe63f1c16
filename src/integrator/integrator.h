/*
 * Integrators of the equations of motion. Most are lists of stages, each a verb (force, kick,
 * drift, ...) with a coefficient. Such a list is written once; every backend (CPUs, GPU) executes
 * the verbs, so that all lists run on all backends. An integrator that chooses its own steps has a
 * class (adaptive.h) in place of the list.
 */
#ifndef ORRERY_INTEGRATOR_INTEGRATOR_H
#define ORRERY_INTEGRATOR_INTEGRATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "config/configuration.h"
#include "config/parameter.h"
#include "integrator/adaptive.h"

#ifdef __cplusplus
extern "C" {
#endif

enum verb {
    VERB_FORCE,  /* computes the accelerations a at the positions x */
    VERB_KICK,   /* v += coefficient dt a */
    VERB_DRIFT,  /* x += coefficient dt v */
    VERB_COMBINE /* to = from + coefficient dt^power rate, with three vectors that the stage names;
                    a copy if the coefficient is 0 */
};

/* The vectors that a stage reads and writes: three components for every body. */
enum vector {
    VECTOR_X, /* positions */
    VECTOR_V, /* velocities */
    VECTOR_A, /* accelerations of the last force stage */
    VECTOR_R, /* a register: a stage stores a vector in it for later stages of the same step */
    VECTOR_S, /* a second register; registers keep nothing for the next step */
    VECTORS
};
enum { STAGE_REGISTERS = VECTORS - VECTOR_R };

struct stage {
    enum verb verb;
    double coefficient;         /* factor of the verb; VERB_FORCE does not use it */
    enum vector to, from, rate; /* the vectors of VERB_COMBINE; other verbs do not use them */
    unsigned power;             /* exponent of dt in VERB_COMBINE, 0 to 2 */
};

enum { INTEGRATOR_MAX_STAGES = 24 };

/* The name of the row of the table that stands for lists of stages in a config (key
 * time.stages). */
#define INTEGRATOR_LIST "stages"

struct integrator {
    struct variant variant; /* name, help and the config keys of its own */
    int order; /* the energy error and the error of a trajectory are proportional to dt^order */
    /*
     * The number of steps per period with which one passage through the pericentre of an eccentric
     * orbit changes the energy by at most INTEGRATOR_PASSAGE_ERROR times the potential energy
     * there. The period is that of a circular orbit at the pericentre's distance. Measured for
     * eccentricities of 0.5 to 0.999, over which it hardly varies. integrator_steps_for() has the
     * numbers for other errors. 0 if `adaptive` is given.
     */
    double passage_steps;
    bool symplectic;
    bool reversible;
    bool block_steps;   /* each body is kicked at times of its own, so the momenta that a pair
                           exchanges do not cancel */
    bool by_softening;  /* its steps are computed from the softening length, which must be > 0 */
    const char *source; /* papers that describe the integrator */
    /*
     * For an integrator that chooses its own steps: their lengths are proportional to the root of
     * degree `key_degree` of the config key that sets its accuracy (`accuracy` or `eta`). `work` is
     * the computing time of a step, in units of the time that a direct sum takes for one pair of
     * bodies: `step` for the step itself, `body` for each body that it moves, `pair` for each pair
     * that it sums. Measured with 2 to 2000 bodies, one thread, AVX-512. For a new row, fit the
     * three to `advance_seconds` of run.json by the counts in its `own_steps`; `orrery bench` has
     * the time of a pair.
     */
    double key_degree;
    struct integrator_work {
        double step, body, pair;
    } work;
    const struct adaptive_class *adaptive; /* NULL: the integrator is the list of stages */
    size_t stage_count;                    /* 0 if `adaptive` is given */
    struct stage stages[INTEGRATOR_MAX_STAGES];
};

/* Return the row of the table of integrators at an index, the row of a name, and the member
 * `variant` of the row at an index; NULL past the last row or for an unknown name. Rows are
 * constants: nobody frees them. */
const struct integrator *integrator_at(size_t index);
const struct integrator *integrator_find(const char *name);
const struct variant *integrator_variant(size_t index);

/* Tells whether the integrator is a list of stages; in the table such rows come first, then those
 * of integrators that choose their own steps. False for an
 * integrator that chooses its own steps, for NULL, and for the last row: that row stands for the
 * lists that configs spell out (stage-list.h), and has no stages itself. */
bool integrator_has_stages(const struct integrator *integrator);

/*
 * Tell traits, for code that plans or judges a run: whether the integrator chooses its own steps,
 * so that the config's `time.step` is only the spacing of the times at which the run is observed;
 * and whether it keeps the total momentum, since the kicks of the two bodies of a pair cancel. For
 * NULL, an integrator that is not known yet, they answer as for a list of stages.
 */
bool integrator_chooses_steps(const struct integrator *integrator);
bool integrator_keeps_momentum(const struct integrator *integrator);

/* Tells whether the integrator's stages use the registers VECTOR_R and VECTOR_S; true for NULL, an
 * integrator that is not known yet and might use them. */
bool integrator_has_registers(const struct integrator *integrator);

/*
 * Tells whether the integrator can move bodies in a rotating frame. Drifts include the Coriolis
 * force (external_drift()), and gauss-radau and hermite4 add it to the other forces. A list with
 * registers, such as Runge-Kutta's, cannot: the velocities are eliminated from its formulas, which
 * is right only for forces that depend on positions alone. True for NULL, an integrator that is not
 * known yet.
 */
bool integrator_takes_rotation(const struct integrator *integrator);

/* The error message for an integrator that cannot move bodies in a rotating frame: a format of
 * printf() for the name of the integrator. */
#define INTEGRATOR_TAKES_NO_ROTATION                                                               \
    "%s takes forces that follow from the positions alone, and the Coriolis force of "             \
    "physics.rotation follows from the velocities; choose \"yoshida4\" or \"yoshida6\""

/*
 * Returns the number of steps per orbital period that the program advises: passage_steps, but at
 * most 200, with which methods of low order follow an orbit well, and at least 20, with which no
 * close encounter falls between two steps. 0 for an integrator that chooses its own steps.
 */
enum { INTEGRATOR_STEPS_PER_PERIOD = 200, INTEGRATOR_LEAST_STEPS_PER_PERIOD = 20 };
double integrator_advised_steps(const struct integrator *integrator);

/* Returns the number of steps per period with which one passage through a pericentre changes the
 * energy by `error` times the potential energy there: passage_steps (see above), scaled from
 * INTEGRATOR_PASSAGE_ERROR to `error` by the order of the integrator. */
#define INTEGRATOR_PASSAGE_ERROR 1e-4
double integrator_steps_for(const struct integrator *integrator, double error);

/* Reads the values of the integrator's own config keys, in the group `time`, into `values`, in the
 * order of variant.parameters; NaN for a key that is not set. */
enum { INTEGRATOR_VALUES = 2 };
void integrator_values(const struct integrator *integrator, const struct section *time,
                       double values[INTEGRATOR_VALUES]);

/* Returns the config key of the group `time` that sets the accuracy of an integrator that chooses
 * its own steps: `accuracy` or `eta`. */
const struct parameter *integrator_key(const struct integrator *integrator);

/* Tells whether the energy drifts with any step: euler's does. */
static inline bool integrator_drifts(const struct integrator *integrator)
{
    return integrator->order == 1 && !integrator->symplectic;
}

/* Estimates the computing time of the work `done`, in units of the time that a direct sum takes for
 * one pair of bodies. Integrators are compared by this estimate, since it is the same on every
 * machine. done->bodies is the number of bodies that one step moves. */
double integrator_time(const struct integrator *integrator, const struct work_done *done);

/* Returns how many additions, each of which rounds, make the positions (VECTOR_X) or the velocities
 * (VECTOR_V) at the end of a step from vectors at its start. */
size_t integrator_roundings(const struct integrator *integrator, enum vector vector);

/* Returns the number of force evaluations in one step; 0 if it depends on the motion. */
size_t integrator_forces_per_step(const struct integrator *integrator);

#ifdef __cplusplus
}
#endif

#endif
