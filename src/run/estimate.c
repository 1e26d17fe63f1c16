#include "run/estimate.h"

#include <math.h>

#include "run/replay.h"
#include "run/shadow.h"

enum { ROW_PREFIX_BYTES = 32, NUMBER_BYTES = 24 };

/* Events of a trigger in the whole run: step 0, the multiples, and the last step. */
static double events(struct trigger trigger, uint64_t steps)
{
    return floor((double)steps / (double)trigger.every) + 1.0 + (steps % trigger.every != 0);
}

/* Of so many rows at each event. */
static double table_bytes(const struct run *run, size_t index, const struct diagnostic *table,
                          double rows)
{
    return events(run->triggers[index], run->experiment.steps) * rows *
           (ROW_PREFIX_BYTES + NUMBER_BYTES * (double)table->column_count);
}

static double rows_bytes(const struct run *run, size_t index)
{
    const struct run_diagnostic *slot = &run->diagnostics[index];
    const double rows = (double)slot->diagnostic->row_count;
    const double systems = (double)run->experiment.bodies->systems;
    double bytes = table_bytes(run, index, slot->diagnostic, systems * rows);
    if (slot->aggregate)
        bytes += table_bytes(run, index, aggregate_diagnostic(slot->aggregate), rows);
    return bytes;
}

static double frames(const struct run *run, size_t index)
{
    return events(run->triggers[run->diagnostic_count + index], run->experiment.steps);
}

static double frames_bytes(const struct run *run, size_t index)
{
    const struct bodies *bodies = run->experiment.bodies;
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    return frames(run, index) * run->outputs[index]->class_->event_bytes(
                                    section, (double)bodies->systems * (double)bodies->count);
}

double estimate_disk_bytes(const struct run *run)
{
    double bytes = 0.0;
    for (size_t i = 0; i < run->diagnostic_count; i++)
        bytes += rows_bytes(run, i);
    for (size_t i = 0; i < run->output_count; i++)
        bytes += frames_bytes(run, i);
    return bytes;
}

/* What the watch keeps of bodies without mass, which only the bodies tell; two copies while a
 * checkpoint is written. */
static void add_watched(const struct run *run, struct memory_need *need)
{
    size_t length;
    watch_memory(run->watch, &length);
    const double known = (double)need->systems * (double)(watch_system_reals() + 1);
    const double more = sizeof(double) * fmax(0.0, (double)length - known);
    need->diagnostics += more;
    need->checkpoints += 2.0 * more;
}

enum status estimate_run(const struct run *run, bool timed, struct estimate *estimate,
                         struct error *error)
{
    const struct bodies *bodies = run->experiment.bodies;
    *estimate = (struct estimate){ 0 };
    estimate->memory = need_of_bodies(run->experiment.config, bodies->systems, bodies->count);
    add_watched(run, &estimate->memory);
    estimate->disk_bytes = estimate_disk_bytes(run);
    for (size_t i = 0; i < run->output_count; i++)
        estimate->frames += frames(run, i);
    estimate->interactions =
        experiment_interactions(&run->experiment, run->experiment.steps) *
        (1.0 + shadow_work(run->experiment.config) + replay_work(run->experiment.config));
    return timed ? timing_measure(run, estimate->interactions, &estimate->timing, error)
                 : STATUS_OK;
}
