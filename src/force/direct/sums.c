#include "config.h"

#include "force/direct/direct.h"

#include <omp.h>
#include <string.h>

#include "force/direct/reference.h"
#include "force/direct/tiles.h"

/* Pairs of a system for each thread of a team: below, waiting for another thread costs more than
 * its help. Measured, like the sizes in direct.c. */
enum { PAIRS_PER_THREAD = 16384 };

/* --- packing ---------------------------------------------------------------------------------- */

/* Finds who works on an item with this thread, and in which scratch. */
static struct system_sum find_team(struct direct *direct, const struct bodies *bodies,
                                   const struct force_item *item)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const double useful = 1 + reference_pairs(1, (double)bodies->count) / PAIRS_PER_THREAD;
    struct system_sum sum = { .direct = direct, .bodies = bodies, .team = { 0, 1, NULL } };
    sum.scratch = &direct->scratch[item->by_team || size > direct->scratches ? 0 : rank];
    if (item->by_team)
        sum.team = (struct team){ rank, useful < (double)size ? (size_t)useful : size,
                                  &direct->base.barrier };
    return sum;
}

/* Packs the bodies of a system for this thread's part in its sums. Ends with a barrier of the team.
 */
static void pack(struct system_sum *sum, enum precision precision, size_t system)
{
    const struct force *const force = &sum->direct->base;
    const struct force_share *const share = &force->options.share;
    sum->packing = (struct packing){ .precision = precision, .packed = sum->scratch->packed };
    packing_open(&sum->packing, &force->physics, sum->bodies, system);
    sum->all = team_share(&sum->team, (struct range){ 0, sum->bodies->stride });
    sum->mine = team_share(&sum->team, (struct range){ share->first, share->last });
    packing_fill(&sum->packing, sum->bodies, sum->all);
    sum->kernels = &sum->direct->kernels->force[precision];
    sum->form = force->physics.boundary == BOUNDARY_PERIODIC ? FORM_PERIODIC : FORM_OPEN;
    sum->masses = sum->packing.packed.equal ? MASSES_EQUAL : MASSES_ANY;
    double *const a[3] = { sum->bodies->ax, sum->bodies->ay, sum->bodies->az };
    for (int axis = 0; axis < 3; axis++)
        sum->total[axis] = a[axis] + sum->packing.first;
    team_wait(&sum->team);
}

/* --- unpacking -------------------------------------------------------------------------------- */

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
static void write_accelerations(const struct system_sum *sum, struct range range, bool forces)
{
    const struct bodies *const bodies = sum->bodies;
    const double unit = sum->direct->base.physics.gravitational_constant * sum->kernels->factor *
                        packing_force_unit(&sum->packing);
    const size_t count = bodies->count;
    const struct range full = { range.first, range.last < count ? range.last : count };
    for (int axis = 0; axis < 3; axis++) {
        double *const a = sum->total[axis];
        if (forces && !sum->packing.packed.equal)
            scale_by_mass(a, unit, bodies->m + sum->packing.first, sum->packing.mass_scale, full);
        else
            scale(a, unit, full);
        for (size_t i = full.last > range.first ? full.last : range.first; i < range.last; i++)
            a[i] = 0;
    }
}

/* For what adds to the system's accelerations. */
static void clear_totals(const struct system_sum *sum, struct range range)
{
    for (int axis = 0; axis < 3; axis++)
        memset(sum->total[axis] + range.first, 0, (range.last - range.first) * sizeof(double));
}

/* Bodies that are summed between two tests for an interruption: whole blocks of every kernel. */
enum { PART = 1024 };

/* The part of `range` that begins at `first`: all that is left of it where nothing can interrupt
 * the sums, and nothing more where something does. */
static struct range next_part(const struct system_sum *sum, struct range range, size_t first)
{
    struct interruption *const interruption = sum->direct->base.physics.interruption;
    if (interruption_raised(interruption))
        return (struct range){ range.last, range.last };
    const bool whole = !interruption || range.last - first <= PART;
    return (struct range){ first, whole ? range.last : first + PART };
}

/* Sums by the plain kernel, if the third law lacks the masses. */
static void sum_over_all(const struct system_sum *sum, struct range range)
{
    const enum force_kernel_id asked = sum->direct->kernel;
    const enum force_kernel_id kernel = asked == FORCE_SYMMETRIC ? FORCE_PLAIN : asked;
    struct range part = next_part(sum, range, range.first);
    clear_totals(sum, range);
    for (; part.first < part.last; part = next_part(sum, range, part.last))
        sum->kernels->sum[kernel][sum->form][sum->masses](&sum->packing.packed, part, sum->total);
    write_accelerations(sum, range, false);
}

/* --- accelerations and potentials ------------------------------------------------------------- */

/* One thread does it, as the specification has it. */
static void sum_reference(const struct system_sum *sum, size_t system, double *phi, double *psi)
{
    const struct physics *const physics = &sum->direct->base.physics;
    const struct bodies *const b = sum->bodies;
    if (sum->team.rank > 0)
        return;
    if (phi)
        reference_potentials_of(physics, b, system, 0, b->count, phi, psi);
    else
        reference_accelerations_of(physics, b, system, 0, b->count);
}

/* Computes accelerations. If one process holds those of all bodies, a system that lacks the masses
 * for the third law is summed by that process alone. */
void direct_accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item)
{
    struct direct *const direct = (struct direct *)force;
    const bool holds = !force->held || force->options.share.part == force->holder;
    if (item->batch) {
        batch_accelerations(&direct->scratch[omp_get_thread_num()].batch, &force->physics);
        return;
    }
    struct system_sum sum = find_team(direct, bodies, item);
    struct wave wave;
    for (size_t s = item->first; s < item->last; s++) {
        team_wait(&sum.team); /* all bodies are where they belong, and nobody uses the scratch */
        if (direct->kernel == FORCE_REFERENCE) {
            sum_reference(&sum, s, NULL, NULL);
            continue;
        }
        pack(&sum, direct->precision, s);
        if (direct->kernel != FORCE_SYMMETRIC || !sum.packing.massive) {
            if (holds)
                sum_over_all(&sum, force->held ? sum.all : sum.mine);
            continue;
        }
        const bool in_place = !sum.scratch->rounds;
        clear_totals(&sum, sum.all);
        for (size_t number = 0; tiles_find_wave(direct, number, &wave); number++) {
            if (number > 0 || in_place)
                team_wait(&sum.team);
            tiles_sum_wave(&sum, &wave);
            if (in_place)
                continue;
            team_wait(&sum.team);
            tiles_add_wave(&sum, &wave);
        }
        if (force->held || in_place)
            team_wait(&sum.team);
        if (holds)
            write_accelerations(&sum, sum.all, true);
    }
    team_wait(&sum.team);
}

/* Turns the sums of a system into potentials in true units. */
static void write_potentials(const struct system_sum *sum, double *phi, double *psi)
{
    const double unit =
        -sum->direct->base.physics.gravitational_constant * packing_potential_unit(&sum->packing);
    for (size_t i = sum->mine.first; i < sum->mine.last; i++) {
        const bool padding = i >= sum->bodies->count;
        phi[i] = padding ? 0 : unit * phi[i];
        psi[i] = padding ? 0 : unit * psi[i];
    }
}

void direct_potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi)
{
    struct direct *const direct = (struct direct *)force;
    struct system_sum sum = find_team(direct, bodies, item);
    for (size_t s = item->first; s < item->last; s++) {
        team_wait(&sum.team);
        if (direct->kernel == FORCE_REFERENCE) {
            sum_reference(&sum, s, phi, psi);
            continue;
        }
        pack(&sum, PRECISION_DOUBLE, s);
        double *const own[] = { phi + sum.packing.first, psi + sum.packing.first };
        struct range part = next_part(&sum, sum.mine, sum.mine.first);
        for (; part.first < part.last; part = next_part(&sum, sum.mine, part.last))
            direct->kernels->potential[sum.form](&sum.packing.packed, part, own[0], own[1]);
        write_potentials(&sum, own[0], own[1]);
    }
    team_wait(&sum.team);
}
