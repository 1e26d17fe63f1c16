#include "study/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
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

/* Where the members have units of their own, what says which. */
static const char *unit_of(const struct series *series, const char *column, bool mixed)
{
    const struct series_column *found = series ? series_find(series, column) : NULL;
    if (!found || !found->unit[0])
        return "1";
    return mixed ? "in physics.units" : found->unit;
}

enum { KEY_SIZE = 512 };

/* Adds those columns of a run that are not there yet: "diagnostic.column" with its unit, as the
 * header of its file has it. Diagnostics may be what the study varies. */
static enum status add_columns(json_t **columns, const struct result *result, bool mixed,
                               struct error *error)
{
    const char *name, *column;
    json_t *mine, *unused;
    json_object_foreach(diagnostics_of(result), name, mine)
    {
        char file[STUDY_NAME_SIZE + 256], key[KEY_SIZE];
        struct series *series = NULL;
        snprintf(file, sizeof file, "%.200s.csv", name);
        json_object_foreach(mine, column, unused)
        {
            snprintf(key, sizeof key, "%.200s.%.200s", name, column);
            if (json_object_get(*columns, key))
                continue;
            if (!series && result_series(result, file, &series, error))
                return error->status;
            document_set(columns, key, json_string(unit_of(series, column, mixed)));
        }
        series_destroy(series);
    }
    return STATUS_OK;
}

static void put_titles(struct text *csv, json_t *columns)
{
    const char *key;
    json_t *unit;
    json_object_foreach(columns, key, unit)
    {
        struct text title = { 0 };
        text_print(&title, "%s [%s]", key, json_string_value(unit));
        text_print(csv, ",");
        text_cell(csv, title.bytes ? title.bytes : "");
        csv->failed |= title.failed;
        text_free(&title);
    }
}

/* Nothing where the run, or NULL, has no such column. */
static void put_diagnostics(struct text *csv, const struct result *result, json_t *columns)
{
    const char *key;
    json_t *unit;
    json_object_foreach(columns, key, unit)
    {
        char name[KEY_SIZE];
        const size_t length = strcspn(key, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, key);
        const json_t *mine = result ? json_object_get(diagnostics_of(result), name) : NULL;
        const json_t *value = json_object_get(mine, key + length + 1);
        text_print(csv, ",");
        if (json_is_number(value))
            text_print(csv, "%.17g", json_number_value(value));
    }
}

/* Its exit status; NaN while it runs, and of one that was killed. */
static double status_of(const struct result *result)
{
    const double code = result_real(result, "exit_status");
    return code >= 0 ? code : NAN;
}

static void put_row(struct text *csv, const struct study *study, size_t member,
                    const struct result *result, json_t *columns)
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
    put_diagnostics(csv, result && result_has_end(result) ? result : NULL, columns);
    text_print(csv, "\n");
}

static bool has_finished(double code)
{
    return code == STATUS_OK || code == STATUS_EXPECT_FAILED;
}

/* The columns of all members that ended, of those that finished first. The files of one at work
 * have no rows yet, those of one that went wrong may have none. */
static enum status collect_columns(const struct study *study, const struct result *results,
                                   const bool *there, json_t **columns, struct error *error)
{
    const struct result *first = NULL;
    bool mixed = false; /* a sweep may be over unit systems */
    for (size_t m = 0; m < study->member_count; m++) {
        if (!there[m])
            continue;
        first = first ? first : &results[m];
        mixed |= result_units(&results[m]) != result_units(first);
    }
    *columns = json_object();
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < study->member_count; m++) {
            const double code = there[m] ? status_of(&results[m]) : NAN;
            if ((pass == 0 ? has_finished(code) : isfinite(code)) &&
                add_columns(columns, &results[m], mixed, error))
                return error->status;
        }
    return *columns ? STATUS_OK : error_memory(error);
}

static enum status put_table(struct text *csv, const struct study *study,
                             const struct result *results, const bool *there, struct error *error)
{
    json_t *columns;
    if (collect_columns(study, results, there, &columns, error)) {
        json_decref(columns);
        return error->status;
    }
    text_print(csv, "member [1]");
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        text_cell(csv, study->keys[k]);
    }
    text_print(csv, ",exit_status [1],verdict");
    put_titles(csv, columns);
    text_print(csv, "\n");
    for (size_t m = 0; m < study->member_count; m++)
        put_row(csv, study, m, there[m] ? &results[m] : NULL, columns);
    json_decref(columns);
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
