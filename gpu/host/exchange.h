/*
 * Copies of bodies between the host's arrays and the devices, between the parts of a team, and, by
 * way of the host, between the processes that move other bodies of the same systems. All copies are
 * queued, but for those between processes, which wait; a host array has what was copied to it after
 * gpu_part_wait().
 */
#ifndef ORRERY_GPU_EXCHANGE_H
#define ORRERY_GPU_EXCHANGE_H

#include "part.h"

/* Copies all of systems [first_system, first_system + systems) from the host's arrays to the
 * device; they become the part's systems. */
enum status gpu_exchange_upload(struct gpu_part *part, size_t first_system, size_t systems,
                                struct error *error);
/* Copy positions and velocities, accelerations, or potentials of the part's own bodies to the
 * host's arrays. */
enum status gpu_exchange_download_state(struct gpu_part *part, struct error *error);
enum status gpu_exchange_download_accelerations(struct gpu_part *part, struct error *error);
enum status gpu_exchange_download_potentials(struct gpu_part *part, double *phi, double *psi,
                                             struct error *error);

/* Give each part of the team what the other parts, and other processes, have of the same systems:
 * after a drift the sources of the force; before the potentials the positions, which other
 * processes have given before; and for the conserved sums either velocities and potentials, if
 * processes divide the bodies, or the sums of blocks, if only devices do. `status` is that of the
 * work before: a process that has failed takes part, too, or the others would wait for it for
 * ever. */
enum status gpu_exchange_sources(const struct gpu_team *team, enum status status,
                                 struct error *error);
enum status gpu_exchange_positions(const struct gpu_team *team, struct error *error);
enum status gpu_exchange_observed(const struct gpu_team *team, enum status status,
                                  struct error *error);
enum status gpu_exchange_blocks(const struct gpu_team *team, struct error *error);

#endif
