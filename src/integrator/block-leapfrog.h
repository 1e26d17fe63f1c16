/*
 * The leapfrog with block steps, for one system (Quinn, Katz, Stadel & Lake 1997,
 * astro-ph/9710043; Springel 2005, MNRAS 364, 1105, 3.1 and 4.1). Every body is kicked, drifts and
 * is kicked, over a step of its own: the grid step over the least power of two that makes it no
 * longer than
 *   dt = eta sqrt(eps / |a|),
 * with the softening length eps and the acceleration a at the beginning of the step. All bodies are
 * drifted to the times at which some are due, and accelerations are summed for these alone. Steps
 * become shorter at any time, and longer where the time is a multiple of the longer one.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H
#define ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H

#include "config/parameter.h"
#include "integrator/adaptive.h"

/* Within a grid step x of a body is the position where its step begins, and v the velocity in the
 * middle of that step. See adaptive.h. */
extern const struct adaptive_class block_leapfrog_class;

enum { BLOCK_LEAPFROG_PARAMETERS = 2 };
extern const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS];

#endif
