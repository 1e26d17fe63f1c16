#include "tuning.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "devices.h"

/* By the register counts of the kernels; nothing here was measured. */
static const struct gpu_tuning_row defaults[] = {
    { "simt", PRECISION_SINGLE, 256, 0, 1, 16 },
    { "simt", PRECISION_MIXED, 256, 0, 1, 16 },
    { "simt", PRECISION_DOUBLE, 256, 0, 1, 16 },
    { "tiled", PRECISION_SINGLE, 256, 256, 1, 16 },
    { "tiled", PRECISION_MIXED, 256, 256, 1, 16 },
    { "tiled", PRECISION_DOUBLE, 256, 256, 1, 16 },
    { "blocked", PRECISION_SINGLE, 128, 512, 4, 16 },
    { "blocked", PRECISION_MIXED, 128, 512, 4, 16 },
    { "blocked", PRECISION_DOUBLE, 128, 256, 2, 16 },
    { "symmetric", PRECISION_SINGLE, 128, 256, 8, 16 },
    { "symmetric", PRECISION_MIXED, 128, 256, 8, 16 },
    { "symmetric", PRECISION_DOUBLE, 128, 256, 4, 16 },
};

struct gpu_tuning_row *gpu_tuning_find(struct gpu_tuning_table *table, const char *kernel,
                                       enum precision precision)
{
    for (size_t k = 0; k < table->count; k++)
        if (strcmp(table->rows[k].kernel, kernel) == 0 && table->rows[k].precision == precision)
            return &table->rows[k];
    return NULL;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Fewer bodies per thread, and then more blocks for the same ones, until the device is full. */
struct gpu_tuning gpu_tuning_fit(const struct gpu_tuning_row *row, const struct gpu_device *device,
                                 size_t systems, size_t bodies, unsigned segments)
{
    struct gpu_tuning tuning = { row->block, row->tile, row->bodies, 1 };
    const double wanted = (double)row->warps * device->multiprocessors;
    const double threads = (double)systems * (double)((bodies + 31) / 32); /* in warps */
    while (tuning.bodies > 1 && threads / tuning.bodies * segments < wanted)
        tuning.bodies /= 2;
    const double split = wanted * tuning.bodies / threads;
    if (split > 1)
        tuning.split = split < segments ? (int)split + 1 : (int)segments;
    tuning.split = smaller(tuning.split, (int)segments);
    return tuning;
}

/* --- the cache: {"NVIDIA H200 sm_90": [{"kernel": "blocked", ...}, ...], ...}
 * --------------------*/

static bool cache_path(const char *path, struct text *text)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (path)
        text_print(text, "%s", path);
    else if (cache && *cache == '/')
        text_print(text, "%s/orrery/gpu-tuning.json", cache);
    else if (home && *home)
        text_print(text, "%s/.cache/orrery/gpu-tuning.json", home);
    return text->bytes && !text->failed;
}

static void device_key(const struct gpu_device *device, char key[280])
{
    snprintf(key, 280, "%s %s", device->name, device->isa);
}

static int member(const json_t *object, const char *name)
{
    return (int)json_integer_value(json_object_get(object, name));
}

/* A launch that the kernels were not built for must not come out of a file. */
static bool sensible(const struct gpu_tuning_row *row)
{
    const bool power = row->bodies == 1 || row->bodies == 2 || row->bodies == 4;
    return row->block >= 32 && row->block <= 1024 && row->block % 32 == 0 && row->tile >= 32 &&
           row->tile <= 1024 && row->tile % 32 == 0 && power && row->warps > 0 &&
           row->warps <= 1024;
}

static void take_row(const json_t *object, struct gpu_tuning_table *table)
{
    const char *kernel = json_string_value(json_object_get(object, "kernel"));
    const char *precision = json_string_value(json_object_get(object, "precision"));
    for (size_t k = 0; kernel && precision && k < table->count; k++) {
        struct gpu_tuning_row row = table->rows[k];
        row.block = member(object, "block");
        row.tile = member(object, "tile");
        row.bodies = member(object, "bodies");
        row.warps = member(object, "warps");
        if (strcmp(row.kernel, kernel) == 0 &&
            strcmp(precision_names[row.precision], precision) == 0 && sensible(&row)) {
            table->rows[k] = row;
            table->stored++;
        }
    }
}

void gpu_tuning_load(const struct gpu_device *device, const char *path,
                     struct gpu_tuning_table *table)
{
    memcpy(table->rows, defaults, sizeof defaults);
    table->count = COUNT_OF(defaults);
    table->stored = 0;
    struct text file = { 0 };
    json_t *root = cache_path(path, &file) ? json_load_file(file.bytes, 0, NULL) : NULL;
    char key[280];
    device_key(device, key);
    const json_t *rows = json_object_get(root, key);
    for (size_t k = 0; k < json_array_size(rows); k++)
        take_row(json_array_get(rows, k), table);
    json_decref(root);
    text_free(&file);
}

static json_t *rows_json(const struct gpu_tuning_table *table)
{
    json_t *rows = json_array();
    for (size_t k = 0; k < table->count; k++) {
        const struct gpu_tuning_row *row = &table->rows[k];
        if (row->tile > 0)
            json_array_append_new(
                rows, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "kernel", row->kernel,
                                "precision", precision_names[row->precision], "block", row->block,
                                "tile", row->tile, "bodies", row->bodies, "warps", row->warps));
    }
    return rows;
}

/* The folders above the file `path`, which is put together again. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777); /* one that cannot be made is found out when the file is written */
        *slash = '/';
    }
}

enum status gpu_tuning_store(const struct gpu_device *device, const char *path,
                             const struct gpu_tuning_table *table, struct error *error)
{
    struct text file = { 0 };
    if (!cache_path(path, &file)) {
        text_free(&file);
        return error_set(error, STATUS_CANT_CREATE, "there is no home directory for the cache");
    }
    json_t *root = json_load_file(file.bytes, 0, NULL);
    if (!json_is_object(root)) {
        json_decref(root);
        root = json_object();
    }
    char key[280];
    device_key(device, key);
    json_object_set_new(root, key, rows_json(table));
    make_folders(file.bytes);
    enum status status = STATUS_OK;
    if (json_dump_file(root, file.bytes, JSON_INDENT(2) | JSON_SORT_KEYS))
        status = error_system(error, STATUS_CANT_CREATE, errno, file.bytes);
    json_decref(root);
    text_free(&file);
    return status;
}
