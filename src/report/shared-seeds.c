#include "report/shared-seeds.h"

#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"

/* The seeds of a run: from `begin` on, up to `end`. */
struct seeds {
    long long begin, end; /* the same where nothing is drawn from them */
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

/* Tells whether every key of `bodies`, but for the seed, has the same value in `others`. */
static bool has_all(json_t *bodies, json_t *others)
{
    const char *key;
    json_t *value;
    json_object_foreach(bodies, key, value)
    {
        if (strcmp(key, "seed") != 0 && !json_equal(value, json_object_get(others, key)))
            return false;
    }
    return true;
}

static bool draws_the_same(const struct result *a, const struct result *b)
{
    json_t *const one = result_find(a, FIELD_CONFIG_BODIES), *const other = result_find(
                                                                 b, FIELD_CONFIG_BODIES);
    return has_all(one, other) && has_all(other, one);
}

/* Two runs that share seeds, the one with the smaller seed first, and the seeds. */
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
