#include "estimate/estimate.h"

#include <math.h>

#include "accuracy/copies.h"
#include "integrator/adaptive.h"
#include "output/saved.h"

enum { ROW_PREFIX_BYTES = 32, NUMBER_BYTES = 24 };

static double table_bytes(const struct estimated *x, size_t index, const struct diagnostic *table,
                          double rows)
{
    return schedule_events(x->schedule, schedule_diagnostic(x->schedule, index)) * rows *
           (ROW_PREFIX_BYTES + NUMBER_BYTES * (double)table->column_count);
}

static double rows_bytes(const struct estimated *x, size_t index)
{
    const struct observed_diagnostic *observed = &x->observers->diagnostics[index];
    const double rows = (double)observed->diagnostic->row_count;
    const double systems = (double)x->experiment->simulation.bodies->systems;
    double bytes = table_bytes(x, index, observed->diagnostic, systems * rows);
    if (observed->aggregate)
        bytes += table_bytes(x, index, aggregate_diagnostic(observed->aggregate), rows);
    return bytes;
}

static double frames(const struct estimated *x, size_t index)
{
    return schedule_events(x->schedule, schedule_output(x->schedule, index));
}

static double frames_bytes(const struct estimated *x, size_t index)
{
    const struct bodies *bodies = x->experiment->simulation.bodies;
    const struct section *section = config_item(x->experiment->config, "outputs", index);
    return frames(x, index) *
           x->observers->outputs[index].output->class_->event_bytes(
               section, bodies->systems, (double)bodies->systems * (double)bodies->count);
}

/* --- checkpoints ------------------------------------------------------------------------------ */

enum {
    CHECKPOINT_FILES = 3,    /* the last two checkpoints, and the one that is being written */
    CHECKPOINT_TEXT = 12000, /* bytes of the config, and of names of some dozen sections */
    SHADOW_ARRAYS = 6        /* positions and velocities of a shadow, a copy of the bodies */
};

static void count_words(void *context, const char *name, const void *words, size_t rows,
                        size_t count, size_t stride)
{
    (void)name, (void)words, (void)stride;
    *(double *)context += (double)sizeof(uint64_t) * (double)rows * (double)count;
}

/* Returns the bytes of the marks (length and hash) that a checkpoint holds for the files of outputs
 * that write a file at each event. */
static double marks_bytes(const struct estimated *x)
{
    double bytes = 0.0;
    for (size_t i = 0; i < x->observers->output_count; i++)
        if (x->observers->outputs[i].output->class_->event_file)
            bytes += 2.0 * (double)sizeof(uint64_t) * frames(x, i);
    return bytes;
}

/* Returns the bytes of a checkpoint, as run/save.c writes it: the bodies, the integrator's state,
 * both also for each shadow (a copy that moves beside the run), and twice the state of observers,
 * before and after the events of the last step. */
static double checkpoint_bytes(const struct estimated *x)
{
    const struct bodies *bodies = x->experiment->simulation.bodies;
    const struct adaptive *adaptive = x->experiment->simulation.backend->adaptive;
    const double arrays = (double)sizeof(double) * (double)bodies->systems * (double)bodies->count;
    double own = 0.0, state = x->state_bytes + marks_bytes(x), copies = 1.0;
    const struct adaptive_writer writer = { &own, count_words };
    if (adaptive)
        adaptive->class_->save(adaptive, &writer);
    double bytes = CHECKPOINT_TEXT + SAVED_ARRAYS * arrays + 2.0 * state +
                   (double)bodies->systems * (double)sizeof(struct conserved);
    for (int k = 0; k < TRUST_SHADOWS; k++)
        if (copies_shadow(x->experiment->config, (enum trust_shadow)k)) {
            bytes += SHADOW_ARRAYS * arrays;
            copies += 1.0;
        }
    return bytes + copies * own;
}

double estimate_disk_bytes(const struct estimated *x)
{
    double bytes = CHECKPOINT_FILES * checkpoint_bytes(x);
    for (size_t i = 0; i < x->observers->diagnostic_count; i++)
        bytes += rows_bytes(x, i);
    for (size_t i = 0; i < x->observers->output_count; i++)
        bytes += frames_bytes(x, i);
    return bytes;
}

/* Adds the memory that the accuracy watch takes for bodies without mass, which need_of_bodies()
 * cannot know; and two copies of it for the time while a checkpoint is written. */
static void add_watched(const struct estimated *x, struct memory_need *need)
{
    size_t length;
    watch_state(x->observers->watch, &length);
    const double known = (double)need->systems * (double)(watch_system_reals() + 1);
    const double more = sizeof(double) * fmax(0.0, (double)length - known);
    need->diagnostics += more;
    need->checkpoints += 2.0 * more;
}

enum status estimate_run(const struct estimated *x, bool timed, struct estimate *estimate,
                         struct error *error)
{
    const struct bodies *bodies = x->experiment->simulation.bodies;
    *estimate = (struct estimate){ 0 };
    estimate->memory = need_of_bodies(x->experiment->config, bodies->systems, bodies->count);
    add_watched(x, &estimate->memory);
    estimate->disk_bytes = estimate_disk_bytes(x);
    estimate->checkpoint_bytes = CHECKPOINT_FILES * checkpoint_bytes(x);
    for (size_t i = 0; i < x->observers->output_count; i++)
        estimate->frames += frames(x, i);
    return timed ? timing_measure(x, &estimate->timing, error) : STATUS_OK;
}
