/* The inside of a config; only src/config knows it. */
#ifndef ORRERY_CONFIG_SECTION_H
#define ORRERY_CONFIG_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/configuration.h"
#include "config/node.h"
#include "config/parameter.h"
#include "config/tree.h"

/* The value of one key. */
struct value {
    const struct parameter *parameter;
    const struct node *node; /* as it was given; NULL: by default */
    bool chosen;             /* given, and not what it would be by default */
    struct parameter_value held;
};

/* One brace. Its first value is the variant key's where the group has one. */
struct section {
    const struct config *config;
    const struct group *group;
    const struct variant *variant;
    size_t index; /* in a list */
    bool given;
    struct location location; /* of its opening brace; of the whole file where it was not given */
    struct value *values;
    size_t value_count;
};

/* All sections of a group: one, or those of a list. */
struct sections {
    const struct group *group;
    bool given;
    struct section *items;
    size_t count;
};

struct config {
    struct arena arena;
    struct schema schema; /* a copy; its groups live in the arena */
    const char *path;
    const char **typed; /* the overrides of the command line; in the arena */
    size_t typed_count;
    struct node *root;         /* the tree that it was read from */
    struct sections *sections; /* in the order of the schema */
};

/* The key that chooses the variant of a group, as a row of its own: a choice of their names. */
enum { MAX_VARIANTS = 63 };
struct variant_row {
    struct parameter row;
    const char *names[MAX_VARIANTS + 1];
};
const struct parameter *section_variant_row(const struct group *group, struct variant_row *room);

/* The value of a key of the section, or NULL. */
struct value *section_find(const struct section *section, const char *key);

/* "file:line: outputs.1.every = value: reason"; `key` and `value` may be NULL, and so may `reason`
 * where there was no memory for it. Returns `status`. */
enum status section_report(const struct section *section, const char *key,
                           const struct location *location, const char *value, enum status status,
                           struct error *error, const char *reason);

/* Reads the node into the value of its parameter. What is wrong is reported with the location of
 * the node. STATUS_CONFIG, STATUS_MEMORY. */
enum status value_read(const struct section *section, struct value *value, const struct node *node,
                       struct arena *arena, struct error *error);

/* Sets the value to the default of its parameter; false where that is none of the choices. */
bool value_default(struct value *value);

/* Tells whether the value is the default. */
bool value_is_default(const struct value *value);

/* In config syntax; a value that is unset prints nothing. */
void value_print(const struct value *value, struct text *text);

#endif
