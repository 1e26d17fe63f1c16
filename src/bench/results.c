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

enum { FLOP = 20 }; /* floating-point operations of an interaction, by convention */

struct results {
    json_t *root;
};

enum status results_create(const char *law, struct results **result, struct error *error)
{
    char stamp[CLOCK_STAMP_SIZE], model[CORES_MODEL_SIZE];
    struct results *results = *result = calloc(1, sizeof *results);
    if (results)
        results->root = DOCUMENT(
            { "version", json_string(build_version()) }, { "commit", json_string(build_commit()) },
            { "compiler", json_string(build_compiler()) },
            { "date", json_string(clock_stamp(stamp)) }, { "cpu", json_string(cores_model(model)) },
            { "cores", json_integer(cores_available()) }, { "law", json_string(law) },
            { "rates", json_array() }, { "rows", json_array() });
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

static void add_rate(struct results *results, const struct bench_rate *rate)
{
    json_array_append_new(
        json_object_get(results->root, "rates"),
        DOCUMENT({ "isa", json_string(rate->isa) }, { "operation", json_string(rate->operation) },
                 { "type", json_string(rate->type) }, { "threads", json_integer(rate->threads) },
                 { "per_second", document_number(rate->per_second) }));
}

static void add_members(json_t *object, json_t *rest)
{
    json_object_update(object, rest);
    json_decref(rest);
}

static void add_row(struct results *results, const struct bench_row *row)
{
    const bool multipoles = row->accuracy > 0;
    const struct force_audit *const errors = &row->multipoles.errors;
    const struct force_profile *const profile = &row->multipoles.profile;
    json_t *json = DOCUMENT(
        { "part", json_string(row->title) }, { "backend", json_string(row->backend) },
        { "kernel", json_string(row->kernel) }, { "precision", json_string(row->precision) },
        { "isa", json_string(row->isa) }, { "threads", json_integer(row->threads) },
        { "systems", json_integer((json_int_t)row->systems) },
        { "bodies", json_integer((json_int_t)row->count) },
        { "method", json_string(multipoles ? force_fmm.name : force_direct.name) });
    if (multipoles)
        document_set(&json, "accuracy", json_real(row->accuracy));
    if (row->skipped)
        document_set(&json, "skipped", json_string(row->skipped));
    else
        add_members(json, DOCUMENT({ "seconds", document_number(row->seconds) },
                                   { "median_seconds", document_number(row->median) },
                                   { "repeats", json_integer((json_int_t)row->repeats) },
                                   { "interactions_per_second", document_number(row->rate) },
                                   { "gflops",
                                     document_number(multipoles ? NAN : 1e-9 * FLOP * row->rate) },
                                   { "limit", document_number(row->limit > 0 ? row->limit : NAN) },
                                   { "error", document_number(row->error) },
                                   { "far_error", document_number(row->far_error) }));
    if (!row->skipped && multipoles)
        add_members(json, DOCUMENT({ "error_99", document_number(errors->error_99) },
                                   { "error_9999", document_number(errors->error_9999) },
                                   { "largest_error", document_number(errors->largest) },
                                   { "near_share", document_number(profile->near) },
                                   { "far_share", document_number(profile->far) },
                                   { "tree_share", document_number(profile->tree) },
                                   { "control_share", document_number(profile->control) },
                                   { "near_pairs", document_number(profile->pairs) }));
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

static void put_cell(struct text *csv, const json_t *value)
{
    const char *words = json_string_value(value);
    const char *quote = words && strchr(words, ',') ? "\"" : "";
    if (words)
        text_print(csv, "%s%s%s", quote, words, quote);
    else if (json_is_integer(value))
        text_print(csv, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        text_print(csv, "%.6g", json_real_value(value));
}

static void put_rows(struct text *csv, const json_t *rows)
{
    size_t index;
    const json_t *row;
    for (size_t k = 0; k < COUNT_OF(columns); k++)
        text_print(csv, "%s%s", k ? "," : "", columns[k]);
    json_array_foreach(rows, index, row)
    {
        for (size_t k = 0; k < COUNT_OF(columns); k++) {
            text_print(csv, k ? "," : "\n");
            put_cell(csv, json_object_get(row, columns[k]));
        }
    }
    text_print(csv, "\n");
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

/* Returns the points of a curve: for each number of bodies the best value of `column` among the
 * rows of the curve, times `unit`; small numbers of bodies first. The best is the least for times,
 * the greatest otherwise. */
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

/* Replaces the times in `points` by speed-ups, the time in `base` over the time in `points`;
 * numbers of bodies that only one of them has are removed. */
static void divide(const struct points *base, struct points *points)
{
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++)
        for (size_t j = 0; j < base->count; j++)
            if (base->x[j] == points->x[i]) {
                points->x[count] = points->x[i];
                points->y[count++] = base->y[j] / points->y[i];
            }
    points->count = count;
}

static const struct chart {
    const char *name, *y_label;
    const char *column;
    double unit;
    bool speed_up; /* each precision's speed-up over the serial reference, the last curve */
} charts[] = {
    { "bench-time", "time of a step (s)", "seconds", 1, false },
    { "bench-rate", "pair interactions (1e9 / s)", "interactions_per_second", 1e-9, false },
    { "bench-gflops", "GFLOP/s at 20 flop per interaction", "gflops", 1, false },
    { "bench-speed-up", "speed-up over the serial reference", "seconds", 1, true },
};

static enum status add_curves(const json_t *rows, const struct chart *chart, struct figure *figure,
                              struct error *error)
{
    const size_t serial = COUNT_OF(curves) - 1;
    const struct points base = collect(rows, &curves[serial], chart->column, chart->unit);
    for (size_t k = 0; k < serial + !chart->speed_up; k++) {
        struct points points = collect(rows, &curves[k], chart->column, chart->unit);
        if (chart->speed_up)
            divide(&base, &points);
        if (figure_curve(figure, curves[k].label, CURVE_LINE, curves[k].color, points.count,
                         points.x, points.y, error))
            return error->status;
    }
    return STATUS_OK;
}

static enum status draw(const struct results *results, const struct chart *chart,
                        struct directory *folder, struct error *error)
{
    struct figure figure = { .x_label = "bodies", .x_log = true, .y_log = true };
    snprintf(figure.name, sizeof figure.name, "%s", chart->name);
    snprintf(figure.title, sizeof figure.title, "%.90s", text_of(results->root, "cpu"));
    snprintf(figure.y_label, sizeof figure.y_label, "%s", chart->y_label);
    enum status status = add_curves(json_object_get(results->root, "rows"), chart, &figure, error);
    if (!status && figure.curve_count > 0) {
        status = plot_into(&figure, folder, error);
        if (!status)
            printf("  %s/%s.svg, .png\n", directory_path(folder), figure.name);
    }
    figure_free(&figure);
    return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char table_name[] = "bench.csv";

enum { FILES = 2 + PLOT_FILES * COUNT_OF(charts) };

static void list_files(struct plot_file files[FILES], const char *names[FILES])
{
    names[0] = directory_bench.manifest;
    names[1] = table_name;
    for (size_t k = 0, count = 2; k < COUNT_OF(charts); k++, count += PLOT_FILES)
        plot_files("", charts[k].name, files + count, names + count);
}

enum status results_open_folder(const char *path, struct directory **folder, struct error *error)
{
    struct plot_file files[FILES];
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
    struct text csv = { 0 };
    put_rows(&csv, json_object_get(results->root, "rows"));
    if (csv.failed)
        error_memory(error);
    else if (directory_replace_file(folder, table_name, csv.bytes, csv.length, error) == STATUS_OK)
        printf("  %s/%s\n", directory_path(folder), table_name);
    text_free(&csv);
    return error->status;
}

/* Writes bench.json before the other files: it is the manifest, whose list of files tells which
 * files a later benchmark may replace. */
static enum status write_json(const struct results *results, struct directory *folder,
                              struct error *error)
{
    struct plot_file files[FILES];
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

/* --- the terminal ----------------------------------------------------------------------------- */

static void clear_bar(const struct console *console)
{
    if (console->terminal)
        fprintf(stderr, "\r%*s\r", 60, "");
}

static void show_progress(void *context, double part)
{
    static const char marks[] = "########################################";
    const struct console *console = context;
    const int width = (int)(part * (double)(sizeof marks - 1) + 0.5);
    if (!console->terminal)
        return;
    if (part < 1)
        fprintf(stderr, "\r[%-40.*s] %3.0f %% ", width, marks, 100 * part);
    else
        clear_bar(console);
    fflush(stderr);
}

static void show_rate(void *context, const struct bench_rate *rate)
{
    struct console *console = context;
    printf("  %-10s %-16s %-7s %8.1f\n", rate->isa, rate->operation, rate->type,
           1e-9 * rate->per_second);
    fflush(stdout);
    add_rate(console->results, rate);
}

static void print_title(const char *title, bool multipoles)
{
    printf("\n%s\n  %6s %-9s %-6s %-10s %2s %9s", title, "bodies",
           multipoles ? "accuracy" : "kernel", "force", "isa", "th", "us/step");
    if (multipoles)
        printf(" %7s %7s %7s %7s  %4s %4s %4s %4s %6s\n", "error", "99 %", "99.99 %", "worst",
               "near", "far", "tree", "ctrl", "pairs");
    else
        printf(" %7s %5s %7s %7s\n", "G/s", "limit", "error", "far");
}

static void print_error(double error)
{
    if (isfinite(error))
        printf(" %7.1e", error);
    else
        printf(" %7s", "");
}

static void print_multipoles(const struct bench_row *row)
{
    const struct force_audit *const errors = &row->multipoles.errors;
    const struct force_profile *const profile = &row->multipoles.profile;
    const double shares[] = { profile->near, profile->far, profile->tree, profile->control };
    print_error(row->error);
    print_error(errors->error_99);
    print_error(errors->error_9999);
    print_error(errors->largest);
    printf(" ");
    for (size_t k = 0; k < COUNT_OF(shares) && isfinite(profile->near); k++)
        printf(" %4.2f", shares[k]);
    if (isfinite(profile->pairs))
        printf(" %6.0f", profile->pairs);
}

static void show_row(void *context, const struct bench_row *row)
{
    struct console *console = context;
    char limit[16] = "", accuracy[16];
    const bool multipoles = row->accuracy > 0;
    clear_bar(console);
    if (!console->title || strcmp(console->title, row->title) != 0 ||
        console->multipoles != multipoles)
        print_title(row->title, multipoles);
    console->title = row->title;
    console->multipoles = multipoles;
    *(multipoles ? &console->any_multipoles : &console->any_direct) = true;
    add_row(console->results, row);
    if (row->device[0])
        snprintf(console->device, sizeof console->device, "%s", row->device);
    snprintf(accuracy, sizeof accuracy, "%g", row->accuracy);
    const char *kernel = multipoles                            ? accuracy
                         : strcmp(row->backend, "openmp") == 0 ? row->kernel
                                                               : row->backend;
    if (row->skipped) {
        printf("  %6zu %-9s %-6s %-10s not measured: %s\n", row->count, kernel, row->precision,
               row->isa, row->skipped);
        return;
    }
    if (row->limit > 0)
        snprintf(limit, sizeof limit, "%.0f %%", 100 * row->rate / row->limit);
    printf("  %6zu %-9s %-6s %-10s %2d %9.4g", row->count, kernel, row->precision, row->isa,
           row->threads, 1e6 * row->seconds);
    if (multipoles) {
        print_multipoles(row);
    } else {
        printf(" %7.3g %5s", 1e-9 * row->rate, limit);
        print_error(row->error);
        print_error(row->far_error);
    }
    printf("\n");
    fflush(stdout);
}

void console_print_legend(const struct console *console, const struct integrator *integrator)
{
    printf("\n"
           "us/step  least time of a step of %s, in microseconds\n",
           integrator->variant.name);
    if (console->any_direct)
        printf("G/s      1e9 ordered pair interactions per second; at 20 flop each, 20 GFLOP/s\n"
               "limit    of the rate that the arithmetic of the kernel's inner loop would have\n"
               "         alone, measured in turns with it\n"
               "error    of the forces, rms, against sums in long double; far: the same for two\n"
               "         groups of bodies that stand 10^4 of their sizes apart\n");
    if (console->any_multipoles)
        printf(
            "accuracy that fast multipoles are asked for; their errors are over the rms of the\n"
            "         accelerations: rms, the error that 99 %% and 99.99 %% of the bodies do not\n"
            "         exceed, and the largest, of up to %d bodies (10^9 pairs) beside direct sums\n"
            "         in double; the serial backend has the rms against sums in long double\n"
            "near     share of the time in sums over pairs of bodies; far: in cells that act as\n"
            "         wholes; tree: in the tree and its multipoles; ctrl: in the search for the\n"
            "         tolerance and the audit\n"
            "pairs    of the near sums, of each body\n",
            MULTIPOLES_COMPARED);
    if (console->device[0])
        printf("cuda     %s\n", console->device);
}

struct bench_sink console_sink(struct console *console)
{
    return (struct bench_sink){ show_rate, show_row, show_progress, console };
}
