/*
 * Integrators: lists of stages, verbs with coefficients. Backends implement the verbs, integrators
 * are written once and run on all of them. Those that choose their own steps have a class in the
 * place of the list (adaptive.h).
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
    VERB_COMBINE /* to = from + coefficient dt^power rate; with the coefficient 0 a copy */
};

/* The vectors that a stage reads and writes, three components of every body. */
enum vector {
    VECTOR_X, /* positions */
    VECTOR_V, /* velocities */
    VECTOR_A, /* the last forces */
    VECTOR_R, /* registers: they hold what the stages of one step leave there for each other, ... */
    VECTOR_S, /* ... and nothing from one step to the next */
    VECTORS
};
enum { STAGE_REGISTERS = VECTORS - VECTOR_R };

struct stage {
    enum verb verb;
    double coefficient;         /* unused by VERB_FORCE */
    enum vector to, from, rate; /* of VERB_COMBINE */
    unsigned power;             /* likewise, 0 to 2 */
};

enum { INTEGRATOR_MAX_STAGES = 24 };

struct integrator {
    struct variant variant; /* name and help */
    int order;              /* of the energy error and of the global error of a trajectory */
    /* Steps of the period at the pericentre with which one passage there changes the energy by
     * INTEGRATOR_PASSAGE_ERROR of the potential energy there at most: measured for e = 0.5 to
     * 0.999, where it is nearly one number. The order tells of other numbers of steps. 0 where
     * `adaptive` is given. */
    double passage_steps;
    bool symplectic;
    bool reversible;
    bool block_steps; /* bodies are kicked at times of their own, and their momenta do not cancel */
    bool by_softening;  /* its steps follow the softening length, without which it cannot run */
    const char *source; /* the paper */
    /* If it chooses its own steps: these go with the root of its own key (`accuracy`, `eta`) of
     * this degree; and what a step costs, in the time of a pair of a direct sum: beside its
     * bodies, for each body that it moves, and for each pair that it sums; measured with 2 to 2000
     * bodies, one thread, AVX-512. */
    double key_degree;
    struct integrator_work {
        double step, body, pair;
    } work;
    const struct adaptive_class *adaptive; /* NULL: it is the stages */
    size_t stage_count;                    /* 0 where `adaptive` is given */
    struct stage stages[INTEGRATOR_MAX_STAGES];
};

/* NULL past the last / for an unknown name. Rows are static. */
const struct integrator *integrator_at(size_t index);
const struct integrator *integrator_find(const char *name);
const struct variant *integrator_variant(size_t index);

/* Tells whether it is a list of stages. If not, it chooses its own steps, or it is NULL. Rows of
 * stages come first. */
bool integrator_has_stages(const struct integrator *integrator);

/* Traits, for those who plan or judge a run; of NULL, an integrator that is not known, those of
 * stages. Does it choose its own steps, so that the run's are but a grid on which it is observed?
 * Do the momenta that it gives to the bodies cancel? */
bool integrator_chooses_steps(const struct integrator *integrator);
bool integrator_keeps_momentum(const struct integrator *integrator);

/* Do its stages use registers? So they may where it is NULL, an integrator yet to be named. */
bool integrator_has_registers(const struct integrator *integrator);

/* Can it move bodies in a frame that turns? A list of kicks and drifts can, whose drifts take the
 * Coriolis force in (external_drift()); NULL, an integrator yet to be named, is not refused. */
bool integrator_takes_rotation(const struct integrator *integrator);

/* The refusal of one that cannot, as a format for its name. */
#define INTEGRATOR_TAKES_NO_ROTATION                                                               \
    "%s has no drifts that could take in the Coriolis force of physics.rotation; choose "          \
    "\"velocity-verlet\" or \"yoshida6\""

/*
 * Steps of a period that are advised: those of passage_steps, but 200 at most, with which an orbit
 * is followed well by the methods of low order, and 20 at least, with which no encounter is missed.
 * 0 for an integrator that chooses its own steps.
 */
enum { INTEGRATOR_STEPS_PER_PERIOD = 200, INTEGRATOR_LEAST_STEPS_PER_PERIOD = 20 };
double integrator_advised_steps(const struct integrator *integrator);

/* Steps of the period at the pericentre with which a passage changes the energy by `error` of the
 * potential energy there. */
#define INTEGRATOR_PASSAGE_ERROR 1e-4
double integrator_steps_for(const struct integrator *integrator, double error);

/* The integrator's own keys in the group `time`, by the rows of its variant's parameters; NaN for
 * one that is not set. */
enum { INTEGRATOR_VALUES = 2 };
void integrator_values(const struct integrator *integrator, const struct section *time,
                       double values[INTEGRATOR_VALUES]);

/* The key of the group `time` by which an integrator that chooses its own steps chooses them. */
const struct parameter *integrator_key(const struct integrator *integrator);

/* The time that the work took, in that of a pair of a direct sum: what integrators are compared by,
 * since it is the same on every machine. `bodies` in all of a system. */
double integrator_time(const struct integrator *integrator, const struct work_done *done);

/* How often a step rounds what is to be the positions, or the velocities, at its end. */
size_t integrator_roundings(const struct integrator *integrator, enum vector vector);

/* Returns the force evaluations of one step; 0 where their number follows the motion. */
size_t integrator_forces_per_step(const struct integrator *integrator);

#ifdef __cplusplus
}
#endif

#endif
