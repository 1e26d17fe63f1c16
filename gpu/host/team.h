/*
 * The steps and the observers of a team. All work is queued; no function waits for a device, unless
 * the bodies are divided among processes (exchange.h).
 */
#ifndef ORRERY_GPU_TEAM_H
#define ORRERY_GPU_TEAM_H

#include "part.h"

/* Takes `steps` whole steps of a program of kicks, drifts and forces. `current`: the accelerations
 * on the devices are those of the present positions. */
enum status gpu_team_advance(const struct gpu_team *team, const struct stage_program *program,
                             uint64_t steps, bool current, struct error *error);

enum status gpu_team_accelerations(const struct gpu_team *team, struct error *error);
/* Computes the potential phi and psi, a body's part in the virial; both stay on the devices. */
enum status gpu_team_potentials(const struct gpu_team *team, struct error *error);
/* Computes the conserved sums of all systems; `sums` is laid out as gpu_work_conserved() has it. */
enum status gpu_team_conserved(const struct gpu_team *team, double *sums, struct error *error);

#endif
