#include "run/record.h"

#include <jansson.h>
#include <math.h>

#include "run/attempt.h"
#include "run/content.h"
#include "run/parts.h"

struct run_record run_record(const struct run *run)
{
    if (!run->observers.watch) /* it could not begin anew */
        return (struct run_record){ .verdict = "" };
    const struct schedule *schedule = &run->schedule;
    const struct run_work own = run_work(run);
    const double steps = own.chosen ? own.sums.steps - run->continuation.work.steps
                                    : (double)(schedule->step - schedule->first_step);
    json_t *legs = legs_json(run);
    const struct run_record record = {
        .experiment = &run->experiment,
        .backend = &run->simulation->description,
        .observers = &run->observers,
        .ensemble = &run->ensemble,
        .criteria = &run->criteria,
        .directory = run->files.directory,
        .step = schedule->step,
        .last = schedule->last,
        .time = run_time(run),
        .written = run->files.manifest_written,
        .done_before = run->continuation.done,
        .verdict = run->verdict,
        .proportions = run->proportions.text,
        .holds = watch_holds(run->observers.watch, run->ensemble.left_out),
        .wall = clocks_wall(&run->clocks),
        .steps_per_second = steps / fmax(run->clocks.advance_seconds, 1e-9),
        .rate = run_rate(run),
        .legs = legs_sum(run, legs),
        .time_scales = time_scales(&run->simulation->physics, &run->structure, run->ensemble.first),
        .selection = run->choice.count > 0 ? &run->choice : NULL,
        .asked = asked_of(run->experiment.config).error,
        .reached = attempt_finding(run).value,
        .chooses_steps = own.chosen,
        .own_steps = own.sums,
        .smallest_system = own.system,
    };
    json_decref(legs);
    return record;
}

static void count_bytes(void *context, const char *kind, size_t index, double *numbers,
                        size_t count)
{
    (void)kind, (void)index, (void)numbers;
    *(double *)context += (double)sizeof(double) * (double)count;
}

struct estimated run_estimated(const struct run *run)
{
    struct estimated estimated = { .experiment = &run->experiment,
                                   .schedule = &run->schedule,
                                   .observers = &run->observers,
                                   .directory = run->options.directory };
    content_visit_state(run, count_bytes, &estimated.kept_bytes);
    return estimated;
}
