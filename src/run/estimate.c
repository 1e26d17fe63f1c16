#include "run/estimate.h"

#include <math.h>

#include "run/parts.h"

enum { ROW_PREFIX_BYTES = 32, NUMBER_BYTES = 24 };

/* Of so many rows at each event. */
static double table_bytes(const struct run *run, size_t index, const struct diagnostic *table,
                          double rows)
{
    return schedule_events(&run->schedule, schedule_diagnostic(&run->schedule, index)) * rows *
           (ROW_PREFIX_BYTES + NUMBER_BYTES * (double)table->column_count);
}

static double rows_bytes(const struct run *run, size_t index)
{
    const struct diagnostic_slot *slot = &run->observers.diagnostics[index];
    const double rows = (double)slot->diagnostic->row_count;
    const double systems = (double)run->experiment.bodies->systems;
    double bytes = table_bytes(run, index, slot->diagnostic, systems * rows);
    if (slot->aggregate)
        bytes += table_bytes(run, index, aggregate_diagnostic(slot->aggregate), rows);
    return bytes;
}

static double frames(const struct run *run, size_t index)
{
    return schedule_events(&run->schedule, schedule_output(&run->schedule, index));
}

static double frames_bytes(const struct run *run, size_t index)
{
    const struct bodies *bodies = run->experiment.bodies;
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    return frames(run, index) *
           run->observers.outputs[index].output->class_->event_bytes(
               section, bodies->systems, (double)bodies->systems * (double)bodies->count);
}

double estimate_disk_bytes(const struct run *run)
{
    double bytes = 0.0;
    for (size_t i = 0; i < run->observers.diagnostic_count; i++)
        bytes += rows_bytes(run, i);
    for (size_t i = 0; i < run->observers.output_count; i++)
        bytes += frames_bytes(run, i);
    return bytes;
}

/* What the watch keeps of bodies without mass, which only the bodies tell; two copies while a
 * checkpoint is written. */
static void add_watched(const struct run *run, struct memory_need *need)
{
    size_t length;
    watch_state(run->observers.watch, &length);
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
    for (size_t i = 0; i < run->observers.output_count; i++)
        estimate->frames += frames(run, i);
    return timed ? timing_measure(run, &estimate->timing, error) : STATUS_OK;
}
