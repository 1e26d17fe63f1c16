#include "config/suggest.h"

#include <string.h>
#include <strings.h>

#include "config/synonyms.h"

enum { MAX_CANDIDATES = 256 };

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
        if (owners)
            text_print(owners, "%s%s", found ? ", " : "", variant->name);
        found = true;
    }
    return found;
}

static bool has_key(const struct group *group, const char *key)
{
    return suggest_find(group->parameters, group->parameter_count, key) ||
           (group->variant_key && strcmp(group->variant_key, key) == 0) ||
           suggest_owners(group, key, NULL);
}

static void print_path(const struct group *group, const char *key, struct text *path)
{
    text_print(path, "%s%s%s", group->name, *group->name ? "." : "", key);
}

void suggest_choice(const char *word, const char *const *choices, size_t count, struct text *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(word, choices[i]) == 0) {
            text_print(text, "; names are written in small letters: write \"%s\"", choices[i]);
            return;
        }
    const struct synonym *synonym = synonyms_find(word, choices, count);
    const char *nearest = synonym ? synonym->meant : text_nearest(word, choices, count);
    if (synonym && synonym->note)
        text_print(text, "; the nearest here is %s: %s", synonym->meant, synonym->note);
    else if (nearest)
        text_print(text, "; did you mean %s?", nearest);
}

/* The keys of the brace; where no variant was chosen, those of all of them. */
static void add_brace(struct candidates *near, const struct schema *schema,
                      const struct group *group, const struct variant *variant)
{
    add(near, group->variant_key);
    add_table(near, group->parameters, group->parameter_count);
    if (variant)
        add_table(near, variant->parameters, variant->parameter_count);
    for (size_t i = 0; !variant && group->variant && group->variant(i); i++)
        add_table(near, group->variant(i)->parameters, group->variant(i)->parameter_count);
    for (size_t i = 0; !*group->name && i < schema->group_count; i++)
        add(near, schema->groups[i].name);
}

/* The path that a synonym stands for ("dt": time.step), if the schema has it. */
static bool add_synonym(const struct schema *schema, const char *key, struct text *path)
{
    for (size_t i = 0; i < schema->group_count; i++) {
        const struct group *group = &schema->groups[i];
        struct candidates keys = { .count = 0 };
        add_brace(&keys, schema, group, NULL);
        for (size_t k = 0; *group->name && k < keys.count; k++) {
            struct text full = { 0 };
            print_path(group, keys.keys[k], &full);
            const char *const candidate = full.bytes;
            const bool found = candidate && synonyms_find(key, &candidate, 1);
            if (found)
                text_print(path, "%s", candidate);
            text_free(&full);
            if (found)
                return true;
        }
    }
    return false;
}

bool suggest_key(const struct schema *schema, const struct group *group,
                 const struct variant *variant, const char *key, struct text *path)
{
    struct candidates near = { .count = 0 };
    add_brace(&near, schema, group, variant);
    const struct synonym *synonym = synonyms_find(key, near.keys, near.count);
    if (synonym) {
        print_path(group, synonym->meant, path);
        return true;
    }
    if (add_synonym(schema, key, path))
        return true;
    for (size_t i = 0; i < schema->group_count; i++)
        if (&schema->groups[i] != group && has_key(&schema->groups[i], key)) {
            print_path(&schema->groups[i], key, path);
            return true;
        }
    const char *nearest = text_nearest(key, near.keys, near.count);
    if (nearest)
        print_path(group, nearest, path);
    return nearest != NULL;
}
