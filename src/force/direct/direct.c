#include "config.h"

#include "force/direct/direct.h"

#include <float.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/text.h"
#include "force/direct/reference.h"

/* The kernels of the instruction sets, in the order of FORCE_ISAS; NULL if they are not built. */
static const struct kernels *const all_kernels[] = {
#define ROW(family, set, registers, ...) FORCE_ISA_##family(&kernels_##set),
    FORCE_ISAS(ROW)
#undef ROW
};

/* --- batches ---------------------------------------------------------------------------------- */

/* Creates a batch for systems of as many bodies as those of `bodies` have. STATUS_MEMORY;
 * batch_destroy() is to be called after an error, too. */
static enum status batch_create(struct batch *batch, const struct kernels *kernels,
                                enum precision precision, const struct bodies *bodies,
                                struct error *error)
{
    const struct force_kernels *const sums = &kernels->force[precision];
    *batch = (struct batch){ .kernels = kernels, .sums = sums };
    if (bodies_create(1, bodies->stride * sums->lanes, &batch->bodies, error))
        return error->status;
    batch->bodies->count = bodies->count * sums->lanes;
    for (size_t k = 0; k < sums->lanes; k++)
        batch->packing[k].precision = precision;
    const struct bodies *const b = batch->bodies;
    struct packed_batch *const packed = &batch->packed;
    *packed =
        (struct packed_batch){ .x = { b->x, b->y, b->z },
                               .a = { b->ax, b->ay, b->az },
                               .system = { .count = bodies->count, .length = bodies->stride } };
    packed_create(&packed->system, precision, bodies->stride * sums->lanes, error);
    packed->sums = sums_create(precision, bodies->stride * sums->lanes, error);
    return error->status;
}

static void batch_destroy(struct batch *batch)
{
    packed_destroy(&batch->packed.system);
    sums_destroy(&batch->packed.sums);
    bodies_destroy(batch->bodies);
}

static void bounds_of_all(const struct batch *batch, const double *interleaved,
                          struct bounds *bounds)
{
    batch->kernels->bounds(interleaved, batch->packed.system.count, batch->sums->lanes, bounds);
}

/* Packs the masses of a batch. Equal masses of a system are packed as 1, which changes no bit of a
 * product, so that systems of equal masses and others can be in one batch. */
static void pack_masses(struct batch *batch)
{
    const size_t lanes = batch->sums->lanes;
    struct bounds m[BATCH_SYSTEMS];
    bounds_of_all(batch, batch->bodies->m, m);
    batch->masses = MASSES_EQUAL;
    for (size_t k = 0; k < lanes; k++) {
        packing_scale_masses(&batch->packing[k], m[k]);
        if (!batch->packing[k].packed.equal)
            batch->masses = MASSES_ANY;
    }
    for (size_t i = 0; i < batch->bodies->count && batch->masses == MASSES_ANY; i++) {
        const struct packing *const packing = &batch->packing[i % lanes];
        const double u =
            packing->packed.equal ? 1 : packing_clamp(batch->bodies->m[i] * packing->mass_scale);
        if (packing->precision == PRECISION_DOUBLE)
            ((double *)batch->packed.system.m)[i] = u;
        else
            ((float *)batch->packed.system.m)[i] = (float)u;
    }
}

/* Interleaves as many systems as there are lanes, from system `first` on, and packs their
 * masses. */
static void batch_open(struct batch *batch, const struct bodies *bodies, size_t first)
{
    double *systems[BODIES_REALS], *interleaved[BODIES_REALS];
    bodies_reals(bodies, systems);
    bodies_reals(batch->bodies, interleaved);
    for (size_t k = 0; k < BODIES_REALS; k++)
        batch->kernels->interleave(systems[k] + first * bodies->stride, bodies->stride,
                                   batch->sums->lanes, interleaved[k]);
    pack_masses(batch);
}

/* Copies the results of a batch back to the bodies; masses stay, since they do not change. */
static void batch_close(const struct batch *batch, const struct bodies *bodies, size_t first)
{
    double *systems[BODIES_REALS], *interleaved[BODIES_REALS];
    bodies_reals(bodies, systems);
    bodies_reals(batch->bodies, interleaved);
    for (size_t k = 1; k < BODIES_REALS; k++) /* array 0 has the masses */
        batch->kernels->deinterleave(interleaved[k], bodies->stride, batch->sums->lanes,
                                     systems[k] + first * bodies->stride);
}

void batch_accelerations(struct batch *batch, const struct physics *physics)
{
    struct packed_batch *const packed = &batch->packed;
    struct bounds bounds[3][BATCH_SYSTEMS];
    double origins[3][BATCH_SYSTEMS] = { { 0 } };
    for (int axis = 0; axis < 3; axis++) {
        bounds_of_all(batch, packed->x[axis], bounds[axis]);
        if (packing_has_origin(batch->packing->precision, physics))
            batch->kernels->origins(packed->x[axis], packed->system.count, batch->sums->lanes,
                                    origins[axis]);
    }
    for (size_t k = 0; k < batch->sums->lanes; k++) {
        struct packing *const packing = &batch->packing[k];
        const struct bounds box[3] = { bounds[0][k], bounds[1][k], bounds[2][k] };
        const double origin[3] = { origins[0][k], origins[1][k], origins[2][k] };
        packing_scale_lengths(packing, physics, box, origin);
        for (int axis = 0; axis < 3; axis++)
            packed->center[axis][k] = packing->center[axis];
        packed->scale[k] = packing->length_scale;
        packed->eps2[k] = packing->packed.eps2;
        packed->unit[k] =
            physics->gravitational_constant * batch->sums->factor * packing_force_unit(packing);
    }
    batch->sums->batch[batch->masses](packed);
}

/* --- choices ---------------------------------------------------------------------------------- */

/* Numbers of bodies from which another kernel is faster, and sizes, as measured in
 * docs/performance.md. Choices by them may depend on the bodies only, never on the threads or on a
 * clock: a run that continues on another machine must find the same bits. */
enum {
    SYMMETRIC_FROM = 256, /* bodies in a system from which the third law is faster */
    WAVE_BYTES = 1 << 20, /* bytes of the sums of a wave (rounds whose sums are added up together),
                             which stay in the second-level cache */
    /* With several processes, the rounds of each in a lap, which is a passage of the totals through
     * all processes: more rounds take more memory, fewer send the totals more often. */
    LAP_ROUNDS = 8
};

/* The number of bodies in a tile, by the number of bodies in the system: large tiles suit the inner
 * loops, small ones make enough pairs of tiles for all threads. */
static const struct tile_size {
    size_t count; /* the smallest number of bodies in a system for which the row holds */
    size_t tile;
} tile_sizes[] = { { 16384, TILE_MOST }, { 2048, 512 }, { 512, 256 }, { 0, 128 } };

static size_t choose_tile(size_t count)
{
    const struct tile_size *row = tile_sizes;
    while (count < row->count)
        row++;
    return row->tile;
}

static enum force_kernel_id find_kernel(const char *name)
{
    int id = 0;
    while (id < FORCE_KERNELS && strcmp(name, force_kernel_names[id]) != 0)
        id++;
    return (enum force_kernel_id)id;
}

static enum status check_kernel(const char *kernel, struct error *error)
{
    struct text names = { 0 };
    if (find_kernel(kernel) != FORCE_KERNELS)
        return STATUS_OK;
    text_quoted(&names, force_kernel_names + FORCE_AUTO + 1);
    error_set(error, STATUS_CONFIG, "compute.kernel = \"%s\": CPUs have the kernels %s", kernel,
              names.failed ? "of `orrery info compute.kernel`" : names.bytes);
    text_free(&names);
    return error->status;
}

enum status direct_check_precision(const struct force_options *options, struct error *error)
{
    if (options->precision == PRECISION_DOUBLE ||
        strcmp(options->kernel, force_kernel_names[FORCE_PORTABLE]) != 0)
        return STATUS_OK;
    return error_set(error, STATUS_CONFIG,
                     "compute.precision = \"%s\": the kernel \"%s\" computes in double only",
                     precision_names[options->precision], options->kernel);
}

enum status direct_find_kernels(const struct force_options *options, const struct kernels **kernels,
                                struct error *error)
{
    const char *isa = NULL;
    if (check_kernel(options->kernel, error) || direct_check_precision(options, error) ||
        force_isa_find(options->isa, &isa, error))
        return error->status;
    *kernels = all_kernels[force_isa_row(isa)];
    return STATUS_OK;
}

uint32_t direct_estimates(const char *isa)
{
    const int row = force_isa_row(isa);
    const struct kernels *const kernels = row < 0 ? NULL : all_kernels[row];
    if (!kernels)
        return 0;
    double estimates[2][KERNEL_ESTIMATES];
    kernels->estimates(estimates[0], estimates[1]);
    return (uint32_t)XXH3_64bits(estimates, sizeof estimates);
}

static enum status check_options(const struct force_options *options, struct error *error)
{
    const struct kernels *kernels;
    return direct_find_kernels(options, &kernels, error);
}

/* Chooses the kernel: the one that the config asks for; for "auto" the symmetric one from
 * SYMMETRIC_FROM bodies on, else the plain one. The plain kernel takes the place of the symmetric
 * one if every system has a mass that is too small for the third law (packing.massive). */
static enum force_kernel_id choose_kernel(const struct direct *direct, enum force_kernel_id asked,
                                          const struct bodies *bodies)
{
    if (asked != FORCE_AUTO && asked != FORCE_SYMMETRIC)
        return asked;
    if (asked == FORCE_AUTO && bodies->count < SYMMETRIC_FROM)
        return FORCE_PLAIN;
    for (size_t s = 0; s < bodies->systems; s++) {
        struct packing packing = { .precision = direct->precision };
        packing_open(&packing, &direct->base.physics, bodies, s);
        if (packing.massive)
            return FORCE_SYMMETRIC;
    }
    return FORCE_PLAIN;
}

/* Tells whether the sums of a round are made in the arrays of the accelerations, so that systems of
 * many bodies need no further memory. That is so if a wave is one round, in which no tile appears
 * twice, if sums are doubles, and if there is one process. */
static bool adds_in_place(const struct direct *direct)
{
    return direct->wave == 1 && direct->precision == PRECISION_DOUBLE &&
           direct->base.options.share.parts == 1;
}

static double round_bytes(enum precision precision, double length)
{
    return 3 * length * (precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float));
}

/* Chooses the number of laps (passages of the totals through all processes) and the number of
 * rounds in a wave (whose sums one process keeps apart). The pairs of tiles of a lap are divided
 * among the processes, so that a process may have a part of a round at either end of its wave. */
static void choose_waves(struct direct *direct, size_t length)
{
    const size_t tiles = direct->tiles, parts = direct->base.options.share.parts;
    direct->laps = (tiles - 1) / (LAP_ROUNDS * parts) + 1;
    direct->wave = 1 + WAVE_BYTES / (size_t)round_bytes(direct->precision, (double)length);
    if (parts > 1)
        direct->wave = (tiles - 1) / direct->laps / parts + 2;
    if (direct->wave > tiles)
        direct->wave = tiles;
}

/* Returns the number of systems in a batch, or 0 for no batches. Batches pay if every thread has
 * enough systems to fill the lanes of one batch. */
static size_t choose_batch(const struct direct *direct, const struct bodies *bodies, size_t threads)
{
    const size_t lanes = direct->kernels->force[direct->precision].lanes;
    const bool fits = bodies->count <= BATCH_COUNT && bodies->systems / threads >= lanes &&
                      direct->base.physics.boundary == BOUNDARY_OPEN &&
                      direct->base.options.share.parts == 1 && !direct->base.physics.external;
    return fits && direct->kernel == FORCE_PLAIN ? lanes : 0;
}

/* Fills in the members of struct force by which other code learns of the choices. With several
 * processes (parts) the sums by the third law pass through all of them, up and down in turn, and so
 * end with the last process or the first; the whole team then works on one system after another. */
static void describe(struct direct *direct)
{
    struct force *const force = &direct->base;
    const size_t parts = force->options.share.parts;
    const bool reference = direct->kernel == FORCE_REFERENCE;
    const bool exact = reference || direct->precision == PRECISION_DOUBLE;
    force->kernel = force_kernel_names[direct->kernel];
    force->precision = exact ? PRECISION_DOUBLE : direct->precision;
    force->isa = reference ? "portable" : direct->kernels->isa;
    force->origin = exact ? ORIGIN_EXACT : ORIGIN_MEDIAN;
    force->held = direct->kernel == FORCE_SYMMETRIC && parts > 1;
    force->holder = direct->laps % 2 == 1 ? parts - 1 : 0;
    force->alone = reference || force->held ? 0 : direct->scratches;
}

/* --- memory ----------------------------------------------------------------------------------- */

static enum status scratch_create(struct scratch *scratch, const struct direct *direct,
                                  const struct bodies *bodies, struct error *error)
{
    const size_t length = bodies->stride;
    packed_create(&scratch->packed, direct->precision, length, error);
    if (direct->base.batch_systems)
        batch_create(&scratch->batch, direct->kernels, direct->precision, bodies, error);
    if (direct->kernel != FORCE_SYMMETRIC || adds_in_place(direct))
        return error->status;
    scratch->rounds = memory_array(direct->wave, sizeof *scratch->rounds, error);
    for (size_t k = 0; k < direct->wave && scratch->rounds; k++)
        scratch->rounds[k] = sums_create(direct->precision, length, error);
    return error->status;
}

static void scratch_destroy(struct scratch *scratch, size_t wave)
{
    packed_destroy(&scratch->packed);
    batch_destroy(&scratch->batch);
    for (size_t k = 0; k < wave && scratch->rounds; k++)
        sums_destroy(&scratch->rounds[k]);
    memory_free(scratch->rounds);
}

static double bytes_of(const struct force_options *options, double systems, double count)
{
    const double threads = options->threads > 0 ? options->threads : 1;
    const double length = bodies_length_of(1, count);
    const double round = round_bytes(options->precision, length);
    const double tiles = ceil(count / (double)choose_tile((size_t)count));
    double scratch = 4 * length * sizeof(double) + round; /* packed bodies; sums of one round */
    if (options->share.parts > 1)
        scratch += round * fmin(tiles, LAP_ROUNDS);
    else if (round < WAVE_BYTES)
        scratch += fmin(WAVE_BYTES, round * tiles);
    if (count <= BATCH_COUNT)
        scratch += BATCH_SYSTEMS * (bodies_bytes(1, count) + 4 * length * sizeof(double) + round);
    return scratch * (systems < threads ? 1 : threads);
}

static void destroy_direct(struct force *force)
{
    struct direct *const direct = (struct direct *)force;
    for (size_t k = 0; k < direct->scratches && direct->scratch; k++)
        scratch_destroy(&direct->scratch[k], direct->wave);
    free(direct->scratch);
}

static enum status create_direct(struct force *force, const struct bodies *bodies,
                                 struct error *error)
{
    struct direct *const direct = (struct direct *)force;
    const struct force_options *const options = &force->options;
    const size_t threads = options->threads > 0 ? (size_t)options->threads : 1;
    if (direct_find_kernels(options, &direct->kernels, error))
        return error->status;
    direct->precision = options->precision;
    direct->kernel = choose_kernel(direct, find_kernel(options->kernel), bodies);
    direct->tile = choose_tile(bodies->count);
    direct->tiles = (bodies->stride + direct->tile - 1) / direct->tile;
    choose_waves(direct, bodies->stride);
    direct->scratches = bodies->systems < threads ? 1 : threads;
    describe(direct);
    force->batch_systems = choose_batch(direct, bodies, threads);
    direct->scratch = calloc(direct->scratches, sizeof *direct->scratch);
    if (!direct->scratch)
        error_memory(error);
    for (size_t k = 0; k < direct->scratches && !error->status; k++)
        scratch_create(&direct->scratch[k], direct, bodies, error);
    return error->status;
}

/* --- the method ------------------------------------------------------------------------------- */

static double work_of(const struct force_options *options, double systems, double count)
{
    (void)options;
    return reference_pairs(systems, count);
}

/* Energies and momenta that differ by no more than the noise count as equal: terms of sums that
 * should cancel leave some 1e-15 in double and 1e-7 otherwise, and the errors of many steps add
 * up. */
static const struct force_traits traits[] = {
    [PRECISION_DOUBLE] = { .rounding = 0,
                           .energy_noise = 1e-11,
                           .momentum_noise = 1e-9,
                           .kernels_agree = true },
    [PRECISION_MIXED] = { .rounding = FLT_EPSILON,
                          .energy_noise = 3e-7,
                          .momentum_noise = 1e-4,
                          .kernels_agree = true },
    [PRECISION_SINGLE] = { .rounding = FLT_EPSILON,
                           .energy_noise = 1e-5,
                           .momentum_noise = 1e-4,
                           .kernels_agree = true },
};

static struct force_traits traits_of(const struct force_options *options)
{
    return traits[options->precision];
}

/* Copies the systems of a work item, one for each lane of the vectors, into the interleaved arrays
 * of the calling thread's batch. */
static void open_batch(struct force *force, const struct bodies *bodies, struct force_item *item)
{
    struct batch *const batch = &((struct direct *)force)->scratch[omp_get_thread_num()].batch;
    batch_open(batch, bodies, item->first);
    item->batch = batch->bodies;
}

static void close_batch(struct force *force, const struct bodies *bodies,
                        const struct force_item *item)
{
    struct direct *const direct = (struct direct *)force;
    batch_close(&direct->scratch[omp_get_thread_num()].batch, bodies, item->first);
}

static const char *const keys[] = { "precision", "kernel", NULL };

const struct force_method force_direct = {
    .name = "direct",
    .keys = keys,
    .size = sizeof(struct direct),
    .check = check_options,
    .bytes = bytes_of,
    .work = work_of,
    .traits = traits_of,
    .create = create_direct,
    .open = open_batch,
    .close = close_batch,
    .accelerations = direct_accelerations,
    .potentials = direct_potentials,
    .jerk = &direct_jerk,
    .destroy = destroy_direct,
};
