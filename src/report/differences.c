#include "report/differences.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "base/memory.h"
#include "base/text.h"

enum { LABEL_LETTERS = 48 }; /* the most bytes of the values that name a run */

/* --- what differs ----------------------------------------------------------------------------- */

static const json_t *value_at(const struct differences *differences, size_t run, const char *key)
{
    return result_config(&differences->results[run], key);
}

static bool differs(const struct differences *differences, const char *key)
{
    for (size_t run = 1; run < differences->count; run++)
        if (!json_equal(value_at(differences, 0, key), value_at(differences, run, key)))
            return true;
    return false;
}

/* Keys on which the results of a run do not depend: its name, when it measures and writes, what is
 * expected, and how many threads compute. */
static const char *const idle_keys[] = {
    "name", "diagnostics.*.every", "outputs.*.every", "checkpoint.*", "compute.threads", "expect.*",
};

static bool is_idle(const char *key)
{
    for (size_t i = 0; i < COUNT_OF(idle_keys); i++)
        if (fnmatch(idle_keys[i], key, 0) == 0)
            return true;
    return false;
}

static bool is_swept(const struct differences *differences, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = differences->swept; (at = strstr(at, key)); at++)
        if (at > differences->swept && at[-1] == ',' && at[length] == ',')
            return true;
    return false;
}

/* Enters a key of run number `run` into differences->keys if its values differ between runs, and
 * results depend on it or a study has varied it. If an earlier run has the key, it was entered or
 * refused then. */
static void note_key(struct differences *differences, size_t run, const char *key)
{
    for (size_t earlier = 0; earlier < run; earlier++)
        if (value_at(differences, earlier, key))
            return;
    if ((is_idle(key) && !is_swept(differences, key)) || !differs(differences, key))
        return;
    if (differences->key_count < DIFFERENCES_KEYS)
        snprintf(differences->keys[differences->key_count++], DIFFERENCES_KEY_SIZE, "%s", key);
    differences->differing++;
}

/* Calls note_key() for every scalar in `value`, the part of a run's config that has the key
 * `path`. */
static void find_keys(struct differences *differences, size_t run, json_t *value, const char *path)
{
    const char *key;
    json_t *inner;
    size_t index;
    char inner_path[DIFFERENCES_KEY_SIZE];
    if (json_is_object(value)) {
        json_object_foreach(value, key, inner)
        {
            snprintf(inner_path, sizeof inner_path, "%s%s%s", path, path[0] ? "." : "", key);
            find_keys(differences, run, inner, inner_path);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, index, inner)
        {
            snprintf(inner_path, sizeof inner_path, "%s.%zu", path, index);
            find_keys(differences, run, inner, inner_path);
        }
    } else {
        note_key(differences, run, path);
    }
}

static bool have_all(const struct differences *differences, const char *key, bool numeric)
{
    for (size_t run = 0; run < differences->count; run++) {
        const json_t *const value = value_at(differences, run, key);
        if (!value || (numeric && !json_is_number(value)))
            return false;
    }
    return true;
}

/* Sorts the keys: those that some runs lack, since their model or method has no such key, come
 * last. */
static void sort_keys(struct differences *differences)
{
    char sorted[DIFFERENCES_KEYS][DIFFERENCES_KEY_SIZE];
    size_t count = 0;
    for (int rare = 0; rare < 2; rare++)
        for (size_t i = 0; i < differences->key_count; i++)
            if (have_all(differences, differences->keys[i], false) != rare)
                memcpy(sorted[count++], differences->keys[i], DIFFERENCES_KEY_SIZE);
    memcpy(differences->keys, sorted, count * sizeof *sorted);
}

static bool is_numeric(const struct differences *differences, size_t key)
{
    return have_all(differences, differences->keys[key], true);
}

static int index_of(const struct differences *differences, const char *key)
{
    for (size_t i = 0; i < differences->key_count; i++)
        if (strcmp(differences->keys[i], key) == 0)
            return (int)i;
    return -1;
}

/* Returns the index of time.energy_error, the error that a config asks for, if it differs between
 * runs and every run has chosen its steps by it; else -1. */
static int find_asked(const struct differences *differences)
{
    const int asked = index_of(differences, "time.energy_error");
    for (size_t run = 0; run < differences->count; run++)
        if (json_object_size(result_find(&differences->results[run], FIELD_CHOICE)) == 0)
            return -1;
    return asked >= 0 && is_numeric(differences, (size_t)asked) ? asked : -1;
}

/* Tells whether a key has a value that the program has chosen for the error asked for, and that
 * error differs between runs: such a key tells nothing more about a run. */
static bool follows(const struct differences *differences, const char *key)
{
    return differences->asked >= 0 &&
           (strcmp(key, "time.step") == 0 || strcmp(key, "time.eta") == 0 ||
            strcmp(key, "time.accuracy") == 0);
}

/* Returns the index of the key for the x axis: the error asked for, else the step, else the first
 * key on which results depend and which is a number in all runs; -1 if no key is. */
static int find_x(const struct differences *differences)
{
    const int step = index_of(differences, "time.step");
    if (differences->asked >= 0 || step >= 0)
        return differences->asked >= 0 ? differences->asked : step;
    for (size_t i = 0; i < differences->key_count; i++)
        if (is_numeric(differences, i) && !is_idle(differences->keys[i]))
            return (int)i;
    return -1;
}

int differences_speed_key(const struct differences *differences)
{
    for (size_t i = 0; i < differences->key_count; i++)
        if (is_idle(differences->keys[i]) && is_numeric(differences, i))
            return (int)i;
    return -1;
}

double differences_x(const struct differences *differences, size_t run)
{
    const json_t *const value = value_at(differences, run, differences->keys[differences->x]);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* --- words ------------------------------------------------------------------------------------ */

const char *differences_short_key(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

static const char *short_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *value_text(const json_t *value, char *buffer, size_t size)
{
    if (json_is_number(value))
        snprintf(buffer, size, "%.6g", json_number_value(value));
    else if (json_is_string(value))
        snprintf(buffer, size, "%s", json_string_value(value));
    else
        snprintf(buffer, size, "%s",
                 json_is_true(value)    ? "true"
                 : json_is_false(value) ? "false"
                                        : "–");
    return buffer;
}

const char *differences_name(const struct differences *differences, size_t run)
{
    const char *path = differences->results[run].path, *name = short_path(path);
    for (size_t other = 0; other < differences->count; other++)
        if (other != run && strcmp(short_path(differences->results[other].path), name) == 0)
            return path;
    return name;
}

/* Appends a run's values of the keys that differ, "step = 0.1, hermite4", without the key of index
 * `except` and those for which follows() is true. */
static void put_values(const struct differences *differences, size_t run, int except,
                       struct text *label)
{
    for (size_t i = 0; i < differences->key_count; i++) {
        char value[64];
        const json_t *found = value_at(differences, run, differences->keys[i]);
        if ((int)i == except || !found || follows(differences, differences->keys[i]))
            continue;
        value_text(found, value, sizeof value);
        text_print(label, "%s%s%s%s", label->length ? ", " : "",
                   json_is_string(found) ? "" : differences_short_key(differences->keys[i]),
                   json_is_string(found) ? "" : " = ", value);
    }
}

/* Returns the number of the first run for which put_values() gives the same text as for `run`. */
static size_t first_alike(const struct differences *differences, size_t run, int except)
{
    struct text values = { 0 }, others = { 0 };
    size_t other = 0;
    put_values(differences, run, except, &values);
    for (; other < run; other++) {
        put_values(differences, other, except, &others);
        if (others.length == values.length &&
            memcmp(others.bytes, values.bytes, values.length) == 0)
            break;
        text_free(&others);
    }
    text_free(&others);
    text_free(&values);
    return other;
}

/* Tells whether a run's values of the keys cannot be its name: they are too long, or another run
 * has the same, or there are none. */
static bool needs_names(const struct differences *differences)
{
    bool needed = false;
    for (size_t run = 0; run < differences->count && !needed; run++) {
        struct text values = { 0 };
        put_values(differences, run, -1, &values);
        needed = values.length == 0 || values.length > LABEL_LETTERS ||
                 first_alike(differences, run, -1) < run;
        text_free(&values);
    }
    return needed;
}

void differences_label(const struct differences *differences, size_t run, int except,
                       char label[FIGURE_LABEL_SIZE])
{
    struct text values = { 0 };
    put_values(differences, run, except, &values);
    const char *words = values.length ? values.bytes : "";
    if (except < 0 && differences->by_name)
        words = differences_name(differences, run);
    else if (values.length > LABEL_LETTERS)
        words = differences_name(differences, first_alike(differences, run, except));
    snprintf(label, FIGURE_LABEL_SIZE, "%.100s", words);
    text_free(&values);
}

const char *differences_value(const struct differences *differences, size_t run, size_t key,
                              char *buffer, size_t size)
{
    return value_text(value_at(differences, run, differences->keys[key]), buffer, size);
}

/* Reads the keys that a study has varied from the header of its table, where they stand between the
 * columns `member` and `exit_status`; "" if there is no such table. */
static enum status find_swept(const char *table, char swept[DIFFERENCES_SWEPT_SIZE],
                              struct error *error)
{
    static const char first[] = "member [1],", last[] = "exit_status [1],";
    struct lines *lines;
    struct error none = { 0 };
    char *line;
    swept[0] = '\0';
    if (lines_open_own(table, &lines, &none))
        return none.status == STATUS_NO_INPUT ? STATUS_OK : error_pass(error, &none);
    if (!lines_next(lines, &line, error) && line && strncmp(line, first, sizeof first - 1) == 0) {
        const char *const begin = line + sizeof first - 2, *const end = strstr(begin, last);
        if (end && (size_t)(end - begin) < DIFFERENCES_SWEPT_SIZE)
            snprintf(swept, DIFFERENCES_SWEPT_SIZE, "%.*s", (int)(end - begin), begin);
    }
    lines_close(lines);
    return error->status;
}

enum status differences_find(const struct result *results, size_t count, const char *table,
                             struct differences *differences, struct error *error)
{
    *differences = (struct differences){ .results = results, .count = count };
    if (find_swept(table, differences->swept, error))
        return error->status;
    for (size_t run = 0; run < count; run++)
        find_keys(differences, run, result_find(&results[run], FIELD_CONFIG), "");
    sort_keys(differences);
    differences->asked = find_asked(differences);
    differences->x = find_x(differences);
    differences->by_name = needs_names(differences);
    return STATUS_OK;
}

/* --- seeds in common -------------------------------------------------------------------------- */

/* The seeds from which the systems of a run are drawn, one each: from `begin` on, before `end`. */
struct seeds {
    long long begin, end; /* equal if no system is drawn from a seed */
};

static struct seeds seeds_of(const struct result *result)
{
    const json_t *const seed = result_find(result, FIELD_CONFIG_BODIES_SEED);
    const json_t *const systems = result_find(result, FIELD_SYSTEMS);
    const bool drawn = strcmp(result_string(result, FIELD_CONFIG_BODIES_INITIAL), "file") != 0;
    if (!drawn || !json_is_integer(seed) || !json_is_integer(systems))
        return (struct seeds){ 0, 0 };
    const long long begin = json_integer_value(seed);
    return (struct seeds){ begin, begin + json_integer_value(systems) };
}

/* Tells whether the sections `bodies` of two configs differ only in the seed, so that the same seed
 * gives the same system. */
static bool draws_the_same(const struct result *a, const struct result *b)
{
    json_t *const one = result_find(a, FIELD_CONFIG_BODIES), *value;
    const json_t *const other = result_find(b, FIELD_CONFIG_BODIES);
    const char *key;
    json_object_foreach(one, key, value)
    {
        if (strcmp(key, "seed") != 0 && !json_equal(value, json_object_get(other, key)))
            return false;
    }
    return json_object_size(one) == json_object_size(other);
}

/* The indices of two runs that share seeds, `a` the one with the smaller first seed, and these
 * seeds. */
struct shared {
    size_t a, b;
    struct seeds seeds;
};

static bool find_shared(const struct differences *runs, const struct seeds *seeds,
                        struct shared *shared)
{
    for (size_t a = 0; a < runs->count; a++)
        for (size_t b = 0; b < runs->count; b++) {
            const long long end = seeds[a].end < seeds[b].end ? seeds[a].end : seeds[b].end;
            *shared = (struct shared){ a, b, { seeds[b].begin, end } };
            if (seeds[a].begin < seeds[b].begin && seeds[b].begin < end &&
                draws_the_same(&runs->results[a], &runs->results[b]))
                return true;
        }
    return false;
}

enum status shared_seeds_warning(const struct differences *runs,
                                 char warning[SHARED_SEEDS_TEXT_SIZE], struct error *error)
{
    struct shared shared;
    struct seeds *const seeds = memory_array(runs->count, sizeof *seeds, error);
    warning[0] = '\0';
    if (!seeds)
        return error->status;
    for (size_t run = 0; run < runs->count; run++)
        seeds[run] = seeds_of(&runs->results[run]);
    if (find_shared(runs, seeds, &shared))
        snprintf(warning, SHARED_SEEDS_TEXT_SIZE,
                 "%.200s and %.200s have systems in common, so their statistics are not "
                 "independent: the seeds from %lld to %lld are in both, since the systems of an "
                 "ensemble take its seed and those after it",
                 differences_name(runs, shared.a), differences_name(runs, shared.b),
                 shared.seeds.begin, shared.seeds.end - 1);
    memory_free(seeds);
    return STATUS_OK;
}
