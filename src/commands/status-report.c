#include "commands/display.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "config/parameter-reference.h"
#include "study/study.h"

enum { VALUE_COLUMN = 17, MOST_LISTED = 20 };

/* Appends a line "  name           value", and frees the value; a long value is broken into several
 * lines. */
static void put_item(const char *name, struct text *value, struct text *text)
{
    reference_item("  ", name, VALUE_COLUMN, value->bytes ? value->bytes : "", text);
    text->failed |= value->failed;
    text_free(value);
}

/* --- a run ------------------------------------------------------------------------------------ */

bool status_report_progress(const struct result *result, struct run_progress *progress)
{
    const struct progress *p = &result->progress;
    *progress = (struct run_progress){ .name = result_string(result, FIELD_NAME),
                                       .units = result_units(result),
                                       .seconds = p->seconds,
                                       .time = (double)p->step * result_step(result),
                                       .rate = p->rate,
                                       .first_step = p->first_step,
                                       .step = p->step,
                                       .last = p->last };
    return p->known;
}

static void put_progress(const struct result *result, const char *name, struct text *text)
{
    struct run_progress progress;
    struct text value = { 0 };
    char time[UNITS_TEXT_SIZE];
    if (!status_report_progress(result, &progress))
        return;
    display_part(&progress, &value);
    text_print(&value, ", step %.0f of %.0f, t = %s", (double)progress.step, (double)progress.last,
               units_time(progress.units, progress.time, 6, time));
    if (result->progress.held) {
        text_print(&value, ", %.3g G interactions/s, ", 1e-9 * progress.rate);
        display_time_left(&progress, &value);
        text_print(&value, " left");
    }
    text_print(&value, "; as of %s", result->progress.stamp);
    put_item(name, &value, text);
}

/* Appends the last row of table number `table`, without quantities that were not measured or are
 * NaN: ", energy_error 1.2e-05, radius_50 0.8 pc". */
static void put_cells(const struct latest *latest, size_t table, struct text *value)
{
    for (size_t k = 0; k < latest->show.count; k++) {
        const struct run_cell *cell = &latest->show.cells[k];
        char label[RUN_LABEL_SIZE];
        if (latest->show.quantities[k].diagnostic != table || !cell->measured || isnan(cell->value))
            continue;
        snprintf(label, sizeof label, "%s", cell->label);
        const char *unit = text_cut_unit(label), *dot = strchr(label, '.');
        text_print(value, ", %s %.5g%s%s", dot ? dot + 1 : label, cell->value, unit ? " " : "",
                   unit ? unit : "");
    }
}

static void put_tables(const struct latest *latest, struct text *text)
{
    for (size_t i = 0; i < latest->count; i++) {
        const struct latest_table *table = &latest->tables[i];
        struct text value = { 0 }, cells = { 0 };
        put_cells(latest, i, &cells);
        text_print(&value, "step %.0f, time %.6g%s", table->step, table->time,
                   cells.length ? cells.bytes : "");
        value.failed |= cells.failed;
        if (table->found && cells.length)
            put_item(table->name, &value, text);
        text_free(&value);
        text_free(&cells);
    }
}

static void put_end(const struct result *result, struct text *text)
{
    struct text value = { 0 }, why = { 0 }, left_out = { 0 };
    char time[UNITS_TEXT_SIZE];
    text_print(&value, "step %.0f of %.0f, t = %s", result_real(result, FIELD_STEP),
               result_real(result, FIELD_STEPS),
               units_time(result_units(result), result_real(result, FIELD_TIME), 6, time));
    put_item("reached", &value, text);
    if (result_string(result, FIELD_ENDED_BY)[0]) {
        text_print(&value, "%s", result_string(result, FIELD_ENDED_BY));
        put_item("stop_when", &value, text);
    }
    /* For a stopped run `why` is only the step, which was appended above. */
    if (outcome_of(result, &why) != OUTCOME_STOPPED && why.length)
        put_item("why", &why, text);
    outcome_left_out(result, &left_out);
    if (left_out.length)
        put_item("statistics", &left_out, text);
    text_free(&left_out);
    text_free(&why);
}

static void put_way_on(const struct result *result, struct text *text)
{
    text_print(text, "  %-15s", "to go on"); /* not broken into lines, so that it can be copied */
    result_way_on(result, text);
    text_print(text, "\n");
}

void status_report_of_run(const struct result *result, const char *owner,
                          const struct latest *latest, struct text *text)
{
    struct text verdict = { 0 };
    text_print(text, "%s: ", result->path);
    if (result->state == RESULT_AT_WORK || owner[0])
        text_print(text, "%s is at work\n", owner[0] ? owner : result->progress.owner);
    else if (result->state == RESULT_LEFT)
        text_print(text, "has not ended, and no process is at work: it was killed\n");
    else
        text_print(text, "%s\n", outcome_words(result));
    if (result->state == RESULT_ENDED)
        put_end(result, text);
    else
        put_progress(result, result->state == RESULT_AT_WORK ? "progress" : "reached", text);
    put_tables(latest, text);
    if (result->state == RESULT_ENDED && !owner[0]) {
        text_print(&verdict, "%s, exit status %.0f", result_string(result, FIELD_VERDICT),
                   result_real(result, FIELD_EXIT_STATUS));
        put_item("verdict", &verdict, text);
    }
    if (!owner[0] && (result->state == RESULT_LEFT ||
                      (result->state == RESULT_ENDED && result_was_stopped(result))))
        put_way_on(result, text);
}

enum status status_report_status(const struct result *result, struct error *error)
{
    const double status = result_real(result, FIELD_EXIT_STATUS);
    if (result->state == RESULT_LEFT)
        return STATUS_STOPPED;
    if (!(status >= 0.0 && status <= 255.0))
        return error_set(error, STATUS_DATA, "%s/run.json: does not say how the run ended",
                         result->path);
    return (enum status)(int)status;
}

/* --- a study ---------------------------------------------------------------------------------- */

enum status status_report_open_study(const char *path, struct status_report_study *study,
                                     struct error *error)
{
    char manifest[STUDY_PATH_SIZE];
    json_t *json = NULL;
    *study = (struct status_report_study){ 0 };
    snprintf(manifest, sizeof manifest, "%.*s/study.json", STUDY_PATH_SIZE - 16, path);
    if (document_load(manifest, &json, error))
        return error->status;
    const bool ours =
        directory_names_program(json) && json_is_array(json_object_get(json, "members"));
    study->members = json_array_size(json_object_get(json, "members"));
    study->end = document_real(json, "time_end");
    json_decref(json);
    if (!ours)
        return error_set(error, STATUS_DATA, "%s: is not that of a study", manifest);
    study->outcomes = calloc(study->members + 1, sizeof *study->outcomes);
    for (size_t m = 0; study->outcomes && m < study->members; m++)
        study->outcomes[m] = OUTCOME_NOT_BEGUN;
    return study->outcomes ? STATUS_OK : error_memory(error);
}

void status_report_close_study(struct status_report_study *study)
{
    free(study->outcomes);
    *study = (struct status_report_study){ 0 };
}

/* Returns the weight of a status, the greater the worse: 0 for OK, 1 for an expectation that does
 * not hold, 2 for a stop, 3 for an error. */
static int weight(enum status status)
{
    static const enum status lighter[] = { STATUS_OK, STATUS_EXPECT_FAILED, STATUS_STOPPED };
    int k = 0;
    while (k < (int)COUNT_OF(lighter) && lighter[k] != status)
        k++;
    return k;
}

static void count_status(struct status_report_study *study, enum status status)
{
    if (weight(status) > weight(study->status))
        study->status = status;
}

static bool went_well(enum outcome outcome)
{
    return outcome == OUTCOME_HELD || outcome == OUTCOME_FINISHED;
}

/* Returns the exit status that the command of the study would have for this member if nobody
 * continued it. `opened` is what result_open() returned. */
static enum status status_of(const struct result *result, enum status opened)
{
    struct error problem = { 0 };
    if (opened == STATUS_NO_INPUT ||
        (!opened && (result->state == RESULT_AT_WORK || result_falls_short(result))))
        return STATUS_STOPPED;
    return opened ? opened : status_report_status(result, &problem);
}

/* Appends the values of a member for the keys that the study varies: "time.step = 0.02: ". */
static void put_values(const struct study *values, size_t member, struct text *text)
{
    for (size_t k = 0; k < values->shown_keys; k++)
        text_print(text, "%s%s = %s", k ? ", " : "", values->keys[k],
                   values->values[member * values->key_count + k]);
    text_print(text, ": ");
}

/* Reads the directory of a member, sets its outcome, and appends a line if the member is at work or
 * did not go well; `values` has the keys that the study varies, or is NULL. */
static void put_member(const char *path, size_t member, const struct study *values,
                       struct status_report_study *study, struct text *lines)
{
    struct result result;
    struct error problem = { 0 };
    struct text why = { 0 }, words = { 0 };
    char run[STUDY_PATH_SIZE], name[STUDY_NAME_SIZE], label[STUDY_NAME_SIZE + 16];
    enum outcome *outcome = &study->outcomes[member];
    const enum status opened = result_open(study_member_path(path, member, run), &result, &problem);
    result.study_end = study->end;
    const enum status status = status_of(&result, opened);
    *outcome = opened == STATUS_NO_INPUT ? OUTCOME_NOT_BEGUN : OUTCOME_SILENT;
    if (!opened)
        *outcome = outcome_of(&result, &why);
    else if (opened != STATUS_NO_INPUT)
        text_print(&why, "%s", problem.text);
    count_status(study, status);
    snprintf(label, sizeof label, "%s %s", outcome_names[*outcome],
             study_member_name(member, name));
    if (*outcome == OUTCOME_AT_WORK)
        put_progress(&result, label, lines);
    else if (why.length) {
        if (values)
            put_values(values, member, &words);
        text_print(&words, "%s", why.bytes);
        put_item(label, &words, lines);
    }
    result_close(&result);
    text_free(&why);
}

void status_report_of_members(const char *path, const struct study *values,
                              struct status_report_study *study, struct text *text)
{
    size_t counts[OUTCOMES] = { 0 };
    struct text lines = { 0 }, runs = { 0 };
    size_t listed = 0;
    study->status = STATUS_OK;
    for (size_t m = 0; m < study->members; m++) {
        struct text line = { 0 };
        const bool hidden = listed >= MOST_LISTED && study->outcomes[m] == OUTCOME_FAILED;
        if (hidden)
            count_status(study, STATUS_EXPECT_FAILED);
        else if (!went_well(study->outcomes[m]))
            put_member(path, m, values, study, &line);
        counts[study->outcomes[m]]++;
        listed += hidden || line.length > 0;
        if (listed <= MOST_LISTED)
            text_append(&lines, line.bytes ? line.bytes : "", line.length);
        text_free(&line);
    }
    if (listed > MOST_LISTED)
        text_print(&lines, "  and others     %zu more%s\n", listed - MOST_LISTED,
                   values ? "; study.csv has the verdict of each" : "");
    outcome_counts(counts, &runs);
    put_item("runs", &runs, text);
    text_append(text, lines.bytes ? lines.bytes : "", lines.length);
    text->failed |= lines.failed;
    text_free(&lines);
}

void status_report_of_study(const char *path, const char *owner, struct status_report_study *study,
                            struct text *text)
{
    text_print(text, "%s: %zu runs, %s\n", path, study->members,
               owner[0] ? owner : "no process is at work");
    status_report_of_members(path, NULL, study, text);
    bool whole = true;
    for (size_t m = 0; m < study->members; m++)
        whole &= went_well(study->outcomes[m]) || study->outcomes[m] == OUTCOME_FAILED;
    if (!owner[0] && !whole)
        text_print(text, "  to go on       the command that ran it last, once more\n");
}
