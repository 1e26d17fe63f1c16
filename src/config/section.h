/* The inside of struct config, which only src/config knows. */
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
    const struct node *node; /* the value as it was given; NULL: it is the default */
    bool chosen;             /* given, and different from the default */
    struct parameter_value held;
};

/* One group { ... } of the config. If it has variants, its first value is the key that chooses
 * one. */
struct section {
    const struct config *config;
    const struct group *group;
    const struct variant *variant;
    size_t index; /* in a list */
    bool given;
    struct location location; /* of its opening brace; of the whole file where it was not given */
    struct value *values;
    size_t value_count;
    void *kept; /* of group->kept_size bytes; NULL: none */
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
    struct node *root;         /* the tree from which the config was read */
    struct sections *sections; /* in the order of the schema */
};

/* The key that chooses the variant of a group, as a row: its choices are the names of the variants.
 * section_variant_row() fills `room`, and returns the row in it. */
enum { MAX_VARIANTS = 63 };
struct variant_row {
    struct parameter row;
    const char *names[MAX_VARIANTS + 1];
};
const struct parameter *section_variant_row(const struct group *group, struct variant_row *room);

/* Returns the value of a key of the section, or NULL. */
struct value *section_find(const struct section *section, const char *key);

/* Reports an error: "file:line: outputs.1.every = value: reason". `key` and `value` may be NULL,
 * and so may `reason`, if there was no memory for it. Returns `status`. */
enum status section_report(const struct section *section, const char *key,
                           const struct location *location, const char *value, enum status status,
                           struct error *error, const char *reason);

/* Reads the node into the value of its parameter; errors have the location of the node.
 * STATUS_CONFIG, STATUS_MEMORY. */
enum status value_read(const struct section *section, struct value *value, const struct node *node,
                       struct arena *arena, struct error *error);

/* Sets the value to the default of its parameter; returns false if that is a word that is not among
 * the parameter's choices, a mistake in the table. */
bool value_default(struct value *value);

/* Tells whether the value is the default. */
bool value_is_default(const struct value *value);

/* Appends the value in config syntax; nothing if it is unset. */
void value_print(const struct value *value, struct text *text);

#endif
