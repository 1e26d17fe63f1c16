#include "run/parts.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output/run-fields.h"

static void send_notice(struct run *run, bool loud, const char *format, va_list arguments)
{
    struct text line = { 0 };
    text_vprint(&line, format, arguments);
    if (line.bytes && run->options.notice)
        run->options.notice(run->options.context, loud, line.bytes);
    if (line.bytes && !run->continuation.done) /* the log of a run that was done stays as it is */
        files_log(&run->files, line.bytes);
    text_free(&line);
}

void run_notice(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    send_notice(run, false, format, arguments);
    va_end(arguments);
}

void run_warning(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    send_notice(run, true, format, arguments);
    va_end(arguments);
}

double run_time(const struct run *run)
{
    return (double)run->schedule.step * run->simulation->step;
}

const char *run_time_text(const struct run *run, int digits, char buffer[UNITS_TEXT_SIZE])
{
    return units_time(run->simulation->physics.units, run_time(run), digits, buffer);
}

double run_rate(const struct run *run)
{
    if (run->clocks.advance_seconds <= 0.0)
        return 0.0;
    const double before = run->continuation.work.interactions;
    return (run_work(run).sums.interactions - before) / run->clocks.advance_seconds;
}

struct run_work run_work(const struct run *run)
{
    struct run_work own = { integrator_chooses_steps(run->simulation->integrator),
                            0,
                            { .smallest = INFINITY, .time = INFINITY } };
    struct work_done *const sums = &own.sums;
    const size_t systems = run->simulation->bodies->systems;
    /* Systems that the loop counts at once: all, if they take the same steps. */
    const size_t alike = own.chosen ? 1 : systems;
    for (size_t s = 0; s < systems; s += alike) {
        const struct work_done one = simulation_work_done(run->simulation, s);
        sums->steps += (double)alike * one.steps;
        sums->rejections += (double)alike * one.rejections;
        sums->interactions += (double)alike * one.interactions;
        if (one.stuck)
            sums->time = fmin(sums->time, one.time);
        sums->stuck |= one.stuck;
        if (one.smallest >= sums->smallest)
            continue;
        sums->smallest = one.smallest;
        memcpy(sums->pair, one.pair, sizeof sums->pair);
        own.system = s;
    }
    return own;
}

const char *run_host(char buffer[RUN_HOST_SIZE])
{
    buffer[RUN_HOST_SIZE - 1] = '\0'; /* a longer name is cut */
    return gethostname(buffer, RUN_HOST_SIZE - 1) == 0 ? buffer : strcpy(buffer, "?");
}

struct moment run_moment(const struct run *run)
{
    return (struct moment){ .step = run->schedule.step,
                            .time = run_time(run),
                            .dt = run->simulation->step,
                            .threads = run->simulation->description.threads,
                            .physics = &run->simulation->physics,
                            .bodies = run->simulation->bodies,
                            .conserved = run->simulation->now,
                            .first = run->simulation->first,
                            .phi = run->observers.phi,
                            .psi = run->observers.psi,
                            .simulation = run->simulation };
}

bool run_horizon_beyond(const struct run *run, const struct criterion *c, double time)
{
    return run->observers.trust && c->diagnostic == run->observers.diagnostic_count - 1 &&
           trust_is_horizon(c->column) && isfinite(c->lowest) && c->lowest > time;
}

enum status run_observe(struct run *run, unsigned needs, struct error *error)
{
    struct simulation *simulation = run->simulation;
    enum status status = STATUS_OK;
    if (needs & NEED_STATE)
        status = simulation_fetch(simulation, error);
    if (!status && (needs & NEED_CONSERVED)) {
        status = simulation_measure(simulation, error);
        run->ensemble.time = run_time(run);
    }
    if (!status && (needs & NEED_POTENTIALS))
        status = simulation_potentials(simulation, run->observers.phi, run->observers.psi, error);
    if (!status && (needs & NEED_ACCELERATIONS))
        status = simulation_accelerations(simulation, error);
    return status;
}

enum status run_flush(struct run *run, bool to_disk, struct error *error)
{
    const enum status status = observers_flush(&run->observers, to_disk, error);
    return status ? status : stream_flush(run->files.log, to_disk, error);
}

/* --- clocks ----------------------------------------------------------------------------------- */

void clocks_start(struct clocks *clocks)
{
    *clocks = (struct clocks){ .started = clock_seconds(), .cpu_started = clock_cpu_seconds() };
    clock_stamp(clocks->stamp);
}

void clocks_stop(struct clocks *clocks)
{
    clocks->ended = clock_seconds();
    clocks->cpu_ended = clock_cpu_seconds();
}

double clocks_wall(const struct clocks *clocks)
{
    return (clocks->ended > 0.0 ? clocks->ended : clock_seconds()) - clocks->started;
}

double clocks_cpu(const struct clocks *clocks)
{
    return (clocks->cpu_ended > 0.0 ? clocks->cpu_ended : clock_cpu_seconds()) -
           clocks->cpu_started;
}

/* --- the directory and its log ---------------------------------------------------------------- */

void files_log(struct files *files, const char *line)
{
    char stamp[CLOCK_STAMP_SIZE];
    clock_stamp(stamp);
    if (!files->log) {
        text_print(&files->early_log, "%s %s\n", stamp, line);
        return;
    }
    stream_print(files->log, "%s ", stamp);
    stream_write(files->log, line, strlen(line));
    stream_write(files->log, "\n", 1);
}

void files_close(struct files *files, struct error *error)
{
    stream_close(files->log, error);
    files->log = NULL;
}

void files_destroy(struct files *files)
{
    struct error ignored = { 0 }; /* errors that mattered were reported when the run ended */
    files_close(files, &ignored);
    text_free(&files->early_log);
    json_decref(files->members);
    directory_close(files->directory);
}

/* --- when a checkpoint is due ----------------------------------------------------------------- */

bool autosave_due(struct autosave *autosave, const struct section *checkpoint, double now)
{
    const bool late = section_has(checkpoint, "every_minutes") &&
                      now - autosave->last >= 60.0 * section_real(checkpoint, "every_minutes");
    if (!late && !autosave->wanted)
        return false;
    autosave->wanted = false;
    autosave->last = now;
    return true;
}

bool autosave_is_current(const struct autosave *autosave, const struct schedule *schedule)
{
    return autosave->saved && autosave->saved_step == schedule->step &&
           autosave->saved_events == schedule->events_done;
}

void autosave_note(struct autosave *autosave, const struct schedule *schedule, double seconds)
{
    autosave->longest = fmax(autosave->longest, seconds);
    autosave->saved = true;
    autosave->saved_step = schedule->step;
    autosave->saved_events = schedule->events_done;
}

/* --- the run that is continued ---------------------------------------------------------------- */

void continuation_close(struct continuation *continuation)
{
    checkpoint_close(continuation->checkpoint);
    continuation->checkpoint = NULL;
}

void continuation_forget(struct continuation *continuation)
{
    json_decref(continuation->before);
    continuation->before = NULL;
}

void continuation_destroy(struct continuation *continuation)
{
    continuation_close(continuation);
    continuation_forget(continuation);
    json_decref(continuation->legs);
}

bool continuation_owns(const struct continuation *continuation, const char *name)
{
    size_t index;
    json_t *file;
    json_array_foreach(run_field(continuation->before, FIELD_FILES), index, file)
    {
        const char *other = json_string_value(file);
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}
