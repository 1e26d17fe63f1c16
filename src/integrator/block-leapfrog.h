/*
 * The leapfrog with block steps, for one system (Quinn, Katz, Stadel & Lake 1997, astro-ph/9710043;
 * Springel 2005, MNRAS 364, 1105, 3.1 and 4.1). Every body goes by kick, drift and kick over a step
 * of its own: the grid step (the config's time.step) over the least power of two that makes the
 * step no longer than
 *   dt = eta sqrt(eps / |a|),
 * with the softening length eps and the acceleration a at the beginning of the step. At each time
 * at which the step of some body ends, all bodies are drifted to this time, and the accelerations
 * of the bodies whose step ends are summed. Such a body may take a shorter step next at any time,
 * and a longer one if the time is a multiple of the longer step.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H
#define ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H

#include "config/parameter.h"
#include "integrator/adaptive.h"

/* The class of the integrator (adaptive.h). Between grid points the arrays of bodies hold, for each
 * body, x at the beginning of its present step and v in the middle of that step. */
extern const struct adaptive_class block_leapfrog_class;

enum { BLOCK_LEAPFROG_PARAMETERS = 2 };
extern const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS];

#endif
