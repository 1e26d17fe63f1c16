#include "config.h"

#include "force/direct/sums.h"

#include <string.h>

#include "force/direct/laps.h"
#include "force/direct/tiles.h"
#include "force/force.h"

CLONE_FOR_VECTORS
static void scale(double *a, double unit, struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++)
        a[i] = unit * a[i];
}

CLONE_FOR_VECTORS
static void scale_by_mass(double *restrict a, double unit, const double *restrict m,
                          double mass_scale, struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++)
        a[i] = unit * (a[i] / (m[i] * mass_scale));
}

/* From sums to accelerations in true units; the third law's sums are forces. */
static void write_accelerations(const struct task *task, struct range range, bool forces)
{
    const struct bodies *const bodies = task->bodies;
    const double unit = task->force->physics.gravitational_constant * task->kernels->factor *
                        packing_force_unit(&task->packing);
    const size_t count = bodies->count;
    const struct range full = { range.first, range.last < count ? range.last : count };
    for (int axis = 0; axis < 3; axis++) {
        double *const a = task->total[axis];
        if (forces && !task->packing.packed.equal)
            scale_by_mass(a, unit, bodies->m + task->packing.first, task->packing.mass_scale, full);
        else
            scale(a, unit, full);
        for (size_t i = full.last > range.first ? full.last : range.first; i < range.last; i++)
            a[i] = 0;
    }
}

/* For what adds to the system's accelerations. */
static void clear_totals(const struct task *task, struct range range)
{
    for (int axis = 0; axis < 3; axis++)
        memset(task->total[axis] + range.first, 0, (range.last - range.first) * sizeof(double));
}

/* Where the third law has not the masses, by the plain kernel. */
static void sum_over_all(const struct task *task, struct range range)
{
    const enum force_kernel_id asked = task->force->kernel;
    const enum force_kernel_id kernel = asked == FORCE_SYMMETRIC ? FORCE_PLAIN : asked;
    clear_totals(task, range);
    task->kernels->sum[kernel][task->form][task->masses](&task->packing.packed, range, task->total);
    write_accelerations(task, range, false);
}

/* Where one process holds the accelerations of all bodies, a system that has not the masses for the
 * third law is summed by that one alone. */
void sums_forces(struct task *task, size_t system)
{
    const struct force *const force = task->force;
    size_t holder;
    task_open(task, force->precision, system);
    const bool held = force_has_holder(force, &holder), holds = force->share.part == holder;
    if (force->kernel != FORCE_SYMMETRIC || !task->packing.massive) {
        if (!held || holds)
            sum_over_all(task, held ? task->all : task->mine);
        return;
    }
    clear_totals(task, task->all);
    if (held)
        laps_sum(task);
    else
        tiles_sum(task);
    if (!held || holds)
        write_accelerations(task, task->all, true);
}

void sums_potentials(struct task *task, size_t system, double *phi, double *psi)
{
    task_open(task, PRECISION_DOUBLE, system);
    const double unit =
        -task->force->physics.gravitational_constant * packing_potential_unit(&task->packing);
    phi += task->packing.first;
    psi += task->packing.first;
    task->force->kernels->potential[task->form](&task->packing.packed, task->mine, phi, psi);
    for (size_t i = task->mine.first; i < task->mine.last; i++) {
        const bool padding = i >= task->bodies->count;
        phi[i] = padding ? 0 : unit * phi[i];
        psi[i] = padding ? 0 : unit * psi[i];
    }
}
