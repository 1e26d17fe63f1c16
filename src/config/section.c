#include "config/section.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- the config ---------------------------------------------------------------------------------
 */

const char *config_path(const struct config *config)
{
    return config->path;
}

static const struct chapter *chapter(const struct config *config, const char *group)
{
    for (size_t i = 0; i < config->schema.group_count; i++)
        if (strcmp(config->chapters[i].group->name, group) == 0)
            return &config->chapters[i];
    assert(false && "a group of the schema");
    return NULL;
}

const struct section *config_section(const struct config *config, const char *group)
{
    assert(!chapter(config, group)->group->list);
    return chapter(config, group)->sections;
}

bool config_given(const struct config *config, const char *group)
{
    return chapter(config, group)->given;
}

size_t config_count(const struct config *config, const char *group)
{
    return chapter(config, group)->count;
}

const struct section *config_item(const struct config *config, const char *group, size_t index)
{
    assert(index < chapter(config, group)->count);
    return &chapter(config, group)->sections[index];
}

/* --- the section --------------------------------------------------------------------------------
 */

const struct variant *section_variant(const struct section *section)
{
    return section->variant;
}

const struct parameter *section_variant_parameter(const struct group *group, struct arena *arena)
{
    size_t count = 0;
    while (group->variant(count))
        count++;
    struct parameter *parameter = arena_take(arena, 1, sizeof *parameter);
    const char **choices = arena_take(arena, count + 1, sizeof *choices);
    if (!parameter || !choices)
        return NULL;
    for (size_t i = 0; i < count; i++)
        choices[i] = group->variant(i)->name;
    *parameter = (struct parameter){ .key = group->variant_key,
                                     .type = PARAMETER_CHOICE,
                                     .standard = group->variant_standard,
                                     .choices = choices,
                                     .help = group->variant_help };
    return parameter;
}

void section_path(const struct section *section, const char *key, struct text *path)
{
    const char *name = section->group->name;
    text_print(path, "%s", name);
    if (section->group->list)
        text_print(path, ".%zu", section->index);
    if (key)
        text_print(path, "%s%s", *name ? "." : "", key);
}

static const struct value *find(const struct section *section, const char *key)
{
    for (size_t i = 0; i < section->value_count; i++)
        if (strcmp(section->values[i].parameter->key, key) == 0)
            return &section->values[i];
    assert(false && "a key of the section");
    return NULL;
}

static const struct value *find_typed(const struct section *section, const char *key,
                                      enum parameter_type type)
{
    const struct value *value = find(section, key);
    assert(value->parameter->type == type);
    (void)type;
    return value;
}

bool section_flag(const struct section *section, const char *key)
{
    return find_typed(section, key, PARAMETER_FLAG)->flag;
}

int64_t section_integer(const struct section *section, const char *key)
{
    return find_typed(section, key, PARAMETER_INTEGER)->integer;
}

double section_real(const struct section *section, const char *key)
{
    const struct value *value = find_typed(section, key, PARAMETER_REAL);
    return value->node ? value->real : NAN;
}

const char *section_string(const struct section *section, const char *key)
{
    const struct value *value = find(section, key);
    assert(value->parameter->type == PARAMETER_STRING ||
           value->parameter->type == PARAMETER_CHOICE || value->parameter->type == PARAMETER_PATH);
    return value->string;
}

size_t section_choice(const struct section *section, const char *key)
{
    return find_typed(section, key, PARAMETER_CHOICE)->choice;
}

const double *section_reals(const struct section *section, const char *key, size_t *count)
{
    const struct value *value = find_typed(section, key, PARAMETER_REALS);
    *count = value->count;
    return value->reals;
}

const char *const *section_values(const struct section *section, const char *key, size_t *count)
{
    const struct value *value = find_typed(section, key, PARAMETER_VALUES);
    *count = value->count;
    return value->values;
}

bool section_has(const struct section *section, const char *key)
{
    return find(section, key)->node != NULL;
}

bool section_given(const struct section *section, const char *key)
{
    return find(section, key)->chosen;
}

bool section_written(const struct section *section, const char *key)
{
    return find(section, key)->given;
}

enum status section_refuse(const struct section *section, const char *key, enum status status,
                           struct error *error, const char *reason)
{
    const struct value *value = key ? find(section, key) : NULL;
    const struct place *place = value && value->given ? &value->node->place : &section->place;
    struct text path = { 0 }, shown = { 0 };
    section_path(section, key, &path);
    if (value && value->node)
        value_print(value, &shown);
    place_report_as(place, path.bytes, shown.bytes, status, error, reason);
    text_free(&path);
    text_free(&shown);
    return status;
}

struct place section_place(const struct section *section, const char *key)
{
    const struct value *value = find(section, key);
    return value->given ? value->node->place : section->place;
}

enum status section_error(const struct section *section, const char *key, struct error *error,
                          const char *format, ...)
{
    enum { REASON_SIZE = 1024 };
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return section_refuse(section, key, STATUS_CONFIG, error, reason);
}
