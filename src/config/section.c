#include "config/section.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"

/* --- the config ------------------------------------------------------------------------------- */

const char *const *config_typed(const struct config *config, size_t *count)
{
    *count = config->typed_count;
    return config->typed;
}

const char *config_path(const struct config *config)
{
    return config->path;
}

static const struct sections *sections_of(const struct config *config, const char *group)
{
    for (size_t i = 0; i < config->schema.group_count; i++)
        if (strcmp(config->sections[i].group->name, group) == 0)
            return &config->sections[i];
    assert(false && "a group of the schema");
    return NULL;
}

const struct section *config_section(const struct config *config, const char *group)
{
    assert(!sections_of(config, group)->group->list);
    return sections_of(config, group)->items;
}

size_t config_count(const struct config *config, const char *group)
{
    return sections_of(config, group)->count;
}

const struct section *config_item(const struct config *config, const char *group, size_t index)
{
    assert(index < sections_of(config, group)->count);
    return &sections_of(config, group)->items[index];
}

/* --- the section ------------------------------------------------------------------------------ */

const struct config *section_config(const struct section *section)
{
    return section->config;
}

const struct variant *section_variant(const struct section *section)
{
    return section->variant;
}

const struct parameter *section_variant_row(const struct group *group, struct variant_row *room)
{
    *room = (struct variant_row){ .row = { .key = group->variant_key,
                                           .type = PARAMETER_CHOICE,
                                           .choices = room->names,
                                           .help = group->variant_help } };
    if (group->variant_default)
        room->row.default_value = (struct parameter_value)DEFAULT_STRING(group->variant_default);
    for (size_t i = 0; group->variant(i); i++) {
        assert(i < MAX_VARIANTS);
        room->names[i] = group->variant(i)->name;
    }
    return &room->row;
}

struct value *section_find(const struct section *section, const char *key)
{
    for (size_t i = 0; i < section->value_count; i++)
        if (strcmp(section->values[i].parameter->key, key) == 0)
            return &section->values[i];
    return NULL;
}

static const struct value *find(const struct section *section, const char *key)
{
    const struct value *value = section_find(section, key);
    assert(value && "a key of the section");
    return value;
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
    return find_typed(section, key, PARAMETER_FLAG)->held.flag;
}

int64_t section_integer(const struct section *section, const char *key)
{
    return find_typed(section, key, PARAMETER_INTEGER)->held.integer;
}

double section_real(const struct section *section, const char *key)
{
    const struct value *value = find_typed(section, key, PARAMETER_REAL);
    return value->held.presence == PARAMETER_SET ? value->held.real : NAN;
}

const char *section_string(const struct section *section, const char *key)
{
    const struct value *value = find(section, key);
    assert(value->parameter->type == PARAMETER_STRING ||
           value->parameter->type == PARAMETER_CHOICE || value->parameter->type == PARAMETER_PATH);
    return value->held.string;
}

size_t section_choice(const struct section *section, const char *key)
{
    return find_typed(section, key, PARAMETER_CHOICE)->held.count;
}

const double *section_reals(const struct section *section, const char *key, size_t *count)
{
    const struct value *value = find_typed(section, key, PARAMETER_REALS);
    *count = value->held.count;
    return value->held.reals;
}

const char *const *section_values(const struct section *section, const char *key, size_t *count)
{
    const struct value *value = find_typed(section, key, PARAMETER_VALUES);
    *count = value->held.count;
    return value->held.values;
}

const char *const *section_paths(const struct section *section, const char *key, size_t *count)
{
    const struct value *value = find(section, key);
    const bool one = value->parameter->type == PARAMETER_PATH;
    assert(one || value->parameter->type == PARAMETER_PATHS);
    *count = value->held.presence != PARAMETER_SET ? 0 : one ? 1 : value->held.count;
    return one ? &value->held.string : value->held.values;
}

void section_read(const struct section *section, void *target)
{
    static const double unset[] = { NAN, NAN, NAN };
    for (size_t i = 0; i < section->value_count; i++) {
        const struct parameter *row = section->values[i].parameter;
        const struct parameter_value *held = &section->values[i].held;
        const bool real = row->type == PARAMETER_REAL || row->type == PARAMETER_REALS;
        const int small = row->type == PARAMETER_CHOICE ? (int)held->count : (int)held->integer;
        const void *from = row->type == PARAMETER_REALS ? (const void *)held->reals : &held->real;
        if (real && held->presence != PARAMETER_SET)
            from = unset;
        else if (!real && row->member.size == sizeof small)
            from = &small;
        assert(from != unset || row->member.size <= sizeof unset);
        if (row->member.size)
            memcpy((char *)target + row->member.offset, from, row->member.size);
    }
}

void *section_kept(const struct section *section)
{
    assert(section->kept);
    return section->kept;
}

bool section_has(const struct section *section, const char *key)
{
    return find(section, key)->held.presence == PARAMETER_SET;
}

bool section_given(const struct section *section, const char *key)
{
    return find(section, key)->chosen;
}

bool section_written(const struct section *section, const char *key)
{
    return find(section, key)->node != NULL;
}

enum status section_report(const struct section *section, const char *key,
                           const struct location *location, const char *value, enum status status,
                           struct error *error, const char *reason)
{
    const char *name = section->group->name;
    struct text path = { 0 };
    text_print(&path, "%s", name);
    if (section->group->list)
        text_print(&path, ".%zu", section->index);
    if (key)
        text_print(&path, "%s%s", *name ? "." : "", key);
    location_report_as(location, path.bytes, value, status, error, reason ? reason : "is wrong");
    text_free(&path);
    return status;
}

enum status section_refuse(const struct section *section, const char *key, enum status status,
                           struct error *error, const char *reason)
{
    const struct value *value = key ? find(section, key) : NULL;
    const struct location *location =
        value && value->node ? &value->node->location : &section->location;
    struct text shown = { 0 };
    /* A list of paths is shown as it was written: its patterns may stand for thousands of files. */
    if (value && value->node && value->parameter->type == PARAMETER_PATHS)
        tree_print(value->node, &shown);
    else if (value)
        value_print(value, &shown);
    section_report(section, key, location, shown.bytes, status, error, reason);
    text_free(&shown);
    return status;
}

struct location section_location(const struct section *section, const char *key)
{
    const struct value *value = find(section, key);
    return value->node ? value->node->location : section->location;
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

/* --- the echo: config syntax ------------------------------------------------------------------ */

static void echo_values(const struct section *section, const char *indent, struct text *text)
{
    for (size_t i = 0; i < section->value_count; i++) {
        const struct value *value = &section->values[i];
        if (value->held.presence != PARAMETER_SET)
            continue;
        text_print(text, "%s%s = ", indent, value->parameter->key);
        value_print(value, text);
        text_print(text, ";\n");
    }
}

static void echo_sections(const struct sections *sections, struct text *text)
{
    const struct group *group = sections->group;
    if (!*group->name) {
        echo_values(sections->items, "", text);
    } else if (!group->list) {
        text_print(text, "%s = {\n", group->name);
        echo_values(sections->items, "  ", text);
        text_print(text, "};\n");
    } else {
        text_print(text, "%s = (", group->name);
        for (size_t i = 0; i < sections->count; i++) {
            text_print(text, "%s\n  {\n", i ? "," : "");
            echo_values(&sections->items[i], "    ", text);
            text_print(text, "  }");
        }
        text_print(text, "%s);\n", sections->count ? "\n" : " ");
    }
}

void config_echo(const struct config *config, struct text *text)
{
    for (size_t i = 0; i < config->schema.group_count; i++)
        echo_sections(&config->sections[i], text);
}

/* --- the echo: JSON --------------------------------------------------------------------------- */

static json_t *json_of_node(const struct node *node)
{
    json_t *array;
    switch (node->kind) {
    case NODE_FLAG:
        return json_boolean(node->flag);
    case NODE_INTEGER:
        return json_integer(node->integer);
    case NODE_REAL:
        return json_real(node->real);
    case NODE_LIST:
        array = json_array();
        for (size_t i = 0; i < node->count; i++)
            document_append(&array, json_of_node(node->children[i]));
        return array;
    default:
        return json_string(node->string);
    }
}

static json_t *json_of_value(const struct value *value)
{
    json_t *array;
    switch (value->parameter->type) {
    case PARAMETER_FLAG:
        return json_boolean(value->held.flag);
    case PARAMETER_INTEGER:
        return json_integer(value->held.integer);
    case PARAMETER_REAL:
        return json_real(value->held.real);
    case PARAMETER_REALS:
        array = json_array();
        for (size_t i = 0; i < value->held.count; i++)
            document_append(&array, json_real(value->held.reals[i]));
        return array;
    case PARAMETER_PATHS:
        array = json_array();
        for (size_t i = 0; i < value->held.count; i++)
            document_append(&array, json_string(value->held.values[i]));
        return array;
    case PARAMETER_VALUES:
        return json_of_node(value->node);
    default:
        return json_string(value->held.string);
    }
}

static void add_values(const struct section *section, json_t **object)
{
    for (size_t i = 0; i < section->value_count; i++) {
        const struct value *value = &section->values[i];
        if (value->held.presence == PARAMETER_SET)
            document_set(object, value->parameter->key, json_of_value(value));
    }
}

static json_t *json_of_section(const struct section *section)
{
    json_t *object = json_object();
    add_values(section, &object);
    return object;
}

static json_t *json_of_list(const struct sections *sections)
{
    json_t *array = json_array();
    for (size_t i = 0; i < sections->count; i++)
        document_append(&array, json_of_section(&sections->items[i]));
    return array;
}

json_t *config_json(const struct config *config)
{
    json_t *root = json_object();
    for (size_t i = 0; i < config->schema.group_count; i++) {
        const struct sections *sections = &config->sections[i];
        const struct group *group = sections->group;
        if (!*group->name)
            add_values(sections->items, &root);
        else
            document_set(&root, group->name,
                         group->list ? json_of_list(sections) : json_of_section(sections->items));
    }
    return root;
}
