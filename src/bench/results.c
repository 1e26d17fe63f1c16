#include "bench/results.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "machine/cores.h"
#include "report/plot.h"

enum { FLOP = 20 }; /* flop of an interaction, by convention */

struct results {
    json_t *root;
};

enum status results_create(const char *law, struct results **result, struct error *error)
{
    char stamp[CLOCK_STAMP_SIZE], model[CORES_MODEL_SIZE];
    struct results *results = *result = calloc(1, sizeof *results);
    if (results)
        results->root = json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:[], s:[]}", "version", build_version(), "commit",
            build_commit(), "compiler", build_compiler(), "date", clock_stamp(stamp), "cpu",
            cores_model(model), "cores", cores_available(), "law", law, "rates", "rows");
    if (results && results->root)
        return STATUS_OK;
    results_destroy(results);
    *result = NULL;
    return error_memory(error);
}

void results_destroy(struct results *results)
{
    if (results)
        json_decref(results->root);
    free(results);
}

void results_add_rate(struct results *results, const struct bench_rate *rate)
{
    json_array_append_new(json_object_get(results->root, "rates"),
                          json_pack("{s:s, s:s, s:s, s:i, s:f}", "isa", rate->isa, "operation",
                                    rate->operation, "type", rate->type, "threads", rate->threads,
                                    "per_second", rate->per_second));
}

static void add_multipoles(json_t *json, const struct multipoles *multipoles)
{
    const struct {
        const char *key;
        double value;
    } table[] = { { "error_99", multipoles->errors.error_99 },
                  { "error_9999", multipoles->errors.error_9999 },
                  { "largest_error", multipoles->errors.largest },
                  { "near_share", multipoles->profile.near },
                  { "far_share", multipoles->profile.far },
                  { "tree_share", multipoles->profile.tree },
                  { "control_share", multipoles->profile.control },
                  { "near_pairs", multipoles->profile.pairs } };
    for (size_t k = 0; k < COUNT_OF(table); k++)
        json_object_set_new(json, table[k].key, document_number(table[k].value));
}

void results_add_row(struct results *results, const struct bench_row *row)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I}", "part", row->title,
                             "backend", row->backend, "kernel", row->kernel, "precision",
                             row->precision, "isa", row->isa, "threads", row->threads, "systems",
                             (json_int_t)row->systems, "bodies", (json_int_t)row->count);
    json_object_set_new(json, "method",
                        json_string(row->accuracy > 0 ? force_fmm.name : force_direct.name));
    if (row->accuracy > 0)
        json_object_set_new(json, "accuracy", json_real(row->accuracy));
    if (row->skipped) {
        json_object_set_new(json, "skipped", json_string(row->skipped));
    } else {
        json_t *rest = json_pack(
            "{s:f, s:f, s:I, s:f, s:o, s:o, s:o, s:o}", "seconds", row->seconds, "median_seconds",
            row->median, "repeats", (json_int_t)row->repeats, "interactions_per_second", row->rate,
            "gflops", document_number(row->accuracy > 0 ? NAN : 1e-9 * FLOP * row->rate), "limit",
            document_number(row->limit > 0 ? row->limit : NAN), "error",
            document_number(row->error), "far_error", document_number(row->far_error));
        json_object_update(json, rest);
        json_decref(rest);
        if (row->accuracy > 0)
            add_multipoles(json, &row->multipoles);
    }
    json_array_append_new(json_object_get(results->root, "rows"), json);
}

/* --- CSV ---------------------------------------------------------------------------------------*/

static const char *const columns[] = {
    "part",          "backend",        "kernel",    "precision",
    "isa",           "threads",        "systems",   "bodies",
    "seconds",       "median_seconds", "repeats",   "interactions_per_second",
    "gflops",        "limit",          "error",     "far_error",
    "method",        "accuracy",       "error_99",  "error_9999",
    "largest_error", "near_share",     "far_share", "tree_share",
    "control_share", "near_pairs",
};

static void print_cell(FILE *file, const json_t *value)
{
    const char *text = json_string_value(value);
    const char *quote = text && strchr(text, ',') ? "\"" : "";
    if (text)
        fprintf(file, "%s%s%s", quote, text, quote);
    else if (json_is_integer(value))
        fprintf(file, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(file, "%.6g", json_real_value(value));
}

static void print_csv(FILE *file, const json_t *rows)
{
    size_t index;
    const json_t *row;
    for (size_t k = 0; k < COUNT_OF(columns); k++)
        fprintf(file, "%s%s", k ? "," : "", columns[k]);
    fputc('\n', file);
    json_array_foreach(rows, index, row)
    {
        for (size_t k = 0; k < COUNT_OF(columns); k++) {
            if (k)
                fputc(',', file);
            print_cell(file, json_object_get(row, columns[k]));
        }
        fputc('\n', file);
    }
}

/* --- figures -----------------------------------------------------------------------------------*/

static const char *text_of(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value ? value : "";
}

/* The curves of a figure over the number of bodies, and the rows that each takes. */
static const struct curve_of_rows {
    const char *label, *backend, *precision;
    int color;
} curves[] = {
    { "single", "openmp", "single", 0 },
    { "mixed", "openmp", "mixed", 1 },
    { "double", "openmp", "double", 2 },
    { "serial reference, double", "serial", "double", 3 },
};

struct points {
    size_t count;
    double x[BENCH_MOST], y[BENCH_MOST];
};

/* Inserts a point at x before number k; the caller sets its y. */
static void insert(struct points *points, size_t k, double x)
{
    memmove(points->x + k + 1, points->x + k, (points->count - k) * sizeof *points->x);
    memmove(points->y + k + 1, points->y + k, (points->count - k) * sizeof *points->y);
    points->x[k] = x;
    points->count++;
}

/* Returns the points of a curve: for each number of bodies the best value of `column`, times
 * `unit`, among its rows; small numbers first. */
static struct points collect(const json_t *rows, const struct curve_of_rows *curve,
                             const char *column, double unit)
{
    struct points points = { .count = 0 };
    size_t index;
    const json_t *row;
    json_array_foreach(rows, index, row)
    {
        if (strcmp(text_of(row, "backend"), curve->backend) != 0 ||
            strcmp(text_of(row, "precision"), curve->precision) != 0 ||
            strcmp(text_of(row, "method"), force_direct.name) != 0 ||
            json_object_get(row, "skipped"))
            continue;
        const double x = (double)json_integer_value(json_object_get(row, "bodies"));
        const double y = unit * json_real_value(json_object_get(row, column));
        const bool least = strcmp(column, "seconds") == 0;
        size_t k = 0;
        while (k < points.count && points.x[k] < x)
            k++;
        const bool known = k < points.count && points.x[k] == x;
        if (!known && points.count == BENCH_MOST)
            continue;
        if (!known)
            insert(&points, k, x);
        if (!known || (least ? y < points.y[k] : y > points.y[k]))
            points.y[k] = y;
    }
    return points;
}

static enum status add_curves(const json_t *rows, const char *column, double unit,
                              struct figure *figure, struct error *error)
{
    for (size_t k = 0; k < COUNT_OF(curves); k++) {
        const struct points points = collect(rows, &curves[k], column, unit);
        if (figure_curve(figure, curves[k].label, CURVE_LINE, curves[k].color, points.count,
                         points.x, points.y, error))
            return error->status;
    }
    return STATUS_OK;
}

/* Adds curves of the time of the serial reference over that of each precision, for numbers of
 * bodies that have both. */
static enum status add_speed_ups(const json_t *rows, const char *column, double unit,
                                 struct figure *figure, struct error *error)
{
    const size_t serial = COUNT_OF(curves) - 1;
    const struct points base = collect(rows, &curves[serial], column, unit);
    for (size_t k = 0; k < serial; k++) {
        const struct points points = collect(rows, &curves[k], column, unit);
        struct points ratio = { .count = 0 };
        for (size_t i = 0; i < points.count; i++)
            for (size_t j = 0; j < base.count; j++)
                if (base.x[j] == points.x[i]) {
                    ratio.x[ratio.count] = points.x[i];
                    ratio.y[ratio.count++] = base.y[j] / points.y[i];
                }
        if (figure_curve(figure, curves[k].label, CURVE_LINE, curves[k].color, ratio.count, ratio.x,
                         ratio.y, error))
            return error->status;
    }
    return STATUS_OK;
}

static const struct chart {
    const char *name, *y_label;
    const char *column;
    double unit;
    enum status (*add)(const json_t *rows, const char *column, double unit, struct figure *figure,
                       struct error *error);
} charts[] = {
    { "bench-time", "time of a step (s)", "seconds", 1, add_curves },
    { "bench-rate", "pair interactions (1e9 / s)", "interactions_per_second", 1e-9, add_curves },
    { "bench-gflops", "GFLOP/s at 20 flop per interaction", "gflops", 1, add_curves },
    { "bench-speed-up", "speed-up over the serial reference", "seconds", 1, add_speed_ups },
};

static enum status draw(const struct results *results, const struct chart *chart,
                        struct directory *folder, struct error *error)
{
    struct figure figure = { .x_label = "bodies", .x_log = true, .y_log = true };
    snprintf(figure.name, sizeof figure.name, "%s", chart->name);
    snprintf(figure.title, sizeof figure.title, "%.90s", text_of(results->root, "cpu"));
    snprintf(figure.y_label, sizeof figure.y_label, "%s", chart->y_label);
    enum status status = chart->add(json_object_get(results->root, "rows"), chart->column,
                                    chart->unit, &figure, error);
    if (!status && figure.curve_count > 0) {
        status = plot_into(&figure, folder, error);
        if (!status)
            printf("  %s/%s.svg, .png\n", directory_path(folder), figure.name);
    }
    figure_free(&figure);
    return status;
}

/* --- all files ---------------------------------------------------------------------------------*/

static const char table_name[] = "bench.csv";

enum { SUFFIXES = 4, FILES = 2 + SUFFIXES * COUNT_OF(charts) };

struct file_name {
    char bytes[FIGURE_LABEL_SIZE + 8];
};

static void list_files(struct file_name files[FILES], const char *names[FILES])
{
    static const char *const suffixes[SUFFIXES] = { "dat", "gp", "svg", "png" };
    size_t count = 0;
    names[count++] = directory_bench.manifest;
    names[count++] = table_name;
    for (size_t k = 0; k < COUNT_OF(charts); k++)
        for (size_t i = 0; i < SUFFIXES; i++, count++) {
            snprintf(files[count].bytes, sizeof files->bytes, "%s.%s", charts[k].name, suffixes[i]);
            names[count] = files[count].bytes;
        }
}

enum status results_open_folder(const char *path, struct directory **folder, struct error *error)
{
    struct file_name files[FILES];
    const char *names[FILES];
    list_files(files, names);
    if (directory_open_kind(path, &directory_bench, DIRECTORY_FORCE, folder, error) == STATUS_OK &&
        directory_check(*folder, names, FILES, error)) {
        directory_close(*folder);
        *folder = NULL;
    }
    return error->status;
}

static enum status write_table(const struct results *results, struct directory *folder,
                               struct error *error)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&bytes, &length);
    if (file)
        print_csv(file, json_object_get(results->root, "rows"));
    if (!file || fclose(file) != 0)
        error_memory(error);
    else if (directory_replace_file(folder, table_name, bytes, length, error) == STATUS_OK)
        printf("  %s/%s\n", directory_path(folder), table_name);
    free(bytes);
    return error->status;
}

/* Writes bench.json, the manifest, before other files, since it names all of them. */
static enum status write_json(const struct results *results, struct directory *folder,
                              struct error *error)
{
    struct file_name files[FILES];
    const char *names[FILES];
    list_files(files, names);
    if (directory_note(folder, json_incref(results->root), names, FILES, error) == STATUS_OK)
        printf("  %s/%s\n", directory_path(folder), directory_bench.manifest);
    return error->status;
}

static enum status draw_all(const struct results *results, struct directory *folder,
                            struct error *error)
{
    struct error without = { 0 };
    if (plot_probe(&without)) {
        printf("  no figures: %s\n", without.text);
        return STATUS_OK;
    }
    for (size_t k = 0; k < COUNT_OF(charts); k++)
        if (draw(results, &charts[k], folder, error))
            return error->status;
    return STATUS_OK;
}

enum status results_write(const struct results *results, struct directory *folder,
                          struct error *error)
{
    printf("\nwritten:\n");
    if (write_json(results, folder, error) || write_table(results, folder, error))
        return error->status;
    return draw_all(results, folder, error);
}
