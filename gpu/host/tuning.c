#include "tuning.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/document.h"
#include "base/text.h"
#include "devices.h"

/* --- rows --------------------------------------------------------------------------------------*/

/* Returns the distance between two numbers of bodies, the logarithm of their ratio. */
static double distance(size_t a, size_t b)
{
    return fabs(log((double)a / (double)b));
}

const struct gpu_tuning_row *gpu_tuning_find(const struct gpu_tuning_table *table,
                                             enum gpu_kernel_id kernel, enum precision precision,
                                             size_t count)
{
    const struct gpu_tuning_row *best = NULL;
    for (size_t k = 0; k < table->count; k++) {
        const struct gpu_tuning_row *row = &table->rows[k];
        if (row->kernel == kernel && row->precision == precision &&
            (!best || best->count == 0 ||
             (row->count > 0 && distance(row->count, count) < distance(best->count, count))))
            best = row;
    }
    return best;
}

void gpu_tuning_set(struct gpu_tuning_table *table, const struct gpu_tuning_row *row)
{
    size_t k = 0;
    while (k < table->count &&
           (table->rows[k].kernel != row->kernel || table->rows[k].precision != row->precision ||
            table->rows[k].count != row->count))
        k++;
    if (k == GPU_TUNING_ROWS)
        return;
    table->rows[k] = *row;
    table->count += k == table->count;
}

/* --- what fills a device -----------------------------------------------------------------------*/

/* The cost of a slot, the sum of one body that a block writes and the next kernel reads, as the
 * number of pairs that are summed in this time: 48 bytes there and back at 4.8e12 bytes/s, while
 * 2e12 pairs/s are summed (on an H200; the ratio is similar on other devices). */
static const double PAIRS_OF_A_SLOT = 20;

/* The part of a pair's instructions that loads body j and runs the loop, if a thread has one body.
 * The bodies of a thread share these instructions (a pair takes 13.4 with four bodies, 14.2 with
 * one: instructions.h). */
static const double SHARED_PART = 0.08;

static const struct gpu_limits *limits_of(const struct gpu_tuning_row *row)
{
    return &gpu_catalog[row->kernel].limits[row->precision];
}

static unsigned blocks_at_once(const struct gpu_tuning_problem *problem,
                               const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    const unsigned found = problem->at_once ? problem->at_once(problem->context, tuning) : 0;
    const int built = tuning->at_once > 0 ? tuning->at_once : limits->at_once.least;
    return found > 0 ? found : (unsigned)(built * limits->block.most / tuning->block);
}

/* Returns the part of a device's time that a launch spends on pairs. A wave is as many blocks as
 * the device runs at once; every block is taken to last as long as one with the most segments, and
 * every multiprocessor to be as fast as when it is full. */
static double used_part(const struct gpu_tuning_problem *problem, const struct gpu_limits *limits,
                        const struct gpu_tuning *tuning, unsigned at_once)
{
    const double split = tuning->split, size = (double)tuning->block * tuning->bodies;
    const double blocks = (double)problem->systems * ceil((double)problem->bodies / size) * split;
    const double wave = (double)at_once * problem->multiprocessors;
    const double segments = problem->segments, each = ceil(segments / split);
    const double overhead = 1 + SHARED_PART * (1.0 / tuning->bodies - 1.0 / limits->bodies.most);
    const double slots = tuning->split > 1 ? segments - floor(segments / split) + 1 : 0;
    const double others = segments * (double)problem->segment;
    const double pairs = (double)problem->systems * (double)problem->bodies * others;
    const double time = ceil(blocks / wave) * wave * size * each * (double)problem->segment;
    return pairs / (time * overhead + pairs / others * slots * PAIRS_OF_A_SLOT);
}

/* Returns the number of bodies per thread for a kernel of the third law, for systems of `count`
 * bodies. It decides the tiles, which are part of the order of sums, so it depends on nothing
 * else. */
static int bodies_of_tiles(const struct gpu_limits *limits, size_t count)
{
    int bodies = limits->bodies.most;
    while (bodies > limits->bodies.least &&
           ceil((double)count / (limits->start.block * bodies)) < GPU_ENOUGH_TILES)
        bodies /= 2;
    return bodies;
}

struct gpu_tuning gpu_tuning_fit(const struct gpu_tuning_row *row,
                                 const struct gpu_tuning_problem *problem, double *used)
{
    const struct gpu_limits *limits = limits_of(row);
    const unsigned splits = gpu_catalog[row->kernel].splits ? problem->segments : 1;
    struct gpu_range bodies = { limits->bodies.least, row->tuning.bodies };
    if (gpu_catalog[row->kernel].third_law)
        bodies.least = bodies.most = bodies_of_tiles(limits, problem->bodies);
    struct gpu_tuning best = row->tuning, next = row->tuning;
    double most = 0;
    for (next.bodies = bodies.most; next.bodies >= bodies.least; next.bodies /= 2) {
        const unsigned at_once = blocks_at_once(problem, limits, &next);
        for (next.split = 1; next.split <= (int)splits; next.split++) {
            const double part = used_part(problem, limits, &next, at_once);
            if (part > most * (1 + 1e-9)) {
                most = part;
                best = next;
            }
        }
    }
    if (used)
        *used = most;
    return best;
}

bool gpu_tuning_stays(size_t systems, size_t count, int multiprocessors)
{
    return count <= GPU_RESIDENT_ALONE ||
           (count <= GPU_RESIDENT_BODIES && 2 * systems >= (size_t)multiprocessors);
}

/* Cycles for which an ordered pair in the inner loop of gpu_resident() keeps a scheduler of the
 * H200 if a thread has one body, and two: instructions for a warp, of which one in fp64 takes two
 * cycles; and its quarter of the time for which shared memory is busy with body j: it gives 128
 * bytes per cycle, and 16 bytes for each of 32 lanes take 4 cycles. The longer one counts. */
static const struct {
    double issued[GPU_RESIDENT_MOST], loaded;
} resident_cycles[] = {
    [PRECISION_DOUBLE] = { { 2 * GPU_INSTRUCTIONS_DOUBLE_2, 2 * GPU_INSTRUCTIONS_DOUBLE_2 }, 32 },
    [PRECISION_MIXED] = { { GPU_INSTRUCTIONS_RESIDENT_MIXED_1, GPU_INSTRUCTIONS_RESIDENT_MIXED_2 },
                          32 },
    [PRECISION_SINGLE] = { { GPU_INSTRUCTIONS_RESIDENT_1, GPU_INSTRUCTIONS_RESIDENT_2 }, 16 },
};

struct gpu_tuning gpu_tuning_resident(const struct gpu_tuning *like, enum precision precision,
                                      const struct gpu_tuning_problem *problem,
                                      struct gpu_range bodies)
{
    enum { WARP = 32, SCHEDULERS = 4 };
    const double room = GPU_RESIDENT_BODIES;
    const double systems = fmax(1, ceil((double)problem->systems / problem->multiprocessors));
    struct gpu_tuning best = *like, next = *like;
    double least = INFINITY;
    for (next.bodies = bodies.least; next.bodies <= bodies.most; next.bodies++) {
        const double threads = ceil((double)problem->bodies / next.bodies);
        const double all = fmax(1, (double)problem->systems * threads);
        const double split = fmin(problem->segments, room * problem->multiprocessors / all);
        const double most = fmax(1, floor(fmin(split, room / threads)));
        const double rounds = ceil(problem->segments / most);
        const double parts = ceil(problem->segments / rounds); /* as few as the rounds need */
        const double warps = ceil(systems * threads * parts / (WARP * SCHEDULERS));
        const double cycles = fmax(resident_cycles[precision].issued[next.bodies - 1],
                                   resident_cycles[precision].loaded / next.bodies);
        const double time = warps * rounds * (double)problem->segment * next.bodies * cycles;
        next.split = (int)parts;
        if (time < least * (1 - 1e-9)) {
            least = time;
            best = next;
        }
    }
    return best;
}

unsigned gpu_tuning_step(size_t systems, size_t count, int multiprocessors)
{
    const size_t device = (size_t)(multiprocessors > 1 ? multiprocessors : 1);
    const size_t bodies = (systems * count + device - 1) / device;
    return bodies <= GPU_STEP_BODIES ? (unsigned)bodies : 0;
}

/* --- the cache: {"NVIDIA H200 sm_90": [{"kernel": "blocked", ...}, ...], ...} -----------------*/

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

/* Returns a member of a JSON object, or 0 if it is not a positive int. */
static int member(const json_t *object, const char *name)
{
    const json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 && value <= INT32_MAX ? (int)value : 0;
}

/* Takes a row of the file into the table if the kernel was built for its launch. */
static void take_row(const json_t *object, struct gpu_tuning_table *table)
{
    const char *kernel = json_string_value(json_object_get(object, "kernel"));
    const char *precision = json_string_value(json_object_get(object, "precision"));
    struct gpu_tuning_row row = {
        .kernel = kernel ? gpu_catalog_find(kernel) : GPU_KERNELS,
        .count = (size_t)member(object, "count"),
        .tuning = { .block = member(object, "block"),
                    .tile = member(object, "tile"),
                    .bodies = member(object, "bodies"),
                    .split = 1,
                    .at_once = member(object, "at_once") },
    };
    if (row.kernel == GPU_KERNELS || !precision || member(object, "count") < 1)
        return;
    for (int p = 0; precision_names[p]; p++) {
        row.precision = (enum precision)p;
        if (strcmp(precision_names[p], precision) == 0 &&
            gpu_limits_allow(limits_of(&row), &row.tuning))
            gpu_tuning_set(table, &row);
    }
}

static void take_starts(struct gpu_tuning_table *table)
{
    table->count = 0;
    for (int id = 0; id < GPU_KERNELS; id++)
        for (int p = 0; precision_names[p]; p++)
            table->rows[table->count++] = (struct gpu_tuning_row){
                .kernel = (enum gpu_kernel_id)id,
                .precision = (enum precision)p,
                .tuning = gpu_catalog[id].limits[p].start,
            };
}

void gpu_tuning_load(const struct gpu_device *device, const char *path,
                     struct gpu_tuning_table *table)
{
    take_starts(table);
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
        const struct gpu_tuning *tuning = &row->tuning;
        if (row->count > 0)
            document_append(&rows,
                            DOCUMENT({ "kernel", json_string(gpu_catalog[row->kernel].name) },
                                     { "precision", json_string(precision_names[row->precision]) },
                                     { "count", json_integer((json_int_t)row->count) },
                                     { "block", json_integer(tuning->block) },
                                     { "tile", json_integer(tuning->tile) },
                                     { "bodies", json_integer(tuning->bodies) },
                                     { "at_once", json_integer(tuning->at_once) }));
    }
    return rows;
}

/* Makes the folders above the file `path`; for each, the string is cut at a slash for a moment. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777); /* a failure shows when the file is written */
        *slash = '/';
    }
}

/* Writes the file under another name first, and then renames it: a reader meanwhile, or after a
 * failure such as a full disk, finds the old file. */
static enum status write_whole(const json_t *root, const char *path, struct error *error)
{
    struct text next = { 0 };
    text_print(&next, "%s.new", path);
    enum status status = next.failed ? error_memory(error) : STATUS_OK;
    if (!status && (json_dump_file(root, next.bytes, JSON_INDENT(2) | JSON_SORT_KEYS) ||
                    rename(next.bytes, path))) {
        status = error_system(error, STATUS_CANT_CREATE, errno, path);
        unlink(next.bytes);
    }
    text_free(&next);
    return status;
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
    document_set(&root, key, rows_json(table));
    make_folders(file.bytes);
    const enum status status = root ? write_whole(root, file.bytes, error) : error_memory(error);
    json_decref(root);
    text_free(&file);
    return status;
}
