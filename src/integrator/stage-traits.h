/*
 * Finds the traits of a list of kicks and drifts that a config spells out: its order, from the
 * series of one step, and the steps that a passage at a pericentre needs, by following such a
 * passage.
 */
#ifndef ORRERY_INTEGRATOR_STAGE_TRAITS_H
#define ORRERY_INTEGRATOR_STAGE_TRAITS_H

#include "integrator/integrator.h"

/* The highest order that is looked for; lists of INTEGRATOR_MAX_STAGES stages reach 6 at most. */
enum { STAGE_ORDER_MOST = 8 };

/*
 * Returns the order of the list: the power of dt up to which the series of one step equals that of
 * the motion, for a body in the softened field of three others; at most STAGE_ORDER_MOST.
 * Coefficients may differ by 1e-9, so that ten digits in a config are enough.
 */
int stage_order(const struct integrator *integrator);

/* Returns passage_steps of struct integrator, for an eccentricity of 0.9; at most 1e5. The order of
 * *integrator must be known. */
double stage_passage_steps(const struct integrator *integrator);

/* Tells whether the kicks and drifts are the same in reverse order, so that steps are reversible in
 * time. */
bool stage_list_is_symmetric(const struct integrator *integrator);

#endif
