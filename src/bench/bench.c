#include "config.h"

#include "bench/bench.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "diagnostics/force-error.h"
#include "estimate/need.h"
#include "force/accuracy.h"
#include "force/isa.h"
#include "machine/room.h"

/* The least seconds of one measurement of steps; the number of rounds that, once begun, measure all
 * cases even when the time is over; the most repeats of a case; and the most cases of one number of
 * bodies. */
static const double LEAST_SECONDS = 0.01;
enum { LEAST_REPEATS = 5, MOST_REPEATS = 40, MOST_CASES = 1024 };

struct timed {
    uint64_t work; /* steps, or vectors of pairs, in one measurement */
    size_t repeats;
    double seconds[MOST_REPEATS]; /* seconds of each measurement, for all of `work` */
};

struct bench_case {
    struct bench_row row; /* values of the plan; later those chosen and measured */
    struct simulation simulation;
    const struct stream *stream; /* the operations of the kernel alone, whose speed is the kernel's
                                    limit; NULL: not known */
    struct timed steps, streams;
    struct error error;
};

/* All cases with one number of bodies. */
struct field {
    const struct bench_plan *plan;
    const struct bench_subject *subject;
    size_t count, case_count;
    struct simulation origin; /* the cases are copies of this; it takes no steps itself */
    struct bench_case *cases;
};

/* --- bodies ------------------------------------------------------------------------------------*/

enum { FAR = 20000 }; /* distance of two cubes */

/* Checks that there is memory for the bodies and for one case, which is the least that `count`
 * bodies need. All cases with this number of bodies are in memory together, each with bodies of its
 * own. STATUS_MEMORY. */
static enum status check_room(size_t count, struct error *error)
{
    const struct force_options force = { .precision = PRECISION_DOUBLE, .threads = 1 };
    const double bytes =
        2.0 * bodies_bytes(1, (double)count) + force_bytes(&force, 1, (double)count);
    const struct room room = room_left();
    char wanted[NEED_TEXT_SIZE], there[NEED_TEXT_SIZE];
    if (bytes <= room.bytes)
        return STATUS_OK;
    return error_set(error, STATUS_MEMORY,
                     "orrery bench: %zu bodies need %s of memory; %s has %s left", count,
                     need_text(bytes, wanted), room.limit, need_text(room.bytes, there));
}

enum status cube_create(size_t count, bool equal, bool far, struct bodies **bodies,
                        struct error *error)
{
    *bodies = NULL;
    if (check_room(count, error))
        return error->status;
    gsl_rng *random = random_create(42, error);
    if (!random || bodies_create(1, count, bodies, error)) {
        random_destroy(random);
        return error->status;
    }
    struct bodies *const b = *bodies;
    for (size_t i = 0; i < count; i++) {
        b->m[i] = equal ? 1 : random_uniform(random, 1, 2);
        b->x[i] = random_uniform(random, -1, 1) + (far && i % 2 ? FAR : 0);
        b->y[i] = random_uniform(random, -1, 1);
        b->z[i] = random_uniform(random, -1, 1);
    }
    random_destroy(random);
    return STATUS_OK;
}

static enum status make_bodies(const struct field *field, struct bodies **bodies,
                               struct error *error)
{
    const struct bodies *const from = field->subject->bodies;
    if (!from)
        return cube_create(field->count, field->subject->equal, false, bodies, error);
    if (bodies_create(from->systems, from->count, bodies, error))
        return error->status;
    for (size_t s = 0; s < from->systems; s++)
        bodies_copy_system(*bodies, s, from, s);
    return STATUS_OK;
}

/* Makes the simulation that the cases copy. It takes over the bodies, which simulation_destroy()
 * frees. */
static enum status make_origin(const struct bench_subject *subject, struct bodies *bodies,
                               struct simulation *origin, struct error *error)
{
    *origin = (struct simulation){ .physics = subject->physics,
                                   .integrator = subject->integrator,
                                   .options.devices = subject->devices,
                                   .options.stream = subject->stream };
    return simulation_take(origin, bodies, error);
}

/* --- measuring ---------------------------------------------------------------------------------*/

static double least(const struct timed *timed)
{
    return gsl_stats_min(timed->seconds, 1, timed->repeats) / (double)timed->work;
}

static double median(struct timed *timed)
{
    return gsl_stats_median(timed->seconds, 1, timed->repeats) / (double)timed->work;
}

/* Returns the seconds that `steps` steps take. The length of a step is 0: forces are evaluated and
 * bodies moved as usual, but all bodies stay in their places. */
static double time_steps(struct bench_case *one, uint64_t steps)
{
    const double start = clock_seconds();
    simulation_advance(&one->simulation, steps, &one->error);
    return clock_seconds() - start;
}

static void keep(struct timed *timed, double seconds)
{
    if (timed->repeats < MOST_REPEATS)
        timed->seconds[timed->repeats++] = seconds;
}

/* --- fast multipoles -------------------------------------------------------------------------- */

/* The pairs, some seconds' work, to which direct sums are limited; but least_compared bodies are
 * compared. */
static const double most_pairs = 1e9;
static const size_t least_compared = 500;

static const struct multipoles multipoles_unknown = { .errors = { NAN, NAN, NAN, NAN, NAN },
                                                      .profile = { NAN, NAN, NAN, NAN, NAN } };

static size_t compared_of(size_t count)
{
    const size_t by_pairs = (size_t)(most_pairs / (double)(count ? count : 1));
    size_t compared = by_pairs < MULTIPOLES_COMPARED ? by_pairs : MULTIPOLES_COMPARED;
    compared = compared > least_compared ? compared : least_compared;
    return compared < count ? compared : count;
}

/*
 * Finds the accelerations of the bodies by a force with these options, and compares those in the
 * first system with direct sums in double: for as many bodies as take 10^9 pairs together, but 500
 * to MULTIPOLES_COMPARED, or all if these are fewer. STATUS_MEMORY, STATUS_CONFIG (a periodic box),
 * STATUS_STOPPED.
 */
static enum status multipoles_measure(const struct force_options *options,
                                      const struct physics *physics, struct bodies *bodies,
                                      struct multipoles *multipoles, struct error *error)
{
    struct physics alone = *physics; /* the method does not compute external fields */
    alone.external = NULL;
    const struct moment now = { .threads = options->threads, .physics = &alone, .bodies = bodies };
    struct force_options profiled = *options;
    struct force *force = NULL;
    profiled.profiled = true;
    if (force_create(&profiled, &alone, bodies, &force, error))
        return error->status;
#pragma omp parallel num_threads(options->threads)
    force_accelerations(force, bodies);
    force->method->profile(force, &multipoles->profile);
    force_destroy(force);
    return force_audit(&now, 0, compared_of(bodies->count), &multipoles->errors, error);
}

/* --- one size ----------------------------------------------------------------------------------*/

/* Returns the operations of the inner loop of the kernel (struct stream), by which its fastest
 * possible speed is measured; NULL unless the kernel is `plain` or `symmetric` of the openmp
 * backend, and the bodies are the cube in open space. */
static const struct stream *find_stream(const struct bench_case *one,
                                        const struct bench_subject *subject)
{
    const struct backend_description *d = &one->simulation.description;
    const struct arithmetic *arithmetic = arithmetic_find(d->isa);
    const bool plain = strcmp(d->kernel, "plain") == 0;
    if (!arithmetic || one->simulation.backend->class_ != &backend_openmp || subject->bodies ||
        subject->physics.boundary != BOUNDARY_OPEN ||
        (!plain && strcmp(d->kernel, "symmetric") != 0))
        return NULL;
    return &arithmetic->kernels[d->precision][plain ? STREAM_PLAIN : STREAM_SYMMETRIC]
                               [subject->equal ? MASSES_EQUAL : MASSES_ANY];
}

static struct force_options force_of(const struct bench_case *one)
{
    const char *const method = one->row.accuracy > 0 ? force_fmm.name : force_direct.name;
    struct force_options force = force_options_named(method, one->row.precision);
    force.accuracy = one->row.accuracy;
    force.kernel = one->row.kernel;
    force.isa = one->row.isa;
    force.threads = one->row.threads;
    return force;
}

static enum status start_copy(const struct bench_case *one, const struct simulation *origin,
                              struct simulation *copy, struct error *error)
{
    const struct force_options force = force_of(one);
    const struct simulation_changes changes = { .backend = backend_find(one->row.backend),
                                                .force = &force };
    if (changes.backend->probe && changes.backend->probe(error))
        return error->status;
    return simulation_copy(copy, origin, &changes, error);
}

static enum status open_case(struct bench_case *one, const struct field *field)
{
    if (start_copy(one, &field->origin, &one->simulation, &one->error))
        return one->error.status;
    one->stream = find_stream(one, field->subject);
    return STATUS_OK;
}

/* Runs a case, which warms it up, and finds the number of steps of one measurement: these take
 * LEAST_SECONDS or more. */
static void warm_up(struct bench_case *one)
{
    uint64_t steps = 1;
    double seconds = time_steps(one, 1);
    while (seconds < LEAST_SECONDS && steps < (uint64_t)1 << 30 && !one->error.status) {
        const double factor = seconds > 0 ? 1.2 * LEAST_SECONDS / seconds : 16;
        steps = (uint64_t)((double)steps * fmax(2, fmin(16, factor)));
        seconds = time_steps(one, steps);
    }
    one->steps.work = steps;
    if (one->stream)
        one->streams.work = arithmetic_length(one->stream, one->simulation.description.threads);
}

static bool has_one_thread(const char *backend)
{
    const struct backend_class *const class_ = backend_find(backend);
    return class_ == &backend_serial || class_ == &backend_cuda;
}

/* Adds copies of the case `one` to the list: one for every number of threads of the plan, or a
 * single one if the backend has one thread. */
static void list_threads(struct field *field, struct bench_case one, struct error *error)
{
    const bool alone = has_one_thread(one.row.backend);
    for (size_t t = 0; field->plan->threads[t] && !(alone && t > 0); t++) {
        if (field->case_count == MOST_CASES) {
            error_set(error, STATUS_USAGE,
                      "orrery bench: more than %d combinations of backends, isas, precisions, "
                      "kernels, accuracies and threads",
                      MOST_CASES);
            return;
        }
        one.row.threads = alone ? 1 : field->plan->threads[t];
        field->cases[field->case_count++] = one;
    }
}

/* Lists all combinations of the plan. Fast multipoles choose precision and kernel themselves, so
 * they have a case for every accuracy instead. */
static enum status list_cases(struct field *field, struct error *error)
{
    const struct bench_plan *plan = field->plan;
    const struct bodies *const bodies = field->subject->bodies;
    struct bench_case one = { .row = { .title = plan->title,
                                       .device = "",
                                       .systems = bodies ? bodies->systems : 1,
                                       .count = field->count,
                                       .error = NAN,
                                       .far_error = NAN,
                                       .multipoles = multipoles_unknown } };
    struct bench_row *const row = &one.row;
    for (size_t b = 0; (row->backend = plan->backends[b]); b++)
        for (size_t i = 0; (row->isa = plan->isas[i]); i++) {
            row->accuracy = 0;
            for (size_t p = 0; (row->precision = plan->precisions[p]); p++)
                for (size_t k = 0; (row->kernel = plan->kernels[k]) && !plan->multipoles_only; k++)
                    list_threads(field, one, error);
            row->precision = precision_names[PRECISION_DOUBLE];
            row->kernel = "auto";
            for (size_t a = 0; (row->accuracy = plan->accuracies[a]) > 0; a++)
                list_threads(field, one, error);
        }
    return error->status;
}

/* Measures all cases in turns, round by round, until the time `end`: 1 to MOST_REPEATS rounds. */
static void measure_rounds(struct field *field, double end)
{
    for (int round = 0; round < MOST_REPEATS && (round == 0 || clock_seconds() < end); round++)
        for (size_t k = 0; k < field->case_count; k++) {
            struct bench_case *one = &field->cases[k];
            if (one->error.status || (round >= LEAST_REPEATS && clock_seconds() > end))
                continue;
            if (one->stream)
                keep(&one->streams,
                     arithmetic_seconds(one->stream, one->simulation.description.threads,
                                        one->streams.work));
            keep(&one->steps, time_steps(one, one->steps.work));
        }
}

/* --- results ---------------------------------------------------------------------------------- */

static double error_of(struct simulation *simulation, const struct accuracy *accuracy,
                       struct error *error)
{
    return simulation_accelerations(simulation, error)
               ? NAN
               : accuracy_error(accuracy, simulation->bodies);
}

/* Measures errors and times of the fast multipoles of a case, as the openmp backend computes them,
 * and returns their error. */
static double measure_multipoles(struct bench_case *one)
{
    struct force_options force = force_of(one);
    force.threads = one->simulation.description.threads;
    multipoles_measure(&force, &one->simulation.physics, one->simulation.bodies,
                       &one->row.multipoles, &one->error);
    return one->row.multipoles.errors.error;
}

/* Measures the errors of every case's forces. The bodies are the same in all cases, since steps of
 * length 0 have not moved them, so one reference serves all. */
static enum status measure_errors(struct field *field, struct error *error)
{
    struct accuracy *accuracy = NULL;
    for (size_t k = 0; k < field->case_count && !error->status; k++) {
        struct bench_case *one = &field->cases[k];
        if (one->error.status)
            continue;
        if (one->row.accuracy > 0 && one->simulation.backend->class_ == &backend_openmp) {
            one->row.error = measure_multipoles(one);
            continue;
        }
        if (!accuracy)
            accuracy_create(&field->subject->physics, field->origin.bodies, ACCURACY_SAMPLE,
                            &accuracy, error);
        if (accuracy)
            one->row.error = error_of(&one->simulation, accuracy, &one->error);
    }
    accuracy_destroy(accuracy);
    return error->status;
}

/* Measures the errors of every case's forces on bodies in two cubes that are far apart, if there is
 * memory for these bodies. Errors that cannot be measured stay NaN, and no error is reported. */
static void measure_far_errors(struct field *field)
{
    struct bodies *bodies = NULL;
    struct simulation origin = { 0 };
    struct accuracy *accuracy = NULL;
    struct error error = { 0 };
    const struct bench_subject *subject = field->subject;
    if (!cube_create(field->count, subject->equal, true, &bodies, &error) &&
        !make_origin(subject, bodies, &origin, &error))
        accuracy_create(&subject->physics, bodies, ACCURACY_SAMPLE, &accuracy, &error);
    for (size_t k = 0; k < field->case_count && accuracy; k++) {
        struct simulation copy = { 0 };
        error_clear(&error);
        if (!field->cases[k].error.status && !start_copy(&field->cases[k], &origin, &copy, &error))
            field->cases[k].row.far_error = error_of(&copy, accuracy, &error);
        simulation_destroy(&copy);
    }
    accuracy_destroy(accuracy);
    simulation_destroy(&origin);
}

static void report(struct bench_case *one, const struct field *field, const struct bench_sink *sink)
{
    const struct backend_description *const chosen = &one->simulation.description;
    struct bench_row *const row = &one->row;
    if (one->error.status) {
        row->skipped = one->error.text;
    } else {
        const struct force_options direct = force_exact(&chosen->force);
        const double pairs = force_work(&direct, (double)row->systems, (double)row->count) *
                             (double)integrator_forces_per_step(field->subject->integrator);
        row->kernel = chosen->kernel;
        row->isa = chosen->isa;
        row->device = chosen->device;
        row->threads = chosen->threads;
        row->precision = precision_names[chosen->precision];
        row->seconds = least(&one->steps);
        row->median = median(&one->steps);
        row->repeats = one->steps.repeats;
        row->rate = pairs / row->seconds;
        if (one->stream) {
            const bool both = strcmp(row->kernel, "symmetric") == 0;
            row->limit =
                (double)one->stream->lanes * (both ? 2 : 1) * row->threads / least(&one->streams);
        }
    }
    sink->row(sink->context, row);
}

static enum status measure_field(struct field *field, double seconds, const struct bench_sink *sink,
                                 struct error *error)
{
    const double end = clock_seconds() + seconds;
    struct bodies *bodies;
    if (list_cases(field, error) || make_bodies(field, &bodies, error) ||
        make_origin(field->subject, bodies, &field->origin, error)) {
        simulation_destroy(&field->origin);
        return error->status;
    }
    for (size_t k = 0; k < field->case_count; k++)
        if (!open_case(&field->cases[k], field))
            warm_up(&field->cases[k]);
    measure_rounds(field, end);
    const enum status status = measure_errors(field, error);
    if (!status && !field->subject->bodies)
        measure_far_errors(field);
    for (size_t k = 0; k < field->case_count && !status; k++)
        report(&field->cases[k], field, sink);
    for (size_t k = 0; k < field->case_count; k++)
        simulation_destroy(&field->cases[k].simulation);
    simulation_destroy(&field->origin);
    return status;
}

/* --- all numbers of bodies -------------------------------------------------------------------- */

/* Counts the sizes (numbers of bodies) in all plans; fails if one of them needs more memory than
 * there is. */
static enum status count_sizes(const struct bench_plan *plans, size_t count,
                               const struct bench_subject *subject, size_t *sizes,
                               struct error *error)
{
    *sizes = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t n = 0; plans[k].sizes[n]; n++, ++*sizes)
            if (!subject->bodies && check_room(plans[k].sizes[n], error))
                return error->status;
    return STATUS_OK;
}

enum status bench_run(const struct bench_plan *plans, size_t count,
                      const struct bench_subject *subject, double seconds,
                      const struct bench_sink *sink, struct error *error)
{
    const double end = clock_seconds() + seconds;
    size_t sizes, done = 0;
    struct field field = { .subject = subject };
    field.cases = calloc(MOST_CASES, sizeof *field.cases);
    if (!field.cases)
        return error_memory(error);
    enum status status = count_sizes(plans, count, subject, &sizes, error);
    for (size_t k = 0; k < count && !status; k++)
        for (size_t n = 0; plans[k].sizes[n] && !status; n++, done++) {
            if (sink->progress)
                sink->progress(sink->context, (double)done / (double)sizes);
            field.plan = &plans[k];
            field.count = plans[k].sizes[n];
            field.case_count = 0;
            const double left = fmax(0, end - clock_seconds());
            status = measure_field(&field, left / (double)(sizes - done), sink, error);
        }
    if (sink->progress)
        sink->progress(sink->context, 1);
    free(field.cases);
    return status;
}
