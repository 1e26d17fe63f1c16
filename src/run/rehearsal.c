#include "run/rehearsal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Beyond so many times the limit nothing is mended any more. */
static const double hopeless = 10.0;

/* --- work ------------------------------------------------------------------------------------- */

/* Of each force besides its pairs, in the time of so many of them; and how much slower a pair is
 * than in the fast kernels. Processes wait for each other, and a GPU for its host. */
static const struct pace {
    const struct backend_class *class_;
    double overhead, slower;
} paces[] = {
    { &backend_openmp, 60.0, 1.0 },
    { &backend_serial, 60.0, 10.0 },
    { NULL, 1e4, 1.0 },
};

double rehearsal_work(const struct experiment *x, double step)
{
    const struct pace *pace = paces;
    while (pace->class_ && pace->class_ != x->backend &&
           !(x->backend == backend_at(0) && pace->class_ == &backend_openmp))
        pace++;
    const double count = (double)x->bodies->count, systems = (double)x->bodies->systems;
    const double forces = (double)integrator_forces_per_step(x->integrator);
    return experiment_step_count(x, step) * forces *
           (pace->overhead + systems * count * count * pace->slower);
}

/* --- rehearsing ------------------------------------------------------------------------------- */

struct stage_set {
    const struct experiment *experiment;
    struct bodies *bodies;
    struct backend *backend;
    struct conserved *conserved;
    struct watch *watch;
    struct moment now;
};

static void drop_line(void *context, const char *line)
{
    (void)context, (void)line;
}

static enum status open_set(const struct experiment *x, double step, struct stage_set *set,
                            struct error *error)
{
    struct backend_description description;
    *set = (struct stage_set){ .experiment = x };
    if (bodies_create(x->bodies->systems, x->bodies->count, &set->bodies, error))
        return error->status;
    for (size_t s = 0; s < x->bodies->systems; s++)
        bodies_copy_system(set->bodies, s, x->bodies, s);
    set->conserved = memory_array(x->bodies->systems, sizeof *set->conserved, error);
    if (!set->conserved ||
        x->backend->create(&x->backend_options, &x->physics, set->bodies, &set->backend, error) ||
        set->backend->class_->conserved(set->backend, set->conserved, error))
        return error->status;
    set->backend->class_->describe(set->backend, &description);
    set->now = (struct moment){ .dt = step,
                                .threads = description.threads,
                                .physics = &x->physics,
                                .bodies = set->bodies,
                                .conserved = set->conserved };
    const struct watch_method method = { description.precision, x->integrator };
    return watch_create(config_section(x->config, "watch"), &set->now, &method, &set->watch, error);
}

static void close_set(struct stage_set *set)
{
    watch_destroy(set->watch);
    if (set->backend)
        set->backend->class_->destroy(set->backend);
    memory_free(set->conserved);
    bodies_destroy(set->bodies);
}

static enum status look(struct stage_set *set, bool last, struct error *error)
{
    const struct backend_class *class_ = set->backend->class_;
    if (class_->fetch(set->backend, error) ||
        class_->conserved(set->backend, set->conserved, error))
        return error->status;
    return watch_look(set->watch, &set->now, NEED_STATE | NEED_CONSERVED, last, drop_line, NULL,
                      error);
}

/* From one look of the watch to the next. */
static enum status play(struct stage_set *set, uint64_t steps, struct error *error)
{
    const struct backend_class *class_ = set->backend->class_;
    enum status status = look(set, false, error);
    while (!status && set->now.step < steps && watch_error_in_limits(set->watch) < hopeless) {
        const uint64_t stride = watch_stride(set->watch, set->now.step);
        const uint64_t due = (set->now.step / stride + 1) * stride;
        const uint64_t next = due < steps ? due : steps;
        status = class_->advance(set->backend, set->experiment->integrator, set->now.dt,
                                 next - set->now.step, error);
        set->now.step = next;
        set->now.time = (double)next * set->now.dt;
        if (!status)
            status = look(set, next == steps, error);
    }
    return status;
}

enum status rehearse(const struct experiment *x, double step, struct rehearsal *rehearsal,
                     struct error *error)
{
    struct stage_set set;
    struct error broken = { 0 };
    *rehearsal = (struct rehearsal){ .step = step };
    enum status status = open_set(x, step, &set, &broken);
    if (!status)
        status = play(&set, (uint64_t)experiment_step_count(x, step), &broken);
    if (set.watch && (!status || status == STATUS_NUMERICAL)) {
        rehearsal->within = !status && watch_within_limits(set.watch, NULL);
        rehearsal->error_in_limits = watch_error_in_limits(set.watch);
        watch_text(set.watch, rehearsal->text);
    }
    close_set(&set);
    if (status && status != STATUS_NUMERICAL)
        return error_set(error, status, "%s", broken.text);
    return STATUS_OK;
}
