#include "estimate/timing.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "accuracy/copies.h"
#include "base/clock.h"
#include "base/memory.h"

/* The largest number of bodies, of all systems together, in a trial (the timed copy). */
static const double trial_bodies = 8192;
/* The seconds after which no further round of a measurement begins, and the least seconds of its
 * first round: long enough to be measured, short enough to wait for. */
static const double timed_seconds = 0.04, round_seconds = 0.001;
enum { MOST_ROUNDS = 5 };
/* The assumed speed of a disk that cannot be measured. */
static const struct disk_speed usual_disk = { .rate = 4e8, .flush = 0.003 };
enum { CHECKPOINT_BODY_BYTES = 64 };
/* Flushes of a file that is written whole: one for its bytes, one for its folder. */
enum { FILE_FLUSHES = 2 };

double timing_item_seconds(const struct timing_item *part)
{
    return part->count > 0.0 ? part->count * part->each : 0.0;
}

/* A copy of some of the run's bodies on which the parts are timed. */
struct trial {
    const struct estimated *x;
    struct simulation simulation;
    double *phi, *psi;
    struct moment moment;
    double systems, bodies_ratio;  /* systems of the run, and bodies in each, over the trial's */
    double work_ratio;             /* work of the forces on a system of the run, over the trial's */
    struct diagnostic *diagnostic; /* the diagnostic that is being timed */
    uint64_t steps;                /* steps that the trial has made */
    uint64_t counted;              /* steps that `own` covers: no more than the run itself has */
    struct work_done own; /* work of the `counted` steps, summed over the systems of the trial */
    struct watch *watch;
};

static void trial_close(struct trial *trial)
{
    watch_destroy(trial->watch);
    simulation_destroy(&trial->simulation);
    memory_free(trial->phi);
    memory_free(trial->psi);
}

static enum status trial_open(const struct estimated *x, struct trial *trial, struct error *error)
{
    const struct bodies *from = x->experiment->simulation.bodies;
    const struct force_options *const force = &x->experiment->simulation.options.force;
    const size_t count = (double)from->count < trial_bodies ? from->count : (size_t)trial_bodies;
    const size_t fit = (size_t)trial_bodies / count;
    const size_t systems = from->systems < fit ? from->systems : fit;
    const struct simulation_changes changes = { .systems = systems, .count = count };
    *trial = (struct trial){ .x = x,
                             .systems = (double)from->systems / (double)systems,
                             .bodies_ratio = (double)from->count / (double)count,
                             .work_ratio = force_work(force, 1.0, (double)from->count) /
                                           force_work(force, 1.0, (double)count) };
    if (simulation_copy(&trial->simulation, &x->experiment->simulation, &changes, error))
        return error->status;
    const size_t length = bodies_length(trial->simulation.bodies);
    trial->phi = memory_array(length, sizeof *trial->phi, error);
    trial->psi = memory_array(length, sizeof *trial->psi, error);
    const double dt = x->experiment->simulation.step;
    trial->moment = (struct moment){ .step = x->schedule->step,
                                     .time = (double)x->schedule->step * dt,
                                     .dt = dt,
                                     .threads = x->experiment->simulation.description.threads,
                                     .physics = &x->experiment->simulation.physics };
    trial->moment.simulation = &trial->simulation;
    trial->moment.bodies = trial->simulation.bodies;
    trial->moment.conserved = trial->moment.first = trial->simulation.now;
    trial->moment.phi = trial->phi;
    trial->moment.psi = trial->psi;
    return error->status;
}

/* --- what is tried ---------------------------------------------------------------------------- */

/* Sums the work of an integrator that chooses its own steps over the systems of the trial, for the
 * steps that the trial has made so far. */
static void count_own_steps(struct trial *trial)
{
    trial->counted = trial->steps;
    trial->own = (struct work_done){ 0 };
    for (size_t s = 0; s < trial->simulation.bodies->systems; s++) {
        const struct work_done own = simulation_work_done(&trial->simulation, s);
        trial->own.steps += own.steps;
        trial->own.interactions += own.interactions;
    }
}

/* Makes `steps` steps in one call, as the run does from one event to the next. */
static enum status try_steps(struct trial *trial, uint64_t steps, struct error *error)
{
    trial->steps += steps;
    struct error reported = { 0 };
    const bool within = trial->steps <= trial->x->schedule->last;
    const enum status status = simulation_advance(&trial->simulation, steps, &reported);
    /* A failure beyond the last step of the run does not matter. */
    if (status && (within || status != STATUS_NUMERICAL))
        return error_pass(error, &reported);
    if (within && integrator_chooses_steps(trial->simulation.integrator))
        count_own_steps(trial);
    return STATUS_OK;
}

static enum status try_energies(struct trial *trial, uint64_t times, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < times && !status; k++)
        status = simulation_measure(&trial->simulation, error);
    return status;
}

static enum status try_diagnostic(struct trial *trial, uint64_t times, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < times && !status; k++)
        status = diagnostic_measure(trial->diagnostic, &trial->moment, &row_sink_nowhere, error);
    return status;
}

static enum status try_watch(struct trial *trial, uint64_t times, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < times && !status; k++)
        status = watch_check(trial->watch, &trial->moment, NEED_STATE | NEED_CONSERVED, true, NULL,
                             NULL, error);
    return status;
}

static enum status try_potentials(struct trial *trial, uint64_t times, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < times && !status; k++)
        status = simulation_potentials(&trial->simulation, trial->phi, trial->psi, error);
    return status;
}

/* Writes `times` numbers as text, one at a time, as tables do. */
static enum status try_numbers(struct trial *trial, uint64_t times, struct error *error)
{
    (void)trial, (void)error;
    char text[32];
    for (uint64_t k = 0; k < times; k++)
        snprintf(text, sizeof text, "%.17g", sin((double)k + 0.5));
    return STATUS_OK;
}

/* Returns a time in seconds to measure intervals with: if the run has one thread, the time for
 * which the process has computed, which other work of the machine does not change. */
static double seconds_now(const struct trial *trial)
{
    struct timespec now;
    if (trial->x->experiment->simulation.description.threads > 1 ||
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
        return clock_seconds();
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Measures the seconds of one repetition of `try_it`; `from` is the number of repetitions in the
 * first round. The number doubles until there is something to measure, which also warms up; then
 * the median of some rounds counts: the least would leave out other processes' work, by which the
 * run is interrupted, too. */
static enum status time_one(enum status (*try_it)(struct trial *, uint64_t, struct error *),
                            struct trial *trial, uint64_t from, double *each, struct error *error)
{
    double total = 0.0, measured[MOST_ROUNDS];
    size_t rounds = 0;
    for (uint64_t times = from; rounds < MOST_ROUNDS;) {
        const double before = seconds_now(trial);
        if (try_it(trial, times, error))
            return error->status;
        const double seconds = seconds_now(trial) - before;
        total += seconds;
        if (seconds >= round_seconds || rounds > 0) {
            measured[rounds++] = seconds / (double)times;
        } else {
            times *= 2;
        }
        if ((rounds > 1 && total > timed_seconds) || (rounds > 0 && total > 10.0 * timed_seconds))
            break;
    }
    gsl_sort(measured, 1, rounds);
    *each = gsl_stats_median_from_sorted_data(measured, 1, rounds);
    return STATUS_OK;
}

/* --- how often -------------------------------------------------------------------------------- */

/* The most events that are counted one by one; the rest of the run is taken to have them as often.
 *  */
static const double most_counted = 1e6;

/* Counts the steps of the run at which energies are summed, for a diagnostic, for statistics over
 * systems or for the accuracy watch. */
static enum status energy_events(const struct estimated *x, double *events, struct error *error)
{
    const uint64_t steps = x->schedule->last;
    struct trigger *triggers = calloc(x->observers->diagnostic_count + 1, sizeof *triggers);
    if (!triggers)
        return error_memory(error);
    size_t count = 1; /* number of triggers (cadences); the first is the watch's */
    for (size_t i = 0; i < x->observers->diagnostic_count; i++)
        if ((x->observers->diagnostics[i].diagnostic->needs & NEED_CONSERVED) ||
            x->observers->diagnostics[i].aggregate)
            triggers[count++] = *schedule_diagnostic(x->schedule, i);
    uint64_t step = 0;
    double counted = 1.0;
    for (; step < steps && counted < most_counted; counted++) {
        triggers[0].every = watch_stride(x->observers->watch, step);
        step = trigger_next(triggers, count, step, steps);
    }
    *events = step < steps ? counted * ((double)steps / (double)step) : counted;
    free(triggers);
    return STATUS_OK;
}

static enum status measure_energies(struct trial *trial, struct timing *timing, struct error *error)
{
    const struct estimated *x = trial->x;
    const struct section *section = config_section(x->experiment->config, "watch");
    const struct watch_method method = { x->experiment->simulation.description.force,
                                         x->experiment->simulation.integrator,
                                         (double)x->experiment->steps };
    double sums = 0.0, check = 0.0;
    if (time_one(try_energies, trial, 1, &sums, error) ||
        watch_create(section, &trial->moment, &method, &trial->watch, error) ||
        time_one(try_watch, trial, 1, &check, error) ||
        energy_events(x, &timing->energies.count, error))
        return error->status;
    const double ratio = trial->bodies_ratio;
    timing->energies.each = trial->systems * (sums * trial->work_ratio + check * ratio);
    return STATUS_OK;
}

static enum status measure_diagnostics(struct trial *trial, double number, struct timing *timing,
                                       struct error *error)
{
    const struct estimated *x = trial->x;
    const double systems = (double)x->experiment->simulation.bodies->systems;
    double seconds = 0.0, count = 0.0;
    /* The diagnostic "trust", which stands behind those of the config, is left out: its cost is
     * that of the steps of its shadows, which count as steps. */
    for (size_t i = 0; i < config_count(x->experiment->config, "diagnostics"); i++) {
        const struct section *section = config_item(x->experiment->config, "diagnostics", i);
        double each = 0.0;
        struct error unlike = { 0 };
        if (diagnostic_create(section, &trial->moment, &trial->diagnostic, &unlike)) {
            if (trial->bodies_ratio > 1.0 && unlike.status == STATUS_CONFIG)
                continue; /* it needs a body that the trial lacks; the run has that body */
            return error_pass(error, &unlike);
        }
        const enum status status = time_one(try_diagnostic, trial, 1, &each, error);
        const double rows = systems * (double)trial->diagnostic->row_count;
        const double columns = (double)trial->diagnostic->column_count + 2.0;
        const double work = trial->diagnostic->class_->pairwise
                                ? trial->bodies_ratio * trial->bodies_ratio
                                : trial->bodies_ratio;
        diagnostic_destroy(trial->diagnostic);
        if (status)
            return status;
        const double events = schedule_events(x->schedule, schedule_diagnostic(x->schedule, i));
        seconds += events * (each * trial->systems * work + rows * columns * number);
        count += events;
    }
    timing->diagnostics = (struct timing_item){ count, count > 0.0 ? seconds / count : 0.0 };
    return STATUS_OK;
}

static double file_seconds(const struct timing *timing, double bytes)
{
    return bytes / timing->disk.rate + FILE_FLUSHES * timing->disk.flush;
}

static void measure_disk(const struct estimated *x, struct timing *timing)
{
    const struct bodies *bodies = x->experiment->simulation.bodies;
    char directory[EXPERIMENT_DIRECTORY_SIZE];
    timing->disk = usual_disk;
    timing->disk_error =
        disk_speed_measure(experiment_directory(x->experiment, x->directory, directory),
                           bodies->systems * bodies->count * CHECKPOINT_BODY_BYTES, &timing->disk);
}

static enum status measure_outputs(struct trial *trial, double number, struct timing *timing,
                                   struct error *error)
{
    enum { NUMBER_BYTES = 20 }; /* bytes of one number in text, with its separator */
    const struct estimated *x = trial->x;
    const struct bodies *bodies = x->experiment->simulation.bodies;
    const double ratio = trial->bodies_ratio, all = (double)bodies->systems * (double)bodies->count;
    double seconds = 0.0, count = 0.0, potentials = 0.0;
    for (size_t i = 0; i < x->observers->output_count; i++) {
        const struct section *section = config_item(x->experiment->config, "outputs", i);
        const struct output_class *class_ = x->observers->outputs[i].output->class_;
        const double events = schedule_events(x->schedule, schedule_output(x->schedule, i));
        const double bytes = class_->event_bytes(section, bodies->systems, all);
        if ((x->observers->outputs[i].output->needs & NEED_POTENTIALS) && potentials == 0.0 &&
            time_one(try_potentials, trial, 1, &potentials, error))
            return error->status;
        seconds += events * (class_->event_file ? file_seconds(timing, bytes)
                                                : bytes / NUMBER_BYTES * number);
        seconds += x->observers->outputs[i].output->needs & NEED_POTENTIALS
                       ? events * potentials * trial->systems * ratio * ratio
                       : 0.0;
        count += events;
    }
    timing->outputs = (struct timing_item){ count, count > 0.0 ? seconds / count : 0.0 };
    return STATUS_OK;
}

static void count_checkpoints(const struct estimated *x, struct timing *timing)
{
    const struct section *section = config_section(x->experiment->config, "checkpoint");
    const struct bodies *bodies = x->experiment->simulation.bodies;
    const uint64_t every = x->schedule->triggers[SCHEDULE_CHECKPOINT].every;
    const double bytes = (double)bodies->systems * (double)bodies->count * CHECKPOINT_BODY_BYTES;
    /* A checkpoint also flushes what diagnostics and outputs have written since the last one. */
    const double streams = (double)(x->observers->diagnostic_count + x->observers->output_count);
    timing->checkpoints.each = file_seconds(timing, bytes) + streams * timing->disk.flush;
    timing->checkpoints.count = 2.0; /* one at the start, one at the end */
    if (every < x->schedule->last)
        timing->checkpoints.count += floor((double)(x->schedule->last - 1) / (double)every);
    if (section_has(section, "every_minutes"))
        timing->checkpoints.count +=
            floor(timing->seconds / (60.0 * section_real(section, "every_minutes")));
}

/* Returns the steps from one event of the run to the next, 64 at most. The energy is judged less
 * and less often; its stride in the middle of the run stands for all of it. */
static uint64_t steps_at_a_time(const struct estimated *x)
{
    uint64_t least = watch_stride(x->observers->watch, x->schedule->last / 2);
    if (x->schedule->last > 0 && x->schedule->last < least)
        least = x->schedule->last;
    for (size_t i = 0; i < x->schedule->count; i++)
        if (i != SCHEDULE_ENERGY && x->schedule->triggers[i].every < least)
            least = x->schedule->triggers[i].every;
    return least < 64 ? least : 64;
}

static enum status try_calls(struct trial *trial, uint64_t times, struct error *error)
{
    const uint64_t steps = steps_at_a_time(trial->x);
    enum status status = STATUS_OK;
    for (uint64_t done = 0; done < times && !status; done += steps)
        status = try_steps(trial, times - done < steps ? times - done : steps, error);
    return status;
}

/* Computes the pair interactions of the whole run, with its copies. For an integrator that chooses
 * its own steps they are taken to go on as in the trial, which saw the beginning of the run. */
static void count_interactions(const struct trial *trial, struct timing *timing)
{
    const struct estimated *const x = trial->x;
    const double more = 1.0 + copies_work(x->experiment->config);
    timing->interactions = more * experiment_interactions(x->experiment, x->schedule->last);
    if (trial->counted == 0)
        return;
    const double ratio = trial->systems * (double)x->schedule->last / (double)trial->counted;
    timing->own_steps = ratio * trial->own.steps;
    timing->interactions += more * ratio * trial->work_ratio * trial->own.interactions;
}

enum status timing_measure(const struct estimated *x, struct timing *timing, struct error *error)
{
    struct trial trial;
    double number = 0.0, step = 0.0;
    *timing = (struct timing){ 0 };
    measure_disk(x, timing);
    /* Energies and diagnostics are timed before the steps, which move the bodies of the trial. */
    if (!trial_open(x, &trial, error) && !time_one(try_numbers, &trial, 1000, &number, error) &&
        !measure_energies(&trial, timing, error) &&
        !measure_diagnostics(&trial, number, timing, error) &&
        !measure_outputs(&trial, number, timing, error) &&
        !time_one(try_calls, &trial, 1, &step, error))
        count_interactions(&trial, timing);
    trial_close(&trial);
    if (error->status)
        return error->status;
    step *= trial.systems * trial.work_ratio * (1.0 + copies_work(x->experiment->config));
    timing->forces = (struct timing_item){ (double)x->schedule->last, step };
    const struct timing_item *const parts[] = { &timing->forces, &timing->energies,
                                                &timing->diagnostics, &timing->outputs,
                                                &timing->checkpoints };
    for (size_t k = 0; k + 1 < COUNT_OF(parts); k++)
        timing->seconds += timing_item_seconds(parts[k]);
    count_checkpoints(x, timing);
    timing->seconds += timing_item_seconds(&timing->checkpoints);
    timing->rate = timing->interactions / timing_item_seconds(&timing->forces);
    return STATUS_OK;
}
