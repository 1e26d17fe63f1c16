#include "study/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "integrator/stage-list.h"

void study_free(struct study *study)
{
    for (size_t i = 0; study->keys && i < study->key_count; i++)
        free(study->keys[i]);
    for (size_t i = 0; study->values && i < study->key_count * study->member_count; i++)
        free(study->values[i]);
    free(study->keys);
    free(study->locations);
    free(study->values);
    *study = (struct study){ 0 };
}

static enum status allocate(const struct config *config, size_t keys, size_t members,
                            struct study *study, struct error *error)
{
    const size_t cells = keys * members;
    *study = (struct study){
        .config = config, .key_count = keys, .shown_keys = keys, .member_count = members
    };
    study->keys = calloc(keys + 1, sizeof(char *));
    study->locations = calloc(keys + 1, sizeof *study->locations);
    study->values = calloc(cells + 1, sizeof(char *));
    if (study->keys && study->locations && study->values)
        return STATUS_OK;
    study_free(study);
    return error_memory(error);
}

const char *study_member_name(size_t member, char buffer[STUDY_NAME_SIZE])
{
    snprintf(buffer, STUDY_NAME_SIZE, "%03zu", member + 1);
    return buffer;
}

const char *study_member_path(const char *directory, size_t member, char buffer[STUDY_PATH_SIZE])
{
    char name[STUDY_NAME_SIZE];
    snprintf(buffer, STUDY_PATH_SIZE, "%s/%s", directory, study_member_name(member, name));
    return buffer;
}

/* Checks that strdup() has made every key and value; else frees the study: STATUS_MEMORY. */
static enum status complete(struct study *study, struct error *error)
{
    bool whole = true;
    for (size_t i = 0; i < study->key_count; i++)
        whole = whole && study->keys[i];
    for (size_t i = 0; i < study->key_count * study->member_count; i++)
        whole = whole && study->values[i];
    if (whole)
        return STATUS_OK;
    study_free(study);
    return error_memory(error);
}

static bool is_within(const char *path, const char *key)
{
    const size_t length = strlen(key);
    return strncmp(path, key, length) == 0 && (!path[length] || path[length] == '.');
}

double study_end(const struct study *study)
{
    for (size_t k = 0; k < study->key_count; k++)
        if (is_within("time.end", study->keys[k]) || is_within("physics.units", study->keys[k]))
            return NAN;
    return section_real(config_section(study->config, "time"), "end");
}

/* Refuses a key of the sweep that is an earlier one or contains it: the later value would replace
 * the earlier one, which the table shows. Also refuses `sweep` itself, which no run has. */
static void check_key(const struct config *config, size_t index, struct error *error)
{
    const struct section *section = config_item(config, "sweep", index);
    const char *key = section_string(section, "key");
    if (is_within(key, "sweep"))
        section_error(section, "key", error, "cannot be varied: each run is a single one");
    for (size_t k = 0; k < index; k++) {
        const char *before = section_string(config_item(config, "sweep", k), "key");
        if (is_within(before, key))
            section_error(section, "key", error, "sets %s, which the sweep has values for already",
                          before);
    }
}

enum status study_of_sweep(const struct config *config, struct study *study, struct error *error)
{
    const size_t keys = config_count(config, "sweep");
    size_t members = 1, count;
    for (size_t k = 0; k < keys; k++)
        check_key(config, k, error);
    if (error->status)
        return error->status;
    for (size_t k = 0; k < keys; k++) {
        const struct section *section = config_item(config, "sweep", k);
        section_values(section, "values", &count);
        if (members > STUDY_MEMBERS_MOST / count)
            return section_error(section, "key", error,
                                 "with its %zu values the sweep has %s%zu runs; one study may have "
                                 "%d: divide it into several",
                                 count, k + 1 < keys ? "at least " : "",
                                 members > SIZE_MAX / count ? SIZE_MAX : members * count,
                                 (int)STUDY_MEMBERS_MOST);
        members *= count;
    }
    if (allocate(config, keys, members, study, error))
        return error->status;
    size_t repeat = members; /* number of consecutive members with one value of the key */
    for (size_t k = 0; k < keys; k++) {
        const struct section *section = config_item(config, "sweep", k);
        const char *const *values = section_values(section, "values", &count);
        study->keys[k] = strdup(section_string(section, "key"));
        study->locations[k] = section_location(section, "values");
        repeat /= count;
        for (size_t m = 0; m < members; m++)
            study->values[m * keys + k] = strdup(values[m / repeat % count]);
    }
    return complete(study, error);
}

/* The lists of the config whose items have a key `every`, a number of steps that doubles when the
 * step is halved: "diagnostics.0.every", ... */
static const char *const followers[] = { "diagnostics", "outputs" };

/*
 * Refuses a convergence test with an integrator that chooses its own steps, or with a step that
 * does not divide the end: the runs would end at different times, each at the first multiple of its
 * step from the end on.
 */
static enum status check_end(const struct config *config, struct error *error)
{
    const struct section *time = config_section(config, "time");
    const struct integrator *const integrator = stage_list_or_row(time);
    if (!integrator_has_stages(integrator))
        return section_error(time, "integrator", error,
                             "chooses its own steps, which time.step does not halve: sweep "
                             "time.%s instead",
                             integrator_key(integrator)->key);
    if (!section_has(time, "step"))
        return section_error(time, "step", error,
                             "must be given for a convergence test, which halves it; with "
                             "time.energy_error it is chosen");
    const double end = section_real(time, "end"), steps = end / section_real(time, "step");
    char nearest[TEXT_REAL_SIZE], other[TEXT_REAL_SIZE];
    if (fabs(steps - rint(steps)) < 1e-9 * fmax(steps, 1.0))
        return STATUS_OK;
    text_real(nearest, end / ceil(steps));
    text_real(other, end / floor(steps));
    return section_error(time, "step", error,
                         "must divide time.end for a convergence test; the nearest that do are %s "
                         "and %s",
                         nearest, other);
}

enum status study_of_convergence(const struct config *config, size_t levels, struct study *study,
                                 struct error *error)
{
    size_t keys = 1;
    for (size_t f = 0; f < COUNT_OF(followers); f++)
        keys += config_count(config, followers[f]);
    if (check_end(config, error))
        return error->status;
    if (allocate(config, keys, levels, study, error))
        return error->status;
    study->shown_keys = 1;
    study->convergence = true;
    study->keys[0] = strdup("time.step");
    const double step = section_real(config_section(config, "time"), "step");
    for (size_t m = 0; m < levels; m++) {
        char text[TEXT_REAL_SIZE];
        study->values[m * keys] = strdup(text_real(text, step / (double)((uint64_t)1 << m)));
    }
    size_t k = 1;
    for (size_t f = 0; f < COUNT_OF(followers); f++)
        for (size_t i = 0; i < config_count(config, followers[f]); i++, k++) {
            const struct section *section = config_item(config, followers[f], i);
            char text[64];
            snprintf(text, sizeof text, "%s.%zu.every", followers[f], i);
            study->keys[k] = strdup(text);
            for (size_t m = 0; m < levels; m++) {
                const int64_t every = section_integer(section, "every");
                snprintf(text, sizeof text, "%" PRId64,
                         every > INT64_MAX >> m ? INT64_MAX : every << m);
                study->values[m * keys + k] = strdup(text);
            }
        }
    return complete(study, error);
}

/* Overrides the study's config, in this order, by the member's share of the cores as threads; the
 * member's values of the varied keys, whose errors name the place of the values in the sweep, and
 * which may set the threads themselves; and an empty sweep. */
enum status study_load_member(const struct study *study, int threads, size_t member,
                              struct config **config, struct error *error)
{
    struct config_overrides own = { 0 };
    char share[16];
    snprintf(share, sizeof share, "%d", threads);
    config_override(&own, NULL, "compute.threads", share);
    for (size_t k = 0; k < study->key_count; k++)
        config_override(&own, &study->locations[k], study->keys[k],
                        study->values[member * study->key_count + k]);
    config_override(&own, NULL, "sweep", "()");
    return config_vary(study->config, &own, config, error);
}
