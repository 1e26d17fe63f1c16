#include "study/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/result.h"

/* A config value as a CSV cell: strings lose their quotes, lists keep theirs in CSV's. */
static void put_value(struct text *csv, const char *value)
{
    const size_t length = strlen(value);
    if (length >= 2 && value[0] == '"' && !strpbrk(value, ",\n"))
        text_append(csv, value + 1, length - 2);
    else
        text_print(csv, strpbrk(value, ",\"\n") ? "\"%s\"" : "%s", value);
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
            text_print(csv, ",%s.%s [%s]", name, column,
                       found && found->unit[0] ? found->unit : "1");
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
    for (size_t k = 0; k < study->shown_keys; k++)
        text_print(csv, ",%s", study->keys[k]);
    text_print(csv, ",exit_status [1],verdict");
    if (model)
        put_header(csv, model);
    text_print(csv, "\n");
    for (size_t m = 0; m < study->member_count; m++)
        put_row(csv, study, m, there[m] ? &results[m] : NULL, model);
}

static enum status write_file(const char *directory, const struct text *csv, struct error *error)
{
    char path[RESULT_PATH_SIZE], temporary[RESULT_PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s/study.csv", directory);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *file = fopen(temporary, "w");
    if (!file)
        return error_system(error, STATUS_CANT_CREATE, errno, temporary);
    const bool written = fwrite(csv->bytes, 1, csv->length, file) == csv->length;
    if (fclose(file) != 0 || !written || rename(temporary, path) != 0)
        return error_system(error, STATUS_IO, errno, path);
    return STATUS_OK;
}

enum status table_write(const struct study *study, const char *directory, struct error *error)
{
    struct result *results = calloc(study->member_count + 1, sizeof *results);
    bool *there = calloc(study->member_count + 1, sizeof *there);
    struct text csv = { 0 };
    if (results && there) {
        for (size_t m = 0; m < study->member_count; m++) {
            char path[RESULT_PATH_SIZE], name[STUDY_NAME_SIZE];
            struct error ignored = { 0 };
            snprintf(path, sizeof path, "%s/%s", directory, study_member_name(m, name));
            there[m] = result_open(path, &results[m], &ignored) == STATUS_OK;
        }
        put_table(&csv, study, results, there);
    }
    enum status status;
    if (!results || !there || csv.failed)
        status = error_set(error, STATUS_MEMORY, "out of memory");
    else
        status = write_file(directory, &csv, error);
    for (size_t m = 0; results && there && m < study->member_count; m++)
        if (there[m])
            result_close(&results[m]);
    text_free(&csv);
    free(results);
    free(there);
    return status;
}
