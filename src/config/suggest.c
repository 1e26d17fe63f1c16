#include "config/suggest.h"

#include <string.h>

enum { MAX_CANDIDATES = 128 };

struct candidates {
    const char *keys[MAX_CANDIDATES];
    size_t count;
};

static void add(struct candidates *candidates, const char *key)
{
    if (key && *key && candidates->count < MAX_CANDIDATES)
        candidates->keys[candidates->count++] = key;
}

static void add_table(struct candidates *candidates, const struct parameter *parameters,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(candidates, parameters[i].key);
}

const struct parameter *suggest_find(const struct parameter *parameters, size_t count,
                                     const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(parameters[i].key, key) == 0)
            return &parameters[i];
    return NULL;
}

bool suggest_owners(const struct group *group, const char *key, struct text *owners)
{
    bool found = false;
    if (!group->variant)
        return false;
    for (size_t i = 0; group->variant(i); i++) {
        const struct variant *variant = group->variant(i);
        if (!suggest_find(variant->parameters, variant->parameter_count, key))
            continue;
        text_print(owners, "%s%s", found ? ", " : "", variant->name);
        found = true;
    }
    return found;
}

static bool has_key(const struct group *group, const char *key)
{
    struct text owners = { 0 };
    const bool found = suggest_find(group->parameters, group->parameter_count, key) ||
                       (group->variant_key && strcmp(group->variant_key, key) == 0) ||
                       suggest_owners(group, key, &owners);
    text_free(&owners);
    return found;
}

static void print_path(const struct group *group, const char *key, struct text *path)
{
    text_print(path, "%s%s%s", group->name, *group->name ? "." : "", key);
}

bool suggest_key(const struct schema *schema, const struct group *group,
                 const struct variant *variant, const char *key, struct text *path)
{
    struct candidates near = { .count = 0 };
    add(&near, group->variant_key);
    add_table(&near, group->parameters, group->parameter_count);
    if (variant)
        add_table(&near, variant->parameters, variant->parameter_count);
    if (!*group->name)
        for (size_t i = 0; i < schema->group_count; i++)
            add(&near, schema->groups[i].name);
    const char *nearest = text_nearest(key, near.keys, near.count);
    if (nearest) {
        print_path(group, nearest, path);
        return true;
    }
    for (size_t i = 0; i < schema->group_count; i++)
        if (&schema->groups[i] != group && has_key(&schema->groups[i], key)) {
            print_path(&schema->groups[i], key, path);
            return true;
        }
    return false;
}
