/*
 * Potentials, energies and momenta. All work is queued, and gpu_part_wait() waits for it.
 */
#ifndef ORRERY_GPU_OBSERVE_H
#define ORRERY_GPU_OBSERVE_H

#include "part.h"

/* Computes the potential phi and psi, a body's part in the virial; both stay on the devices. */
enum status gpu_observe_potentials(const struct gpu_team *team, struct error *error);
/* Computes the conserved sums of all systems, into sums[systems][GPU_SUM_COUNT] on the host. */
enum status gpu_observe_conserved(const struct gpu_team *team, double *sums, struct error *error);

#endif
