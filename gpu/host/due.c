#include "due.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "devices.h"
#include "setup.h"

enum {
    DEVICE = 0,
    ARRAYS = 7, /* arrays of the state: m, x, y, z, vx, vy, vz */
    SUMS = 6    /* sums of a body: three for the acceleration, three for the jerk */
};

/* The most bytes of the array `partial` of sums of segments. With more sums, bodies that are due
 * are taken in lots, each with over a million threads, which fills a GPU. */
static const size_t partial_bytes = (size_t)64 << 20;

/*
 * The limits of fp32 terms with jerks, in scaled units: coordinates reach to 2^18, and speeds are
 * below 2^-8. So the inverse cube of a separation times a velocity stays within the range of fp32,
 * for the least separation that differs from 0, 2^-40, and for the greatest. The kernels of CPUs
 * have the same limits (force/direct/packing.c).
 */
static const double reach = 0x1p18, greatest_speed = 0x1p-8, least_r2 = 0x1p-80;

struct due {
    struct jerk base;
    struct physics physics;
    enum precision precision;
    size_t sums;  /* sums of a body: SUMS, or half as many without jerks */
    void *memory; /* one allocation for all arrays on the device */
    /* Memory of the host, locked, for copies to and from the device: masses; [SUMS][stride]
     * positions and velocities; sums of the bodies that were due last, [sums][listed_count]; and
     * the indices of these bodies. */
    double *masses, *states, *found;
    uint32_t *listed;
    size_t listed_count;
    double *moved;    /* positions and velocities on their way into predict.kept */
    uint32_t *active; /* the indices on the device */
    struct gpu_due_call call;
    struct gpu_predict_call predict;
    bool weighed; /* the device has the masses */
    bool begun;   /* sums are under way, of bodies that the device has predicted */
    bool all;     /* the states of all bodies may have changed since the device has taken them */
    bool unlike;  /* gather() has found accelerations or jerks that are not the last results */
    struct barrier barrier;
};

/* --- memory ------------------------------------------------------------------------------------*/

static void destroy_due(struct jerk *base)
{
    struct due *const due = (struct due *)base;
    cudaSetDevice(DEVICE);
    if (due->call.stream)
        cudaStreamDestroy(due->call.stream);
    cudaFreeHost(due->masses);
    cudaFree(due->memory);
    free(due);
}

/* Takes the arrays of the device. The arena puts those of the state one right after another. */
static void lay_out(struct due *due, struct gpu_arena *arena)
{
    static_assert(GPU_GRANULE * sizeof(double) == GPU_ARENA_ALIGNMENT, "there are no gaps");
    struct gpu_due_call *const call = &due->call;
    struct gpu_state *const state = &call->state;
    const size_t stride = call->shape.stride;
    const size_t source = due->sums == SUMS ? gpu_moving_size() : gpu_source_size(due->precision);
    double **const members[ARRAYS] = { &state->m,  &state->x,  &state->y, &state->z,
                                       &state->vx, &state->vy, &state->vz };
    for (size_t k = 0; k < ARRAYS; k++)
        *members[k] = gpu_arena_take(arena, stride, sizeof(double));
    call->sources = gpu_arena_take(arena, stride, source);
    due->predict.kept = gpu_arena_take(arena, (1 + 2 * due->sums) * stride, sizeof(double));
    due->predict.moved = due->moved = gpu_arena_take(arena, SUMS * stride, sizeof(double));
    due->predict.forces = call->results = gpu_arena_take(arena, due->sums * stride, sizeof(double));
    call->due = due->active = gpu_arena_take(arena, stride, sizeof(uint32_t));
    call->partial =
        gpu_arena_take(arena, call->room * due->sums * call->shape.segments, sizeof(double));
}

static void find_shape(struct due *due, size_t count)
{
    struct gpu_shape *const shape = &due->call.shape;
    *shape = (struct gpu_shape){
        .systems = 1,
        .count = (uint32_t)count,
        .stride = (uint32_t)((count + GPU_GRANULE - 1) / GPU_GRANULE * GPU_GRANULE),
        .last = (uint32_t)count,
        .segment = GPU_DUE_SEGMENT,
    };
    shape->segments = (shape->stride + GPU_DUE_SEGMENT - 1) / GPU_DUE_SEGMENT;
    const size_t most = partial_bytes / (due->sums * shape->segments * sizeof(double));
    due->call.room = (uint32_t)(most < 1 ? 1 : most < count ? most : count);
}

static enum status create_due(const struct force_options *options, const struct physics *physics,
                              size_t count, bool rates, struct jerk **result, struct error *error)
{
    char doing[64];
    assert(!rates ||
           (physics->boundary == BOUNDARY_OPEN && options->precision != PRECISION_SINGLE));
    struct due *const due = calloc(1, sizeof *due);
    if (!due)
        return error_memory(error);
    due->base = (struct jerk){ gpu_due.jerk, rates ? "hermite" : "due", .work = 1 };
    due->physics = *physics;
    due->precision = options->precision;
    due->sums = rates ? SUMS : SUMS / 2;
    find_shape(due, count);
    struct gpu_arena arena = { 0 };
    lay_out(due, &arena);
    const size_t stride = due->call.shape.stride, staged = (1 + SUMS + due->sums) * stride;
    const size_t host = staged * sizeof(double) + stride * sizeof(uint32_t);
    snprintf(doing, sizeof doing, "allocating %.1f MiB for the bodies that are due",
             (double)arena.used / 0x1p20);
    cudaError_t code = cudaSetDevice(DEVICE);
    if (!code)
        code = cudaMalloc(&due->memory, arena.used);
    if (!code)
        code = cudaMallocHost((void **)&due->masses, host);
    if (!code)
        code = cudaStreamCreateWithFlags(&due->call.stream, cudaStreamNonBlocking);
    if (code) {
        destroy_due(&due->base);
        return gpu_check((int)code, DEVICE, doing, error);
    }
    memset(due->masses, 0, host);
    due->states = due->masses + stride;
    due->found = due->states + SUMS * stride;
    due->listed = (void *)(due->found + due->sums * stride);
    arena = (struct gpu_arena){ .base = due->memory };
    lay_out(due, &arena);
    due->predict.count = due->call.shape.count;
    due->predict.stride = due->call.shape.stride;
    due->predict.jerks = rates;
    due->predict.at = due->call.state.x;
    due->predict.stream = due->call.stream;
    *result = &due->base;
    return STATUS_OK;
}

/* --- a system ----------------------------------------------------------------------------------*/

static const char summing[] = "summing for the bodies that are due";

/* Keeps `code`, a CUDA error or 0, as the failure of `due` unless it has one already. Once it has
 * one, sum_due() gives NaN for all sums. */
static void note(struct due *due, cudaError_t code, const char *doing)
{
    if (code && !due->base.failure.status)
        gpu_check((int)code, DEVICE, doing, &due->base.failure);
}

/* Finds the constants of the interaction of a system, and the factors that turn its sums, which are
 * in scaled units, into accelerations and jerks. */
static void find_units(struct due *due, const struct bodies *system, double *unit_mass)
{
    struct gpu_due_call *const call = &due->call;
    double factor;
    struct gpu_setup setup = { .physics = &due->physics,
                               .bodies = (struct bodies *)system,
                               .unit_mass = unit_mass,
                               .factor = &factor };
    gpu_setup_measure(&setup, due->precision);
    call->interaction = setup.interaction;
    call->acceleration = factor;
    if (due->sums < SUMS)
        return;
    call->inverse_speed = 1;
    if (due->precision != PRECISION_DOUBLE) {
        struct gpu_interaction *const in = &call->interaction;
        const double eps = due->physics.softening * reach * in->inverse_length;
        call->inverse_speed =
            greatest_speed * gpu_inverse_power(system->count, system->vx, system->vy, system->vz);
        call->acceleration *= reach * reach;
        in->inverse_length *= reach;
        in->scaled.eps2 = (float)fmax(eps * eps, least_r2);
        call->jerk = call->acceleration * in->inverse_length / call->inverse_speed;
    } else {
        call->jerk = call->acceleration;
    }
}

static cudaError_t send(struct due *due, void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, due->call.stream);
}

static void open_due(struct jerk *base, const struct bodies *bodies, size_t system)
{
    struct due *const due = (struct due *)base;
    const size_t stride = due->call.shape.stride;
    const struct bodies one = bodies_alone(bodies, system * bodies->stride);
    double unit_mass;
    find_units(due, &one, &unit_mass);
    bool same = due->weighed;
    for (size_t i = 0; i < one.count; i++) {
        const double m = one.m[i] / unit_mass;
        same &= m == due->masses[i];
        due->masses[i] = m;
    }
    cudaError_t code = cudaSetDevice(DEVICE);
    if (!code && !same)
        code = send(due, due->call.state.m, due->masses, stride * sizeof(double));
    note(due, code, "copying masses to it");
    due->all = due->weighed = true;
}

static void pack_due(struct jerk *base, const double *const x[3], const double *const v[3],
                     size_t first, size_t last)
{
    struct due *const due = (struct due *)base;
    const size_t stride = due->call.shape.stride;
    for (size_t k = 0; k < due->sums; k++) {
        const double *const from = k < 3 ? x[k] : v[k - 3];
        memcpy(due->states + k * stride + first, from + first, (last - first) * sizeof *from);
    }
}

/* Queues the sums for the bodies `active`, which all bodies in `state` have on them, and their copy
 * to the host. */
static cudaError_t queue_sums(struct due *due, const uint32_t *active, size_t count)
{
    struct gpu_due_call *const call = &due->call;
    memcpy(due->listed, active, count * sizeof *active);
    due->listed_count = call->count = (uint32_t)count;
    cudaError_t code = send(due, due->active, due->listed, count * sizeof *active);
    if (!code)
        code = gpu_due_pack(call);
    if (!code)
        code = gpu_due_sum(call);
    return code ? code
                : cudaMemcpyAsync(due->found, call->results, due->sums * count * sizeof(double),
                                  cudaMemcpyDeviceToHost, call->stream);
}

/* Queues the sums for bodies that pack_due() has packed. */
static cudaError_t sum_packed(struct due *due, const uint32_t *active, size_t count)
{
    const size_t size = due->sums * due->call.shape.stride * sizeof(double);
    due->all = true;
    cudaError_t code = cudaSetDevice(DEVICE);
    if (!code)
        code = send(due, due->call.state.x, due->states, size);
    return code ? code : queue_sums(due, active, count);
}

/* Queues a prediction and the sums. The device takes the new positions and velocities of `changes`
 * bodies. It has their accelerations and jerks, which were its last results, unless these are no
 * more the forces on the bodies (`unlike`). */
static cudaError_t sum_predicted(struct due *due, const struct jerk_motion *motion, size_t changes,
                                 const uint32_t *active, size_t count)
{
    struct gpu_predict_call *const predict = &due->predict;
    const bool forces = predict->jerks && (due->unlike || due->listed_count != changes);
    const size_t size = SUMS * changes * sizeof(double);
    predict->changed = due->all ? NULL : due->active;
    predict->changes = (uint32_t)changes;
    predict->then = motion->time[due->all ? 0 : due->listed[0]];
    predict->now = motion->now;
    predict->tick = motion->tick;
    due->all = due->unlike = false;
    cudaError_t code = cudaSetDevice(DEVICE);
    if (!code)
        code = send(due, due->moved, due->states, size);
    if (!code && forces)
        code = send(due, due->call.results, due->found, size);
    if (!code)
        code = gpu_predict(predict);
    return code ? code : queue_sums(due, active, count);
}

/* Copies of bodies [first, last) of the `changes` bodies that have changed the positions and
 * velocities to `states`, and with jerks the accelerations and jerks to `found`. Returns true if
 * the latter are not what was found there: the integrator has added other forces, as those of
 * fields. */
static bool gather(struct due *due, const struct jerk_motion *motion, size_t changes, size_t first,
                   size_t last)
{
    const double *const *const vectors[] = { motion->x, motion->v, motion->a, motion->jerk };
    bool unlike = false;
    for (size_t n = 0; n < 2 * due->sums; n++) {
        const double *const from = vectors[n / 3][n % 3];
        double *const to = n < SUMS ? due->states + n * changes : due->found + (n - SUMS) * changes;
        for (size_t k = first; k < last; k++) {
            const double value = from[due->all ? k : due->listed[k]];
            unlike |= n >= SUMS && memcmp(&value, to + k, sizeof value) != 0;
            to[k] = value;
        }
    }
    return unlike;
}

static bool predict_due(struct jerk *base, const struct jerk_motion *motion, const uint32_t *active,
                        size_t count)
{
    struct due *const due = (struct due *)base;
    const size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    const size_t changes = due->all ? due->call.shape.count : due->listed_count;
    if (gather(due, motion, changes, share_start(changes, threads, thread),
               share_start(changes, threads, thread + 1)))
        __atomic_store_n(&due->unlike, true, __ATOMIC_RELAXED);
    barrier_wait(&due->barrier);
    if (thread == 0) {
        note(due, sum_predicted(due, motion, changes, active, count), summing);
        due->begun = true;
    }
    return true;
}

static void sum_due(struct jerk *base, const uint32_t *active, size_t count, double *const a[3],
                    double *const rate[3])
{
    struct due *const due = (struct due *)base;
    const size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    const size_t first = share_start(count, threads, thread);
    const size_t last = share_start(count, threads, thread + 1);
    barrier_wait(&due->barrier);
    if (thread == 0) {
        if (!due->begun)
            note(due, sum_packed(due, active, count), summing);
        due->begun = false;
        note(due, cudaStreamSynchronize(due->call.stream), summing);
    }
    barrier_wait(&due->barrier);
    for (size_t n = 0; n < due->sums; n++)
        for (size_t k = first; k < last; k++)
            (n < 3 ? a[n] : rate[n - 3])[k] =
                base->failure.status ? NAN : due->found[n * count + k];
    barrier_wait(&due->barrier);
}

/* The class has no estimate of the host's memory, since runs are planned by that of the CPU's sums,
 * 64 bytes for each body; it takes 84, or 108 with jerks. */
static const struct jerk_class due_sums = {
    .create = create_due,
    .open = open_due,
    .pack = pack_due,
    .predict = predict_due,
    .sum = sum_due,
    .destroy = destroy_due,
};

/* --- forces of all bodies ----------------------------------------------------------------------*/

struct due_force {
    struct force base;
    struct jerk *sums;
    uint32_t *all; /* [count]: 0, 1, ...: all bodies are due */
};

static enum status check_force(const struct force_options *options, struct error *error)
{
    (void)options;
    (void)error;
    return STATUS_OK;
}

static enum status create_force(struct force *base, const struct bodies *bodies,
                                struct error *error)
{
    struct due_force *const force = (struct due_force *)base;
    force->all = memory_array(bodies->count, sizeof *force->all, error);
    if (!force->all ||
        create_due(&base->options, &base->physics, bodies->count, false, &force->sums, error))
        return error->status;
    for (size_t i = 0; i < bodies->count; i++)
        force->all[i] = (uint32_t)i;
    base->kernel = force->sums->kernel;
    return STATUS_OK;
}

static void destroy_force(struct force *base)
{
    struct due_force *const force = (struct due_force *)base;
    memory_free(force->all);
    jerk_destroy(force->sums);
}

static void accelerations(struct force *base, const struct bodies *bodies,
                          const struct force_item *item)
{
    const struct due_force *const force = (const struct due_force *)base;
    const size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    const size_t lines = bodies->stride / BODIES_PADDING;
    assert(item->by_team || threads == 1);
    for (size_t s = item->first; s < item->last; s++) {
        const size_t first = s * bodies->stride;
        double *const a[3] = { bodies->ax + first, bodies->ay + first, bodies->az + first };
        const double *const x[3] = { bodies->x + first, bodies->y + first, bodies->z + first };
        barrier_wait(&base->barrier);
        if (thread == 0)
            jerk_open(force->sums, bodies, s);
        jerk_pack(force->sums, x, NULL, share_start(lines, threads, thread) * BODIES_PADDING,
                  share_start(lines, threads, thread + 1) * BODIES_PADDING);
        jerk_sum(force->sums, force->all, bodies->count, a, NULL);
        if (thread == 0 && force->sums->failure.status)
            base->failure = force->sums->failure;
    }
}

const struct force_method gpu_due = {
    .name = "direct",
    .size = sizeof(struct due_force),
    .check = check_force,
    .create = create_force,
    .accelerations = accelerations,
    .jerk = &due_sums,
    .destroy = destroy_force,
};
