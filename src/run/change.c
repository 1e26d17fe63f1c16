#include "run/change.h"

#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "estimate/experiment.h"
#include "force/method.h"

/* The kind of change that a new value of a key makes; a key that is missing here makes another
 * experiment. */
static const struct {
    const char *pattern; /* pattern of the key's path, for fnmatch() */
    enum change_kind kind;
} kinds[] = {
    { "name", CHANGE_NOTHING },
    { "outputs.*.compress", CHANGE_NOTHING },
    { "checkpoint.*", CHANGE_NOTHING },
    { "compute.backend", CHANGE_ROUNDING },
    { "compute.threads", CHANGE_NOTHING },
    { "compute.devices", CHANGE_NOTHING },
    { "compute.stream", CHANGE_NOTHING },
    { "compute.kernel", CHANGE_ROUNDING },
    { "compute.isa", CHANGE_ROUNDING },
    { "diagnostics.*.every", CHANGE_OBSERVES },
    { "outputs.*.every", CHANGE_OBSERVES },
    { "watch.*", CHANGE_OBSERVES },
    { "stop_when.*", CHANGE_OBSERVES },
    { "time.end", CHANGE_END },
    { "time.work_limit", CHANGE_NOTHING },
    { "bodies.file", CHANGE_INPUT },
    { "bodies.files", CHANGE_INPUT },
    { "models.*.file", CHANGE_INPUT },
};

/* Keys that the configs of earlier versions did not have, with the value (in JSON) that stands for
 * what those versions did. */
static const struct {
    const char *path, *value;
} former[] = { { "compute.method", "\"direct\"" },
               { "compute.accuracy", "0.0001" },
               { "external", "[]" },
               { "physics.rotation", "0.0" },
               { "models", "[]" } };

struct visitor {
    void (*visit)(void *context, const struct change *change);
    void *context;
    bool kernels_agree;
};

/* Returns the kind of change that the key makes. Another backend, kernel or instruction set
 * makes another experiment if the results of kernels agree less well than to rounding. */
static enum change_kind kind_of(const struct visitor *visitor, const char *path)
{
    size_t i = 0;
    while (i < COUNT_OF(kinds) && fnmatch(kinds[i].pattern, path, 0) != 0)
        i++;
    if (i == COUNT_OF(kinds) || (kinds[i].kind == CHANGE_ROUNDING && !visitor->kernels_agree))
        return CHANGE_EXPERIMENT;
    return kinds[i].kind;
}

/* Tells whether the key did not exist when the run began, and now has the value that stands for
 * what the program did then: nothing has changed. */
static bool says_former(const struct change *change)
{
    for (size_t i = 0; i < COUNT_OF(former) && !change->was_set; i++)
        if (strcmp(former[i].path, change->path) == 0)
            return strcmp(former[i].value, change->now) == 0;
    return false;
}

enum { PATH_SIZE = 256 };

/* Returns the value as text, which the caller frees; NULL without memory. */
static char *value_text(const json_t *value)
{
    char real[TEXT_REAL_SIZE + 2];
    if (json_is_real(value)) {
        text_real(real, json_real_value(value));
        return strdup(strpbrk(real, ".e") ? real : strcat(real, ".0"));
    }
    return value ? document_print(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17))
                 : strdup("unset");
}

static void visit_change(const struct visitor *visitor, const char *path, const json_t *before,
                         const json_t *now)
{
    char *old = value_text(before), *new = value_text(now);
    const struct change change = { .kind = kind_of(visitor, path),
                                   .path = path,
                                   .before = old ? old : "?",
                                   .now = new ? new : "?",
                                   .was_set = before,
                                   .is_set = now };
    if (!says_former(&change))
        visitor->visit(visitor->context, &change);
    free(old);
    free(new);
}

static void compare_values(const struct visitor *visitor, const char *path, const json_t *before,
                           const json_t *now);

/* Compares the members of both objects, each key once, in `before` or only in `now`. */
static void compare_objects(const struct visitor *visitor, const char *path, const json_t *before,
                            const json_t *now)
{
    const json_t *const sides[] = { before, now };
    for (size_t side = 0; side < 2; side++) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)sides[side], key, value)
        {
            if (side == 1 && json_object_get(before, key))
                continue;
            char inner[PATH_SIZE];
            snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", key);
            compare_values(visitor, inner, json_object_get(before, key), json_object_get(now, key));
        }
    }
}

static void compare_values(const struct visitor *visitor, const char *path, const json_t *before,
                           const json_t *now)
{
    if (before && now && json_equal(before, now))
        return;
    if (json_is_object(before) && json_is_object(now)) {
        compare_objects(visitor, path, before, now);
        return;
    }
    if (json_is_array(before) && json_is_array(now) &&
        json_array_size(before) == json_array_size(now) &&
        json_is_object(json_array_get(before, 0))) {
        for (size_t i = 0; i < json_array_size(before); i++) {
            char inner[PATH_SIZE];
            snprintf(inner, sizeof inner, "%s.%zu", path, i);
            compare_values(visitor, inner, json_array_get(before, i), json_array_get(now, i));
        }
        return;
    }
    visit_change(visitor, path, before, now);
}

enum status change_visit(const json_t *before, const struct config *config,
                         void (*visit)(void *context, const struct change *change), void *context,
                         struct error *error)
{
    const struct force_options force = force_options_of(config_section(config, "compute"));
    const struct visitor visitor = { visit, context, force_traits(&force).kernels_agree };
    bool no_memory;
    /* The config is printed and parsed again, so that its numbers are rounded like those of
     * `before`, which was read from text. */
    json_t *resolved = config_json(config);
    char *text = resolved ? document_print(resolved, JSON_REAL_PRECISION(17)) : NULL;
    json_t *now = text ? document_parse(text, strlen(text), &no_memory) : NULL;
    free(text);
    json_decref(resolved);
    if (now)
        compare_values(&visitor, "", before, now);
    else
        error_memory(error);
    json_decref(now);
    return error->status;
}

double change_old_grid(const struct config *config, const json_t *before)
{
    const json_t *const time = json_object_get(before, "time");
    const json_t *const end = json_object_get(time, "end"), *step = json_object_get(time, "step");
    if (!integrator_chooses_steps(experiment_integrator(config)) || !json_is_number(end))
        return NAN;
    return experiment_grid(json_number_value(end),
                           json_is_number(step) ? json_number_value(step) : NAN);
}

enum status change_check_end(const struct config *config, const json_t *before, struct error *error)
{
    const struct section *time = config_section(config, "time");
    const double old = change_old_grid(config, before), end = section_real(time, "end");
    const bool given = section_has(time, "step");
    char step[TEXT_REAL_SIZE];
    if (isnan(old) || experiment_grid(end, given ? section_real(time, "step") : NAN) == old)
        return STATUS_OK;
    return section_error(
        time, "end", error,
        "time.step %s, so that the grid would change with time.end, but the rows so far "
        "have the old one: write time.step = %s%s",
        given ? "does not divide it" : "was left out", text_real(step, old),
        experiment_grid(end, old) == old ? "" : ", and an end that is a multiple of it");
}
