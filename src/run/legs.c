#include "run/legs.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/document.h"
#include "base/memory.h"
#include "run/content.h"

/* The numbers of a leg that are not negative, which a damaged file could break. */
static const char *const numbers[] = { "threads",      "first_step",      "last_step",
                                       "wall_seconds", "advance_seconds", "cpu_seconds" };
static const char *const texts[] = { "started", "host", "backend" };

static double number(const json_t *leg, const char *name)
{
    return json_number_value(json_object_get(leg, name));
}

static bool is_leg(const json_t *leg)
{
    bool good = json_is_object(leg);
    for (size_t k = 0; k < COUNT_OF(numbers) && good; k++)
        good = json_is_number(json_object_get(leg, numbers[k])) && number(leg, numbers[k]) >= 0.0;
    for (size_t k = 0; k < COUNT_OF(texts) && good; k++)
        good = json_is_string(json_object_get(leg, texts[k]));
    return good && number(leg, "last_step") >= number(leg, "first_step");
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

/* Does the last leg of both begin at the same moment and end at the same step? run.json has been
 * written after the last checkpoint then, and knows the time between them too. */
static bool end_alike(const json_t *one, const json_t *other)
{
    const size_t count = json_array_size(one);
    const json_t *a = json_array_get(one, count - 1), *b = json_array_get(other, count - 1);
    return count > 0 && count == json_array_size(other) &&
           number(a, "last_step") == number(b, "last_step") &&
           json_equal(json_object_get(a, "started"), json_object_get(b, "started"));
}

enum status legs_load(struct run *run, struct error *error)
{
    if (!checkpoint_has(run->checkpoint, content_legs))
        return STATUS_OK;
    char *text = checkpoint_get_text(run->checkpoint, content_legs, error);
    if (!text)
        return error->status;
    bool no_memory;
    json_t *legs = document_parse(text, strlen(text), &no_memory);
    free(text);
    if (!legs && no_memory)
        return error_set(error, STATUS_MEMORY, "out of memory");
    if (!are_legs(legs)) {
        json_decref(legs);
        return error_set(error, STATUS_DATA, "%s: its section '%s' does not list legs",
                         checkpoint_name, content_legs);
    }
    json_t *told = json_object_get(run->before, "legs");
    if (are_legs(told) && end_alike(told, legs)) {
        json_decref(legs);
        legs = json_incref(told);
    }
    json_decref(run->legs_before);
    run->legs_before = legs;
    return STATUS_OK;
}

double legs_wall(const struct run *run)
{
    return (run->ended > 0.0 ? run->ended : clock_seconds()) - run->started;
}

static double legs_cpu(const struct run *run)
{
    return (run->cpu_ended > 0.0 ? run->cpu_ended : clock_cpu_seconds()) - run->cpu_started;
}

static json_t *leg_at_work(const struct run *run)
{
    char host[64] = "?";
    gethostname(host, sizeof host - 1);
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:I, s:I, s:o, s:o, s:o}", "started", run->start_stamp, "host", host,
        "backend", run->description.backend, "threads", run->description.threads, "first_step",
        (json_int_t)run->first_step, "last_step", (json_int_t)run->step, "wall_seconds",
        document_number(legs_wall(run)), "advance_seconds", document_number(run->advance_seconds),
        "cpu_seconds", document_number(legs_cpu(run)));
}

struct json_t *legs_json(const struct run *run)
{
    json_t *legs = run->legs_before ? json_deep_copy(run->legs_before) : json_array();
    if (!run->done_before)
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
        sum.steps += number(leg, "last_step") - number(leg, "first_step");
        sum.wall += number(leg, "wall_seconds");
        sum.advance += number(leg, "advance_seconds");
        sum.cpu += number(leg, "cpu_seconds");
    }
    sum.interactions = experiment_interactions(&run->experiment, 1) * sum.steps;
    return sum;
}

double legs_rate(const struct legs_sum *sum)
{
    return sum->advance > 0.0 ? sum->interactions / sum->advance : 0.0;
}
