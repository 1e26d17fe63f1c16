#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/text.h"
#include "report/result.h"
#include "study/existing.h"

/* Puts the words that a string in config syntax stands for. */
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
    return result_find(result, FIELD_DIAGNOSTICS);
}

static const char *unit_of(const struct series *series, const char *column)
{
    const struct series_column *found = series ? series_find(series, column) : NULL;
    return found && found->unit[0] ? found->unit : "1";
}

enum { KEY_SIZE = 512 };

/* The values of a member in the table. A run.json takes far more, and a study may have a hundred
 * thousand of them. */
struct row {
    double code;    /* its exit status; NaN while it runs, and of one that was killed */
    char *verdict;  /* NULL without a code */
    double *values; /* of the first columns; NaN where it has none */
    size_t count;
};

struct table {
    const struct study *study;
    struct row *rows;
    json_t *columns; /* "diagnostic.column": its unit; those of runs that finished stand first */
    const struct units *units; /* of the first run */
    bool any,
        mixed; /* has there been a run? have they units of their own, which a sweep may vary? */
};

/* Adds those columns of a run that are not there yet: "diagnostic.column" with its unit, as the
 * header of its file has it. Diagnostics may be what the study varies. */
static enum status add_columns(json_t **columns, const struct result *result, struct error *error)
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
            document_set(columns, key, json_string(unit_of(series, column)));
        }
        series_destroy(series);
    }
    return *columns ? STATUS_OK : error_memory(error);
}

/* The cells of the columns that are known by now: those of one that finished are all among them. */
static enum status take_values(json_t *columns, const struct result *result, struct row *row,
                               struct error *error)
{
    const char *key;
    json_t *unit;
    row->values = calloc(json_object_size(columns) + 1, sizeof *row->values);
    if (!row->values)
        return error_memory(error);
    json_object_foreach(columns, key, unit)
    {
        char name[KEY_SIZE];
        const size_t length = strcspn(key, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, key);
        const json_t *mine = json_object_get(diagnostics_of(result), name);
        const json_t *value = json_object_get(mine, key + length + 1);
        row->values[row->count++] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return STATUS_OK;
}

static bool has_finished(double code)
{
    return code == STATUS_OK || code == STATUS_EXPECT_FAILED;
}

/* Takes what the table needs of a run. The files of one at work have no rows yet, those of one that
 * went wrong may have none. */
static enum status take_run(struct table *table, const struct result *result, struct row *row,
                            struct error *error)
{
    row->verdict = strdup(result_string(result, FIELD_VERDICT));
    if (!row->verdict)
        return error_memory(error);
    if (add_columns(&table->columns, result, error))
        return error->status;
    return result_has_end(result) ? take_values(table->columns, result, row, error) : STATUS_OK;
}

static void note_units(struct table *table, const struct result *result)
{
    const struct units *units = result_units(result);
    table->mixed |= table->any && units != table->units;
    table->units = table->any ? table->units : units;
    table->any = true;
}

/* One that has no run yet has no numbers; of one that cannot be read they are not known. The
 * columns of those that finished come first, so the others are read once more behind them. */
static enum status take_runs(struct table *table, const struct directory *directory,
                             struct error *error)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t m = 0; m < table->study->member_count; m++) {
            struct row *row = &table->rows[m];
            char path[STUDY_PATH_SIZE];
            struct result result;
            struct error problem = { 0 };
            if (pass == 1 && (isnan(row->code) || has_finished(row->code)))
                continue;
            study_member_path(directory_path(directory), m, path);
            const enum status status = existing_open(path, &result, &problem);
            if (status && status != STATUS_NO_INPUT)
                return error_set(error, status, "%s", problem.text);
            const double code = status ? NAN : result_real(&result, FIELD_EXIT_STATUS);
            row->code = code >= 0 ? code : NAN;
            if (!status && pass == 0)
                note_units(table, &result);
            if (has_finished(row->code) || (pass == 1 && !isnan(row->code)))
                take_run(table, &result, row, error);
            result_close(&result);
            if (error->status)
                return error->status;
        }
    return STATUS_OK;
}

/* --- writing it ------------------------------------------------------------------------------- */

static void put_titles(struct text *csv, const struct table *table)
{
    const char *key;
    json_t *unit;
    json_object_foreach(table->columns, key, unit)
    {
        struct text title = { 0 };
        const char *const own = json_string_value(unit);
        const bool mixed = table->mixed && strcmp(own, "1") != 0;
        text_print(&title, "%s [%s]", key, mixed ? "in physics.units" : own);
        text_print(csv, ",");
        text_cell(csv, title.bytes ? title.bytes : "");
        csv->failed |= title.failed;
        text_free(&title);
    }
}

static void put_row(struct text *csv, const struct table *table, size_t member)
{
    const struct study *study = table->study;
    const struct row *row = &table->rows[member];
    const size_t columns = json_object_size(table->columns);
    char name[STUDY_NAME_SIZE];
    text_print(csv, "%s", study_member_name(member, name));
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        put_value(csv, study->values[member * study->key_count + k]);
    }
    if (row->verdict)
        text_print(csv, ",%d,", (int)row->code);
    else
        text_print(csv, ",,");
    text_cell(csv, row->verdict ? row->verdict : "");
    for (size_t i = 0; i < columns; i++) {
        text_print(csv, ",");
        if (i < row->count && !isnan(row->values[i]))
            text_print(csv, "%.17g", row->values[i]);
    }
    text_print(csv, "\n");
}

static enum status put_table(struct text *csv, const struct table *table, struct error *error)
{
    const struct study *study = table->study;
    text_print(csv, "member [1]");
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        text_cell(csv, study->keys[k]);
    }
    text_print(csv, ",exit_status [1],verdict");
    put_titles(csv, table);
    text_print(csv, "\n");
    for (size_t m = 0; m < study->member_count; m++)
        put_row(csv, table, m);
    return csv->failed ? error_memory(error) : STATUS_OK;
}

enum status table_write(const struct study *study, struct directory *directory, struct error *error)
{
    struct table table = { .study = study,
                           .rows = calloc(study->member_count + 1, sizeof *table.rows),
                           .columns = json_object() };
    struct text csv = { 0 };
    enum status status =
        table.rows && table.columns ? directory_lock_files(directory, error) : error_memory(error);
    if (!status)
        status = take_runs(&table, directory, error);
    if (!status)
        status = put_table(&csv, &table, error);
    if (!status)
        status = directory_replace_file(directory, "study.csv", csv.bytes, csv.length, error);
    directory_unlock_files(directory);
    for (size_t m = 0; table.rows && m < study->member_count; m++) {
        free(table.rows[m].verdict);
        free(table.rows[m].values);
    }
    json_decref(table.columns);
    text_free(&csv);
    free(table.rows);
    return status;
}
