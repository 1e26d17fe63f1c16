#include <stdlib.h>
#include <string.h>

#include "config/requirement.h"
#include "config/section.h"
#include "config/suggest.h"

/* One reading of a whole tree. */
struct reader {
    struct config *config;
    struct error *error;
};

static enum status out_of_memory(struct reader *r)
{
    return error_set(r->error, STATUS_MEMORY, "out of memory while reading the configuration");
}

static const struct group *find_group(const struct schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->group_count; i++)
        if (*name && strcmp(schema->groups[i].name, name) == 0)
            return &schema->groups[i];
    return NULL;
}

/* --- keys that should not be there --------------------------------------------------------------
 */

static void report_stray(struct reader *r, const struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    struct text path = { 0 }, owners = { 0 }, meant = { 0 }, value = { 0 };
    section_path(section, node->name, &path);
    tree_print(node, &value);
    if (suggest_owners(group, node->name, &owners)) {
        place_report(&node->place, path.bytes, value.bytes, r->error,
                     "does not apply to %s = \"%s\"; it belongs to %s", group->variant_key,
                     section->variant->name, owners.bytes);
    } else if (suggest_key(&r->config->schema, group, section->variant, node->name, &meant)) {
        place_report(&node->place, path.bytes, value.bytes, r->error,
                     "unknown key; did you mean %s?", meant.bytes);
    } else {
        place_report(&node->place, path.bytes, value.bytes, r->error, "unknown key");
    }
    text_free(&path);
    text_free(&owners);
    text_free(&meant);
    text_free(&value);
}

/* --- values -------------------------------------------------------------------------------------
 */

static enum status read_value(struct reader *r, const struct section *section, struct value *value,
                              const struct node *node)
{
    struct text path = { 0 };
    section_path(section, value->parameter->key, &path);
    const enum status status =
        path.failed ? out_of_memory(r)
                    : value_read(value, node, path.bytes, &r->config->arena, r->error);
    text_free(&path);
    return status;
}

static void report_missing(struct reader *r, const struct section *section,
                           const struct parameter *parameter)
{
    struct text path = { 0 }, wanted = { 0 };
    section_path(section, parameter->key, &path);
    requirement_print(parameter, &wanted);
    place_report(&section->place, path.bytes, NULL, r->error, "must be given: %s",
                 wanted.bytes ? wanted.bytes : "a value");
    text_free(&path);
    text_free(&wanted);
}

static void read_default(struct reader *r, const struct section *section, struct value *value)
{
    static const struct place table = { "parameter table", 0 };
    const char *standard = value->parameter->standard;
    struct node *node;
    if (!standard)
        report_missing(r, section, value->parameter);
    else if (*standard && !tree_value(&table, value->parameter->key, standard, &r->config->arena,
                                      &node, r->error))
        read_value(r, section, value, node);
}

/* Is the value other than that of its row? */
static bool is_chosen(struct reader *r, const struct section *section, const struct value *value)
{
    struct value standard = { .parameter = value->parameter };
    struct text one = { 0 }, other = { 0 };
    if (!value->parameter->standard)
        return true;
    read_default(r, section, &standard);
    value_print(value, &one);
    value_print(&standard, &other);
    const bool same =
        one.length == other.length && one.length && memcmp(one.bytes, other.bytes, one.length) == 0;
    text_free(&one);
    text_free(&other);
    return !same;
}

/* The member if it was given, else the default. */
static void read_member(struct reader *r, const struct section *section, struct value *value,
                        const struct node *member)
{
    value->given = member != NULL;
    if (!member)
        read_default(r, section, value);
    else if (!read_value(r, section, value, member))
        value->chosen = is_chosen(r, section, value);
}

/* --- sections -----------------------------------------------------------------------------------
 */

/* The shared rows, but for those that the variant replaces, and then the variant's own. */
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

/* Which variant; the first value. NULL also where the choice is wrong or missing. */
static enum status choose_variant(struct reader *r, struct section *section,
                                  const struct node *node, struct value *choice)
{
    const struct group *group = section->group;
    choice->parameter = section_variant_parameter(group, &r->config->arena);
    if (!choice->parameter)
        return out_of_memory(r);
    read_member(r, section, choice, tree_member(node, group->variant_key));
    if (choice->node)
        section->variant = group->variant(choice->choice);
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
        return out_of_memory(r);
    if (group->variant_key)
        section->values[section->value_count++] = choice;
    add_values(section);
    return STATUS_OK;
}

static struct value *find_value(const struct section *section, const char *key)
{
    for (size_t i = 0; i < section->value_count; i++)
        if (strcmp(section->values[i].parameter->key, key) == 0)
            return &section->values[i];
    return NULL;
}

static bool is_of_a_variant(const struct group *group, const char *key)
{
    struct text owners = { 0 };
    const bool found = suggest_owners(group, key, &owners);
    text_free(&owners);
    return found;
}

/* What stands in the brace, in the order of the file, so that the errors come in it too. */
static void read_members(struct reader *r, struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    /* Where the choice of the variant is wrong, the keys of any of them may be right. */
    const bool unclear = group->variant_key && !section->variant;
    for (size_t i = 0; i < node->count; i++) {
        const struct node *member = node->children[i];
        struct value *value = find_value(section, member->name);
        const bool is_group = !*group->name && find_group(&r->config->schema, member->name);
        if (value && !value->given)
            read_member(r, section, value, member);
        else if (!value && !is_group && !(unclear && is_of_a_variant(group, member->name)))
            report_stray(r, section, member);
    }
}

/* `node` is the brace, or NULL where it was not given. */
static void read_section(struct reader *r, struct section *section, const struct node *node)
{
    const struct group *group = section->group;
    const size_t before = r->error->lines + r->error->dropped;
    if (make_values(r, section, node))
        return;
    if (node)
        read_members(r, section, node);
    for (size_t i = group->variant_key ? 1 : 0; i < section->value_count; i++)
        if (!section->values[i].given)
            read_member(r, section, &section->values[i], NULL);
    if (group->check && r->error->lines + r->error->dropped == before)
        group->check(section, r->error);
}

static enum status refuse_shape(struct reader *r, const struct group *group,
                                const struct node *node)
{
    return place_report(&node->place, group->name, NULL, r->error,
                        group->list ? "must be a list of groups: %s = ( { ... }, { ... } )"
                                    : "must be a group: %s = { ... }",
                        group->name);
}

/* `node` is the group or list, or NULL where it was not given. */
static enum status read_chapter(struct reader *r, struct chapter *chapter, const struct node *node,
                                const struct place *whole)
{
    const struct group *group = chapter->group;
    chapter->given = node != NULL;
    if (node && node->kind != (group->list ? NODE_LIST : NODE_GROUP))
        return refuse_shape(r, group, node);
    const size_t count = !group->list ? 1 : node ? node->count : 0;
    chapter->sections = arena_take(&r->config->arena, count, sizeof *chapter->sections);
    if (!chapter->sections)
        return out_of_memory(r);
    chapter->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct node *brace = group->list ? node->children[i] : node;
        if (brace && brace->kind != NODE_GROUP) {
            refuse_shape(r, group, brace);
            continue;
        }
        chapter->sections[i] = (struct section){ .config = r->config,
                                                 .group = group,
                                                 .index = i,
                                                 .given = brace != NULL,
                                                 .place = brace ? brace->place : *whole };
        read_section(r, &chapter->sections[i], brace);
    }
    return STATUS_OK;
}

/* The keys at the top, the groups in the order of the file, and those that are not in it. */
static void read_root(struct reader *r, const struct node *root)
{
    const struct schema *schema = &r->config->schema;
    struct chapter *chapters = arena_take(&r->config->arena, schema->group_count, sizeof *chapters);
    if (!chapters) {
        out_of_memory(r);
        return;
    }
    r->config->chapters = chapters;
    for (size_t i = 0; i < schema->group_count; i++) {
        chapters[i].group = &schema->groups[i];
        if (!*chapters[i].group->name)
            read_chapter(r, &chapters[i], root, &root->place);
    }
    for (size_t i = 0; i < root->count; i++) {
        const struct group *group = find_group(schema, root->children[i]->name);
        if (group)
            read_chapter(r, &chapters[group - schema->groups], root->children[i], &root->place);
    }
    for (size_t i = 0; i < schema->group_count; i++)
        if (!chapters[i].given)
            read_chapter(r, &chapters[i], NULL, &root->place);
}

/* The groups; the rows stay where they are. */
static enum status copy_schema(struct config *config, const struct schema *schema)
{
    struct group *groups = arena_take(&config->arena, schema->group_count, sizeof *groups);
    if (!groups)
        return STATUS_MEMORY;
    memcpy(groups, schema->groups, schema->group_count * sizeof *groups);
    config->schema = (struct schema){ groups, schema->group_count };
    return STATUS_OK;
}

enum status config_load(const struct config_source *source, const struct schema *schema,
                        struct config **result, struct error *error)
{
    struct config *config = calloc(1, sizeof *config);
    struct node *root;
    *result = NULL;
    if (!config)
        return error_set(error, STATUS_MEMORY, "%s: out of memory", source->path);
    config->path = arena_copy(&config->arena, source->path, strlen(source->path));
    struct reader reader = { config, error };
    if (!config->path || copy_schema(config, schema))
        out_of_memory(&reader);
    else if (!tree_read(source, &config->arena, &root, error))
        read_root(&reader, root);
    if (error->status) {
        config_free(config);
        return error->status;
    }
    *result = config;
    return STATUS_OK;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    struct arena arena = config->arena;
    arena_free(&arena);
    free(config);
}
