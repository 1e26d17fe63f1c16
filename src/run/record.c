#include "run/record.h"

#include <jansson.h>
#include <math.h>

#include "run/parts.h"

struct run_record run_record(const struct run *run)
{
    const struct schedule *schedule = &run->schedule;
    json_t *legs = legs_json(run);
    struct run_record record = {
        .experiment = &run->experiment,
        .backend = &run->description,
        .observers = &run->observers,
        .ensemble = &run->ensemble,
        .criteria = &run->criteria,
        .directory = run->files.directory,
        .step = schedule->step,
        .last = schedule->last,
        .time = run_time(run),
        .written = run->files.manifest_written,
        .done_before = run->continuation.done,
        .holds = watch_holds(run->observers.watch, run->ensemble.left_out),
        .wall = clocks_wall(&run->clocks),
        .rate = run_rate(run),
        .legs = legs_sum(run, legs),
        .time_scales = time_scales(&run->experiment.physics, &run->structure, run->ensemble.first),
    };
    json_decref(legs);
    record.chooses_steps = run_own_steps(run, &record.own_steps, &record.smallest_system);
    const double steps = record.chooses_steps ? record.own_steps.steps - run->continuation.own.steps
                                              : (double)(schedule->step - schedule->first_step);
    record.steps_per_second = steps / fmax(run->clocks.advance_seconds, 1e-9);
    return record;
}
