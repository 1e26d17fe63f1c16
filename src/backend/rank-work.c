#include "backend/rank-work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "base/memory.h"
#include "external/external.h"
#include "integrator/adaptive-systems.h"
#include "integrator/stage-list.h"
#include "model/units.h"

/* --- the state of an integrator that chooses its own steps ------------------------------------ */

static struct adaptive_systems *state_of(const struct backend *backend)
{
    return (struct adaptive_systems *)backend->adaptive;
}

static size_t state_reals(const struct adaptive_systems *state)
{
    return state->bodies->systems * state->method->arrays * state->bodies->stride;
}

static size_t clock_reals(const struct adaptive_systems *state)
{
    return state->bodies->systems * sizeof *state->clocks / sizeof(double);
}

/* Copies, on rank 0, the state of the systems that rank 0 itself moves (as many as `own` has): the
 * first of all systems. */
static void copy_state(const struct adaptive_systems *to, const struct adaptive_systems *from,
                       const struct adaptive_systems *own)
{
    memcpy(to->arrays, from->arrays, state_reals(own) * sizeof(double));
    memcpy(to->clocks, from->clocks, clock_reals(own) * sizeof(double));
}

/* Sends each rank the state of its own systems from rank 0, which has the state of all systems:
 * rank 0 may have loaded it from a checkpoint or copied it since the last advance. */
static void send_state(const struct ranks *ranks)
{
    const struct adaptive_systems *const all = state_of(&ranks->backend);
    const struct adaptive_systems *const own = state_of(ranks->inner);
    if (all)
        copy_state(own, all, own);
    if (ranks->by_systems) {
        mpi_scatter(0, all ? all->arrays : NULL, own->arrays, &ranks->arrays_division, NULL);
        mpi_scatter(0, all ? (const double *)all->clocks : NULL, (double *)own->clocks,
                    &ranks->clocks_division, NULL);
    } else {
        mpi_broadcast(own->arrays, state_reals(own) * sizeof(double));
        mpi_broadcast(own->clocks, clock_reals(own) * sizeof(double));
    }
}

static void receive_state(const struct ranks *ranks)
{
    const struct adaptive_systems *const all = state_of(&ranks->backend);
    const struct adaptive_systems *const own = state_of(ranks->inner);
    if (ranks->by_systems) {
        mpi_gather(all ? all->arrays : NULL, own->arrays, &ranks->arrays_division);
        mpi_gather(all ? (double *)all->clocks : NULL, (const double *)own->clocks,
                   &ranks->clocks_division);
    }
    if (all)
        copy_state(all, own, own);
}

/* --- the work of each order ------------------------------------------------------------------- */

static enum status fetch(struct ranks *ranks, const struct rank_order *order, struct error *error)
{
    (void)order;
    const struct bodies *b = ranks->bodies;
    double *const state[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    const enum status status = ranks->inner->class_->fetch(ranks->inner, error);
    return rank_gather(ranks, status, state, COUNT_OF(state), error);
}

/* Reports the body whose position or velocity is not finite, in the words that one process would
 * use. Rank 0 looks for the body, since other ranks know only some bodies, and number systems from
 * their own first one. */
static enum status report_non_finite(struct ranks *ranks, enum status reported, struct error *error)
{
    struct error found = { 0 };
    const struct host whole = { .bodies = ranks->bodies };
    enum status status = fetch(ranks, NULL, &found);
    if (!status && ranks->backend.adaptive)
        status = adaptive_systems_check(state_of(&ranks->backend), &found);
    if (!status && mpi_rank() == 0)
        status = host_check(&whole, &found);
    if (!status) /* on other ranks than 0, which do not know what rank 0 has found */
        return reported;
    *error = found;
    return status;
}

static enum status advance(struct ranks *ranks, const struct rank_order *order, struct error *error)
{
    const struct integrator *const row = integrator_at(order->integrator);
    const struct integrator *const integrator = row ? row : &ranks->listed;
    if (ranks->inner->adaptive)
        send_state(ranks);
    enum status status =
        ranks->inner->class_->advance(ranks->inner, integrator, order->dt, order->steps, error);
    if (ranks->inner->adaptive)
        receive_state(ranks);
    if (status && status != STATUS_NUMERICAL && status != STATUS_STOPPED && !ranks->by_systems)
        mpi_abandon(status, error); /* the other ranks wait for bodies of this rank */
    status = mpi_agree(status, error);
    return status == STATUS_NUMERICAL ? report_non_finite(ranks, status, error) : status;
}

static enum status accelerations(struct ranks *ranks, const struct rank_order *order,
                                 struct error *error)
{
    (void)order;
    double *const a[] = { ranks->bodies->ax, ranks->bodies->ay, ranks->bodies->az };
    const enum status status = ranks->inner->class_->accelerations(ranks->inner, error);
    return rank_gather(ranks, status, a, COUNT_OF(a), error);
}

static enum status potentials(struct ranks *ranks, const struct rank_order *order,
                              struct error *error)
{
    (void)order;
    double *const arrays[] = { ranks->phi, ranks->psi };
    enum status status =
        ranks->inner->class_->potentials(ranks->inner, ranks->phi, ranks->psi, error);
    status = rank_settle(ranks, status, error);
    return rank_gather(ranks, status, arrays, COUNT_OF(arrays), error);
}

/* Computes the conserved quantities of all systems on rank 0. If ranks divide the bodies of a
 * system, rank 0 sums over all bodies in the order of one process, unless the backends of the ranks
 * give sums over all bodies. */
static enum status conserved(struct ranks *ranks, const struct rank_order *order,
                             struct error *error)
{
    if (ranks->by_systems || ranks->alike || ranks->inner->class_->conserved_of_all) {
        enum status status = ranks->inner->class_->conserved(ranks->inner, ranks->conserved, error);
        status = mpi_agree(rank_settle(ranks, status, error), error);
        if (!status && ranks->by_systems)
            mpi_gather((double *)ranks->conserved, (const double *)ranks->conserved,
                       &ranks->conserved_division);
        return status;
    }
    enum status status = fetch(ranks, order, error);
    if (!status)
        status = potentials(ranks, order, error);
    if (!status && mpi_rank() == 0)
        status = host_measure(ranks->physics.external, ranks->bodies, 1, ranks->phi, ranks->psi,
                              ranks->conserved, error);
    return mpi_agree(status, error);
}

/* --- creating and destroying ------------------------------------------------------------------ */

void rank_work_destroy(struct ranks *ranks)
{
    if (!ranks)
        return;
    if (ranks->inner)
        ranks->inner->class_->destroy(ranks->inner);
    mpi_division_destroy(&ranks->division);
    mpi_division_destroy(&ranks->conserved_division);
    mpi_division_destroy(&ranks->arrays_division);
    mpi_division_destroy(&ranks->clocks_division);
    if (ranks->backend.adaptive)
        ranks->backend.adaptive->class_->destroy(ranks->backend.adaptive);
    memory_free(ranks->phi);
    memory_free(ranks->psi);
    free(ranks->conserved);
    if (mpi_rank() > 0)
        bodies_destroy(ranks->bodies);
    external_destroy(ranks->external);
    pthread_mutex_destroy(&ranks->talking);
    free(ranks);
}

static size_t owned(const struct mpi_division *division)
{
    return division->starts[mpi_rank() + 1] - division->starts[mpi_rank()];
}

static enum status divide(struct ranks *ranks, const struct rank_plan *plan, struct error *error)
{
    const size_t numbers = sizeof(struct conserved) / sizeof(double);
    const size_t stride = (plan->count + BODIES_PADDING - 1) / BODIES_PADDING * BODIES_PADDING;
    ranks->by_systems = plan->by_systems;
    ranks->alike = plan->alike;
    if (!ranks->by_systems)
        return mpi_division_create(stride / BODIES_PADDING, BODIES_PADDING, &ranks->division,
                                   error);
    if (!mpi_division_create(plan->systems, stride, &ranks->division, error))
        mpi_division_create(plan->systems, numbers, &ranks->conserved_division, error);
    return error->status;
}

/* Allocates all that does not depend on the values of bodies. The arrays for results have room for
 * all systems on rank 0, and for the own systems of a rank on any other. */
static enum status allocate(struct ranks *ranks, const struct rank_plan *plan, struct error *error)
{
    if (divide(ranks, plan, error))
        return error->status;
    const bool leads = mpi_rank() == 0;
    size_t systems = plan->systems;
    if (ranks->by_systems)
        systems = owned(&ranks->conserved_division) * sizeof(double) / sizeof(struct conserved);
    if (!leads && bodies_create(systems, plan->count, &ranks->bodies, error))
        return error->status;
    if (!leads && plan->fields > 0 && external_allocate(plan->fields, &ranks->external, error))
        return error->status;
    ranks->own = *ranks->bodies;
    ranks->own.systems = systems;
    const size_t length = bodies_length(ranks->bodies);
    ranks->phi = memory_array(length, sizeof(double), error);
    ranks->psi = memory_array(length, sizeof(double), error);
    ranks->conserved = calloc(ranks->bodies->systems, sizeof *ranks->conserved);
    if (!ranks->phi || !ranks->psi || !ranks->conserved)
        return error_memory(error);
    return STATUS_OK;
}

static void distribute_bodies(struct ranks *ranks)
{
    const struct bodies *b = ranks->bodies;
    double *const arrays[] = { b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        rank_distribute(ranks, arrays[k]);
}

static void distribute_fields(struct ranks *ranks, const struct rank_plan *plan)
{
    if (plan->fields == 0)
        return;
    if (ranks->external)
        ranks->physics.external = ranks->external;
    struct field *const fields = ranks->physics.external->fields;
    mpi_broadcast(fields, plan->fields * sizeof *fields);
    if (ranks->external)
        external_find_kept(ranks->external);
}

static enum status create_inner(struct ranks *ranks, const struct rank_plan *plan,
                                struct error *error)
{
    const size_t *const starts = ranks->division.starts;
    struct backend_options options = {
        .force = { .method = force_method_find(plan->method),
                   .precision = plan->precision,
                   .kernel = plan->kernel,
                   .isa = plan->isa,
                   .threads = plan->threads,
                   .accuracy = plan->accuracy },
        .devices = plan->devices,
        .stream = plan->stream,
        .node_rank = ranks->node_rank,
        .ranks = mpi_count(),
        .integrator = integrator_find(plan->integrator),
        .values = plan->valued ? plan->values : NULL,
        .refinement = plan->refinement,
    };
    if (!ranks->by_systems && !ranks->alike) {
        options.peers = &ranks->peers;
        options.force.share = (struct force_share){ .part = (size_t)mpi_rank(),
                                                    .parts = (size_t)mpi_count(),
                                                    .first = starts[mpi_rank()],
                                                    .last = starts[mpi_rank() + 1],
                                                    .relay = &ranks->relay };
    }
    const struct backend_class *class_ = backend_find(plan->backend);
    return class_->create(&options, &ranks->physics, &ranks->own, &ranks->inner, error);
}

/* Puts the choices that the backend of rank 0 has made into the plan for the other ranks. The
 * kernel of a CPU depends only on the number of bodies; that of a GPU also on the number of systems
 * of a rank. No rank has fewer systems than rank 0, so what suits rank 0 suits all. */
static void resolve(struct ranks *ranks, struct rank_plan *plan)
{
    struct backend_description chosen;
    ranks->inner->class_->describe(ranks->inner, &chosen);
    snprintf(plan->backend, RANK_NAME_SIZE, "%s", chosen.backend);
    if (force_isa_row(chosen.isa) >= 0)
        snprintf(plan->isa, RANK_NAME_SIZE, "%s", chosen.isa);
    if (backend_find(chosen.backend) != &backend_cuda)
        return;
    plan->interruptible = false; /* no thread tests for an interruption while a GPU works */
    ranks->physics.interruption = NULL;
    snprintf(plan->kernel, RANK_NAME_SIZE, "%s", chosen.kernel);
}

/* Creates on rank 0 the state of an integrator that chooses its own steps for all systems, for
 * checkpoints and copies of the run, and on all ranks the divisions of its arrays. Does nothing for
 * other integrators. */
static enum status create_state(struct ranks *ranks, const struct rank_plan *plan,
                                struct error *error)
{
    const struct adaptive_systems *const own = state_of(ranks->inner);
    const struct integrator *const integrator = integrator_find(plan->integrator);
    const struct force_options force = { .method = force_method_find(plan->method),
                                         .precision = plan->precision,
                                         .kernel = "reference",
                                         .isa = plan->isa,
                                         .threads = 1 };
    const struct adaptive_options options = { .values = plan->valued ? plan->values : NULL,
                                              .refinement = plan->refinement,
                                              .force = &force };
    if (!own)
        return STATUS_OK;
    if (mpi_rank() == 0 && integrator->adaptive->create(&options, &ranks->physics, ranks->bodies,
                                                        &ranks->backend.adaptive, error))
        return error->status;
    if (!ranks->by_systems)
        return STATUS_OK;
    const size_t arrays = own->method->arrays * own->bodies->stride;
    const size_t clock = sizeof *own->clocks / sizeof(double);
    if (!mpi_division_create(plan->systems, arrays, &ranks->arrays_division, error))
        mpi_division_create(plan->systems, clock, &ranks->clocks_division, error);
    return error->status;
}

/* Creates the backends of all ranks. After each part that can fail the ranks agree, so that either
 * all of them go on or none does. */
enum status rank_work_create(struct ranks *ranks, struct rank_plan *plan, struct error *error)
{
    ranks->physics = plan->physics;
    stage_list_take(plan->stages, plan->stage_count, &ranks->listed);
    rank_connect(ranks, plan->interruptible);
    ranks->physics.units = units_find(plan->units);
    ranks->node_rank = mpi_node_rank();
    enum status status = mpi_agree(allocate(ranks, plan, error), error);
    if (status)
        return status;
    distribute_bodies(ranks);
    distribute_fields(ranks, plan);
    if (mpi_rank() == 0)
        status = create_inner(ranks, plan, error);
    status = mpi_agree(status, error);
    if (status)
        return status;
    if (mpi_rank() == 0)
        resolve(ranks, plan);
    mpi_broadcast(plan, sizeof *plan);
    if (!plan->interruptible)
        ranks->physics.interruption = NULL;
    if (mpi_rank() > 0)
        status = create_inner(ranks, plan, error);
    status = mpi_agree(status, error);
    return status ? status : mpi_agree(create_state(ranks, plan, error), error);
}

/* --- executing an order ----------------------------------------------------------------------- */

static enum status (*const actions[ORDER_COUNT])(struct ranks *, const struct rank_order *,
                                                 struct error *) = {
    [ORDER_ADVANCE] = advance,
    [ORDER_FETCH] = fetch,
    [ORDER_ACCELERATIONS] = accelerations,
    [ORDER_POTENTIALS] = potentials,
    [ORDER_CONSERVED] = conserved,
};

enum status rank_work_do(struct ranks *ranks, const struct rank_order *order, struct error *error)
{
    interruption_lower(&ranks->wish);
    ranks->word_passed = false;
    return actions[order->verb](ranks, order, error);
}
