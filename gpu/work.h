/*
 * The computations of a part: forces, kicks and drifts, whole steps, energies. All of it is queued
 * on the part's stream, and gpu_part_wait() waits for it.
 */
#ifndef ORRERY_GPU_WORK_H
#define ORRERY_GPU_WORK_H

#include <stdbool.h>

#include "integrator/stage-program.h"
#include "part.h"

/* Launches the kernels of forces and of small systems over a few bodies, without moving one, and
 * waits: so a device that cannot run them is found before a run depends on it. */
enum status gpu_work_try(struct gpu_part *part, struct error *error);

/* Sums the force on the part's bodies, from the positions of all bodies in part->force.sources. */
enum status gpu_work_sum(struct gpu_part *part, struct error *error);
/* Computes accelerations from the last sums, does the moves of a pass, and makes the sources of the
 * new positions. */
enum status gpu_work_move(struct gpu_part *part, const struct stage_pass *pass,
                          struct error *error);
/* Takes `steps` whole steps of systems that stay in a block; if the systems are not of that kind,
 * *done becomes false and nothing is done. `current`: the accelerations are those of the present
 * positions. */
enum status gpu_work_resident(struct gpu_part *part, const struct stage_program *program,
                              uint64_t steps, bool current, bool *done, struct error *error);

/* Computes phi and psi of the part's bodies on the device, from the positions in its state. */
enum status gpu_work_potentials(struct gpu_part *part, struct error *error);
/* gpu_work_conserved_blocks() adds up blocks of the part's own bodies, or of all bodies;
 * gpu_work_conserved() adds up all blocks of each system, into sums[systems][GPU_SUM_COUNT] on the
 * host. */
enum status gpu_work_conserved_blocks(struct gpu_part *part, bool all, struct error *error);
enum status gpu_work_conserved(struct gpu_part *part, double *sums, struct error *error);

#endif
