/* The accelerations and the potentials of one system, from the sums of the kernels. */
#ifndef ORRERY_FORCE_DIRECT_SUMS_H
#define ORRERY_FORCE_DIRECT_SUMS_H

#include "force/direct/task.h"

/* To be called by every thread of task->team, with force, bodies, scratch and team in the task. */
void sums_forces(struct task *task, size_t system);
void sums_potentials(struct task *task, size_t system, double *phi, double *psi);

#endif
