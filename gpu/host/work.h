/*
 * The computations of a part (struct gpu_part): forces, kicks and drifts, whole steps, energies.
 * All work is queued on the part's stream, and gpu_part_wait() waits for it.
 */
#ifndef ORRERY_GPU_WORK_H
#define ORRERY_GPU_WORK_H

#include <stdbool.h>

#include "integrator/stage-program.h"
#include "part.h"

/* Launches the force kernel and, for small systems, gpu_resident() over a few bodies, without
 * moving any, and waits: so a device that cannot run them is found before the run begins. */
enum status gpu_work_try(struct gpu_part *part, struct error *error);

/* Sums the force on the part's bodies, from the positions of all bodies in part->force.sources. */
enum status gpu_work_sum(struct gpu_part *part, struct error *error);
/* Sums the force as gpu_work_sum() does, or leaves the sums to the next gpu_work_move(), if one
 * launch does both. */
enum status gpu_work_force(struct gpu_part *part, struct error *error);
/* Computes accelerations from the last sums, does the moves of a pass, and makes the sources of the
 * new positions. */
enum status gpu_work_move(struct gpu_part *part, const struct stage_pass *pass,
                          struct error *error);
/* Takes `steps` whole steps by gpu_resident(), which keeps each system in a block; if the systems
 * are too large or too few for that, *done becomes false and nothing is done. `current`: the
 * accelerations are those of the present positions. */
enum status gpu_work_resident(struct gpu_part *part, const struct stage_program *program,
                              uint64_t steps, bool current, bool *done, struct error *error);

/* Computes the potential phi of the part's bodies and psi, their part in the virial, from the
 * positions on the device, where the results stay. */
enum status gpu_work_potentials(struct gpu_part *part, struct error *error);
/* gpu_work_conserved_blocks() adds up mass, energies and momenta of blocks of the part's own
 * bodies, or of all bodies if other processes move some; gpu_work_conserved() adds up all blocks of
 * each system, into sums[systems][GPU_SUM_COUNT] on the host. */
enum status gpu_work_conserved_blocks(struct gpu_part *part, struct error *error);
enum status gpu_work_conserved(struct gpu_part *part, double *sums, struct error *error);

#endif
