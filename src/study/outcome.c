#include "study/outcome.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/result.h"

static void separate(struct text *why)
{
    if (why->length > 0)
        text_print(why, "; ");
}

/* Of an ensemble, whose value it is. */
static void put_system(const json_t *criterion, const char *key, struct text *why)
{
    const json_t *system = json_object_get(criterion, key);
    if (json_is_integer(system))
        text_print(why, " in system %" JSON_INTEGER_FORMAT, json_integer_value(system));
}

/* A criterion that did not hold. */
static void put_criterion(const json_t *criterion, const struct units *units, struct text *why)
{
    const char *text = json_string_value(json_object_get(criterion, "criterion"));
    const char *unit = json_string_value(json_object_get(criterion, "unit"));
    char time[UNITS_TEXT_SIZE];
    const json_t *worst = json_object_get(criterion, "worst");
    const json_t *first = json_object_get(criterion, "first_failure_time");
    separate(why);
    text_print(why, "%s, ", text ? text : "a criterion");
    if (json_integer_value(json_object_get(criterion, "rows")) == 0)
        text_print(why, "no row to judge by");
    else if (json_is_number(worst))
        text_print(why, "farthest beyond it: %.4g%s%s", json_number_value(worst),
                   unit && unit[0] ? " " : "", unit ? unit : "");
    else
        text_print(why, "undefined");
    put_system(criterion, "worst_system", why);
    if (json_is_number(first))
        text_print(why, ", first at t = %s", units_time(units, json_number_value(first), 4, time));
    put_system(criterion, "first_failure_system", why);
}

static void put_failures(const struct result *result, struct text *why)
{
    size_t index;
    json_t *criterion;
    json_array_foreach(result_find(result, "expect"), index, criterion)
    {
        if (!json_is_true(json_object_get(criterion, "holds")))
            put_criterion(criterion, result_units(result), why);
    }
    if (!json_is_false(result_find(result, "watch.holds")))
        return;
    separate(why);
    text_print(why, "the accuracy watch: %s", result_string(result, "watch.text"));
}

/* The first message says what, the others what follows from it. */
static void put_error(const struct result *result, struct text *why)
{
    const char *message = json_string_value(json_array_get(result_find(result, "errors"), 0));
    text_print(why, "exit status %.0f", result_real(result, "exit_status"));
    if (message)
        text_print(why, ": %s", message);
}

static void put_step(const struct result *result, struct text *why)
{
    text_print(why, "at step %.0f of %.0f", result_real(result, "step"),
               result_real(result, "steps"));
}

static void put_silence(const struct result *result, struct text *why)
{
    (void)result;
    text_print(why, "it ended without a word");
}

/* By the verdict of run.json. */
static const struct {
    const char *verdict;
    enum outcome outcome;
    void (*tell)(const struct result *result, struct text *why);
} verdicts[] = {
    { "held", OUTCOME_HELD, NULL },
    { "none", OUTCOME_FINISHED, NULL },
    { "failed", OUTCOME_FAILED, put_failures },
    { "error", OUTCOME_ERROR, put_error },
    { "stopped", OUTCOME_STOPPED, put_step },
    { "running", OUTCOME_SILENT, put_silence },
};

enum outcome outcome_of(const char *directory, size_t member, struct text *why)
{
    char path[RESULT_PATH_SIZE], name[STUDY_NAME_SIZE];
    struct result result;
    struct error problem = { 0 };
    snprintf(path, sizeof path, "%s/%s", directory, study_member_name(member, name));
    const enum status status = result_open(path, &result, &problem);
    if (status == STATUS_NO_INPUT)
        return OUTCOME_NOT_BEGUN;
    const char *verdict = status ? "" : result_string(&result, "verdict");
    enum outcome outcome = OUTCOME_SILENT;
    size_t k = 0;
    while (k < COUNT_OF(verdicts) && strcmp(verdicts[k].verdict, verdict) != 0)
        k++;
    if (k < COUNT_OF(verdicts)) {
        outcome = verdicts[k].outcome;
        if (verdicts[k].tell)
            verdicts[k].tell(&result, why);
    } else {
        text_print(why, "%s", status ? problem.text : "its run.json does not say how it ended");
    }
    if (!status)
        result_close(&result);
    return outcome;
}
