#include "study/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/result.h"

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

/* The units of a diagnostic's columns stand in the header of its file. */
static void put_header(struct text *csv, const struct result *result)
{
    const char *name, *column;
    json_t *columns, *value;
    json_object_foreach(diagnostics_of(result), name, columns)
    {
        char file[STUDY_NAME_SIZE + 256];
        struct series *series = NULL;
        struct error ignored = { 0 };
        snprintf(file, sizeof file, "%.200s.csv", name);
        result_series(result, file, &series, &ignored);
        json_object_foreach(columns, column, value)
        {
            const struct series_column *found = series ? series_find(series, column) : NULL;
            struct text title = { 0 };
            text_print(&title, "%s.%s [%s]", name, column,
                       found && found->unit[0] ? found->unit : "1");
            text_print(csv, ",");
            text_cell(csv, title.bytes ? title.bytes : "");
            csv->failed |= title.failed;
            text_free(&title);
        }
        series_destroy(series);
    }
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

static void put_row(struct text *csv, const struct study *study, size_t member,
                    const struct result *result, const struct result *model)
{
    char name[STUDY_NAME_SIZE];
    text_print(csv, "%s", study_member_name(member, name));
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        put_value(csv, study->values[member * study->key_count + k]);
    }
    const double code = result ? result_real(result, "exit_status") : NAN;
    if (isfinite(code) && code >= 0)
        text_print(csv, ",%d,%s", (int)code, result_string(result, "verdict"));
    else
        text_print(csv, ",,");
    if (model)
        put_diagnostics(csv, result, model);
    text_print(csv, "\n");
}

static void put_table(struct text *csv, const struct study *study, const struct result *results,
                      const bool *there)
{
    const struct result *model = NULL;
    for (size_t m = 0; m < study->member_count && !model; m++)
        if (there[m])
            model = &results[m];
    text_print(csv, "member [1]");
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        text_cell(csv, study->keys[k]);
    }
    text_print(csv, ",exit_status [1],verdict");
    if (model)
        put_header(csv, model);
    text_print(csv, "\n");
    for (size_t m = 0; m < study->member_count; m++)
        put_row(csv, study, m, there[m] ? &results[m] : NULL, model);
}

enum status table_write(const struct study *study, struct directory *directory, struct error *error)
{
    struct result *results = calloc(study->member_count + 1, sizeof *results);
    bool *there = calloc(study->member_count + 1, sizeof *there);
    struct text csv = { 0 };
    if (results && there) {
        for (size_t m = 0; m < study->member_count; m++) {
            char path[RESULT_PATH_SIZE], name[STUDY_NAME_SIZE];
            struct error ignored = { 0 };
            snprintf(path, sizeof path, "%s/%s", directory_path(directory),
                     study_member_name(m, name));
            there[m] = result_open(path, &results[m], &ignored) == STATUS_OK;
        }
        put_table(&csv, study, results, there);
    }
    enum status status;
    if (!results || !there || csv.failed)
        status = error_set(error, STATUS_MEMORY, "out of memory");
    else
        status = directory_replace_file(directory, "study.csv", csv.bytes, csv.length, error);
    for (size_t m = 0; results && there && m < study->member_count; m++)
        if (there[m])
            result_close(&results[m]);
    text_free(&csv);
    free(results);
    free(there);
    return status;
}
