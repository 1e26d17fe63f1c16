/*
 * The leapfrog with block steps, for one system (Quinn, Katz, Stadel & Lake 1997,
 * astro-ph/9710043; Springel 2005, MNRAS 364, 1105, 3.1 and 4.1). Every body goes by kick, drift
 * and kick over a step of its own: the grid step over the least power of two that makes it no
 * longer than
 *   dt = eta sqrt(eps / |a|),
 * with the softening length eps and the acceleration a at the beginning of the step. At each time
 * at which bodies are due, all bodies are drifted to it, and the accelerations of those that are
 * due are summed. A body may take a shorter step at any time, and a longer one if the time is a
 * multiple of it.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H
#define ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H

#include "config/parameter.h"
#include "integrator/adaptive.h"

/* The class of the integrator (adaptive.h). Within a grid step x of a body is its position at the
 * beginning of its step, and v its velocity in the middle of it. */
extern const struct adaptive_class block_leapfrog_class;

enum { BLOCK_LEAPFROG_PARAMETERS = 2 };
extern const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS];

#endif
