#include "bench-parts.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "force/direct/reference.h"
#include "gpu/host/exchange.h"
#include "gpu/host/steps.h"
#include "trial.h"

static const double TRIAL_SECONDS = 0.2;

/* The part of the whole time after which the search for the best launches (tuning), which has most
 * of the trials, ends, so that later parts have the rest. */
static const double TUNING_SHARE = 0.7;

/* The number of trials that must fit into the time. There are some 500 if the largest system has a
 * million bodies, most of them for tuning; and as many again are allowed for because a warm-up and
 * a set-up may take as long as a trial. */
enum { TRIALS_IN_TIME = 1000 };

/* --- rates and accuracy ------------------------------------------------------------------------*/

static enum status queue_operations(const struct gpu_task *task, size_t times, struct error *error)
{
    cudaError_t code = cudaSuccess;
    for (size_t k = 0; k < times && !code; k++)
        code = gpu_rate(task->operation, task->blocks, task->operations, task->part->partial,
                        task->stream);
    return gpu_part_check(task->part, code, "measuring", error);
}

/* Measures the rate of one kind of operation, by launches of at least LAUNCH_SECONDS: so long that
 * their beginning and their end do not count. */
static enum status time_operation(struct gpu_bench_state *bench, struct gpu_task *task,
                                  struct gpu_bench_row *row, struct error *error)
{
    static const double LAUNCH_SECONDS = 1e-3;
    enum { LONGER = 32, MOST = GPU_RATE_OPERATIONS * LONGER * LONGER };
    enum status status = STATUS_OK;
    row->seconds = 0;
    for (unsigned operations = GPU_RATE_OPERATIONS;
         operations <= MOST && row->seconds < LAUNCH_SECONDS && !status; operations *= LONGER) {
        task->operations = operations;
        status = gpu_task_time(bench, task, &row->seconds, &row->median, error);
    }
    const double operations = (double)task->blocks * GPU_RATE_THREADS * task->operations;
    row->rate = bench->operations[task->operation] = operations / row->seconds;
    return status;
}

static enum status time_operations(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                                   struct gpu_part *part, struct gpu_bench_row *row,
                                   struct error *error)
{
    static const char *const labels[] = { "fp32 multiply-add", "fp64 multiply-add",
                                          "fp32 estimate of 1/sqrt" };
    (void)trial;
    enum status status = STATUS_OK;
    for (int k = 0; k < GPU_OPERATIONS && !status; k++) {
        struct gpu_task task = {
            .queue = queue_operations,
            .part = part,
            .operation = (enum gpu_operation)k,
            .blocks = 4 * (unsigned)bench->device.multiprocessors,
            .stream = part->stream,
        };
        status = time_operation(bench, &task, row, error);
        row->label = labels[k];
        row->limit = k == GPU_OPERATION_SINGLE ? (double)bench->device.multiprocessors *
                                                     bench->device.lanes * bench->device.clock
                                               : 0;
        if (!status)
            status = gpu_trial_send(bench, row, error);
    }
    return status;
}

static enum status measure_rates(struct gpu_bench_state *bench, struct error *error)
{
    struct gpu_bench_row row = { .part = GPU_BENCH_RATES, .error = NAN };
    const struct gpu_trial trial = gpu_trial_of(bench, GPU_SIMT, PRECISION_SINGLE, 1, 32);
    return gpu_trial_on_part(bench, &trial, time_operations, &row, error);
}

/* Puts the error of the device's accelerations into the row: the rms of |a - a_ref| / |a_ref|,
 * where the host computes a_ref in fp64. */
static enum status compare(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                           struct gpu_part *part, struct gpu_bench_row *row, struct error *error)
{
    (void)trial;
    struct bodies *b = bench->bodies;
    const struct gpu_team team = { &part, 1 };
    if (gpu_steps_accelerations(&team, error) || gpu_exchange_download_accelerations(part, error) ||
        gpu_part_wait(part, NULL, error))
        return error->status;
    const size_t size = b->count * sizeof(double);
    double *a = memory_array(b->count, 3 * sizeof(double), error);
    if (!a)
        return error->status;
    memcpy(a, b->ax, size);
    memcpy(a + b->count, b->ay, size);
    memcpy(a + 2 * b->count, b->az, size);
    reference_accelerations(&gpu_trial_physics, b);
    double sum = 0;
    for (size_t i = 0; i < b->count; i++) {
        const double dx = a[i] - b->ax[i], dy = a[b->count + i] - b->ay[i];
        const double dz = a[2 * b->count + i] - b->az[i];
        sum += (dx * dx + dy * dy + dz * dz) /
               (b->ax[i] * b->ax[i] + b->ay[i] * b->ay[i] + b->az[i] * b->az[i]);
    }
    row->error = sqrt(sum / (double)b->count);
    memory_free(a);
    return STATUS_OK;
}

static enum status measure_accuracy(struct gpu_bench_state *bench, struct error *error)
{
    static const enum gpu_kernel_id kernels[] = { GPU_BLOCKED, GPU_SYMMETRIC };
    const size_t count = bench->options->largest < 4096 ? bench->options->largest : 4096;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE && !status; p++) {
            const struct gpu_trial trial =
                gpu_trial_of(bench, kernels[k], (enum precision)p, 1, count);
            struct gpu_bench_row row = {
                .part = GPU_BENCH_ACCURACY,
                .label = trial.label,
                .precision = trial.precision,
                .systems = 1,
                .count = count,
            };
            status = gpu_trial_on_part(bench, &trial, compare, &row, error);
            if (!status)
                status = gpu_trial_send(bench, &row, error);
        }
    return status;
}

static size_t no_larger(const struct gpu_bench_state *bench, size_t count)
{
    return count < bench->options->largest ? count : bench->options->largest;
}

/* --- tuning ------------------------------------------------------------------------------------*/

/* Measures the kernel `tiled` with every pair of a tile and a block size out of 64, 256, 512 and
 * 1024. */
static enum status measure_blocks(struct gpu_bench_state *bench, struct error *error)
{
    static const int sizes[] = { 64, 256, 512, 1024 };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(sizes) * COUNT_OF(sizes) && !status; k++) {
        const struct gpu_tuning_row tuning = {
            GPU_TILED, PRECISION_SINGLE, 0, { sizes[k % 4], sizes[k / 4], 1, 1, 1 }
        };
        struct gpu_trial trial =
            gpu_trial_of(bench, GPU_TILED, PRECISION_SINGLE, 1, no_larger(bench, 65536));
        struct gpu_bench_row row;
        trial.part = GPU_BENCH_BLOCKS;
        trial.tuning = &tuning;
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

/* Measures the launch `next`; if it is faster than `*rate`, it becomes `*best`. */
static enum status try_tuning(struct gpu_bench_state *bench, const struct gpu_trial *like,
                              struct gpu_tuning_row *best, double *rate, struct gpu_tuning_row next,
                              struct error *error)
{
    struct gpu_trial trial = *like;
    struct gpu_bench_row row;
    trial.part = GPU_BENCH_TUNING;
    trial.tuning = &next;
    trial.to_beat = *rate;
    const enum status status = gpu_trial_run(bench, &trial, &row, error);
    if (!status && row.best) {
        *rate = row.rate;
        *best = next;
    }
    return status;
}

/* Tries every launch of `blocked` that the catalog allows with these blocks and tiles, for `count`
 * bodies. The first is the launch that was tuned for the nearest number of bodies: if time ends
 * before all are tried, the result is no worse than that. */
static enum status tune(struct gpu_bench_state *bench, enum precision precision, size_t count,
                        struct error *error)
{
    static const int blocks[] = { 64, 128, 256 }, tiles[] = { 128, 256, 512, 1024 };
    const struct gpu_limits *limits = &gpu_catalog[GPU_BLOCKED].limits[precision];
    const struct gpu_trial like = gpu_trial_of(bench, GPU_BLOCKED, precision, 1, count);
    struct gpu_tuning_row best = { GPU_BLOCKED, precision, count, like.tuning->tuning };
    double rate = 0;
    enum status status = try_tuning(bench, &like, &best, &rate, best, error);
    for (int at_once = limits->at_once.least; at_once <= limits->at_once.most; at_once++)
        for (int bodies = limits->bodies.most; bodies >= limits->bodies.most / 2; bodies /= 2)
            for (size_t k = 0; k < COUNT_OF(blocks) * COUNT_OF(tiles) && !status; k++) {
                const struct gpu_tuning_row next = { GPU_BLOCKED,
                                                     precision,
                                                     count,
                                                     { blocks[k % 3], tiles[k / 3], bodies, 1,
                                                       at_once } };
                if (gpu_limits_allow(limits, &next.tuning))
                    status = try_tuning(bench, &like, &best, &rate, next, error);
            }
    if (rate > 0)
        gpu_tuning_set(&bench->tuning, &best);
    return status;
}

/* Finds the best launches of `blocked` for small, middle and large systems, or for the one number
 * of bodies that is asked for, and stores them if that is wanted. */
static enum status measure_tuning(struct gpu_bench_state *bench, struct error *error)
{
    static const size_t sizes[] = { 4096, 16384, 131072, 1048576 };
    const size_t only = bench->options->bodies;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(sizes) && !status; k++) {
        const size_t count = only > 0 ? only : no_larger(bench, sizes[k]);
        for (int p = PRECISION_SINGLE; p >= PRECISION_DOUBLE && !status; p--)
            status = tune(bench, (enum precision)p, count, error);
        if (count == bench->options->largest || only > 0)
            break;
    }
    if (!status && bench->options->store)
        status = gpu_tuning_store(&bench->device, NULL, &bench->tuning, error);
    return status;
}

/* --- speed -------------------------------------------------------------------------------------*/

/* A row of the part "ladder": one of the catalog's kernels, and the values in which the row differs
 * from it; a value that is 0 is the kernel's own. */
struct rung {
    const char *label;
    enum gpu_kernel_id kernel;
    enum precision precision;
    cudaError_t (*sum)(const struct gpu_sum_call *call, unsigned *slots); /* another launch */
    int components;             /* number of sums of a body by `sum` */
    int bodies, at_once;        /* bodies of a thread; form of the kernel */
    bool equal;                 /* all masses are 1 */
    enum gpu_energies energies; /* potentials in place of forces */
    double instructions;
};

static const struct rung rungs[] = {
    { "textbook: structures", GPU_SIMT, .precision = PRECISION_SINGLE,
      .sum = gpu_textbook_structures, .components = 3,
      .instructions = GPU_INSTRUCTIONS_TEXTBOOK_STRUCTURES },
    { "textbook: arrays", GPU_SIMT, .precision = PRECISION_SINGLE, .sum = gpu_textbook_arrays,
      .components = 5 },
    { "textbook: float4", GPU_SIMT, .precision = PRECISION_SINGLE, .sum = gpu_textbook_root,
      .components = 3, .instructions = GPU_INSTRUCTIONS_TEXTBOOK_ROOT },
    { "textbook: rsqrtf()", GPU_SIMT, .precision = PRECISION_SINGLE, .sum = gpu_textbook_simt,
      .components = 3, .instructions = GPU_INSTRUCTIONS_TEXTBOOK_SIMT },
    { "textbook: tile", GPU_SIMT, .precision = PRECISION_SINGLE, .sum = gpu_textbook_tile_1,
      .components = 3, .instructions = GPU_INSTRUCTIONS_TEXTBOOK_TILE_1 },
    { "textbook: tile, unrolled 2", GPU_SIMT, .precision = PRECISION_SINGLE,
      .sum = gpu_textbook_tile_2, .components = 3,
      .instructions = GPU_INSTRUCTIONS_TEXTBOOK_TILE_2 },
    { "textbook: tile, unrolled 4", GPU_SIMT, .precision = PRECISION_SINGLE,
      .sum = gpu_textbook_tile_4, .components = 3,
      .instructions = GPU_INSTRUCTIONS_TEXTBOOK_TILE_4 },
    { "textbook: tile, unrolled 8", GPU_SIMT, .precision = PRECISION_SINGLE,
      .sum = gpu_textbook_tile_8, .components = 3,
      .instructions = GPU_INSTRUCTIONS_TEXTBOOK_TILE_8 },
    { "textbook: tile, unrolled 16", GPU_SIMT, .precision = PRECISION_SINGLE,
      .sum = gpu_textbook_tile_16, .components = 3,
      .instructions = GPU_INSTRUCTIONS_TEXTBOOK_TILE_16 },
    { "simt", GPU_SIMT, .precision = PRECISION_SINGLE },
    { "tiled, rsqrtf()", GPU_TILED, .precision = PRECISION_SINGLE, .sum = gpu_textbook_tiled,
      .components = 3, .instructions = GPU_INSTRUCTIONS_TEXTBOOK_TILED },
    { "tiled", GPU_TILED, .precision = PRECISION_SINGLE },
    { "blocked, 2 bodies per thread", GPU_BLOCKED, .precision = PRECISION_SINGLE, .bodies = 2,
      .instructions = GPU_INSTRUCTIONS_BLOCKED_2 },
    { "blocked, 3 blocks at once", GPU_BLOCKED, .precision = PRECISION_SINGLE, .at_once = 3 },
    { "blocked, 2 blocks at once", GPU_BLOCKED, .precision = PRECISION_SINGLE, .at_once = 2 },
    { "blocked, tuned", GPU_BLOCKED, .precision = PRECISION_SINGLE },
    { "blocked, equal masses", GPU_BLOCKED, .precision = PRECISION_SINGLE, .equal = true,
      .instructions = GPU_INSTRUCTIONS_EQUAL_4 },
    { "symmetric", GPU_SYMMETRIC, .precision = PRECISION_SINGLE },
    { "symmetric, 3 blocks at once", GPU_SYMMETRIC, .precision = PRECISION_SINGLE, .at_once = 3 },
    { "symmetric, equal masses", GPU_SYMMETRIC, .precision = PRECISION_SINGLE, .equal = true,
      .instructions = GPU_INSTRUCTIONS_SYMMETRIC_EQUAL },
    { "blocked, force + potential", GPU_BLOCKED, .precision = PRECISION_SINGLE,
      .sum = gpu_with_potential, .components = 4, .instructions = GPU_INSTRUCTIONS_POTENTIAL_4 },
    { "blocked, mixed", GPU_BLOCKED, .precision = PRECISION_MIXED },
    { "symmetric, mixed", GPU_SYMMETRIC, .precision = PRECISION_MIXED },
    { "blocked, double", GPU_BLOCKED, .precision = PRECISION_DOUBLE },
    { "symmetric, double", GPU_SYMMETRIC, .precision = PRECISION_DOUBLE },
    { "energies, double", GPU_BLOCKED, .precision = PRECISION_DOUBLE,
      .energies = GPU_ENERGIES_DOUBLE, .instructions = GPU_INSTRUCTIONS_ENERGIES_DOUBLE },
    { "energies, pairs of floats", GPU_BLOCKED, .precision = PRECISION_SINGLE,
      .energies = GPU_ENERGIES_FLOATS, .instructions = GPU_INSTRUCTIONS_ENERGIES_FLOATS },
};

static enum status measure_ladder(struct gpu_bench_state *bench, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(rungs) && !status; k++) {
        const struct rung *rung = &rungs[k];
        struct gpu_trial trial =
            gpu_trial_of(bench, rung->kernel, rung->precision, 1, no_larger(bench, 262144));
        struct gpu_tuning_row tuning = *trial.tuning;
        struct gpu_bench_row row;
        trial.part = GPU_BENCH_LADDER;
        trial.label = rung->label;
        trial.equal = rung->equal;
        trial.energies = rung->energies;
        trial.tuning = &tuning;
        if (rung->sum) {
            trial.kernel.sum = rung->sum;
            trial.kernel.components = rung->components;
        }
        if (rung->instructions > 0)
            trial.instructions = rung->instructions;
        if (rung->bodies > 0)
            tuning.tuning.bodies = rung->bodies;
        if (rung->at_once > 0)
            tuning.tuning.at_once = rung->at_once;
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

static enum status measure_sizes(struct gpu_bench_state *bench, struct error *error)
{
    static const struct {
        enum gpu_kernel_id kernel;
        enum precision precision;
    } kernels[] = {
        { GPU_TILED, PRECISION_SINGLE },     { GPU_BLOCKED, PRECISION_SINGLE },
        { GPU_SYMMETRIC, PRECISION_SINGLE }, { GPU_BLOCKED, PRECISION_MIXED },
        { GPU_SYMMETRIC, PRECISION_MIXED },  { GPU_BLOCKED, PRECISION_DOUBLE },
        { GPU_SYMMETRIC, PRECISION_DOUBLE },
    };
    enum status status = STATUS_OK;
    for (size_t count = 1024; count <= bench->options->largest && !status; count *= 2)
        for (size_t k = 0; k < COUNT_OF(kernels) && !status; k++) {
            struct gpu_bench_row row;
            struct gpu_trial trial =
                gpu_trial_of(bench, kernels[k].kernel, kernels[k].precision, 1, count);
            trial.part = GPU_BENCH_SIZES;
            status = gpu_trial_run(bench, &trial, &row, error);
        }
    return status;
}

/* Measures the steps of a trial by other launches than those that a run would take, if
 * gpu_resident() takes them, with `bodies` bodies of a thread, or gpu_step(). */
static enum status measure_launches(struct gpu_bench_state *bench, const struct gpu_trial *like,
                                    int bodies, struct error *error)
{
    static const char *const labels[] = { [GPU_STEPS_IN_ORDER] = "blocked, none begins early",
                                          [GPU_STEPS_APART] = "blocked, two launches" };
    static const char *const resident[] = { NULL, "blocked, 1 body per thread",
                                            "blocked, 2 bodies per thread" };
    struct gpu_trial trial = *like;
    struct gpu_bench_row row;
    enum status status = STATUS_OK;
    if (gpu_trial_stays(bench, &trial)) {
        trial.resident_bodies = bodies == 1 ? 2 : 1;
        trial.label = resident[trial.resident_bodies];
        return gpu_trial_run(bench, &trial, &row, error);
    }
    if (!trial.kernel.facts->resident ||
        gpu_tuning_step(trial.systems, trial.count, bench->device.multiprocessors) == 0)
        return STATUS_OK;
    for (int k = GPU_STEPS_IN_ORDER; k <= GPU_STEPS_APART && !status; k++) {
        trial.launches = (enum gpu_steps)k;
        trial.label = labels[k];
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

/* Measures force evaluations, or whole steps for GPU_BENCH_STEPS, in fp32 with the kernel that
 * "auto" takes. A shape is a number of systems and the number of bodies of each. */
static enum status measure_shapes(struct gpu_bench_state *bench, enum gpu_bench_part part,
                                  const size_t (*shapes)[2], size_t count, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        struct gpu_bench_row row;
        const size_t bodies = no_larger(bench, shapes[k][1]);
        struct gpu_trial trial = gpu_trial_of(bench, gpu_catalog_choose(bodies, true),
                                              PRECISION_SINGLE, shapes[k][0], bodies);
        trial.part = part;
        trial.steps = part == GPU_BENCH_STEPS;
        if (trial.steps)
            trial.instructions = 0; /* a step is more than pairs, so it has no limit */
        status = gpu_trial_run(bench, &trial, &row, error);
        if (!status && trial.steps)
            status = measure_launches(bench, &trial, row.tuning.bodies, error);
    }
    return status;
}

static enum status measure_ensembles(struct gpu_bench_state *bench, struct error *error)
{
    static const size_t shapes[][2] = { { 32, 8192 }, { 64, 1024 }, { 1000, 64 } };
    return measure_shapes(bench, GPU_BENCH_ENSEMBLES, shapes, COUNT_OF(shapes), error);
}

static enum status measure_steps(struct gpu_bench_state *bench, struct error *error)
{
    static const size_t shapes[][2] = { { 1, 2 },     { 1, 64 },    { 1, 128 },   { 1, 256 },
                                        { 1, 512 },   { 1, 1024 },  { 1, 2048 },  { 1, 4096 },
                                        { 1, 8192 },  { 1, 16384 }, { 1, 65536 }, { 1000, 64 },
                                        { 100, 512 }, { 32, 8192 } };
    return measure_shapes(bench, GPU_BENCH_STEPS, shapes, COUNT_OF(shapes), error);
}

/* --- all of it ---------------------------------------------------------------------------------*/

/* Measures all parts. A part that fails does not end the others; the first failure is returned at
 * the end. */
static enum status measure_all(struct gpu_bench_state *bench, struct error *error)
{
    static enum status (*const measure[GPU_BENCH_PARTS])(struct gpu_bench_state *,
                                                         struct error *) = {
        measure_rates,  measure_accuracy, measure_blocks,    measure_tuning,
        measure_ladder, measure_sizes,    measure_ensembles, measure_steps,
    };
    enum status status = STATUS_OK;
    for (int part = 0; part < GPU_BENCH_PARTS; part++) {
        struct error later = { 0 };
        const enum status found = measure[part](bench, status ? &later : error);
        status = status ? status : found;
    }
    return status;
}

enum status gpu_bench(const struct gpu_bench_options *options, const struct gpu_bench_sink *sink,
                      struct error *error)
{
    const double start = clock_seconds();
    struct gpu_bench_state bench = {
        .options = options,
        .sink = sink,
        .device = *options->device,
        .deadline = start + options->seconds,
        .tuning_deadline = start + TUNING_SHARE * options->seconds,
        .trial_seconds = fmin(TRIAL_SECONDS, options->seconds / TRIALS_IN_TIME),
    };
    enum status status = STATUS_OK;
    gpu_tuning_load(&bench.device, NULL, &bench.tuning);
    /* A cache that cannot be written is reported before anything is measured. */
    if (options->store)
        status = gpu_tuning_store(&bench.device, NULL, &bench.tuning, error);
    if (!status)
        status = measure_all(&bench, error);
    bodies_destroy(bench.bodies);
    return status;
}
