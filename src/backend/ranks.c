#include "backend/ranks.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "backend/rank-work.h"
#include "base/memory.h"
#include "external/external.h"
#include "machine/room.h"
#include "model/units.h"

/* --- interruption ----------------------------------------------------------------------------- */

/* Tells whether the work is to end; any thread may call it during the work. While another thread
 * calls MPI, the answer is no: that thread exchanges bodies with other ranks, in which all ranks
 * must take part. */
static bool asked(void *context)
{
    struct ranks *const ranks = context;
    if (ranks->callers)
        return interruption_raised(ranks->callers);
    if (pthread_mutex_trylock(&ranks->talking))
        return false;
    ranks->word_passed = mpi_told();
    pthread_mutex_unlock(&ranks->talking);
    return ranks->word_passed;
}

/* Called while this rank waits for another one, which may have much work left. On rank 0: if its
 * caller asks for the end of the work, tells all other ranks. */
static void look(void *context)
{
    struct ranks *const ranks = context;
    if (!ranks->callers || ranks->word_passed || !interruption_raised(&ranks->wish))
        return;
    mpi_tell();
    ranks->word_passed = true;
}

/* Returns on all ranks whether rank 0 was asked to end the work. If rank 0 has sent its word
 * (mpi_tell()), a rank that has not taken it during its work takes it here. */
static bool agree(void *context)
{
    struct ranks *const ranks = context;
    struct {
        bool raised, told;
    } word = { false, false };
    pthread_mutex_lock(&ranks->talking);
    mpi_meet(&ranks->meanwhile);
    if (mpi_rank() == 0) {
        word.raised = interruption_noticed(&ranks->wish);
        word.told = ranks->word_passed;
    }
    mpi_broadcast(&word, sizeof word);
    if (word.told && !ranks->word_passed)
        mpi_take_word();
    ranks->word_passed = word.told;
    pthread_mutex_unlock(&ranks->talking);
    return word.raised;
}

enum status rank_settle(struct ranks *ranks, enum status status, struct error *error)
{
    const bool interrupted = interruption_agreed(ranks->physics.interruption);
    return interrupted && !status ? interruption_status(&ranks->wish, error) : status;
}

/* --- all-gather and scatter ------------------------------------------------------------------- */

static void gather_everywhere(void *context, double *const arrays[], size_t count)
{
    struct ranks *ranks = context;
    pthread_mutex_lock(&ranks->talking);
    if (ranks->physics.interruption)
        mpi_meet(&ranks->meanwhile);
    for (size_t s = 0; s < ranks->own.systems; s++)
        for (size_t k = 0; k < count; k++)
            mpi_all_gather(arrays[k] + s * ranks->own.stride, &ranks->division);
    pthread_mutex_unlock(&ranks->talking);
}

static void scatter_to_owners(void *context, size_t from, double *const arrays[], size_t count)
{
    struct ranks *ranks = context;
    const size_t first = ranks->division.starts[mpi_rank()];
    pthread_mutex_lock(&ranks->talking);
    for (size_t s = 0; s < ranks->own.systems; s++)
        for (size_t k = 0; k < count; k++) {
            double *const system = arrays[k] + s * ranks->own.stride;
            mpi_scatter((int)from, system, system + first, &ranks->division, &ranks->meanwhile);
        }
    pthread_mutex_unlock(&ranks->talking);
}

static void send_sums(void *context, size_t part, double *const sums[3], size_t count)
{
    struct ranks *ranks = context;
    pthread_mutex_lock(&ranks->talking);
    mpi_send(sums, count, (int)part, &ranks->meanwhile);
    pthread_mutex_unlock(&ranks->talking);
}

static void receive_sums(void *context, size_t part, double *const sums[3], size_t count)
{
    struct ranks *ranks = context;
    pthread_mutex_lock(&ranks->talking);
    mpi_receive(sums, count, (int)part, &ranks->meanwhile);
    pthread_mutex_unlock(&ranks->talking);
}

/* Gathers the values of an array on rank 0 from the ranks that have moved the bodies. */
static void gather(const struct ranks *ranks, double *array)
{
    if (ranks->alike) /* rank 0 has computed the whole array itself */
        return;
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

enum status rank_gather(const struct ranks *ranks, enum status status, double *const arrays[],
                        size_t count, struct error *error)
{
    status = mpi_agree(status, error);
    for (size_t k = 0; k < count && !status; k++)
        gather(ranks, arrays[k]);
    return status;
}

void rank_distribute(const struct ranks *ranks, double *array)
{
    if (ranks->by_systems)
        mpi_scatter(0, array, array, &ranks->division, NULL);
    else
        mpi_broadcast(array, bodies_length(&ranks->own) * sizeof *array);
}

/* --- what the inner backends borrow ----------------------------------------------------------- */

void rank_connect(struct ranks *ranks, bool interruptible)
{
    ranks->wish = (struct interruption){ .asked = asked, .context = ranks, .agree = agree };
    ranks->meanwhile = (struct mpi_meanwhile){ look, ranks };
    ranks->physics.interruption = interruptible ? &ranks->wish : NULL;
    pthread_mutex_init(&ranks->talking, NULL);
    ranks->peers = (struct backend_peers){ ranks, gather_everywhere, scatter_to_owners };
    ranks->relay = (struct force_relay){ ranks, receive_sums, send_sums };
}

/* --- orders ----------------------------------------------------------------------------------- */

int ranks_count(void)
{
    return mpi_count();
}

/* --- memory ----------------------------------------------------------------------------------- */

static enum status check_room(const struct rank_order *order, struct error *error)
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
    struct rank_order order = { .verb = ORDER_ROOM, .first_bytes = first, .each_bytes = each };
    if (mpi_count() > 1)
        mpi_await(&order, sizeof order);
    return check_room(&order, error);
}

/* --- the ranks that serve --------------------------------------------------------------------- */

/* Creates a backend at an order of rank 0. If there is no memory even for its struct, the rank
 * cannot take part in the agreement of all ranks on an error, and ends the job. */
static void serve_create(struct ranks **all, struct rank_order *order, struct error *error)
{
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (!ranks)
        abort();
    ranks->name = order->backend;
    if (rank_work_create(ranks, &order->plan, error)) {
        rank_work_destroy(ranks);
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

static void serve_destroy(struct ranks **all, const struct rank_order *order)
{
    struct ranks **const link = find(all, order->backend), *const ranks = *link;
    *link = ranks->next;
    rank_work_destroy(ranks);
}

/* Ignores the signals that mpirun or a batch system may send to all ranks and that rank 0 handles
 * (signals.c): it makes all ranks stop. */
static void leave_signals_to_rank_0(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGXCPU };
    for (size_t k = 0; k < COUNT_OF(numbers); k++)
        signal(numbers[k], SIG_IGN);
}

void ranks_serve(void)
{
    struct ranks *all = NULL;
    struct rank_order order;
    leave_signals_to_rank_0();
    for (mpi_await(&order, sizeof order); order.verb != ORDER_DISMISS;
         mpi_await(&order, sizeof order)) {
        struct error error = { 0 }; /* rank 0 gets the same error and returns it */
        if (order.verb == ORDER_CREATE)
            serve_create(&all, &order, &error);
        else if (order.verb == ORDER_ROOM)
            check_room(&order, &error);
        else if (order.verb == ORDER_DESTROY)
            serve_destroy(&all, &order);
        else
            rank_work_do(*find(&all, order.backend), &order, &error);
    }
    while (all) {
        struct ranks *const last = all;
        all = last->next;
        rank_work_destroy(last);
    }
}

void ranks_dismiss(void)
{
    struct rank_order order = { .verb = ORDER_DISMISS };
    mpi_await(&order, sizeof order);
}

/* --- the backend of rank 0 -------------------------------------------------------------------- */

static enum status give(struct ranks *ranks, struct rank_order order, struct error *error)
{
    order.backend = ranks->name;
    mpi_await(&order, sizeof order);
    return rank_work_do(ranks, &order, error);
}

static struct rank_plan make_plan(const struct backend_options *options,
                                  const struct physics *physics, const struct bodies *bodies)
{
    struct rank_plan plan = {
        .precision = options->force.precision,
        .accuracy = options->force.accuracy,
        .threads = options->force.threads,
        .devices = options->devices,
        .stream = options->stream,
        .physics = *physics,
        .fields = physics->external ? physics->external->count : 0,
        .systems = bodies->systems,
        .count = bodies->count,
        .by_systems = ranks_dividing(bodies->systems) == 1,
        .refinement = options->refinement > 0 ? options->refinement : 1,
    };
    const struct integrator *const integrator = options->integrator;
    /* The number of systems of rank 0; no rank has fewer. */
    const size_t systems = bodies->systems / (plan.by_systems ? (size_t)mpi_count() : 1);
    plan.interruptible =
        physics->interruption &&
        (integrator_chooses_steps(integrator) ||
         force_work(&options->force, (double)systems, (double)bodies->count) >= HOST_LONG_SUM);
    plan.physics.interruption = NULL;
    plan.alike = !plan.by_systems && integrator_chooses_steps(integrator);
    snprintf(plan.backend, RANK_NAME_SIZE, "%s", options->within->variant.name);
    snprintf(plan.method, RANK_NAME_SIZE, "%s", force_method_of(&options->force)->name);
    snprintf(plan.kernel, RANK_NAME_SIZE, "%s", options->force.kernel);
    snprintf(plan.isa, RANK_NAME_SIZE, "%s", options->force.isa);
    if (integrator)
        snprintf(plan.integrator, RANK_NAME_SIZE, "%s", integrator->variant.name);
    if (integrator && integrator_find(integrator->variant.name) != integrator) {
        memcpy(plan.stages, integrator->stages, sizeof plan.stages);
        plan.stage_count = integrator->stage_count;
    }
    plan.valued = integrator_chooses_steps(integrator) && options->time;
    if (plan.valued)
        integrator_values(integrator, options->time, plan.values);
    snprintf(plan.units, RANK_NAME_SIZE, "%s", physics->units ? physics->units->name : "");
    return plan;
}

static enum status ranks_create(const struct backend_options *options,
                                const struct physics *physics, struct bodies *bodies,
                                struct backend **backend, struct error *error)
{
    *backend = NULL;
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (!ranks)
        return error_memory(error);
    ranks->backend.class_ = &backend_ranks;
    ranks->name = (uint64_t)(uintptr_t)ranks;
    ranks->bodies = bodies;
    ranks->callers = physics->interruption;
    struct rank_order order = { .verb = ORDER_CREATE,
                                .backend = ranks->name,
                                .plan = make_plan(options, physics, bodies) };
    mpi_await(&order, sizeof order);
    const enum status status = rank_work_create(ranks, &order.plan, error);
    if (status)
        rank_work_destroy(ranks);
    else
        *backend = &ranks->backend;
    return status;
}

static enum status ranks_advance(struct backend *backend, const struct integrator *integrator,
                                 double dt, uint64_t steps, struct error *error)
{
    struct rank_order order = { .verb = ORDER_ADVANCE, .dt = dt, .steps = steps };
    while (integrator_at(order.integrator) && integrator_at(order.integrator) != integrator)
        order.integrator++;
    return give((struct ranks *)backend, order, error);
}

static enum status ranks_fetch(struct backend *backend, struct error *error)
{
    return give((struct ranks *)backend, (struct rank_order){ .verb = ORDER_FETCH }, error);
}

static enum status ranks_accelerations(struct backend *backend, struct error *error)
{
    return give((struct ranks *)backend, (struct rank_order){ .verb = ORDER_ACCELERATIONS }, error);
}

static enum status ranks_potentials(struct backend *backend, double *phi, double *psi,
                                    struct error *error)
{
    struct ranks *ranks = (struct ranks *)backend;
    const enum status status = give(ranks, (struct rank_order){ .verb = ORDER_POTENTIALS }, error);
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
    const enum status status = give(ranks, (struct rank_order){ .verb = ORDER_CONSERVED }, error);
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
    struct rank_order order = { .verb = ORDER_DESTROY, .backend = ranks->name };
    mpi_await(&order, sizeof order);
    rank_work_destroy(ranks);
}

const struct backend_class backend_ranks = {
    .variant = { .name = "ranks", .help = "The ranks of a job, each with a backend of its own." },
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
