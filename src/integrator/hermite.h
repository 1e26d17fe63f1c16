/*
 * Hermite's method of 4th order with block steps, for one system (Makino & Aarseth 1992, PASJ 44,
 * 141; Aarseth 2003, Gravitational N-Body Simulations, 2.1 and 2.6). Every body has a step of its
 * own: the grid step over a power of two. Bodies that are due at the same time make a block. All
 * bodies are predicted to that time, accelerations and jerks are summed for the block, and its
 * bodies are corrected and choose their next steps. At grid points all bodies are due.
 */
#ifndef ORRERY_INTEGRATOR_HERMITE_H
#define ORRERY_INTEGRATOR_HERMITE_H

#include "config/parameter.h"
#include "integrator/block-systems.h"
#include "integrator/hermite-corrector.h"

/* The method for block-steps.h; its rule is a struct hermite_rule. */
extern const struct block_method hermite_method;

extern const struct adaptive_class hermite_class;

enum { HERMITE_PARAMETERS = 2 };
extern const struct parameter hermite_parameters[HERMITE_PARAMETERS];

#endif
