/*
 * A team: the parts that compute the same systems, either one part with whole systems, or several
 * that divide the bodies of each system. After every drift the parts of a divided system copy the
 * sources of their bodies to each other. All work is queued; no function waits for a device, unless
 * the bodies are divided among processes: then positions go by way of the host.
 */
#ifndef ORRERY_GPU_TEAM_H
#define ORRERY_GPU_TEAM_H

#include "part.h"

struct gpu_team {
    struct gpu_part *const *parts;
    size_t count;
};

/* Calls `what` for one part after another until it fails. */
enum status gpu_team_each(const struct gpu_team *team,
                          enum status (*what)(struct gpu_part *, struct error *),
                          struct error *error);

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
