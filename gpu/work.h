/*
 * The computations of a part: forces, kicks and drifts, whole steps, energies. All of it is queued
 * on the part's stream, and gpu_part_wait() waits for it.
 */
#ifndef ORRERY_GPU_WORK_H
#define ORRERY_GPU_WORK_H

#include <stdbool.h>

#include "integrator/stage-program.h"
#include "part.h"

/* Launches what forces and small systems need, over as few bodies as it takes and without moving
 * one, and waits: a device that can run none of it is found out before a run depends on it. */
enum status gpu_work_try(struct gpu_part *part, struct error *error);

/* The sums of the force, from the positions of all bodies in part->sources. */
enum status gpu_work_sum(struct gpu_part *part, struct error *error);
/* Accelerations from the last sums, the moves of a pass, and the sources of the new positions. */
enum status gpu_work_move(struct gpu_part *part, const struct stage_pass *pass,
                          struct error *error);
/* Whole steps of systems that stay in a block; false in *done where they do not. `current`: the
 * accelerations are a(x). */
enum status gpu_work_resident(struct gpu_part *part, const struct stage_program *program,
                              uint64_t steps, bool current, bool *done, struct error *error);

/* The sums of gpu_potentials() from positions in state, into phi and psi on the device. */
enum status gpu_work_potentials(struct gpu_part *part, struct error *error);
/* Blocks' sums of the part's own bodies, or of all bodies; then the systems' sums of all blocks, to
 * sums[systems][GPU_SUM_COUNT]. */
enum status gpu_work_conserved_blocks(struct gpu_part *part, bool all, struct error *error);
enum status gpu_work_conserved(struct gpu_part *part, double *sums, struct error *error);

#endif
