/* The functions of jerk.h for the method `direct`: accelerations and jerks as sums over all bodies,
 * by the kernels of the CPU. In single and mixed precision the terms of pairs are fp32 (in mixed
 * from positions and velocities in two parts), and sums over 2048 bodies are added in fp64. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/barrier.h"
#include "base/memory.h"
#include "force/direct/direct.h"
#include "force/direct/packing.h"
#include "force/direct/reference.h"

enum {
    CHUNK = 2048,   /* bodies whose pulls are summed in the precision of the pair terms */
    BLOCK = 4,      /* due bodies that are not divided between threads */
    FEW_BLOCKS = 4, /* blocks for each thread; with fewer, threads divide the chunks */
    SUMS = 6        /* three of the acceleration, three of the jerk */
};

/* The least softened r^2 in fp32, so that (sqrt(3) / r)^3 times a velocity does not overflow. */
static const double least_r2 = 0x1p-80;

struct direct_jerk {
    struct jerk base;
    struct physics physics;
    bool reference;
    int sums;         /* SUMS; half as many if no jerks are wanted */
    kernel_jerk *sum; /* the kernel that sums; not used if `reference` */
    const struct kernels *kernels;
    struct packing packing;
    struct packed_motion packed; /* the bodies as the kernels read them; owns its arrays */
    struct reference_motion bodies;
    size_t chunks, threads;
    double *parts; /* [chunks][SUMS][few_bodies()] sums of each chunk */
    struct barrier barrier;
};

static size_t padded(size_t count)
{
    return (count + JERK_PADDING - 1) / JERK_PADDING * JERK_PADDING;
}

/* Returns the number of due bodies below which the threads divide the bodies that pull: if they
 * divided the due bodies, some threads would get too few. */
static size_t few_bodies(const struct direct_jerk *jerk)
{
    return BLOCK * FEW_BLOCKS * jerk->threads;
}

static void destroy_jerk(struct jerk *base)
{
    struct direct_jerk *const jerk = (struct direct_jerk *)base;
    packed_destroy(&jerk->packed.position);
    packed_destroy(&jerk->packed.velocity);
    memory_free(jerk->parts);
    free(jerk);
}

static enum status create_jerk(const struct force_options *options, const struct physics *physics,
                               size_t count, bool rates, struct jerk **result, struct error *error)
{
    const struct kernels *kernels = NULL;
    if (direct_find_kernels(options, &kernels, error))
        return error->status;
    struct direct_jerk *jerk = calloc(1, sizeof *jerk);
    if (!jerk)
        return error_memory(error);
    jerk->physics = *physics;
    jerk->reference = strcmp(options->kernel, "reference") == 0 ||
                      strcmp(options->kernel, "portable") == 0; /* has the bits of `reference` */
    jerk->sums = rates ? SUMS : SUMS / 2;
    jerk->base = (struct jerk){ .class_ = &direct_jerk,
                                .kernel = jerk->reference ? "reference"
                                          : rates         ? "hermite"
                                                          : "due",
                                .work = 1 };
    jerk->kernels = kernels;
    const struct force_kernels *const force = &kernels->force[options->precision];
    const int form = physics->boundary == BOUNDARY_PERIODIC ? FORM_PERIODIC : FORM_OPEN;
    jerk->sum = rates ? force->jerk[form] : force->due[form];
    jerk->packing.precision = options->precision;
    jerk->bodies.count = count;
    jerk->chunks = (padded(count) + CHUNK - 1) / CHUNK;
    jerk->threads = options->threads > 1 ? (size_t)options->threads : 1;
    packed_create(&jerk->packed.position, options->precision, padded(count), error);
    if (rates)
        packed_create(&jerk->packed.velocity, options->precision, padded(count), error);
    const size_t chunk_bytes = memory_bytes(few_bodies(jerk), SUMS * sizeof *jerk->parts);
    jerk->parts = memory_array(jerk->chunks, chunk_bytes, error);
    if (error->status) {
        destroy_jerk(&jerk->base);
        return error->status;
    }
    *result = &jerk->base;
    return STATUS_OK;
}

static double jerk_bytes_of(const struct force_options *options, double count)
{
    const double threads = options->threads > 1 ? options->threads : 1;
    const double length = count + JERK_PADDING;
    const double parts = (length / CHUNK + 1) * SUMS * BLOCK * FEW_BLOCKS * threads;
    return (8 * length + parts) * sizeof(double) + sizeof(struct direct_jerk);
}

/* Does the work of jerk_open(): finds the scales for packing, and packs the masses into arrays of
 * its own, which have more padding than those of bodies. */
static void open_system(struct jerk *base, const struct bodies *bodies, size_t system)
{
    struct direct_jerk *const jerk = (struct direct_jerk *)base;
    struct packing *const packing = &jerk->packing;
    const size_t first = system * bodies->stride;
    const double *const v[3] = { bodies->vx + first, bodies->vy + first, bodies->vz + first };
    jerk->bodies.m = bodies->m + first;
    if (jerk->reference)
        return;
    packing->packed = jerk->packed.position;
    packing_open(packing, &jerk->physics, bodies, system);
    packing_scale_velocities(packing, v, bodies->count);
    packing->packed.m = jerk->packed.position.m;
    packing->packed.length = padded(bodies->count);
    if (packing->precision != PRECISION_DOUBLE)
        packing->packed.eps2 = fmax(packing->packed.eps2, least_r2);
    jerk->packed.position = packing->packed;
    packing_fill_masses(packing, jerk->bodies.m, (struct range){ 0, bodies->stride });
}

static void pack_bodies(struct jerk *base, const double *const x[3], const double *const v[3],
                        size_t first, size_t last)
{
    struct direct_jerk *const jerk = (struct direct_jerk *)base;
    const struct range range = { first, last };
    if (first == 0)
        for (int axis = 0; axis < 3; axis++) {
            jerk->bodies.x[axis] = x[axis];
            jerk->bodies.v[axis] = v[axis];
        }
    if (jerk->reference)
        return;
    packing_fill_positions(&jerk->packing, x, range);
    if (jerk->sums == SUMS)
        packing_fill_velocities(&jerk->packing, v, &jerk->packed.velocity, range);
}

/* Adds the pull of the bodies of chunk number `chunk` (CHUNK bodies) to the sums of some due
 * bodies, unless the run is interrupted. */
static void sum_chunk(const struct direct_jerk *jerk, size_t chunk, const uint32_t *active,
                      size_t count, double *const sums[SUMS])
{
    if (chunk > 0 && interruption_raised(jerk->physics.interruption))
        return;
    const struct packed_motion *const all = &jerk->packed;
    const size_t first = chunk * CHUNK, length = all->position.length;
    const struct range j = { first, first + CHUNK < length ? first + CHUNK : length };
    jerk->sum(all, active, count, j, sums);
}

static void sum_reference(const struct direct_jerk *jerk, const uint32_t *active, size_t count,
                          double *const sums[SUMS])
{
    double done = 0;
    for (size_t k = 0; k < count; k++) {
        double sum[SUMS];
        if (interruption_after(jerk->physics.interruption, &done, (double)jerk->bodies.count))
            return;
        reference_jerk(&jerk->physics, &jerk->bodies, active[k], sum, sum + 3);
        for (int n = 0; n < jerk->sums; n++)
            sums[n][k] = sum[n];
    }
}

/* Turns the sums of the kernels into accelerations and jerks in the units of the run. */
static void scale(const struct direct_jerk *jerk, size_t count, double *const sums[SUMS])
{
    const struct force_kernels *const kernels = &jerk->kernels->force[jerk->packing.precision];
    const double G = jerk->physics.gravitational_constant * kernels->jerk_factor;
    const double units[2] = { G * packing_force_unit(&jerk->packing),
                              G * packing_jerk_unit(&jerk->packing) };
    for (int n = 0; n < jerk->sums; n++)
        for (size_t k = 0; k < count; k++)
            sums[n][k] *= units[n / 3];
}

/* Sums the forces on some due bodies in one thread. Chunks are added in their order, so that it
 * does not matter which thread does it. */
static void sum_bodies(const struct direct_jerk *jerk, const uint32_t *active, size_t count,
                       double *const sums[SUMS])
{
    if (jerk->reference) {
        sum_reference(jerk, active, count, sums);
        return;
    }
    for (int n = 0; n < jerk->sums; n++)
        memset(sums[n], 0, count * sizeof(double));
    for (size_t chunk = 0; chunk < jerk->chunks; chunk++)
        sum_chunk(jerk, chunk, active, count, sums);
    scale(jerk, count, sums);
}

static void find_part(const struct direct_jerk *jerk, size_t chunk, double *part[SUMS])
{
    for (size_t n = 0; n < SUMS; n++)
        part[n] = jerk->parts + (chunk * SUMS + n) * few_bodies(jerk);
}

/* Sums the forces on few due bodies: the threads divide the chunks of bodies that pull, and then
 * one thread adds up the sums of the chunks in their order. */
static void sum_in_chunks(struct direct_jerk *jerk, size_t thread, size_t threads,
                          const uint32_t *active, size_t count, double *const sums[SUMS])
{
    double *part[SUMS];
    const size_t first = share_start(jerk->chunks, threads, thread);
    const size_t last = share_start(jerk->chunks, threads, thread + 1);
    for (size_t chunk = first; chunk < last; chunk++) {
        find_part(jerk, chunk, part);
        for (int n = 0; n < jerk->sums; n++)
            memset(part[n], 0, count * sizeof(double));
        sum_chunk(jerk, chunk, active, count, part);
    }
    barrier_wait(&jerk->barrier);
    if (thread > 0)
        return;
    for (int n = 0; n < jerk->sums; n++)
        memset(sums[n], 0, count * sizeof(double));
    for (size_t chunk = 0; chunk < jerk->chunks; chunk++) {
        find_part(jerk, chunk, part);
        for (int n = 0; n < jerk->sums; n++)
            for (size_t k = 0; k < count; k++)
                sums[n][k] += part[n][k];
    }
    scale(jerk, count, sums);
}

static void sum_due(struct jerk *base, const uint32_t *active, size_t count, double *const a[3],
                    double *const rate[3])
{
    struct direct_jerk *const jerk = (struct direct_jerk *)base;
    const bool rates = jerk->sums == SUMS;
    double *const sums[SUMS] = {
        a[0], a[1], a[2], rates ? rate[0] : NULL, rates ? rate[1] : NULL, rates ? rate[2] : NULL
    };
    if (jerk->threads == 1) {
        sum_bodies(jerk, active, count, sums);
        return;
    }
    const size_t thread = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    const size_t blocks = (count + BLOCK - 1) / BLOCK;
    barrier_wait(&jerk->barrier);
    if (count < few_bodies(jerk) && jerk->chunks > 1 && !jerk->reference) {
        sum_in_chunks(jerk, thread, threads, active, count, sums);
    } else {
        const size_t first = share_start(blocks, threads, thread) * BLOCK;
        const size_t end = share_start(blocks, threads, thread + 1) * BLOCK;
        const size_t last = end < count ? end : count;
        double *own[SUMS] = { NULL };
        for (int n = 0; n < jerk->sums; n++)
            own[n] = sums[n] + first;
        if (first < last)
            sum_bodies(jerk, active + first, last - first, own);
    }
    barrier_wait(&jerk->barrier);
}

const struct jerk_class direct_jerk = {
    .create = create_jerk,
    .bytes = jerk_bytes_of,
    .open = open_system,
    .pack = pack_bodies,
    .sum = sum_due,
    .destroy = destroy_jerk,
};
