#include "trial.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/clock.h"
#include "base/random.h"
#include "force/direct/reference.h"
#include "gpu/host/exchange.h"
#include "gpu/host/observe.h"
#include "gpu/host/steps.h"

/* The softening of the tutorial's uniform cube; make_bodies() uses its density, too. */
const struct physics gpu_trial_physics = { .gravitational_constant = 1, .softening = 0.1 };

enum { WARM_UP = 3, MOST_GROUPS = 15 };
static const double GROUP_SECONDS = 0.01;

static enum status check(const struct gpu_bench_state *bench, cudaError_t code, struct error *error)
{
    return gpu_check((int)code, bench->device.index, "measuring", error);
}

/* --- bodies ------------------------------------------------------------------------------------*/

/* Makes bodies in a cube of constant density, with masses of 1 or between 1 and 2, unless the
 * bodies of the last trial have these numbers and masses. */
static enum status make_bodies(struct gpu_bench_state *bench, size_t systems, size_t count,
                               bool equal, struct error *error)
{
    struct bodies *b = bench->bodies;
    if (b && b->systems == systems && b->count == count && bench->equal == equal)
        return STATUS_OK;
    bodies_destroy(b);
    bench->bodies = NULL;
    bench->equal = equal;
    gsl_rng *random = random_create(42, error);
    if (!random)
        return error->status;
    const enum status status = bodies_create(systems, count, &bench->bodies, error);
    b = bench->bodies;
    const double side = 10 * cbrt((double)count / 1024);
    for (size_t i = 0; !status && i < bodies_length(b); i++) {
        if (i % b->stride >= count)
            continue;
        b->m[i] = equal ? 1 : random_uniform(random, 1, 2);
        b->x[i] = random_uniform(random, -side, side);
        b->y[i] = random_uniform(random, -side, side);
        b->z[i] = random_uniform(random, -side, side);
    }
    random_destroy(random);
    return status;
}

/* --- times -------------------------------------------------------------------------------------*/

struct stopwatch {
    cudaEvent_t start, end;
};

static cudaError_t stopwatch_create(struct stopwatch *watch)
{
    const cudaError_t code = cudaEventCreateWithFlags(&watch->start, 0);
    return code ? code : cudaEventCreateWithFlags(&watch->end, 0);
}

static void stopwatch_destroy(struct stopwatch *watch)
{
    if (watch->start)
        cudaEventDestroy(watch->start);
    if (watch->end)
        cudaEventDestroy(watch->end);
}

static enum status time_group(const struct gpu_bench_state *bench, const struct gpu_task *task,
                              size_t times, const struct stopwatch *watch, double *seconds,
                              struct error *error)
{
    float milliseconds = 0;
    if (!check(bench, cudaEventRecord(watch->start, task->stream), error) &&
        !task->queue(task, times, error) &&
        !check(bench, cudaEventRecord(watch->end, task->stream), error) &&
        !check(bench, cudaEventSynchronize(watch->end), error))
        check(bench, cudaEventElapsedTime(&milliseconds, watch->start, watch->end), error);
    *seconds = 1e-3 * milliseconds / (double)times;
    return error->status;
}

/* Times up to MOST_GROUPS groups of launches, each of about GROUP_SECONDS or more, until the time
 * of a trial is over. */
enum status gpu_task_time(const struct gpu_bench_state *bench, const struct gpu_task *task,
                          double *least, double *median, struct error *error)
{
    struct stopwatch watch = { 0 };
    double seconds[MOST_GROUPS], once = 0;
    size_t groups = 0;
    enum status status = check(bench, stopwatch_create(&watch), error);
    for (int k = 0; k < WARM_UP && once < bench->trial_seconds && !status; k++)
        status = time_group(bench, task, 1, &watch, &once, error);
    const size_t times = once < GROUP_SECONDS ? 1 + (size_t)(GROUP_SECONDS / fmax(once, 1e-7)) : 1;
    const double end = clock_seconds() + bench->trial_seconds;
    while (!status && groups < MOST_GROUPS && (groups == 0 || clock_seconds() < end))
        status = time_group(bench, task, times, &watch, &seconds[groups++], error);
    stopwatch_destroy(&watch);
    if (status)
        return status;
    *least = gsl_stats_min(seconds, 1, groups);
    *median = gsl_stats_median(seconds, 1, groups);
    return STATUS_OK;
}

static enum status queue_sums(const struct gpu_task *task, size_t times, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < times && !status; k++)
        status = gpu_steps_sum(task->part, error);
    return status;
}

static enum status queue_potentials(const struct gpu_task *task, size_t times, struct error *error)
{
    const struct gpu_team team = { &task->part, 1 };
    enum status status = STATUS_OK;
    for (size_t k = 0; k < times && !status; k++)
        status = gpu_observe_potentials(&team, error);
    return status;
}

static enum status queue_steps(const struct gpu_task *task, size_t times, struct error *error)
{
    const struct gpu_team team = { &task->part, 1 };
    return gpu_steps_advance(&team, task->program, times, true, error);
}

/* --- trials ------------------------------------------------------------------------------------*/

/* Returns the pairs per second for which the device could issue the instructions of the pair loop,
 * or 0 if they are not counted. */
static double limit_of(const struct gpu_bench_state *bench, const struct gpu_trial *trial)
{
    const bool full = trial->precision == PRECISION_DOUBLE;
    const double operations = bench->operations[full ? GPU_OPERATION_DOUBLE : GPU_OPERATION_SINGLE];
    return trial->instructions > 0 ? operations / trial->instructions : 0;
}

bool gpu_trial_stays(const struct gpu_bench_state *bench, const struct gpu_trial *trial)
{
    return trial->kernel.facts->resident &&
           gpu_tuning_stays(trial->systems, trial->count, bench->device.multiprocessors);
}

enum status gpu_trial_send(const struct gpu_bench_state *bench, const struct gpu_bench_row *row,
                           struct error *error)
{
    return bench->sink->row(bench->sink->context, row, error);
}

enum status gpu_trial_on_part(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                              enum status (*use)(struct gpu_bench_state *, const struct gpu_trial *,
                                                 struct gpu_part *, struct gpu_bench_row *,
                                                 struct error *),
                              struct gpu_bench_row *row, struct error *error)
{
    struct gpu_setup setup;
    struct gpu_part *part = NULL;
    if (make_bodies(bench, trial->systems, trial->count, trial->equal, error) ||
        gpu_setup_init(&trial->kernel, trial->precision, &gpu_trial_physics, bench->bodies, &setup,
                       error))
        return error->status;
    setup.row = trial->tuning;
    setup.steps = trial->launches;
    setup.resident_bodies = trial->resident_bodies;
    setup.energies = trial->energies;
    if (!gpu_part_create(&setup, &bench->device, trial->systems, 0, trial->count, &part, error) &&
        !gpu_exchange_upload(part, 0, trial->systems, error)) {
        row->tuning = trial->energies                                 ? part->observed.tuning
                      : trial->steps && gpu_trial_stays(bench, trial) ? part->resident
                                                                      : part->force.tuning;
        if (!use(bench, trial, part, row, error))
            gpu_part_wait(part, NULL, error);
    }
    gpu_part_destroy(part);
    gpu_setup_free(&setup);
    return error->status;
}

static enum status time_part(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                             struct gpu_part *part, struct gpu_bench_row *row, struct error *error)
{
    const struct gpu_team team = { &part, 1 };
    struct stage_program program = { .count = 0 };
    stage_program_make(&program, integrator_find("velocity-verlet"), 1e-6);
    const struct gpu_task task = {
        .queue = trial->steps      ? queue_steps
                 : trial->energies ? queue_potentials
                                   : queue_sums,
        .part = part,
        .program = &program,
        .stream = part->stream,
    };
    const enum status status = trial->steps ? gpu_steps_accelerations(&team, error) : STATUS_OK;
    return status ? status : gpu_task_time(bench, &task, &row->seconds, &row->median, error);
}

static double pairs_of(const struct gpu_trial *trial)
{
    return reference_pairs((double)trial->systems, (double)trial->count);
}

/* Tells whether the deadline would come before the trial ends. The trial is taken to last twice its
 * time and four evaluations more, at a quarter of the kernel's limit of speed or, if its
 * instructions are not counted, at one pair for 200 fp32 operations of the device. */
static bool is_late(const struct gpu_bench_state *bench, const struct gpu_trial *trial)
{
    const double limit = limit_of(bench, trial);
    const double slow = limit > 0 ? limit / 4 : bench->operations[GPU_OPERATION_SINGLE] / 200;
    const double deadline =
        trial->part == GPU_BENCH_TUNING ? bench->tuning_deadline : bench->deadline;
    return clock_seconds() + 2 * bench->trial_seconds + 4 * pairs_of(trial) / slow > deadline;
}

enum status gpu_trial_run(struct gpu_bench_state *bench, const struct gpu_trial *trial,
                          struct gpu_bench_row *row, struct error *error)
{
    *row = (struct gpu_bench_row){
        .part = trial->part,
        .label = trial->label,
        .precision = trial->precision,
        .systems = trial->systems,
        .count = trial->count,
        .limit = limit_of(bench, trial),
        .error = NAN,
    };
    row->skipped = is_late(bench, trial);
    if (row->skipped)
        return gpu_trial_send(bench, row, error);
    if (gpu_trial_on_part(bench, trial, time_part, row, error))
        return error->status;
    row->rate = pairs_of(trial) / row->seconds;
    row->best = trial->part == GPU_BENCH_TUNING && row->rate > trial->to_beat;
    return gpu_trial_send(bench, row, error);
}

struct gpu_trial gpu_trial_of(const struct gpu_bench_state *bench, enum gpu_kernel_id kernel,
                              enum precision precision, size_t systems, size_t count)
{
    return (struct gpu_trial){
        .kernel = *gpu_kernel_of(kernel),
        .label = gpu_catalog[kernel].name,
        .precision = precision,
        .instructions = gpu_catalog[kernel].limits[precision].instructions,
        .tuning = gpu_tuning_find(&bench->tuning, kernel, precision, systems * count),
        .systems = systems,
        .count = count,
    };
}
