/*
 * Integrators: lists of three verbs with coefficients. Backends implement the verbs, integrators
 * are written once and run on all of them.
 */
#ifndef ORRERY_INTEGRATOR_INTEGRATOR_H
#define ORRERY_INTEGRATOR_INTEGRATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "config/parameter.h"

#ifdef __cplusplus
extern "C" {
#endif

enum verb {
    VERB_FORCE, /* a = a(x) */
    VERB_KICK,  /* v += coefficient dt a */
    VERB_DRIFT  /* x += coefficient dt v */
};

struct stage {
    enum verb verb;
    double coefficient; /* of dt; unused by VERB_FORCE */
};

enum { INTEGRATOR_MAX_STAGES = 24 };

struct integrator {
    struct variant variant; /* name and help */
    int order;              /* of the energy error and of the global error of a trajectory */
    bool symplectic;
    bool reversible;
    const char *source; /* the paper */
    size_t stage_count;
    struct stage stages[INTEGRATOR_MAX_STAGES];
};

/* NULL past the last / for an unknown name. Rows are static. */
const struct integrator *integrator_at(size_t index);
const struct integrator *integrator_find(const char *name);
const struct variant *integrator_variant(size_t index);

/* A kick comes before any force: the step starts with the forces that the last one left. */
bool integrator_needs_initial_force(const struct integrator *integrator);

/* Force evaluations in one step. */
size_t integrator_forces_per_step(const struct integrator *integrator);

#ifdef __cplusplus
}
#endif

#endif
