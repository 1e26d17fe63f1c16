/*
 * Gauss-Radau for systems of many bodies. As many systems as there are threads, or more: each
 * thread takes whole systems. Fewer: the team takes one after the other, and every thread has its
 * own bodies of it. What is observed at a grid point is reached by a step aside, with a copy of the
 * system's state, so that the motion knows nothing of it.
 */
#ifndef ORRERY_INTEGRATOR_GAUSS_RADAU_LARGE_H
#define ORRERY_INTEGRATOR_GAUSS_RADAU_LARGE_H

#include "integrator/gauss-radau.h"

struct radau_large;

/* Memory for steps of the systems' bodies, whose arrays and clocks are borrowed, as are the
 * kernels; NULL in their place: the reference. `length` is that of struct radau_worker. NULL with
 * STATUS_MEMORY. */
struct radau_large *radau_large_create(const struct adaptive_systems *systems,
                                       struct force *kernels, int threads, double length,
                                       struct error *error);
void radau_large_destroy(struct radau_large *all);

/* Every system to its grid point, clock->grid steps of dt from the start, where it is shown in the
 * arrays of the bodies. clock->stuck says whether it has failed. */
void radau_large_advance(struct radau_large *all, double dt);

#endif
