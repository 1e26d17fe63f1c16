#include "bench.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "force/reference.h"
#include "slots.h"
#include "team.h"
#include "trial.h"

static const double TRIAL_SECONDS = 0.2;

/* There are some 170 trials at most, each with a warm-up and a set-up of its own. */
enum { TRIALS_IN_TIME = 500 };

/* --- rates and accuracy ------------------------------------------------------------------------*/

static enum status queue_operations(const struct gpu_task *task, size_t times, struct error *error)
{
    cudaError_t code = cudaSuccess;
    for (size_t k = 0; k < times && !code; k++)
        code = gpu_rate(task->operation, task->blocks, task->part->partial, task->stream);
    return gpu_check((int)code, 0, "measuring", error);
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
        const struct gpu_task task = {
            .queue = queue_operations,
            .part = part,
            .operation = (enum gpu_operation)k,
            .blocks = 4 * (unsigned)bench->device.multiprocessors,
            .stream = part->stream,
        };
        const double operations = (double)task.blocks * GPU_RATE_THREADS * GPU_RATE_OPERATIONS;
        status = gpu_task_time(bench, &task, &row->seconds, &row->median, error);
        row->label = labels[k];
        row->rate = bench->operations[k] = operations / row->seconds;
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
    const struct gpu_trial trial = gpu_trial_of("simt", PRECISION_SINGLE, 1, 32);
    return gpu_trial_on_part(bench, &trial, time_operations, &row, error);
}

/* rms of |a - a_ref| / |a_ref|, the reference by fp64 on the host. */
static enum status compare(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                           struct gpu_part *part, struct gpu_bench_row *row, struct error *error)
{
    (void)trial;
    struct bodies *b = bench->bodies;
    const struct gpu_team team = { &part, 1 };
    enum status status = gpu_team_accelerations(&team, error);
    if (!status)
        status = gpu_part_download_accelerations(part, error);
    if (!status)
        status = gpu_part_wait(part, NULL, error);
    const size_t size = b->count * sizeof(double);
    double *a = memory_array(b->count, 3 * sizeof(double), error);
    if (status || !a) {
        memory_free(a);
        return status ? status : error->status;
    }
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
    static const char *const kernels[] = { "blocked", "symmetric" };
    const size_t count = bench->options->largest < 4096 ? bench->options->largest : 4096;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        for (int p = PRECISION_DOUBLE; p <= PRECISION_SINGLE && !status; p++) {
            const struct gpu_trial trial = gpu_trial_of(kernels[k], (enum precision)p, 1, count);
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

/* Every pair of tile and block of 64, 256, 512 and 1024 (experiments A6). */
static enum status measure_blocks(struct gpu_bench_state *bench, struct error *error)
{
    static const int sizes[] = { 64, 256, 512, 1024 };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(sizes) * COUNT_OF(sizes) && !status; k++) {
        const struct gpu_tuning_row tuning = {
            "tiled", PRECISION_SINGLE, sizes[k % 4], sizes[k / 4], 1, 16
        };
        struct gpu_trial trial =
            gpu_trial_of("tiled", PRECISION_SINGLE, 1, no_larger(bench, 65536));
        struct gpu_bench_row row;
        trial.part = GPU_BENCH_BLOCKS;
        trial.tuning = &tuning;
        trial.slots = GPU_SLOTS_TILED;
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

/* Takes a row that is faster than the best so far. */
static enum status try_tuning(struct gpu_bench_state *bench, const struct gpu_trial *like,
                              struct gpu_tuning_row *best, double *rate, struct gpu_tuning_row next,
                              struct error *error)
{
    struct gpu_trial trial = *like;
    struct gpu_bench_row row;
    trial.tuning = &next;
    trial.to_beat = *rate;
    const enum status status = gpu_trial_run(bench, &trial, &row, error);
    if (!status && row.best) {
        *rate = row.rate;
        *best = next;
    }
    return status;
}

/* With enough bodies the block, the tile and the bodies of a thread decide; with few, how far the
 * sums are split. */
static enum status tune(struct gpu_bench_state *bench, enum precision precision,
                        struct error *error)
{
    static const int blocks[] = { 64, 128, 256 }, tiles[] = { 128, 256, 512, 1024 };
    static const int warps[] = { 4, 8, 16, 32 };
    struct gpu_tuning_row *own = gpu_tuning_find(&bench->tuning, "blocked", precision);
    struct gpu_tuning_row best = *own;
    struct gpu_trial trial = gpu_trial_of("blocked", precision, 1, no_larger(bench, 131072));
    const int most = precision == PRECISION_DOUBLE ? 2 : 4;
    enum status status = STATUS_OK;
    double rate = 0;
    trial.part = GPU_BENCH_TUNING;
    for (int bodies = most; bodies >= most / 2; bodies /= 2)
        for (size_t k = 0; k < COUNT_OF(blocks) * COUNT_OF(tiles) && !status; k++) {
            const struct gpu_tuning_row next = { "blocked",    precision, blocks[k % 3],
                                                 tiles[k / 3], bodies,    own->warps };
            status = try_tuning(bench, &trial, &best, &rate, next, error);
        }
    trial.count = no_larger(bench, 16384);
    rate = 0;
    const struct gpu_tuning_row large = best;
    for (size_t k = 0; k < COUNT_OF(warps) && !status; k++) {
        struct gpu_tuning_row next = large;
        next.warps = warps[k];
        status = try_tuning(bench, &trial, &best, &rate, next, error);
    }
    if (rate > 0)
        *own = best;
    return status;
}

static enum status measure_tuning(struct gpu_bench_state *bench, struct error *error)
{
    enum status status = STATUS_OK;
    for (int p = PRECISION_SINGLE; p >= PRECISION_DOUBLE && !status; p--)
        status = tune(bench, (enum precision)p, error);
    if (!status && bench->options->store)
        status = gpu_tuning_store(&bench->device, NULL, &bench->tuning, error);
    return status;
}

/* --- speed -------------------------------------------------------------------------------------*/

static enum status measure_ladder(struct gpu_bench_state *bench, struct error *error)
{
    const struct gpu_tuning_row *tuned =
                                    gpu_tuning_find(&bench->tuning, "blocked", PRECISION_SINGLE),
                                *mixed =
                                    gpu_tuning_find(&bench->tuning, "blocked", PRECISION_MIXED),
                                *full =
                                    gpu_tuning_find(&bench->tuning, "blocked", PRECISION_DOUBLE);
    struct gpu_tuning_row two = *tuned;
    two.bodies = 2;
    const struct gpu_kernel simt = *gpu_kernel_find("simt"), tiled = *gpu_kernel_find("tiled");
    const struct gpu_kernel blocked = *gpu_kernel_find("blocked");
    const struct gpu_kernel symmetric = *gpu_kernel_find("symmetric");
    struct gpu_kernel textbook = simt, textbook_tiled = tiled, potential = blocked;
    textbook.sum = gpu_textbook_simt;
    textbook_tiled.sum = gpu_textbook_tiled;
    potential.sum = gpu_with_potential;
    potential.components = 4;
    const struct gpu_trial rungs[] = {
        { .label = "simt, rsqrtf()", .kernel = textbook, .slots = GPU_SLOTS_TEXTBOOK_SIMT },
        { .label = "simt", .kernel = simt, .slots = GPU_SLOTS_SIMT },
        { .label = "tiled, rsqrtf()", .kernel = textbook_tiled, .slots = GPU_SLOTS_TEXTBOOK_TILED },
        { .label = "tiled", .kernel = tiled, .slots = GPU_SLOTS_TILED },
        { .label = "blocked, 2 bodies per thread",
          .kernel = blocked,
          .tuning = &two,
          .slots = GPU_SLOTS_BLOCKED_2 },
        { .label = "blocked, tuned",
          .kernel = blocked,
          .tuning = tuned,
          .slots = GPU_SLOTS_BLOCKED_4 },
        { .label = "blocked, equal masses",
          .kernel = blocked,
          .tuning = tuned,
          .equal = true,
          .slots = GPU_SLOTS_EQUAL_4 },
        { .label = "symmetric", .kernel = symmetric, .slots = GPU_SLOTS_SYMMETRIC },
        { .label = "blocked, force + potential",
          .kernel = potential,
          .tuning = tuned,
          .slots = GPU_SLOTS_POTENTIAL_4 },
        { .label = "blocked, mixed",
          .kernel = blocked,
          .precision = PRECISION_MIXED,
          .tuning = mixed,
          .slots = GPU_SLOTS_MIXED_4 },
        { .label = "symmetric, mixed",
          .kernel = symmetric,
          .precision = PRECISION_MIXED,
          .slots = GPU_SLOTS_SYMMETRIC_MIXED },
        { .label = "blocked, double",
          .kernel = blocked,
          .precision = PRECISION_DOUBLE,
          .tuning = full,
          .slots = GPU_SLOTS_DOUBLE_2 },
        { .label = "symmetric, double",
          .kernel = symmetric,
          .precision = PRECISION_DOUBLE,
          .slots = GPU_SLOTS_SYMMETRIC_DOUBLE },
    };
    enum { SINGLE_RUNGS = 9 };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(rungs) && !status; k++) {
        struct gpu_trial trial = rungs[k];
        struct gpu_bench_row row;
        trial.part = GPU_BENCH_LADDER;
        trial.systems = 1;
        trial.count = no_larger(bench, 262144);
        if (k < SINGLE_RUNGS)
            trial.precision = PRECISION_SINGLE;
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

static enum status measure_sizes(struct gpu_bench_state *bench, struct error *error)
{
    static const struct {
        const char *kernel;
        enum precision precision;
        double slots;
    } kernels[] = {
        { "tiled", PRECISION_SINGLE, GPU_SLOTS_TILED },
        { "blocked", PRECISION_SINGLE, GPU_SLOTS_BLOCKED_4 },
        { "symmetric", PRECISION_SINGLE, GPU_SLOTS_SYMMETRIC },
        { "blocked", PRECISION_MIXED, GPU_SLOTS_MIXED_4 },
        { "blocked", PRECISION_DOUBLE, GPU_SLOTS_DOUBLE_2 },
    };
    enum status status = STATUS_OK;
    for (size_t count = 1024; count <= bench->options->largest && !status; count *= 2)
        for (size_t k = 0; k < COUNT_OF(kernels) && !status; k++) {
            struct gpu_bench_row row;
            struct gpu_trial trial =
                gpu_trial_of(kernels[k].kernel, kernels[k].precision, 1, count);
            trial.part = GPU_BENCH_SIZES;
            trial.slots = kernels[k].slots;
            trial.tuning = gpu_tuning_find(&bench->tuning, kernels[k].kernel, trial.precision);
            status = gpu_trial_run(bench, &trial, &row, error);
        }
    return status;
}

static const size_t ensembles[][2] = { { 32, 8192 }, { 64, 1024 }, { 1000, 64 } };

static enum status measure_ensembles(struct gpu_bench_state *bench, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(ensembles) && !status; k++) {
        struct gpu_bench_row row;
        struct gpu_trial trial = gpu_trial_of("blocked", PRECISION_SINGLE, ensembles[k][0],
                                              no_larger(bench, ensembles[k][1]));
        trial.part = GPU_BENCH_ENSEMBLES;
        trial.slots = GPU_SLOTS_BLOCKED_4;
        trial.tuning = gpu_tuning_find(&bench->tuning, "blocked", PRECISION_SINGLE);
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

static enum status measure_steps(struct gpu_bench_state *bench, struct error *error)
{
    static const size_t shapes[][2] = { { 1, 2 },     { 1, 64 },    { 1, 256 },   { 1, 1024 },
                                        { 1, 4096 },  { 1, 16384 }, { 1, 65536 }, { 1000, 64 },
                                        { 100, 512 }, { 32, 8192 } };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(shapes) && !status; k++) {
        struct gpu_bench_row row;
        struct gpu_trial trial =
            gpu_trial_of("blocked", PRECISION_SINGLE, shapes[k][0], no_larger(bench, shapes[k][1]));
        trial.part = GPU_BENCH_STEPS;
        trial.steps = true;
        trial.tuning = gpu_tuning_find(&bench->tuning, "blocked", PRECISION_SINGLE);
        status = gpu_trial_run(bench, &trial, &row, error);
    }
    return status;
}

/* --- all of it ---------------------------------------------------------------------------------*/

enum status gpu_bench(const struct gpu_bench_options *options, const struct gpu_bench_sink *sink,
                      struct error *error)
{
    static enum status (*const measure[GPU_BENCH_PARTS])(struct gpu_bench_state *,
                                                         struct error *) = {
        measure_rates,  measure_accuracy, measure_blocks,    measure_tuning,
        measure_ladder, measure_sizes,    measure_ensembles, measure_steps,
    };
    struct gpu_bench_state bench = { .options = options, .sink = sink };
    int count;
    bench.deadline = clock_seconds() + options->seconds;
    bench.trial_seconds = fmin(TRIAL_SECONDS, options->seconds / TRIALS_IN_TIME);
    enum status status = gpu_device_count(&count, error);
    if (!status && options->device >= count)
        return error_set(error, STATUS_UNAVAILABLE, "there is no GPU %d", options->device);
    if (!status)
        status = gpu_device_find(options->device, &bench.device, error);
    if (!status)
        gpu_tuning_load(&bench.device, NULL, &bench.tuning);
    for (int part = 0; part < GPU_BENCH_PARTS && !status; part++)
        status = measure[part](&bench, error);
    bodies_destroy(bench.bodies);
    return status;
}
