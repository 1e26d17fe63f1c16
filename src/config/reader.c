#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/parameter-reference.h"
#include "config/section.h"

/* The state of reading a config: its tree of settings is checked against the schema. */
struct reader {
    struct config *config;
    struct error *error;
    size_t refused; /* number of values that are wrong or missing, whether reported or not */
    bool broken;    /* parts of the file could not be read; keys that seem missing may be there */
};

static const struct group *find_group(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->group_count; i++)
        if (*name && strcmp(schema->groups[i].name, name) == 0)
            return &schema->groups[i];
    return NULL;
}

/* --- keys that should not be there ------------------------------------------------------------ */

static void report_stray(struct reader *r, const struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    struct text reason = { 0 }, other = { 0 }, value = { 0 };
    tree_print(node, &value);
    if (suggest_owners(group, node->name, &other))
        text_print(&reason, "does not apply to %s = \"%s\"; it belongs to %s", group->variant_key,
                   section->variant->name, other.bytes);
    else if (synonyms_elsewhere(node->name))
        text_print(&reason, "unknown key; %s", synonyms_elsewhere(node->name));
    else if (suggest_key(&r->config->schema, group, section->variant, node->name, &other))
        text_print(&reason, "unknown key; did you mean %s?", other.bytes);
    section_report(section, node->name, &node->location, value.bytes, STATUS_CONFIG, r->error,
                   reason.bytes ? reason.bytes : "unknown key");
    text_free(&reason);
    text_free(&other);
    text_free(&value);
}

/* --- values ----------------------------------------------------------------------------------- */

static void report_missing(struct reader *r, const struct section *section,
                           const struct parameter *parameter)
{
    struct text wanted = { 0 };
    r->refused++;
    if (r->broken)
        return;
    text_print(&wanted, "must be given: ");
    requirement_print(parameter, &wanted);
    if (parameter->instead_help)
        text_print(&wanted, "; or %s", parameter->instead_help);
    section_report(section, parameter->key, &section->location, NULL, STATUS_CONFIG, r->error,
                   wanted.bytes);
    text_free(&wanted);
}

static bool has_instead(const struct section *section, const struct parameter *parameter)
{
    for (size_t k = 0; k < COUNT_OF(parameter->instead); k++) {
        const struct value *const other =
            parameter->instead[k] ? section_find(section, parameter->instead[k]) : NULL;
        if (other && other->node)
            return true;
    }
    return false;
}

/* Reads the value from the setting `member`; if `member` is NULL, the key was not given: sets its
 * default, or reports that it is missing. */
static void read_member(struct reader *r, const struct section *section, struct value *value,
                        const struct node *member)
{
    if (member) {
        if (value_read(section, value, member, &r->config->arena, r->error))
            r->refused++;
        else
            value->chosen = !value_is_default(value);
    } else if (value->parameter->default_value.presence == PARAMETER_REQUIRED &&
               !has_instead(section, value->parameter)) {
        report_missing(r, section, value->parameter);
    } else {
        value_default(value);
    }
}

/* --- sections --------------------------------------------------------------------------------- */

/* Adds to the section a value, still empty, for each row that the variants share, unless the
 * variant replaces the row, and then for each row of the variant itself. */
static void add_values(struct section *section)
{
    const struct group *group = section->group;
    const struct variant *variant = section->variant;
    const size_t own = variant ? variant->parameter_count : 0;
    for (size_t i = 0; i < group->parameter_count; i++)
        if (!own || !suggest_find(variant->parameters, own, group->parameters[i].key))
            section->values[section->value_count++].parameter = &group->parameters[i];
    for (size_t i = 0; i < own; i++)
        section->values[section->value_count++].parameter = &variant->parameters[i];
}

/* Reads the key that chooses the variant into *choice and sets the variant of the section, which
 * stays NULL if the choice is wrong or missing. `node` is the group in the file, or NULL.
 * STATUS_MEMORY. */
static enum status choose_variant(struct reader *r, struct section *section,
                                  const struct node *node, struct value *choice)
{
    const struct group *group = section->group;
    struct variant_row *room = arena_take(&r->config->arena, 1, sizeof *room);
    if (!room)
        return arena_exhausted(r->error);
    choice->parameter = section_variant_row(group, room);
    read_member(r, section, choice, tree_member(node, group->variant_key));
    if (choice->held.presence == PARAMETER_SET)
        section->variant = group->variant(choice->held.count);
    return STATUS_OK;
}

static enum status make_values(struct reader *r, struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    struct value choice = { 0 };
    if (group->variant_key && choose_variant(r, section, node, &choice))
        return STATUS_MEMORY;
    const struct variant *variant = section->variant;
    const size_t count = 1 + group->parameter_count + (variant ? variant->parameter_count : 0);
    section->values = arena_take(&r->config->arena, count, sizeof *section->values);
    if (!section->values)
        return arena_exhausted(r->error);
    if (group->variant_key)
        section->values[section->value_count++] = choice;
    add_values(section);
    return STATUS_OK;
}

/* Tells whether a key cannot be judged, because the choice of the variant is wrong or missing and
 * some variants have the key. Such a key is reported neither as unknown nor as missing. */
static bool is_unclear(const struct section *section, const char *key)
{
    return section->group->variant_key && !section->variant &&
           suggest_owners(section->group, key, NULL);
}

/* Tells whether the statement could not be read, and its error has been reported. */
static bool is_told(const struct node *node)
{
    return node->kind == NODE_BAD && node->bad == BAD_TOLD;
}

/* Reads the keys that stand between the braces of a section, and reports errors, in the order of
 * the file. */
static void read_members(struct reader *r, struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    for (size_t i = 0; i < node->count; i++) {
        const struct node *member = node->children[i];
        struct value *value = section_find(section, member->name);
        const bool is_group = !*group->name && find_group(&r->config->schema, member->name);
        if (value && !value->node)
            read_member(r, section, value, member);
        else if (!value && !is_group && !is_unclear(section, member->name) && !is_told(member))
            report_stray(r, section, member);
    }
}

static enum status make_kept(struct reader *r, struct section *section)
{
    if (!section->group->kept_size)
        return STATUS_OK;
    section->kept = arena_take(&r->config->arena, 1, section->group->kept_size);
    return section->kept ? STATUS_OK : arena_exhausted(r->error);
}

/* Reads one section; `node` is its group in the tree of settings, or NULL if the file does not have
 * the group. */
static void read_section(struct reader *r, struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    const size_t before = r->error->lines + r->error->dropped + r->refused;
    if (make_values(r, section, node) || make_kept(r, section))
        return;
    if (node)
        read_members(r, section, node);
    for (size_t i = group->variant_key ? 1 : 0; i < section->value_count; i++)
        if (!section->values[i].node && !is_unclear(section, section->values[i].parameter->key))
            read_member(r, section, &section->values[i], NULL);
    if (group->check && r->error->lines + r->error->dropped + r->refused == before)
        group->check(section, r->error);
}

static enum status refuse_shape(struct reader *r, const struct group *group,
                                const struct node *node)
{
    if (is_told(node))
        return STATUS_CONFIG;
    return location_report(&node->location, group->name, NULL, r->error,
                           group->list ? "must be a list of groups: %s = ( { ... }, { ... } )"
                                       : "must be a group: %s = { ... }",
                           group->name);
}

/* Reads the section of a group, or the sections of a list. `node` is the group or list in the tree
 * of settings, or NULL if the file does not have it; `whole` is the location of the file. */
static enum status read_sections(struct reader *r, struct sections *sections,
                                 const struct node *node, const struct location *whole)
{
    const struct group *group = sections->group;
    sections->given = node != NULL;
    if (node && node->kind != (group->list ? NODE_LIST : NODE_GROUP))
        return refuse_shape(r, group, node);
    const size_t count = !group->list ? 1 : node ? node->count : 0;
    sections->items = arena_take(&r->config->arena, count, sizeof *sections->items);
    if (!sections->items)
        return arena_exhausted(r->error);
    sections->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct node *brace = group->list ? node->children[i] : node;
        if (brace && brace->kind != NODE_GROUP) {
            refuse_shape(r, group, brace);
            continue;
        }
        sections->items[i] = (struct section){ .config = r->config,
                                               .group = group,
                                               .index = i,
                                               .given = brace != NULL,
                                               .location = brace ? brace->location : *whole };
        read_section(r, &sections->items[i], brace);
    }
    return STATUS_OK;
}

/* Reads the keys at the top level, then the groups in the order of the file, and then the groups
 * that the file does not have, which get their defaults. */
static void read_root(struct reader *r, const struct node *root)
{
    const struct schema *schema = &r->config->schema;
    struct sections *sections =
        arena_take(&r->config->arena, schema->group_count, sizeof *sections);
    if (!sections) {
        arena_exhausted(r->error);
        return;
    }
    r->config->sections = sections;
    for (size_t i = 0; i < schema->group_count; i++) {
        sections[i].group = &schema->groups[i];
        if (!*sections[i].group->name)
            read_sections(r, &sections[i], root, &root->location);
    }
    for (size_t i = 0; i < root->count; i++) {
        const struct group *group = find_group(schema, root->children[i]->name);
        if (group)
            read_sections(r, &sections[group - schema->groups], root->children[i], &root->location);
    }
    for (size_t i = 0; i < schema->group_count; i++)
        if (!sections[i].given)
            read_sections(r, &sections[i], NULL, &root->location);
}

static enum status copy_schema(struct config *config, const struct schema *schema)
{
    struct group *groups = arena_take(&config->arena, schema->group_count, sizeof *groups);
    if (!groups)
        return STATUS_MEMORY;
    memcpy(groups, schema->groups, schema->group_count * sizeof *groups);
    config->schema = (struct schema){ groups, schema->group_count };
    return STATUS_OK;
}

/* Copies the overrides that were typed on the command line into the config, behind those of `base`.
 * Overrides that have locations were not typed: they stand in a file, or the program has made them.
 * STATUS_MEMORY. */
static enum status keep_typed(struct config *config, const struct config_source *source,
                              const struct config *base)
{
    const size_t before = base ? base->typed_count : 0;
    const size_t count = source->override_locations ? 0 : source->override_count;
    config->typed = arena_take(&config->arena, before + count + 1, sizeof *config->typed);
    if (!config->typed)
        return STATUS_MEMORY;
    for (size_t i = 0; i < before + count; i++) {
        const char *words = i < before ? base->typed[i] : source->overrides[i - before];
        config->typed[i] = arena_copy(&config->arena, words, strlen(words));
        if (!config->typed[i])
            return STATUS_MEMORY;
    }
    config->typed_count = before + count;
    return STATUS_OK;
}

/* Makes a config from the tree of settings of `base`, or from the file if `base` is NULL; applies
 * the overrides of `source` in both cases. */
static enum status load(const struct config_source *source, const struct config *base,
                        const struct schema *schema, struct config **result, struct error *error)
{
    struct config *config = calloc(1, sizeof *config);
    *result = NULL;
    if (!config)
        return arena_exhausted(error);
    config->path = arena_copy(&config->arena, source->path, strlen(source->path));
    struct reader reader = { .config = config, .error = error };
    if (!config->path || copy_schema(config, schema) || keep_typed(config, source, base))
        arena_exhausted(error);
    else if (base)
        tree_vary(base->root, source, &config->arena, &config->root, error);
    else
        tree_read(source, &config->arena, &config->root, error);
    reader.broken = error->status != STATUS_OK;
    if (config->root) /* after some errors the rest can still be checked */
        read_root(&reader, config->root);
    if (error->status) {
        config_free(config);
        return error->status;
    }
    *result = config;
    return STATUS_OK;
}

enum status config_load(const struct config_source *source, const struct schema *schema,
                        struct config **result, struct error *error)
{
    return load(source, NULL, schema, result, error);
}

void config_override(struct config_overrides *overrides, const struct location *location,
                     const char *key, const char *value)
{
    const size_t count = overrides->count + 1;
    const char **items = realloc(overrides->items, memory_bytes(count, sizeof *items));
    if (items)
        overrides->items = items;
    struct location *locations =
        realloc(overrides->locations, memory_bytes(count, sizeof *locations));
    if (locations)
        overrides->locations = locations;
    struct text text = { 0 };
    text_print(&text, "%s=%s", key, value);
    if (!items || !locations || text.failed) {
        text_free(&text);
        overrides->failed = true;
        return;
    }
    items[overrides->count] = text.bytes;
    locations[overrides->count++] = location ? *location : (struct location){ 0 };
}

enum status config_vary(const struct config *config, struct config_overrides *overrides,
                        struct config **varied, struct error *error)
{
    const struct config_source source = { .path = config->path,
                                          .overrides = overrides->items,
                                          .override_count = overrides->count,
                                          .override_locations = overrides->locations };
    const enum status status = overrides->failed
                                   ? error_memory(error)
                                   : load(&source, config, &config->schema, varied, error);
    for (size_t i = 0; i < overrides->count; i++)
        free((char *)overrides->items[i]);
    free(overrides->items);
    free(overrides->locations);
    *overrides = (struct config_overrides){ 0 };
    return status;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    struct arena arena = config->arena;
    arena_free(&arena);
    free(config);
}
