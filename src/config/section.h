/* The inside of a config; only src/config knows it. */
#ifndef ORRERY_CONFIG_SECTION_H
#define ORRERY_CONFIG_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/arena.h"
#include "config/config.h"
#include "config/parameter.h"
#include "config/place.h"
#include "config/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of one key. */
struct value {
    const struct parameter *parameter;
    const struct node *node; /* as given or defaulted; NULL: unset */
    bool given;
    bool chosen; /* given, and not what it would be by default */
    bool flag;
    int64_t integer;
    double real;
    const char *string; /* also CHOICE and PATH */
    size_t choice;
    const double *reals;
    const char *const *values;
    size_t count; /* of reals and values */
};

/* One brace. Its first value is the variant key's where the group has one. */
struct section {
    const struct config *config;
    const struct group *group;
    const struct variant *variant;
    size_t index; /* in a list */
    bool given;
    struct place place; /* of its opening brace; of the whole file where it was not given */
    struct value *values;
    size_t value_count;
};

/* All sections of a group: one, or those of a list. */
struct chapter {
    const struct group *group;
    bool given;
    struct section *sections;
    size_t count;
};

struct config {
    struct arena arena;
    struct schema schema; /* a copy; its groups live in the arena */
    const char *path;
    struct chapter *chapters; /* in the order of the schema */
};

/* The key that chooses the variant, as a parameter of its own: a choice of their names. NULL
 * when memory is exhausted. */
const struct parameter *section_variant_parameter(const struct group *group, struct arena *arena);

/* "outputs.1.every"; `key` may be NULL. Appends. */
void section_path(const struct section *section, const char *key, struct text *path);

/*
 * Reads the node into the value of its parameter. What is wrong is reported with the place of
 * the node. STATUS_CONFIG, STATUS_MEMORY.
 */
enum status value_read(struct value *value, const struct node *node, const char *path,
                       struct arena *arena, struct error *error);

/* In config syntax; a value that is unset prints nothing. */
void value_print(const struct value *value, struct text *text);

#ifdef __cplusplus
}
#endif

#endif
