/*
 * Integrators: lists of stages, each a verb with a coefficient. An integrator is written once;
 * backends implement the verbs, so it runs on all of them. One that chooses its own steps has a
 * class in the place of the list (adaptive.h).
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
    VERB_FORCE,  /* a = a(x) */
    VERB_KICK,   /* v += coefficient dt a */
    VERB_DRIFT,  /* x += coefficient dt v */
    VERB_COMBINE /* to = from + coefficient dt^power rate; a copy if the coefficient is 0 */
};

/* The vectors that a stage reads and writes: three components for every body. */
enum vector {
    VECTOR_X, /* positions */
    VECTOR_V, /* velocities */
    VECTOR_A, /* accelerations of the last force stage */
    VECTOR_R, /* registers: a stage stores in them what a later stage of the step reads; */
    VECTOR_S, /* they keep nothing from one step to the next */
    VECTORS
};
enum { STAGE_REGISTERS = VECTORS - VECTOR_R };

struct stage {
    enum verb verb;
    double coefficient;         /* unused by VERB_FORCE */
    enum vector to, from, rate; /* vectors of VERB_COMBINE */
    unsigned power;             /* exponent of dt in VERB_COMBINE, 0 to 2 */
};

enum { INTEGRATOR_MAX_STAGES = 24 };

/* The name of the row for integrators that a config spells out by its key `stages`. */
#define INTEGRATOR_LIST "stages"

struct integrator {
    struct variant variant; /* name and help */
    int order;              /* order of the energy error and of the global error of a trajectory */
    /*
     * The number of steps per period at the pericentre (that of a circular orbit at its distance)
     * with which one passage changes the energy by INTEGRATOR_PASSAGE_ERROR of the potential energy
     * there at most. Measured for e = 0.5 to 0.999, over which it hardly varies. Other errors
     * follow from the order. 0 if `adaptive` is given.
     */
    double passage_steps;
    bool symplectic;
    bool reversible;
    bool block_steps;   /* each body has its own times of kicks, so momenta do not cancel */
    bool by_softening;  /* its steps follow the softening length; without one it cannot run */
    const char *source; /* papers that describe it */
    /*
     * For an integrator that chooses its own steps: the steps go with the root of degree
     * `key_degree` of its own key (`accuracy`, `eta`). `work` is the time of a step in units of the
     * time of a pair of a direct sum: a constant, a part for each body that it moves and for each
     * pair that it sums; measured with 2 to 2000 bodies, one thread, AVX-512.
     */
    double key_degree;
    struct integrator_work {
        double step, body, pair;
    } work;
    const struct adaptive_class *adaptive; /* NULL: the integrator is the list of stages */
    size_t stage_count;                    /* 0 if `adaptive` is given */
    struct stage stages[INTEGRATOR_MAX_STAGES];
};

/* Return the row at an index or of a name; NULL behind the last row or for an unknown name. Rows
 * are static. */
const struct integrator *integrator_at(size_t index);
const struct integrator *integrator_find(const char *name);
const struct variant *integrator_variant(size_t index);

/* Tells whether the row is a list of stages; these rows come first. False for an integrator that
 * chooses its own steps, for NULL, and for the last row: it stands for the lists that configs spell
 * out (stage-list.h), and has no stages itself. */
bool integrator_has_stages(const struct integrator *integrator);

/*
 * Tell traits, for code that plans or judges a run: whether the integrator chooses its own steps,
 * so that `time.step` is only a grid on which the run is observed; and whether the momenta cancel
 * that it gives to the bodies. NULL, an integrator not yet known, has the traits of lists of
 * stages.
 */
bool integrator_chooses_steps(const struct integrator *integrator);
bool integrator_keeps_momentum(const struct integrator *integrator);

/* Tells whether the integrator's stages use registers; true for NULL, an integrator not yet known,
 * which might. */
bool integrator_has_registers(const struct integrator *integrator);

/*
 * Tells whether the integrator can move bodies in a frame that turns. Drifts include the Coriolis
 * force (external_drift()), and gauss-radau and hermite4 add it to the other forces. A list with
 * registers cannot do so: the velocities are eliminated from its formulas, which is right only for
 * forces of the positions. NULL, an integrator not yet known, is not refused.
 */
bool integrator_takes_rotation(const struct integrator *integrator);

/* The message for an integrator that cannot, a format with its name. */
#define INTEGRATOR_TAKES_NO_ROTATION                                                               \
    "%s takes forces that follow from the positions alone, and the Coriolis force of "             \
    "physics.rotation follows from the velocities; choose \"yoshida4\" or \"yoshida6\""

/*
 * Returns the steps per period that are advised: passage_steps, but at most 200, with which the
 * methods of low order follow an orbit well, and at least 20, with which no encounter is missed. 0
 * for an integrator that chooses its own steps.
 */
enum { INTEGRATOR_STEPS_PER_PERIOD = 200, INTEGRATOR_LEAST_STEPS_PER_PERIOD = 20 };
double integrator_advised_steps(const struct integrator *integrator);

/* Returns the steps per period at the pericentre with which one passage changes the energy by
 * `error` of the potential energy there; for INTEGRATOR_PASSAGE_ERROR, passage_steps. */
#define INTEGRATOR_PASSAGE_ERROR 1e-4
double integrator_steps_for(const struct integrator *integrator, double error);

/* Reads the integrator's own keys from the group `time` into `values`, in the order of its
 * variant's parameters; NaN for a key that is not set. */
enum { INTEGRATOR_VALUES = 2 };
void integrator_values(const struct integrator *integrator, const struct section *time,
                       double values[INTEGRATOR_VALUES]);

/* Returns the key of the group `time` by which an integrator chooses its own steps: `accuracy` or
 * `eta`. */
const struct parameter *integrator_key(const struct integrator *integrator);

/* Returns the time that the work took, in units of the time of a pair of a direct sum. Integrators
 * are compared by it, since it is the same on every machine. done->bodies is the number that one
 * step moves. */
double integrator_time(const struct integrator *integrator, const struct work_done *done);

/* Returns how often one step rounds the positions (VECTOR_X) or the velocities (VECTOR_V) that it
 * ends with. */
size_t integrator_roundings(const struct integrator *integrator, enum vector vector);

/* Returns the number of force evaluations in one step; 0 if it depends on the motion. */
size_t integrator_forces_per_step(const struct integrator *integrator);

#ifdef __cplusplus
}
#endif

#endif
