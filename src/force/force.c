#include "config.h"

#include "force/force.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "force/direct/packing.h"
#include "force/direct/plan.h"

const char *const precision_names[] = { "double", "mixed", "single", NULL };
const char *const precision_help[] = {
    "Pair terms in fp64: forces to about 1e-15 of their size.",
    "Pair terms in fp32 from positions in two parts, sums in fp64: forces to about 1e-7, also far "
    "from the origin.",
    "Pair terms in fp32 from rounded positions: the fastest; forces to about 1e-7 where "
    "separations are well above the rounding of the positions.",
    NULL
};
#define FORCE_KERNEL(id, name, help) #name,
const char *const force_kernel_names[] = {
#include "force/kernels.inc"
    NULL
};
const char *const force_isa_names[] = { "auto",     "avx512", "avx512-zen", "avx2",
                                        "avx2-zen", "neon",   "baseline",   NULL };

const char *const force_isa_help[] = {
    "The widest that this CPU has, in the form that suits its maker.",
    "AVX-512, for CPUs whose multipliers do the additions too (Intel).",
    "AVX-512, for CPUs whose additions have units of their own (AMD).",
    "AVX2 with fused multiply-adds, for CPUs whose multipliers do the additions too (Intel).",
    "AVX2 with fused multiply-adds, for CPUs whose additions have units of their own (AMD).",
    "NEON with fused multiply-adds, of every 64-bit ARM CPU (Apple's and servers').",
    "Plain C for any CPU; on x86-64, SSE2.",
    NULL
};

static bool always(void)
{
    return true;
}

/* Is the instruction set here, in the CPU and in the registers that the system saves? */
#ifdef HAVE_X86_KERNELS
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* All of AMD's that have these instruction sets (Zen) add beside two multiplications a cycle; in
 * Intel's the units that multiply do the additions of wide vectors too. */
static bool is_zen(void)
{
    return __builtin_cpu_is("amd");
}
#endif

/* The first one that suits is the best. */
static const struct isa {
    const struct kernels *kernels;
    bool (*runs)(void);
    bool (*suits)(void); /* where it runs */
} isas[] = {
#ifdef HAVE_X86_KERNELS
    { &kernels_avx512_zen, has_avx512, is_zen }, { &kernels_avx512, has_avx512, always },
    { &kernels_avx2_zen, has_avx2, is_zen },     { &kernels_avx2, has_avx2, always },
#endif
#ifdef HAVE_NEON_KERNELS
    { &kernels_neon, always, always },
#endif
    { &kernels_baseline, always, always },
};

static const struct isa *best_isa(void)
{
    const struct isa *isa = isas; /* the last one always runs */
    while (!isa->runs() || !isa->suits())
        isa++;
    return isa;
}

static const struct isa *find_isa(const char *name)
{
    if (!strcmp(name, "auto"))
        return best_isa();
    for (size_t k = 0; k < COUNT_OF(isas); k++)
        if (!strcmp(name, isas[k].kernels->isa))
            return &isas[k];
    return NULL;
}

bool force_isa_runs(const char *name)
{
    const struct isa *isa = find_isa(name);
    return isa && isa->runs();
}

bool force_isa_suits(const char *name)
{
    const struct isa *isa = find_isa(name);
    return isa && isa->runs() && isa->suits();
}

bool force_isa_is(const char *isa, const char *name)
{
    const size_t length = strcspn(isa, "-");
    return strlen(name) == length && strncmp(name, isa, length) == 0;
}

/*
 * Crossovers and sizes, as docs/performance.md has measured them. They may depend on the problem
 * only, never on the threads or on a clock: a run must find the same bits when it continues
 * elsewhere.
 */
enum {
    SYMMETRIC_FROM = 256, /* bodies from which the third law wins */
    WAVE_BYTES = 1 << 20, /* of the sums of a wave: they stay in the second-level cache */
    LAP_ROUNDS = 8        /* of each part, whose sums wait to be added; more take more memory, fewer
                             send sums around more often */
};

/* Bodies in a tile: large ones for the inner loops, many of them for the threads. */
static const struct tile_size {
    size_t count; /* from so many bodies in the system */
    size_t tile;
} tile_sizes[] = { { 16384, TILE_MOST }, { 2048, 512 }, { 512, 256 }, { 0, 128 } };

static size_t choose_tile(size_t count)
{
    const struct tile_size *row = tile_sizes;
    while (count < row->count)
        row++;
    return row->tile;
}

/* --- create and destroy ------------------------------------------------------------------------
 */

static enum status choose_isa(const char *name, const struct kernels **kernels, struct error *error)
{
    const char *key = "compute.isa";
    const char *const forced = getenv("ORRERY_ISA");
    if (!strcmp(name, "auto") && forced && *forced) {
        key = "ORRERY_ISA";
        name = forced;
    }
    const struct isa *isa = find_isa(name);
    if (!isa)
        return error_set(error, STATUS_UNAVAILABLE,
                         "%s = %s: this program was built without such kernels", key, name);
    if (!isa->runs())
        return error_set(error, STATUS_UNAVAILABLE,
                         "%s = %s: this CPU or its operating system does not support it", key,
                         name);
    *kernels = isa->kernels;
    return STATUS_OK;
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

enum status force_find_kernels(const struct force_options *options, const struct kernels **kernels,
                               struct error *error)
{
    if (check_kernel(options->kernel, error))
        return error->status;
    return choose_isa(options->isa, kernels, error);
}

/* The plain one where no system has the masses for the third law, or where that does not pay. */
static enum force_kernel_id choose_kernel(const struct force *force, enum force_kernel_id asked,
                                          const struct bodies *bodies)
{
    if (asked != FORCE_AUTO && asked != FORCE_SYMMETRIC)
        return asked;
    if (asked == FORCE_AUTO && bodies->count < SYMMETRIC_FROM)
        return FORCE_PLAIN;
    for (size_t s = 0; s < bodies->systems; s++) {
        struct packing packing = { .precision = force->precision };
        packing_open(&packing, &force->physics, bodies, s);
        if (packing.massive)
            return FORCE_SYMMETRIC;
    }
    return FORCE_PLAIN;
}

/*
 * In a round no tile appears twice. Where a wave is one round and adds in double, the accelerations
 * themselves have room for its sums, and many bodies need no further memory.
 */
static bool is_direct(const struct force *force)
{
    return force->wave == 1 && force->precision == PRECISION_DOUBLE && force->share.parts == 1;
}

static double round_bytes(enum precision precision, double length)
{
    return 3 * length * (precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float));
}

/* Parts go through the tournament in laps. The units of a lap are divided among them, so that a
 * part has the rest of a round at either end. */
static void choose_waves(struct force *force, size_t length)
{
    const size_t tiles = force->tiles, parts = force->share.parts;
    force->laps = (tiles - 1) / (LAP_ROUNDS * parts) + 1;
    force->wave = 1 + WAVE_BYTES / (size_t)round_bytes(force->precision, (double)length);
    if (parts > 1)
        force->wave = (tiles - 1) / force->laps / parts + 2;
    if (force->wave > tiles)
        force->wave = tiles;
}

/* Batches pay where every thread has enough systems to fill the lanes of one. */
static size_t choose_batch(const struct force *force, const struct bodies *bodies, size_t threads)
{
    const size_t lanes = force->kernels->force[force->precision].lanes;
    const bool fits = bodies->count <= BATCH_COUNT && bodies->systems / threads >= lanes &&
                      force->physics.boundary == BOUNDARY_OPEN && force->share.parts == 1;
    return fits && force->kernel == FORCE_PLAIN ? lanes : 0;
}

static enum status scratch_create(struct scratch *scratch, const struct force *force,
                                  const struct bodies *bodies, struct error *error)
{
    const size_t length = bodies->stride;
    packed_create(&scratch->packed, force->precision, length, error);
    if (force->batch_systems)
        batch_create(&scratch->batch, force->kernels, force->precision, bodies, error);
    if (force->kernel != FORCE_SYMMETRIC || is_direct(force))
        return error->status;
    scratch->rounds = memory_array(force->wave, sizeof *scratch->rounds, error);
    for (size_t k = 0; k < force->wave && scratch->rounds; k++)
        scratch->rounds[k] = sums_create(force->precision, length, error);
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

enum status force_create(const struct force_options *options, const struct physics *physics,
                         const struct bodies *bodies, struct force **result, struct error *error)
{
    *result = NULL;
    const struct kernels *kernels = NULL;
    if (force_find_kernels(options, &kernels, error))
        return error->status;
    struct force *force = calloc(1, sizeof *force);
    if (!force)
        return error_memory(error);
    force->physics = *physics;
    force->share = options->share;
    if (force->share.parts == 0)
        force->share = (struct force_share){ .parts = 1, .last = bodies->stride };
    force->kernels = kernels;
    force->precision = options->precision;
    force->kernel = choose_kernel(force, find_kernel(options->kernel), bodies);
    force->tile = choose_tile(bodies->count);
    force->tiles = (bodies->stride + force->tile - 1) / force->tile;
    choose_waves(force, bodies->stride);
    const size_t threads = options->threads > 0 ? (size_t)options->threads : 1;
    force->batch_systems = choose_batch(force, bodies, threads);
    force->scratches = bodies->systems < threads ? 1 : threads;
    force->scratch = calloc(force->scratches, sizeof *force->scratch);
    if (!force->scratch)
        error_memory(error);
    for (size_t k = 0; k < force->scratches && !error->status; k++)
        scratch_create(&force->scratch[k], force, bodies, error);
    if (error->status) {
        force_destroy(force);
        return error->status;
    }
    *result = force;
    return STATUS_OK;
}

double force_bytes(const struct force_options *options, double systems, double count)
{
    const double threads = options->threads > 0 ? options->threads : 1;
    const double length = bodies_length_of(1, count);
    const double round = round_bytes(options->precision, length);
    const double tiles = ceil(count / (double)choose_tile((size_t)count));
    double scratch = 4 * length * sizeof(double) + round; /* packed, and one round of a wave */
    if (options->share.parts > 1)
        scratch += round * fmin(tiles, LAP_ROUNDS);
    else if (round < WAVE_BYTES)
        scratch += fmin(WAVE_BYTES, round * tiles);
    if (count <= BATCH_COUNT)
        scratch += BATCH_SYSTEMS * (bodies_bytes(1, count) + 4 * length * sizeof(double) + round);
    return scratch * (systems < threads ? 1 : threads);
}

void force_destroy(struct force *force)
{
    if (!force)
        return;
    for (size_t k = 0; k < force->scratches && force->scratch; k++)
        scratch_destroy(&force->scratch[k], force->wave);
    free(force->scratch);
    free(force);
}

/* Laps go up and down, one after the other. */
bool force_has_holder(const struct force *force, size_t *holder)
{
    *holder = force->laps % 2 == 1 ? force->share.parts - 1 : 0;
    return force->kernel == FORCE_SYMMETRIC && force->share.parts > 1;
}

enum origin force_origin(const struct force *force)
{
    return force->kernel == FORCE_REFERENCE || force->precision == PRECISION_DOUBLE ? ORIGIN_EXACT
                                                                                    : ORIGIN_MEDIAN;
}

const char *force_kernel(const struct force *force)
{
    return force_kernel_names[force->kernel];
}

const char *force_isa(const struct force *force)
{
    return force->kernel == FORCE_REFERENCE ? "portable" : force->kernels->isa;
}
