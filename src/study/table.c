#include "study/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/result.h"
#include "study/existing.h"

/* What a string in config syntax stands for. */
static void put_string(struct text *out, const char *value)
{
    static const char letters[] = "nrtf", escapes[] = "\n\r\t\f";
    for (const char *p = value + 1; *p && *p != '"'; p++) {
        const bool escape = *p == '\\' && p[1];
        const char *letter = escape ? strchr(letters, p[1]) : NULL;
        p += escape;
        text_append(out, letter ? &escapes[letter - letters] : p, 1);
    }
}

/* A config value as a CSV cell: a string as what it stands for, a list as its text. */
static void put_value(struct text *csv, const char *value)
{
    struct text string = { 0 };
    if (value[0] == '"')
        put_string(&string, value);
    text_cell(csv, string.bytes ? string.bytes : value[0] == '"' ? "" : value);
    csv->failed |= string.failed;
    text_free(&string);
}

/* The members of `diagnostics` in a run.json: objects of columns. */
static json_t *diagnostics_of(const struct result *result)
{
    return result_find(result, "diagnostics");
}

/* The columns of a diagnostic, with their units, as the header of its file has them; where the
 * members have units of their own, what says which. */
static void put_titles(struct text *csv, const char *diagnostic, json_t *columns,
                       const struct series *series, bool mixed)
{
    const char *column;
    json_t *unused;
    json_object_foreach(columns, column, unused)
    {
        const struct series_column *found = series ? series_find(series, column) : NULL;
        struct text title = { 0 };
        text_print(&title, "%s.%s [%s]", diagnostic, column,
                   !found || !found->unit[0] ? "1"
                   : mixed                   ? "in physics.units"
                                             : found->unit);
        text_print(csv, ",");
        text_cell(csv, title.bytes ? title.bytes : "");
        csv->failed |= title.failed;
        text_free(&title);
    }
}

static enum status put_header(struct text *csv, const struct result *result, bool mixed,
                              struct error *error)
{
    const char *name;
    json_t *columns;
    json_object_foreach(diagnostics_of(result), name, columns)
    {
        char file[STUDY_NAME_SIZE + 256];
        struct series *series = NULL;
        snprintf(file, sizeof file, "%.200s.csv", name);
        if (result_series(result, file, &series, error))
            return error->status;
        put_titles(csv, name, columns, series, mixed);
        series_destroy(series);
    }
    return STATUS_OK;
}

/* In the order of the header, which is that of `model`, a member that ended. */
static void put_diagnostics(struct text *csv, const struct result *result,
                            const struct result *model)
{
    const char *name, *column;
    json_t *columns, *unused;
    json_object_foreach(diagnostics_of(model), name, columns)
    {
        json_t *mine = result ? json_object_get(diagnostics_of(result), name) : NULL;
        json_object_foreach(columns, column, unused)
        {
            const json_t *value = json_object_get(mine, column);
            text_print(csv, ",");
            if (json_is_number(value))
                text_print(csv, "%.17g", json_number_value(value));
        }
    }
}

/* Its exit status; NaN while it runs, and of one that was killed. */
static double status_of(const struct result *result)
{
    const double code = result_real(result, "exit_status");
    return code >= 0 ? code : NAN;
}

static void put_row(struct text *csv, const struct study *study, size_t member,
                    const struct result *result, const struct result *model)
{
    char name[STUDY_NAME_SIZE];
    text_print(csv, "%s", study_member_name(member, name));
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        put_value(csv, study->values[member * study->key_count + k]);
    }
    const double code = result ? status_of(result) : NAN;
    if (isfinite(code))
        text_print(csv, ",%d,%s", (int)code, result_string(result, "verdict"));
    else
        text_print(csv, ",,");
    if (model)
        put_diagnostics(csv, result && result_has_end(result) ? result : NULL, model);
    text_print(csv, "\n");
}

/* The member whose columns the table has: the first that finished, or else that ended. The files of
 * one at work have no rows yet, those of one that went wrong may have none. */
static const struct result *find_model(const struct study *study, const struct result *results,
                                       const bool *there)
{
    const struct result *model = NULL;
    for (size_t m = 0; m < study->member_count; m++) {
        const double code = there[m] ? status_of(&results[m]) : NAN;
        if (code == STATUS_OK || code == STATUS_EXPECT_FAILED)
            return &results[m];
        if (isfinite(code) && !model)
            model = &results[m];
    }
    return model;
}

/* A sweep may be over unit systems. */
static bool have_mixed_units(const struct study *study, const struct result *results,
                             const struct result *model, const bool *there)
{
    bool mixed = false;
    for (size_t m = 0; m < study->member_count && model; m++)
        mixed |= there[m] && result_units(&results[m]) != result_units(model);
    return mixed;
}

static enum status put_table(struct text *csv, const struct study *study,
                             const struct result *results, const bool *there, struct error *error)
{
    const struct result *model = find_model(study, results, there);
    text_print(csv, "member [1]");
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        text_cell(csv, study->keys[k]);
    }
    text_print(csv, ",exit_status [1],verdict");
    const bool mixed = have_mixed_units(study, results, model, there);
    if (model && put_header(csv, model, mixed, error))
        return error->status;
    text_print(csv, "\n");
    for (size_t m = 0; m < study->member_count; m++)
        put_row(csv, study, m, there[m] ? &results[m] : NULL, model);
    return csv->failed ? error_memory(error) : STATUS_OK;
}

/* One that has no run yet has no numbers; of one that cannot be read they are not known. */
static enum status open_results(const struct study *study, const struct directory *directory,
                                struct result *results, bool *there, struct error *error)
{
    for (size_t m = 0; m < study->member_count; m++) {
        char path[STUDY_PATH_SIZE];
        struct error problem = { 0 };
        study_member_path(directory_path(directory), m, path);
        const enum status status = existing_open(path, &results[m], &problem);
        if (status && status != STATUS_NO_INPUT)
            return error_set(error, status, "%s", problem.text);
        there[m] = !status;
    }
    return STATUS_OK;
}

enum status table_write(const struct study *study, struct directory *directory, struct error *error)
{
    struct result *results = calloc(study->member_count + 1, sizeof *results);
    bool *there = calloc(study->member_count + 1, sizeof *there);
    struct text csv = { 0 };
    enum status status =
        results && there ? directory_lock_files(directory, error) : error_memory(error);
    if (!status)
        status = open_results(study, directory, results, there, error);
    if (!status)
        status = put_table(&csv, study, results, there, error);
    if (!status)
        status = directory_replace_file(directory, "study.csv", csv.bytes, csv.length, error);
    directory_unlock_files(directory);
    for (size_t m = 0; results && m < study->member_count; m++)
        result_close(&results[m]);
    text_free(&csv);
    free(results);
    free(there);
    return status;
}
