#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/text.h"

/* Appends the text of `value`, a string in config syntax with quotes and escapes. */
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

/* Appends a config value as a CSV cell: a string without quotes and escapes, a list as written. */
static void put_value(struct text *csv, const char *value)
{
    struct text string = { 0 };
    if (value[0] == '"')
        put_string(&string, value);
    text_cell(csv, string.bytes ? string.bytes : value[0] == '"' ? "" : value);
    csv->failed |= string.failed;
    text_free(&string);
}

/* A list of the columns of a run, which most members of a study share. */
struct columns {
    struct columns *next;
    json_t *cells; /* object: for each "diagnostic.column" its unit and its index in row->values */
};

/* The row of a member. It is kept instead of its run.json, which takes far more memory: a study may
 * have a hundred thousand members. */
struct row {
    bool known; /* the member's run was found and read */
    enum outcome outcome;
    double code;   /* exit status; NaN if the run is at work or was killed */
    char *verdict; /* NULL if `code` is NaN */
    const struct units *units;
    const struct columns *columns; /* NULL if `code` is NaN */
    double *values; /* last values, in the order of `columns`; NaN: none. NULL: the run has none */
};

struct table {
    const struct study *study;
    const char *directory;
    struct row *rows;
    struct columns *columns; /* all lists of columns, linked, the latest first */
};

struct table *table_create(const struct study *study, const char *directory)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->study = study;
    table->directory = directory;
    table->rows = calloc(study->member_count + 1, sizeof *table->rows);
    if (table->rows)
        return table;
    free(table);
    return NULL;
}

static void clear_row(struct row *row)
{
    free(row->verdict);
    free(row->values);
    *row = (struct row){ .code = NAN };
}

static void destroy_columns(struct columns *columns)
{
    json_decref(columns->cells);
    free(columns);
}

void table_destroy(struct table *table)
{
    if (!table)
        return;
    for (size_t m = 0; m < table->study->member_count; m++)
        clear_row(&table->rows[m]);
    while (table->columns) {
        struct columns *const first = table->columns;
        table->columns = first->next;
        destroy_columns(first);
    }
    free(table->rows);
    free(table);
}

/* --- reading runs ----------------------------------------------------------------------------- */

enum { KEY_SIZE = 512 };

static const char *key_of(const char *diagnostic, const char *column, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "%.200s.%.200s", diagnostic, column);
    return key;
}

static const char *unit_of(const struct series *series, const char *column)
{
    const struct series_column *found = series_find(series, column);
    return found && found->unit[0] ? found->unit : "1";
}

static bool have_those_of(const struct columns *columns, const struct result *result)
{
    const char *name, *column;
    json_t *mine, *unused;
    char key[KEY_SIZE];
    json_object_foreach(result_find(result, FIELD_DIAGNOSTICS), name, mine)
    {
        json_object_foreach(mine, column, unused)
        {
            if (!json_object_get(columns->cells, key_of(name, column, key)))
                return false;
        }
    }
    return true;
}

static enum status add_columns(struct table *table, const struct result *result,
                               struct error *error)
{
    const char *name, *column;
    json_t *mine, *unused;
    char file[STUDY_NAME_SIZE + 256], key[KEY_SIZE];
    struct columns *const columns = calloc(1, sizeof *columns);
    if (!columns)
        return error_memory(error);
    columns->cells = json_object();
    json_object_foreach(result_find(result, FIELD_DIAGNOSTICS), name, mine)
    {
        struct series *series = NULL;
        snprintf(file, sizeof file, "%.200s.csv", name);
        if (json_object_size(mine) > 0 && result_series(result, file, &series, error)) {
            destroy_columns(columns);
            return error->status;
        }
        if (!series) /* the run ended before it had this file: units are not known */
            continue;
        json_object_foreach(mine, column, unused)
        {
            document_set(&columns->cells, key_of(name, column, key),
                         json_pack("[s, I]", unit_of(series, column),
                                   (json_int_t)json_object_size(columns->cells)));
        }
        series_destroy(series);
    }
    if (!columns->cells) {
        destroy_columns(columns);
        return error_memory(error);
    }
    columns->next = table->columns;
    table->columns = columns;
    return STATUS_OK;
}

static enum status find_columns(struct table *table, const struct result *result, struct row *row,
                                struct error *error)
{
    int looks = 8; /* the most lists compared: there are few, or each run has its own */
    const struct columns *columns = table->columns;
    while (columns && looks-- > 0 && !have_those_of(columns, result))
        columns = columns->next;
    if ((!columns || looks < 0) && add_columns(table, result, error))
        return error->status;
    row->columns = columns && looks >= 0 ? columns : table->columns;
    return STATUS_OK;
}

static size_t place_of(const json_t *cell)
{
    return (size_t)json_integer_value(json_array_get(cell, 1));
}

static enum status take_values(const struct result *result, struct row *row, struct error *error)
{
    const char *key;
    json_t *cell;
    row->values = calloc(json_object_size(row->columns->cells) + 1, sizeof *row->values);
    if (!row->values)
        return error_memory(error);
    json_object_foreach(row->columns->cells, key, cell)
    {
        char name[KEY_SIZE];
        const size_t length = strcspn(key, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, key);
        const json_t *mine = json_object_get(result_find(result, FIELD_DIAGNOSTICS), name);
        const json_t *value = json_object_get(mine, key + length + 1);
        row->values[place_of(cell)] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return STATUS_OK;
}

enum outcome table_outcome(const struct table *table, size_t member)
{
    return table->rows[member].known ? table->rows[member].outcome : OUTCOME_NOT_BEGUN;
}

void table_forget(struct table *table, size_t member)
{
    clear_row(&table->rows[member]);
}

/* A run at work has no exit status yet, so its row gets no values; a run that went wrong may have
 * no values either. */
enum status table_take(struct table *table, size_t member, const struct result *result,
                       struct error *error)
{
    struct row *const row = &table->rows[member];
    struct text why = { 0 };
    const bool falls_short = result_falls_short(result);
    clear_row(row);
    row->outcome = outcome_of(result, &why);
    text_free(&why);
    const double code = falls_short ? STATUS_STOPPED : result_real(result, FIELD_EXIT_STATUS);
    row->code = code >= 0 ? code : NAN;
    row->units = result_units(result);
    row->known = true;
    if (isnan(row->code))
        return STATUS_OK;
    row->verdict = strdup(falls_short ? "stopped" : result_string(result, FIELD_VERDICT));
    if (!row->verdict)
        error_memory(error);
    else if (!find_columns(table, result, row, error) && result_has_end(result))
        take_values(result, row, error);
    if (error->status)
        clear_row(row);
    return error->status;
}

enum status table_read(struct table *table, size_t member, struct error *error)
{
    char path[STUDY_PATH_SIZE];
    struct result result;
    struct error problem = { 0 };
    table_forget(table, member);
    study_member_path(table->directory, member, path);
    const enum status status = existing_open(path, table->study, &result, &problem);
    if (status)
        return status == STATUS_NO_INPUT ? STATUS_OK : error_set(error, status, "%s", problem.text);
    table_take(table, member, &result, error);
    result_close(&result);
    return error->status;
}

/* --- writing it ------------------------------------------------------------------------------- */

/* Returns an object with the columns of all runs and the unit of each; NULL if memory runs out. */
static json_t *all_columns(const struct table *table)
{
    json_t *all = json_object();
    const struct columns *last = NULL;
    const char *key;
    json_t *cell;
    for (size_t m = 0; m < table->study->member_count; m++) {
        const struct row *row = &table->rows[m];
        if (!row->columns || row->columns == last)
            continue;
        last = row->columns;
        json_object_foreach(last->cells, key, cell)
        {
            if (!json_object_get(all, key))
                document_set(&all, key, json_incref(json_array_get(cell, 0)));
        }
    }
    return all;
}

/* Tells whether runs have different units, as a sweep may make them. */
static bool has_mixed_units(const struct table *table)
{
    const struct row *first = NULL;
    for (size_t m = 0; m < table->study->member_count; m++) {
        const struct row *const row = &table->rows[m];
        if (!row->known)
            continue;
        first = first ? first : row;
        if (row->units != first->units)
            return true;
    }
    return false;
}

static void put_titles(struct text *csv, const struct table *table, json_t *columns)
{
    const bool mixed = has_mixed_units(table);
    const char *key;
    json_t *unit;
    json_object_foreach(columns, key, unit)
    {
        struct text title = { 0 };
        const char *const own = json_string_value(unit);
        text_print(&title, "%s [%s]", key,
                   mixed && strcmp(own, "1") != 0 ? "in physics.units" : own);
        text_print(csv, ",");
        text_cell(csv, title.bytes ? title.bytes : "");
        csv->failed |= title.failed;
        text_free(&title);
    }
}

static double value_of(const struct row *row, const char *key)
{
    const json_t *const cell = row->values ? json_object_get(row->columns->cells, key) : NULL;
    return cell ? row->values[place_of(cell)] : NAN;
}

static void put_row(struct text *csv, const struct table *table, size_t member, json_t *columns)
{
    const struct study *study = table->study;
    const struct row *row = &table->rows[member];
    char name[STUDY_NAME_SIZE];
    const char *key;
    json_t *unit;
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
    json_object_foreach(columns, key, unit)
    {
        const double value = value_of(row, key);
        text_print(csv, ",");
        if (!isnan(value))
            text_print(csv, "%.17g", value);
    }
    text_print(csv, "\n");
}

static enum status put_table(struct text *csv, const struct table *table, struct error *error)
{
    const struct study *study = table->study;
    json_t *const columns = all_columns(table);
    text_print(csv, "member [1]");
    for (size_t k = 0; k < study->shown_keys; k++) {
        text_print(csv, ",");
        text_cell(csv, study->keys[k]);
    }
    text_print(csv, ",exit_status [1],verdict");
    put_titles(csv, table, columns);
    text_print(csv, "\n");
    for (size_t m = 0; columns && m < study->member_count; m++)
        put_row(csv, table, m, columns);
    const bool ready = columns && !csv->failed;
    json_decref(columns);
    return ready ? STATUS_OK : error_memory(error);
}

enum status table_write(struct table *table, struct directory *directory, struct error *error)
{
    struct text csv = { 0 };
    enum status status = directory_lock_files(directory, error);
    for (size_t m = 0; !status && m < table->study->member_count; m++)
        if (!table->rows[m].known)
            status = table_read(table, m, error);
    if (!status && !put_table(&csv, table, error))
        directory_replace_file(directory, "study.csv", csv.bytes, csv.length, error);
    directory_unlock_files(directory);
    text_free(&csv);
    return error->status;
}
