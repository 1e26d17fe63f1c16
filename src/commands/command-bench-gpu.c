/*
 * orrery bench --gpu: measures how fast a GPU computes, and compares that with the limits of the
 * GPU and with the CPU.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/build.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/memory.h"
#include "bench/bench.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "force/direct/reference.h"
#include "gpu/bench/bench-parts.h"
#include "gpu/host/devices.h"
#include "output/directory.h"
#include "report/plot.h"
#include "simulation/simulation.h"

enum { BAR_WIDTH = 40, MOST_SIZES = 32 };

struct collected {
    json_t *about;            /* content of bench-gpu.json */
    struct directory *folder; /* folder that gets bench-gpu.json; NULL if none was asked for */
    json_t *rows;             /* results measured so far, a member of `about` */
    int part;                 /* enum gpu_bench_part of the last title printed; -1 before any */
    size_t skipped;           /* number of rows for which there was no time */
    struct gpu_bench_row blocks[16]; /* rates by tile and block, for the bar chart */
    size_t block_count;
};

static const char *const titles[GPU_BENCH_PARTS] = {
    [GPU_BENCH_RATES] = "operations of the device",
    [GPU_BENCH_ACCURACY] = "accuracy",
    [GPU_BENCH_BLOCKS] = "tiled: tile x block",
    [GPU_BENCH_TUNING] = "tuning of blocked",
    [GPU_BENCH_LADDER] = "ladder",
    [GPU_BENCH_SIZES] = "sizes",
    [GPU_BENCH_ENSEMBLES] = "ensembles",
    [GPU_BENCH_STEPS] = "steps of velocity Verlet",
};

/* --- the table ---------------------------------------------------------------------------------*/

static void print_title(enum gpu_bench_part part)
{
    printf("\n%s\n", titles[part]);
    if (part == GPU_BENCH_RATES)
        printf("  %-28s %12s %12s\n", "", "G/s", "clock says");
    else if (part == GPU_BENCH_ACCURACY)
        printf("  %-28s %-7s %9s  %s\n", "", "", "bodies", "rms error of the force");
    else
        printf("  %-28s %-7s %14s %5s %5s %2s %5s %10s %10s %6s\n", "", "", "bodies", "block",
               "tile", "a", "split", "ms", "G pairs/s", "limit");
}

static void print_timed(const struct gpu_bench_row *row)
{
    char bodies[32], limit[16] = "";
    if (row->systems > 1)
        snprintf(bodies, sizeof bodies, "%zu x %zu", row->systems, row->count);
    else
        snprintf(bodies, sizeof bodies, "%zu", row->count);
    if (row->limit > 0)
        snprintf(limit, sizeof limit, "%.0f %%", 100 * row->rate / row->limit);
    printf("  %-28s %-7s %14s %5d %5d %2d %5d %10.4f %10.1f %6s\n", row->label,
           precision_names[row->precision], bodies, row->tuning.block, row->tuning.tile,
           row->tuning.bodies, row->tuning.split, 1e3 * row->seconds, 1e-9 * row->rate, limit);
}

/* Prints the measured rate of an operation and the rate that the clock allows: "-" if that is
 * unknown, because multiprocessors differ in how many units they have for the operation. */
static void print_operation(const struct gpu_bench_row *row)
{
    char limit[16] = "-";
    if (row->limit > 0)
        snprintf(limit, sizeof limit, "%.1f", 1e-9 * row->limit);
    printf("  %-28s %12.1f %12s\n", row->label, 1e-9 * row->rate, limit);
}

static void print_row(const struct gpu_bench_row *row)
{
    if (row->skipped)
        printf("  %-28s %-7s %zu x %zu: skipped, there was no time\n", row->label,
               precision_names[row->precision], row->systems, row->count);
    else if (row->part == GPU_BENCH_RATES)
        print_operation(row);
    else if (row->part == GPU_BENCH_ACCURACY)
        printf("  %-28s %-7s %9zu  %.2e\n", row->label, precision_names[row->precision], row->count,
               row->error);
    else
        print_timed(row);
    fflush(stdout);
}

static void print_bars(const struct collected *collected)
{
    double best = 0;
    for (size_t k = 0; k < collected->block_count; k++)
        best = fmax(best, collected->blocks[k].rate);
    for (size_t k = 0; k < collected->block_count && best > 0; k++) {
        const struct gpu_bench_row *row = &collected->blocks[k];
        const int width = (int)(BAR_WIDTH * row->rate / best + 0.5);
        printf("  tile %4d block %4d %.*s %.1f\n", row->tuning.tile, row->tuning.block, width,
               "########################################", 1e-9 * row->rate);
    }
}

/* --- results ---------------------------------------------------------------------------------- */

static json_t *row_json(const struct gpu_bench_row *row)
{
    json_t *json =
        DOCUMENT({ "part", json_string(titles[row->part]) }, { "label", json_string(row->label) },
                 { "precision", json_string(precision_names[row->precision]) },
                 { "systems", json_integer((json_int_t)row->systems) },
                 { "count", json_integer((json_int_t)row->count) },
                 { "skipped", json_boolean(row->skipped) });
    if (row->skipped)
        return json;
    json_t *rest = DOCUMENT(
        { "block", json_integer(row->tuning.block) }, { "tile", json_integer(row->tuning.tile) },
        { "bodies", json_integer(row->tuning.bodies) },
        { "split", json_integer(row->tuning.split) }, { "seconds", document_number(row->seconds) },
        { "median_seconds", document_number(row->median) }, { "rate", document_number(row->rate) },
        { "limit", document_number(row->limit > 0 ? row->limit : NAN) },
        { "error", document_number(row->error) });
    json_object_update(json, rest);
    json_decref(rest);
    return json;
}

static const char *const file_names[] = { "bench-gpu.json", "bench-gpu.dat", "bench-gpu.gp",
                                          "bench-gpu.svg", "bench-gpu.png" };

/* Opens the directory for the results, before anything is measured, so that a bad path costs no
 * time. */
static enum status open_folder(const char *path, struct directory **folder, struct error *error)
{
    if (directory_open_kind(path, &directory_bench_gpu, DIRECTORY_FORCE, folder, error) ==
            STATUS_OK &&
        directory_check(*folder, file_names, COUNT_OF(file_names), error)) {
        directory_close(*folder);
        *folder = NULL;
    }
    return error->status;
}

static enum status save_results(struct directory *folder, json_t *about, struct error *error)
{
    return directory_note(folder, json_incref(about), file_names, COUNT_OF(file_names), error);
}

/* Prints a row and saves it at once, so that nothing is lost if the program is ended. */
static enum status collect(void *context, const struct gpu_bench_row *row, struct error *error)
{
    struct collected *collected = context;
    if (collected->part != (int)row->part) {
        if (collected->part == GPU_BENCH_BLOCKS)
            print_bars(collected);
        print_title(row->part);
        collected->part = (int)row->part;
    }
    if (row->part != GPU_BENCH_TUNING || row->best || row->skipped)
        print_row(row);
    collected->skipped += row->skipped;
    if (row->part == GPU_BENCH_BLOCKS && !row->skipped &&
        collected->block_count < COUNT_OF(collected->blocks))
        collected->blocks[collected->block_count++] = *row;
    json_array_append_new(collected->rows, row_json(row));
    return collected->folder ? save_results(collected->folder, collected->about, error) : STATUS_OK;
}

/* --- the CPU ---------------------------------------------------------------------------------- */

/* Sets *seconds to the least time of a step, among up to 20 steps in about 0.2 s. */
static enum status time_cpu(struct simulation *simulation, double *seconds, struct error *error)
{
    enum status status = simulation_advance(simulation, 1, error);
    const double end = clock_seconds() + 0.2;
    *seconds = INFINITY;
    for (int k = 0; k < 20 && !status && (k == 0 || clock_seconds() < end); k++) {
        const double start = clock_seconds();
        status = simulation_advance(simulation, 1, error);
        *seconds = fmin(*seconds, clock_seconds() - start);
    }
    return status;
}

static enum status bench_cpu(size_t largest, json_t *rows, struct error *error)
{
    const struct simulation settings = {
        .physics = { .gravitational_constant = 1, .softening = 0.1 },
        .integrator = integrator_find("velocity-verlet"),
        .step = 1e-6,
        .class_ = &backend_openmp,
        .options.force = { .precision = PRECISION_SINGLE, .kernel = "auto", .isa = "auto" },
    };
    printf("\nall CPU cores, steps of velocity Verlet\n  %9s %12s %10s\n", "bodies", "ms",
           "G pairs/s");
    double seconds = 0;
    for (size_t count = 1024; count <= largest && seconds < 1; count *= 2) {
        struct bodies *bodies;
        struct simulation simulation = settings;
        if (!cube_create(count, true, false, &bodies, error) &&
            !simulation_take(&simulation, bodies, error) && !simulation_start(&simulation, error))
            time_cpu(&simulation, &seconds, error);
        simulation_destroy(&simulation);
        if (error->status)
            return error->status;
        const double rate = reference_pairs(1.0, (double)count) / seconds;
        printf("  %9zu %12.4f %10.2f\n", count, 1e3 * seconds, 1e-9 * rate);
        fflush(stdout);
        json_array_append_new(rows, DOCUMENT({ "count", json_integer((json_int_t)count) },
                                             { "seconds", document_number(seconds) },
                                             { "rate", document_number(rate) }));
    }
    return STATUS_OK;
}

/* --- files -------------------------------------------------------------------------------------*/

static bool says(const json_t *string, const char *word)
{
    return strcmp(json_string_value(string), word) == 0;
}

/* Adds a curve to the figure: from the rows with this label and precision of the part "sizes" (from
 * all rows if `label` is NULL, which stands for the CPU), the rate over the number of bodies, or
 * with `limit` the rate that the hardware allows. */
static enum status add_curve(struct figure *figure, const json_t *rows, const char *label,
                             const char *precision, bool limit, int color, struct error *error)
{
    double x[MOST_SIZES], y[MOST_SIZES];
    size_t count = 0, index;
    const json_t *row;
    json_array_foreach(rows, index, row)
    {
        const json_t *value = limit ? json_object_get(row, "limit") : json_object_get(row, "rate");
        if ((!label || (says(json_object_get(row, "part"), titles[GPU_BENCH_SIZES]) &&
                        says(json_object_get(row, "label"), label) &&
                        says(json_object_get(row, "precision"), precision))) &&
            json_is_real(value) && count < MOST_SIZES) {
            x[count] = (double)json_integer_value(json_object_get(row, "count"));
            y[count++] = 1e-9 * json_real_value(value);
        }
    }
    char name[FIGURE_LABEL_SIZE] = "all CPU cores, single";
    if (label)
        snprintf(name, sizeof name, "%s %s%s", label, precision, limit ? ", limit" : "");
    return figure_curve(figure, limit ? "" : name, limit ? CURVE_DASHED : CURVE_LINE, color, count,
                        x, y, error);
}

static enum status draw_sizes(const json_t *rows, const json_t *cpu, const char *device,
                              struct directory *folder, struct error *error)
{
    static const struct {
        const char *label, *precision;
    } curves[] = { { "tiled", "single" },
                   { "blocked", "single" },
                   { "symmetric", "single" },
                   { "blocked", "mixed" },
                   { "blocked", "double" } };
    struct figure figure = { .name = "bench-gpu",
                             .x_label = "bodies",
                             .y_label = "pair interactions (1e9 / s)",
                             .x_log = true,
                             .y_log = true };
    snprintf(figure.title, sizeof figure.title, "%.90s", device);
    enum status status = STATUS_OK;
    for (size_t k = 0; k < COUNT_OF(curves) && !status; k++)
        status =
            add_curve(&figure, rows, curves[k].label, curves[k].precision, false, (int)k, error);
    for (size_t k = 1; k < 3 && !status; k++)
        status =
            add_curve(&figure, rows, curves[k].label, curves[k].precision, true, (int)k, error);
    if (!status)
        status = add_curve(&figure, cpu, NULL, "", false, 5, error);
    struct error without = { 0 };
    if (!status && figure.curve_count == 0)
        printf("; no figure: nothing was measured over N\n");
    else if (!status && plot_probe(&without))
        printf("; no figure: %s\n", without.text);
    else if (!status) {
        status = plot_into(&figure, folder, error);
        if (status)
            printf("; no figure\n");
        else
            printf(", %s.svg, %s.png\n", figure.name, figure.name);
    }
    figure_free(&figure);
    return status;
}

static enum status write_files(struct directory *folder, json_t *about, const char *device,
                               struct error *error)
{
    if (save_results(folder, about, error))
        return error->status;
    printf("\nwritten: %s/%s", directory_path(folder), file_names[0]);
    return draw_sizes(json_object_get(about, "rows"), json_object_get(about, "cpu"), device, folder,
                      error);
}

static json_t *about_json(const struct gpu_device *device)
{
    char stamp[CLOCK_STAMP_SIZE];
    return DOCUMENT(
        { "version", json_string(build_version()) }, { "commit", json_string(build_commit()) },
        { "date", json_string(clock_stamp(stamp)) }, { "device", json_string(device->name) },
        { "isa", json_string(device->isa) }, { "memory", json_integer((json_int_t)device->memory) },
        { "multiprocessors", json_integer(device->multiprocessors) },
        { "clock", document_number(device->clock) }, { "driver", json_integer(device->driver) },
        { "runtime", json_integer(device->runtime) }, { "rows", json_array() },
        { "cpu", json_array() });
}

static enum status parse_options(int argc, char **argv, struct gpu_bench_options *options,
                                 long long *device, const char **path, bool *helped,
                                 struct error *error)
{
    bool gpu = false, forget = false;
    long long largest = 1048576, bodies = 0;
    const struct argument table[] = {
        { 0, "gpu", NULL, ARGUMENT_FLAG, &gpu, "measure a GPU" },
        { 0, "device", "N", ARGUMENT_INTEGER, device, "which one, from 0" },
        { 0, "seconds", "S", ARGUMENT_REAL, &options->seconds,
          "skip parts that would take longer than this" },
        { 0, "largest", "N", ARGUMENT_INTEGER, &largest, "bodies of the largest system" },
        { 0, "bodies", "N", ARGUMENT_INTEGER, &bodies, "tune only for systems of N bodies" },
        { 0, "forget", NULL, ARGUMENT_FLAG, &forget,
          "do not keep the best tuning for the runs to come" },
        { 'o', "output", "FOLDER", ARGUMENT_TEXT, path,
          "write bench-gpu.json and a figure into FOLDER" },
    };
    const struct arguments arguments = {
        "orrery bench --gpu [options]",
        "Measures the rates of a GPU's operations, the accuracy and the speed of the force "
        "kernels,\n"
        "finds the best tuning and keeps it in the user's cache, and sets the CPU beside it.",
        table,
        COUNT_OF(table),
        0,
        0
    };
    struct argument_list plain;
    if (arguments_parse(&arguments, argc, argv, &plain, helped, error))
        return error->status;
    if (*device < 0 || largest < 64 || largest > UINT32_MAX || bodies < 0 || bodies > UINT32_MAX ||
        !(options->seconds > 0))
        return error_set(error, STATUS_USAGE,
                         "orrery bench --gpu: --device and --bodies must be at least 0, "
                         "--largest at least 64, no number of bodies above %" PRIu32
                         ", --seconds above 0",
                         UINT32_MAX);
    options->largest = (size_t)largest;
    options->bodies = (size_t)bodies;
    options->store = !forget;
    return STATUS_OK;
}

static enum status find_device(long long index, struct gpu_device *device, struct error *error)
{
    int count;
    if (gpu_device_count(&count, error))
        return error->status;
    if (index >= count)
        return error_set(error, STATUS_UNAVAILABLE, "there is no GPU %lld: this machine has %d",
                         index, count);
    return gpu_device_find((int)index, device, error);
}

static enum status measure_gpu(const struct gpu_bench_options *options, struct directory *folder,
                               struct error *error)
{
    json_t *about = about_json(options->device);
    struct collected collected = {
        .about = about, .folder = folder, .rows = json_object_get(about, "rows"), .part = -1
    };
    const struct gpu_bench_sink sink = { collect, &collected };
    enum status status = about ? gpu_bench(options, &sink, error) : error_memory(error);
    if (!status)
        status = bench_cpu(options->largest, json_object_get(about, "cpu"), error);
    if (collected.skipped > 0)
        printf("\n%zu lines were skipped: --seconds %g was not enough\n", collected.skipped,
               options->seconds);
    if (!status && folder)
        status = write_files(folder, about, options->device->name, error);
    json_decref(about);
    return status;
}

enum status command_bench_gpu(int argc, char **argv, struct error *error)
{
    struct gpu_device device;
    struct gpu_bench_options options = { .device = &device, .seconds = 100 };
    struct directory *folder = NULL;
    const char *path = NULL;
    long long index = 0;
    bool helped;
    if (parse_options(argc, argv, &options, &index, &path, &helped, error) || helped ||
        find_device(index, &device, error) || (path && open_folder(path, &folder, error)))
        return error->status;
    printf("%s, %s, %d multiprocessors, driver %d.%d\n", device.name, device.isa,
           device.multiprocessors, device.driver / 1000, device.driver % 1000 / 10);
    const enum status status = measure_gpu(&options, folder, error);
    directory_close(folder);
    return status;
}
