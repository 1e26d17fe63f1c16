#include "backend/ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "backend/mpi.h"
#include "base/memory.h"
#include "base/room.h"
#include "model/units.h"

enum { NAME_SIZE = 32 };

/* What is to be created, in values that mean the same to every rank. */
struct plan {
    char backend[NAME_SIZE], kernel[NAME_SIZE], isa[NAME_SIZE], units[NAME_SIZE];
    enum precision precision;
    int threads, devices;
    struct physics physics;
    size_t systems, count;
};

enum order_verb {
    ORDER_CREATE,
    ORDER_ADVANCE,
    ORDER_FETCH,
    ORDER_ACCELERATIONS,
    ORDER_POTENTIALS,
    ORDER_CONSERVED,
    ORDER_DESTROY,
    ORDER_ROOM,
    ORDER_DISMISS,
    ORDER_COUNT
};

struct order {
    enum order_verb verb;
    uint64_t backend; /* rank 0's address of it, which the other ranks know it by */
    struct plan plan;
    size_t integrator; /* row of the table */
    double dt;
    uint64_t steps;
    double first_bytes, each_bytes; /* of ORDER_ROOM */
};

struct ranks {
    struct backend backend;
    uint64_t name;      /* order.backend */
    struct ranks *next; /* of those that this rank serves */
    struct backend *inner;
    struct physics physics;
    int node_rank;
    struct bodies *bodies; /* rank 0: the caller's. Others: own ones, of their systems or of all */
    struct bodies own;     /* what inner moves: their first systems, or all */
    bool by_systems;
    struct mpi_division division;           /* of an array of all systems, or of one system */
    struct backend_exchange exchange;       /* by bodies */
    struct force_relay relay;               /* the same */
    double *phi, *psi;                      /* of all that inner knows */
    struct conserved *conserved;            /* of the systems that inner knows */
    struct mpi_division conserved_division; /* in doubles; by systems */
};

int ranks_count(void)
{
    return mpi_count();
}

/* --- exchanging --------------------------------------------------------------------------------
 */

static void gather_everywhere(void *context, double *const arrays[], size_t count)
{
    const struct ranks *ranks = context;
    for (size_t s = 0; s < ranks->own.systems; s++)
        for (size_t k = 0; k < count; k++)
            mpi_all_gather(arrays[k] + s * ranks->own.stride, &ranks->division);
}

static void scatter_to_owners(void *context, size_t from, double *const arrays[], size_t count)
{
    const struct ranks *ranks = context;
    const size_t first = ranks->division.starts[mpi_rank()];
    for (size_t s = 0; s < ranks->own.systems; s++)
        for (size_t k = 0; k < count; k++) {
            double *const system = arrays[k] + s * ranks->own.stride;
            mpi_scatter((int)from, system, system + first, &ranks->division);
        }
}

static void send_sums(void *context, size_t part, double *const sums[3], size_t count)
{
    (void)context;
    mpi_send(sums, count, (int)part);
}

static void receive_sums(void *context, size_t part, double *const sums[3], size_t count)
{
    (void)context;
    mpi_receive(sums, count, (int)part);
}

/* What all ranks have of an array, to rank 0's. */
static void gather(const struct ranks *ranks, double *array)
{
    if (ranks->by_systems) {
        mpi_gather(array, array, &ranks->division);
        return;
    }
    const size_t first = ranks->division.starts[mpi_rank()];
    for (size_t s = 0; s < ranks->own.systems; s++) {
        double *const system = array + s * ranks->own.stride;
        mpi_gather(system, system + first, &ranks->division);
    }
}

/* From rank 0's array: the systems of a rank, or all bodies. */
static void distribute(const struct ranks *ranks, double *array)
{
    if (ranks->by_systems)
        mpi_scatter(0, array, array, &ranks->division);
    else
        mpi_broadcast(array, bodies_length(&ranks->own) * sizeof *array);
}

/* --- what all ranks do alike at an order -------------------------------------------------------
 */

static enum status fetch(struct ranks *ranks, const struct order *order, struct error *error)
{
    (void)order;
    const enum status status = mpi_agree(ranks->inner->class_->fetch(ranks->inner, error), error);
    if (status)
        return status;
    const struct bodies *b = ranks->bodies;
    double *const state[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    for (size_t k = 0; k < COUNT_OF(state); k++)
        gather(ranks, state[k]);
    return STATUS_OK;
}

/* A rank knows the others' bodies in part and its systems by its own numbers: rank 0 looks for the
 * body that is not finite, as it would alone. */
static enum status report_blemish(struct ranks *ranks, enum status reported, struct error *error)
{
    struct error found = { 0 };
    const struct host whole = { .bodies = ranks->bodies };
    enum status status = fetch(ranks, NULL, &found);
    if (!status && mpi_rank() == 0)
        status = host_check(&whole, &found);
    if (!status) /* rank 0 knows more than the others */
        return reported;
    *error = found;
    return status;
}

static enum status advance(struct ranks *ranks, const struct order *order, struct error *error)
{
    const struct integrator *integrator = integrator_at(order->integrator);
    enum status status =
        ranks->inner->class_->advance(ranks->inner, integrator, order->dt, order->steps, error);
    if (status && status != STATUS_NUMERICAL && !ranks->by_systems)
        mpi_abandon(status, error); /* the others wait for this rank's bodies */
    status = mpi_agree(status, error);
    return status == STATUS_NUMERICAL ? report_blemish(ranks, status, error) : status;
}

static enum status accelerations(struct ranks *ranks, const struct order *order,
                                 struct error *error)
{
    (void)order;
    const enum status status =
        mpi_agree(ranks->inner->class_->accelerations(ranks->inner, error), error);
    if (status)
        return status;
    gather(ranks, ranks->bodies->ax);
    gather(ranks, ranks->bodies->ay);
    gather(ranks, ranks->bodies->az);
    return STATUS_OK;
}

static enum status potentials(struct ranks *ranks, const struct order *order, struct error *error)
{
    (void)order;
    const enum status status = mpi_agree(
        ranks->inner->class_->potentials(ranks->inner, ranks->phi, ranks->psi, error), error);
    if (status)
        return status;
    gather(ranks, ranks->phi);
    gather(ranks, ranks->psi);
    return STATUS_OK;
}

/* Rank 0 sums over all bodies of a divided system, in the order in which one process does, unless
 * the backends do. */
static enum status conserved(struct ranks *ranks, const struct order *order, struct error *error)
{
    if (ranks->by_systems || ranks->inner->class_->conserved_of_all) {
        const enum status status = mpi_agree(
            ranks->inner->class_->conserved(ranks->inner, ranks->conserved, error), error);
        if (!status && ranks->by_systems)
            mpi_gather((double *)ranks->conserved, (const double *)ranks->conserved,
                       &ranks->conserved_division);
        return status;
    }
    enum status status = fetch(ranks, order, error);
    if (!status)
        status = potentials(ranks, order, error);
    for (size_t s = 0; s < ranks->own.systems && !status && mpi_rank() == 0; s++)
        conserved_measure(ranks->bodies, s, ranks->phi, ranks->psi, &ranks->conserved[s]);
    return status;
}

/* --- creating and destroying -------------------------------------------------------------------
 */

static void free_ranks(struct ranks *ranks)
{
    if (!ranks)
        return;
    if (ranks->inner)
        ranks->inner->class_->destroy(ranks->inner);
    mpi_division_destroy(&ranks->division);
    mpi_division_destroy(&ranks->conserved_division);
    memory_free(ranks->phi);
    memory_free(ranks->psi);
    free(ranks->conserved);
    if (mpi_rank() > 0)
        bodies_destroy(ranks->bodies);
    free(ranks);
}

static size_t owned(const struct mpi_division *division)
{
    return division->starts[mpi_rank() + 1] - division->starts[mpi_rank()];
}

static enum status divide(struct ranks *ranks, const struct plan *plan, struct error *error)
{
    const size_t numbers = sizeof(struct conserved) / sizeof(double);
    const size_t stride = (plan->count + BODIES_PADDING - 1) / BODIES_PADDING * BODIES_PADDING;
    ranks->by_systems = ranks_dividing(plan->systems) == 1;
    if (!ranks->by_systems)
        return mpi_division_create(stride / BODIES_PADDING, BODIES_PADDING, &ranks->division,
                                   error);
    const enum status status = mpi_division_create(plan->systems, stride, &ranks->division, error);
    return status ? status
                  : mpi_division_create(plan->systems, numbers, &ranks->conserved_division, error);
}

/* All that does not depend on the bodies' values. Rank 0's results are of all systems. */
static enum status allocate(struct ranks *ranks, const struct plan *plan, struct error *error)
{
    if (divide(ranks, plan, error))
        return error->status;
    const bool leads = mpi_rank() == 0;
    size_t systems = plan->systems;
    if (ranks->by_systems)
        systems = owned(&ranks->conserved_division) * sizeof(double) / sizeof(struct conserved);
    if (!leads && bodies_create(systems, plan->count, &ranks->bodies, error))
        return error->status;
    ranks->own = *ranks->bodies;
    ranks->own.systems = systems;
    const size_t length = bodies_length(ranks->bodies);
    ranks->phi = memory_array(length, sizeof(double), error);
    ranks->psi = memory_array(length, sizeof(double), error);
    ranks->conserved = calloc(ranks->bodies->systems, sizeof *ranks->conserved);
    if (!ranks->phi || !ranks->psi || !ranks->conserved)
        return error_set(error, STATUS_MEMORY, "out of memory");
    return STATUS_OK;
}

static void distribute_bodies(struct ranks *ranks)
{
    const struct bodies *b = ranks->bodies;
    double *const arrays[] = { b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        distribute(ranks, arrays[k]);
}

static enum status create_inner(struct ranks *ranks, const struct plan *plan, struct error *error)
{
    const size_t *const starts = ranks->division.starts;
    struct backend_options options = {
        .force = { .precision = plan->precision,
                   .kernel = plan->kernel,
                   .isa = plan->isa,
                   .threads = plan->threads },
        .devices = plan->devices,
        .node_rank = ranks->node_rank,
        .ranks = mpi_count(),
    };
    if (!ranks->by_systems) {
        options.exchange = &ranks->exchange;
        options.force.share = (struct force_share){ .part = (size_t)mpi_rank(),
                                                    .parts = (size_t)mpi_count(),
                                                    .first = starts[mpi_rank()],
                                                    .last = starts[mpi_rank() + 1],
                                                    .relay = &ranks->relay };
    }
    const struct backend_class *class_ = backend_find(plan->backend);
    return class_->create(&options, &ranks->physics, &ranks->own, &ranks->inner, error);
}

static bool is_one_of(const char *name, const char *const names[])
{
    for (size_t k = 0; names[k]; k++)
        if (strcmp(names[k], name) == 0)
            return true;
    return false;
}

/* What rank 0's backend has chosen by itself is what the others are asked for. (The kernel follows
 * from the bodies.) */
static void settle(const struct ranks *ranks, struct plan *plan)
{
    struct backend_description chosen;
    ranks->inner->class_->describe(ranks->inner, &chosen);
    snprintf(plan->backend, NAME_SIZE, "%s", chosen.backend);
    if (is_one_of(chosen.isa, force_isa_names))
        snprintf(plan->isa, NAME_SIZE, "%s", chosen.isa);
}

/* Every step that can fail ends with an agreement, so that all go on, or none. */
static enum status create(struct ranks *ranks, struct plan *plan, struct error *error)
{
    ranks->physics = plan->physics;
    ranks->physics.units = units_find(plan->units);
    ranks->exchange = (struct backend_exchange){ ranks, gather_everywhere, scatter_to_owners };
    ranks->relay = (struct force_relay){ NULL, receive_sums, send_sums };
    ranks->node_rank = mpi_node_rank();
    enum status status = mpi_agree(allocate(ranks, plan, error), error);
    if (status)
        return status;
    distribute_bodies(ranks);
    if (mpi_rank() == 0)
        status = create_inner(ranks, plan, error);
    status = mpi_agree(status, error);
    if (status)
        return status;
    if (mpi_rank() == 0)
        settle(ranks, plan);
    mpi_broadcast(plan, sizeof *plan);
    if (mpi_rank() > 0)
        status = create_inner(ranks, plan, error);
    return mpi_agree(status, error);
}

/* --- memory ------------------------------------------------------------------------------------
 */

static enum status look_for_room(const struct order *order, struct error *error)
{
    int sharers;
    const double own = mpi_rank() == 0 ? order->first_bytes : order->each_bytes;
    const double shared = mpi_node_sum(own, &sharers);
    const struct room machine = room_of_machine(""), process = room_of_process();
    enum status status = STATUS_OK;
    if (own > process.bytes)
        status = error_set(error, STATUS_MEMORY, "a rank needs %.3g GB of memory; %s has %.3g GB",
                           1e-9 * own, process.limit, 1e-9 * process.bytes);
    else if (shared > machine.bytes)
        status = error_set(error, STATUS_MEMORY,
                           "%d ranks of one machine need %.3g GB of memory; %s has %.3g GB left",
                           sharers, 1e-9 * shared, machine.limit, 1e-9 * machine.bytes);
    return mpi_agree(status, error);
}

enum status ranks_check_room(double first, double each, struct error *error)
{
    struct order order = { .verb = ORDER_ROOM, .first_bytes = first, .each_bytes = each };
    if (mpi_count() > 1)
        mpi_await(&order, sizeof order);
    return look_for_room(&order, error);
}

/* --- the ranks that serve ----------------------------------------------------------------------
 */

static enum status (*const actions[ORDER_COUNT])(struct ranks *, const struct order *,
                                                 struct error *) = {
    [ORDER_ADVANCE] = advance,
    [ORDER_FETCH] = fetch,
    [ORDER_ACCELERATIONS] = accelerations,
    [ORDER_POTENTIALS] = potentials,
    [ORDER_CONSERVED] = conserved,
};

/* A rank that has no memory even for this cannot take part in an agreement. */
static void serve_create(struct ranks **all, struct order *order, struct error *error)
{
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (!ranks)
        abort();
    ranks->name = order->backend;
    if (create(ranks, &order->plan, error)) {
        free_ranks(ranks);
        return;
    }
    ranks->next = *all;
    *all = ranks;
}

static struct ranks **find(struct ranks **all, uint64_t name)
{
    while ((*all)->name != name)
        all = &(*all)->next;
    return all;
}

static void serve_destroy(struct ranks **all, const struct order *order)
{
    struct ranks **const place = find(all, order->backend), *const ranks = *place;
    *place = ranks->next;
    free_ranks(ranks);
}

/* Signals are for rank 0, which stops all of them in order. */
static void leave_signals_to_rank_0(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGUSR1, SIGUSR2 };
    for (size_t k = 0; k < COUNT_OF(numbers); k++)
        signal(numbers[k], SIG_IGN);
}

void ranks_serve(void)
{
    struct ranks *all = NULL;
    struct order order;
    leave_signals_to_rank_0();
    for (mpi_await(&order, sizeof order); order.verb != ORDER_DISMISS;
         mpi_await(&order, sizeof order)) {
        struct error error = { 0 }; /* rank 0 has the same and passes it on */
        if (order.verb == ORDER_CREATE)
            serve_create(&all, &order, &error);
        else if (order.verb == ORDER_ROOM)
            look_for_room(&order, &error);
        else if (order.verb == ORDER_DESTROY)
            serve_destroy(&all, &order);
        else
            actions[order.verb](*find(&all, order.backend), &order, &error);
    }
    while (all) {
        struct ranks *const last = all;
        all = last->next;
        free_ranks(last);
    }
}

void ranks_dismiss(void)
{
    struct order order = { .verb = ORDER_DISMISS };
    mpi_await(&order, sizeof order);
}

/* --- the backend of rank 0 ---------------------------------------------------------------------
 */

static enum status give(struct ranks *ranks, struct order order, struct error *error)
{
    order.backend = ranks->name;
    mpi_await(&order, sizeof order);
    return actions[order.verb](ranks, &order, error);
}

static enum status ranks_probe(struct error *error)
{
    (void)error;
    return STATUS_OK;
}

static struct plan make_plan(const struct backend_options *options, const struct physics *physics,
                             const struct bodies *bodies)
{
    struct plan plan = {
        .precision = options->force.precision,
        .threads = options->force.threads,
        .devices = options->devices,
        .physics = *physics,
        .systems = bodies->systems,
        .count = bodies->count,
    };
    snprintf(plan.backend, NAME_SIZE, "%s", options->within->variant.name);
    snprintf(plan.kernel, NAME_SIZE, "%s", options->force.kernel);
    snprintf(plan.isa, NAME_SIZE, "%s", options->force.isa);
    snprintf(plan.units, NAME_SIZE, "%s", physics->units ? physics->units->name : "");
    return plan;
}

static enum status ranks_create(const struct backend_options *options,
                                const struct physics *physics, struct bodies *bodies,
                                struct backend **backend, struct error *error)
{
    *backend = NULL;
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (!ranks)
        return error_set(error, STATUS_MEMORY, "out of memory");
    ranks->backend.class_ = &backend_ranks;
    ranks->name = (uint64_t)(uintptr_t)ranks;
    ranks->bodies = bodies;
    struct order order = { .verb = ORDER_CREATE,
                           .backend = ranks->name,
                           .plan = make_plan(options, physics, bodies) };
    mpi_await(&order, sizeof order);
    const enum status status = create(ranks, &order.plan, error);
    if (status)
        free_ranks(ranks);
    else
        *backend = &ranks->backend;
    return status;
}

static enum status ranks_advance(struct backend *backend, const struct integrator *integrator,
                                 double dt, uint64_t steps, struct error *error)
{
    struct order order = { .verb = ORDER_ADVANCE, .dt = dt, .steps = steps };
    while (integrator_at(order.integrator) != integrator)
        order.integrator++;
    return give((struct ranks *)backend, order, error);
}

static enum status ranks_fetch(struct backend *backend, struct error *error)
{
    return give((struct ranks *)backend, (struct order){ .verb = ORDER_FETCH }, error);
}

static enum status ranks_accelerations(struct backend *backend, struct error *error)
{
    return give((struct ranks *)backend, (struct order){ .verb = ORDER_ACCELERATIONS }, error);
}

static enum status ranks_potentials(struct backend *backend, double *phi, double *psi,
                                    struct error *error)
{
    struct ranks *ranks = (struct ranks *)backend;
    const enum status status = give(ranks, (struct order){ .verb = ORDER_POTENTIALS }, error);
    if (status)
        return status;
    memcpy(phi, ranks->phi, bodies_length(ranks->bodies) * sizeof *phi);
    memcpy(psi, ranks->psi, bodies_length(ranks->bodies) * sizeof *psi);
    return STATUS_OK;
}

static enum status ranks_conserved(struct backend *backend, struct conserved *sums,
                                   struct error *error)
{
    struct ranks *ranks = (struct ranks *)backend;
    const enum status status = give(ranks, (struct order){ .verb = ORDER_CONSERVED }, error);
    if (!status)
        memcpy(sums, ranks->conserved, ranks->bodies->systems * sizeof *sums);
    return status;
}

static void ranks_describe(const struct backend *backend, struct backend_description *description)
{
    const struct ranks *ranks = (const struct ranks *)backend;
    ranks->inner->class_->describe(ranks->inner, description);
    description->ranks = mpi_count();
}

static void ranks_destroy(struct backend *backend)
{
    struct ranks *ranks = (struct ranks *)backend;
    if (!ranks)
        return;
    struct order order = { .verb = ORDER_DESTROY, .backend = ranks->name };
    mpi_await(&order, sizeof order);
    free_ranks(ranks);
}

const struct backend_class backend_ranks = {
    .variant = { .name = "ranks", .help = "The ranks of a job, each with a backend of its own." },
    .probe = ranks_probe,
    .create = ranks_create,
    .advance = ranks_advance,
    .fetch = ranks_fetch,
    .accelerations = ranks_accelerations,
    .potentials = ranks_potentials,
    .conserved = ranks_conserved,
    .describe = ranks_describe,
    .destroy = ranks_destroy,
};

size_t ranks_dividing(size_t systems)
{
    return systems < (size_t)mpi_count() ? (size_t)mpi_count() : 1;
}

void ranks_share(const struct backend_class **class_, struct backend_options *options)
{
    if (mpi_count() == 1)
        return;
    options->within = *class_;
    *class_ = &backend_ranks;
}
