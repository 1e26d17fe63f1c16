#include "run/record.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "output/run-fields.h"
#include "run/parts.h"
#include "run/phases.h"

struct run_record run_record(const struct run *run)
{
    if (!run->observers.watch) /* a run that missed its accuracy was to begin anew, and could not */
        return (struct run_record){ .verdict = "" };
    const struct schedule *schedule = &run->schedule;
    const struct run_work own = run_work(run);
    const double steps = own.chosen ? own.sums.steps - run->continuation.work.steps
                                    : (double)(schedule->step - schedule->first_step);
    json_t *legs = legs_json(run);
    struct run_record record = {
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
        .verdict = run->verdict.bytes ? run->verdict.bytes : "",
        .proportions = run->proportions.text,
        .holds = watch_holds(run->observers.watch, run->ensemble.left_out),
        .wall = clocks_wall(&run->clocks),
        .steps_per_second = steps / fmax(run->clocks.advance_seconds, 1e-9),
        .rate = run_rate(run),
        .legs = legs_sum(run, legs),
        .time_scales =
            time_scales(&run->simulation->physics, &run->structure, run->simulation->first),
        .choice = run->choice.count > 0 ? &run->choice : NULL,
        .target = accuracy_target(run->experiment.config),
        .asked = attempt_finding(run),
        .chooses_steps = own.chosen,
        .own_steps = own.sums,
        .smallest_system = own.system,
    };
    json_decref(legs);
    attempt_cost_text(run, record.dearer);
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
    content_visit_state(run, count_bytes, &estimated.state_bytes);
    return estimated;
}

/* --- legs ------------------------------------------------------------------------------------- */

/* The fields of a leg (the record of one start of the program) that must be numbers, none negative,
 * and those that must be texts. They are checked, since a damaged file could have others. */
static const enum run_field numbers[] = { FIELD_LEG_THREADS,         FIELD_LEG_FIRST_STEP,
                                          FIELD_LEG_LAST_STEP,       FIELD_LEG_WALL_SECONDS,
                                          FIELD_LEG_ADVANCE_SECONDS, FIELD_LEG_CPU_SECONDS };
static const enum run_field texts[] = { FIELD_LEG_STARTED, FIELD_LEG_HOST, FIELD_LEG_BACKEND };

static double leg_number(const json_t *leg, enum run_field field)
{
    return json_number_value(run_field(leg, field));
}

static bool is_leg(const json_t *leg)
{
    bool good = json_is_object(leg);
    for (size_t k = 0; k < COUNT_OF(numbers) && good; k++)
        good = json_is_number(run_field(leg, numbers[k])) && leg_number(leg, numbers[k]) >= 0.0;
    for (size_t k = 0; k < COUNT_OF(texts) && good; k++)
        good = json_is_string(run_field(leg, texts[k]));
    return good && leg_number(leg, FIELD_LEG_LAST_STEP) >= leg_number(leg, FIELD_LEG_FIRST_STEP);
}

static bool are_legs(const json_t *legs)
{
    size_t index;
    json_t *leg;
    json_array_foreach(legs, index, leg)
    {
        if (!is_leg(leg))
            return false;
    }
    return json_is_array(legs);
}

/* Tells whether the last legs (records of a start of the program) in the lists of run.json and of
 * the checkpoint began at the same moment and end at the same step. Then run.json was written after
 * the checkpoint, and its times include those spent since. */
static bool end_alike(const json_t *one, const json_t *other)
{
    const size_t count = json_array_size(one);
    const json_t *a = json_array_get(one, count - 1), *b = json_array_get(other, count - 1);
    return count > 0 && count == json_array_size(other) &&
           leg_number(a, FIELD_LEG_LAST_STEP) == leg_number(b, FIELD_LEG_LAST_STEP) &&
           json_equal(run_field(a, FIELD_LEG_STARTED), run_field(b, FIELD_LEG_STARTED));
}

enum status legs_load(struct run *run, struct error *error)
{
    json_t *legs;
    if (content_get_json(run->continuation.checkpoint, content_legs, &legs, error))
        return error->status;
    if (!are_legs(legs)) {
        json_decref(legs);
        return error_set(error, STATUS_DATA, "%s: its section '%s' does not list legs",
                         checkpoint_name, content_legs);
    }
    json_t *recorded = run_field(run->continuation.before, FIELD_LEGS);
    if (are_legs(recorded) && end_alike(recorded, legs)) {
        json_decref(legs);
        legs = json_incref(recorded);
    }
    json_decref(run->continuation.legs);
    run->continuation.legs = legs;
    return STATUS_OK;
}

static json_t *leg_at_work(const struct run *run)
{
    char host[RUN_HOST_SIZE];
    return DOCUMENT({ "started", json_string(run->clocks.stamp) },
                    { "host", json_string(run_host(host)) },
                    { "backend", json_string(run->simulation->description.backend) },
                    { "threads", json_integer(run->simulation->description.threads) },
                    { "first_step", json_integer((json_int_t)run->schedule.first_step) },
                    { "last_step", json_integer((json_int_t)run->schedule.step) },
                    { "wall_seconds", document_number(clocks_wall(&run->clocks)) },
                    { "advance_seconds", document_number(run->clocks.advance_seconds) },
                    { "cpu_seconds", document_number(clocks_cpu(&run->clocks)) });
}

struct json_t *legs_json(const struct run *run)
{
    json_t *legs = run->continuation.legs ? json_deep_copy(run->continuation.legs) : json_array();
    if (!run->continuation.done)
        document_append(&legs, leg_at_work(run));
    return legs;
}

struct legs_sum legs_sum(const struct run *run, const struct json_t *legs)
{
    struct legs_sum sum = { .count = json_array_size(legs) };
    size_t index;
    json_t *leg;
    json_array_foreach(legs, index, leg)
    {
        sum.steps += leg_number(leg, FIELD_LEG_LAST_STEP) - leg_number(leg, FIELD_LEG_FIRST_STEP);
        sum.wall += leg_number(leg, FIELD_LEG_WALL_SECONDS);
        sum.advance += leg_number(leg, FIELD_LEG_ADVANCE_SECONDS);
        sum.cpu += leg_number(leg, FIELD_LEG_CPU_SECONDS);
    }
    const struct run_work own = run_work(run);
    sum.interactions = experiment_interactions(&run->experiment, 1) * sum.steps;
    if (own.chosen) {
        sum.interactions = own.sums.interactions;
        sum.steps = own.sums.steps;
    }
    return sum;
}

double legs_rate(const struct legs_sum *sum)
{
    return sum->advance > 0.0 ? sum->interactions / sum->advance : 0.0;
}
