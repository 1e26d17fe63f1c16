#include "report/unfinished.h"

#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/template.h"

/* Tells whether it has come to an end, good or bad. One that was stopped goes on. */
static bool has_ended(const struct result *result)
{
    return result->state == RESULT_ENDED && !result_was_stopped(result);
}

static void put_place(const struct result *result, struct text *text)
{
    const struct progress *p = &result->progress;
    if (result->state == RESULT_ENDED)
        text_print(text, "at step %.0f of %.0f", result_real(result, FIELD_STEP),
                   result_real(result, FIELD_STEPS));
    else if (p->known)
        text_print(text, "at step %.0f of %.0f, %.1f %% of the way, as of %s", (double)p->step,
                   (double)p->last, 100.0 * (double)p->step / (double)p->last, p->stamp);
    else
        text_print(text, "before its first step");
}

json_t *unfinished_view(const struct result *result)
{
    struct text text = { 0 }, command = { 0 };
    if (has_ended(result))
        return json_false();
    const bool at_work = result->state == RESULT_AT_WORK;
    text_print(&text, "This run has not ended: ");
    if (at_work)
        text_print(&text, "%s is at work on it, ", result->progress.owner);
    else if (result_was_stopped(result))
        text_print(&text, "it was stopped ");
    else
        text_print(&text, "it was killed, and no process works on it; it was ");
    put_place(result, &text);
    text_print(&text,
               ". What stands here is what it had written by then; there is no verdict yet.");
    if (!at_work)
        result_way_on(result, &command);
    return json_pack("{s:o, s:o}", "text", template_value(&text), "command",
                     template_value(&command));
}

json_t *unfinished_document(const struct result *result)
{
    static const char *const of_the_end[] = {
        "diagnostics",  "left_out",        "watch",
        "trust",        "energy_budget",   "final",
        "wall_seconds", "advance_seconds", "interactions_per_second",
    };
    json_t *document = json_copy(result->json);
    const double step = result->progress.known ? (double)result->progress.step : 0.0;
    if (result->state == RESULT_ENDED || !document)
        return document;
    for (size_t i = 0; i < COUNT_OF(of_the_end); i++)
        json_object_del(document, of_the_end[i]);
    if (!result->progress.known)
        return document;
    document_set(&document, "step", json_integer((json_int_t)result->progress.step));
    document_set(&document, "time", document_number(step * result_step(result)));
    return document;
}

/* Names a criterion: one that has failed stays failed, whatever comes. */
static void judge(json_t **criterion, bool ended)
{
    const json_t *const holds = json_object_get(*criterion, "holds");
    const bool judged = json_is_true(json_object_get(*criterion, "judged"));
    const char *class_ = "quiet", *words = "held so far";
    if (!ended && !judged)
        words = "not judged yet";
    else if (json_is_false(holds))
        class_ = "bad", words = "failed";
    else if (ended && json_is_true(holds))
        class_ = "good", words = "held";
    else if (ended)
        words = judged ? "held until it broke off" : "not judged";
    document_set(criterion, "class", json_string(class_));
    document_set(criterion, "words", json_string(words));
}

json_t *unfinished_criteria(const struct result *result)
{
    size_t index;
    json_t *criterion, *criteria = json_array();
    json_array_foreach(result_find(result, FIELD_EXPECT), index, criterion)
    {
        json_t *copy = json_copy(criterion);
        judge(&copy, has_ended(result));
        document_append(&criteria, copy);
    }
    return criteria;
}
