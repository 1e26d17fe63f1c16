/*
 * Forces and whole steps. All work is queued, and gpu_part_wait() waits for it; no function but
 * gpu_steps_try() waits for a device, unless the bodies are divided among processes (exchange.h).
 */
#ifndef ORRERY_GPU_STEPS_H
#define ORRERY_GPU_STEPS_H

#include "part.h"

/* Launches the kernels that the steps of a part will need over a few bodies, without moving any,
 * and waits: so a device that cannot run them is found before the run begins. */
enum status gpu_steps_try(struct gpu_part *part, struct error *error);

/* Sums the force on the part's bodies, from the positions of all bodies. */
enum status gpu_steps_sum(struct gpu_part *part, struct error *error);

/* Computes the accelerations of the present positions. */
enum status gpu_steps_accelerations(const struct gpu_team *team, struct error *error);

/* Takes `steps` whole steps of a program of kicks, drifts and forces. `current`: the accelerations
 * on the devices are those of the present positions. */
enum status gpu_steps_advance(const struct gpu_team *team, const struct stage_program *program,
                              uint64_t steps, bool current, struct error *error);

#endif
