/* The members of struct config and struct section, which only src/config knows. */
#ifndef ORRERY_CONFIG_SECTION_H
#define ORRERY_CONFIG_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/configuration.h"
#include "config/node.h"
#include "config/parameter.h"
#include "config/tree.h"

/* The value of one key of a section. */
struct value {
    const struct parameter *parameter; /* the row of the key */
    const struct node *node;           /* the value as given in the file; NULL: it is the default */
    bool chosen;                       /* given, and different from the default */
    struct parameter_value held;       /* the value, by the type of the row */
};

/* One group { ... } of the config. If the group has variants, its first value is that of the key
 * that chooses the variant. */
struct section {
    const struct config *config;
    const struct group *group;
    const struct variant *variant;
    size_t index; /* number of the group in a list of groups, from 0 */
    bool given;
    struct location location; /* location of its opening brace; of the file, if it was not given */
    struct value *values;
    size_t value_count;
    void *kept; /* memory for the results of group->check; NULL: none */
};

/* All sections of a group: one, or those of a list of groups. */
struct sections {
    const struct group *group;
    bool given;
    struct section *items;
    size_t count;
};

struct config {
    struct arena arena;
    struct schema schema; /* a copy, whose groups live in the arena */
    const char *path;
    const char **typed; /* the overrides of the command line, which live in the arena */
    size_t typed_count;
    struct node *root;         /* the tree of settings from which the config was read */
    struct sections *sections; /* one for each group, in the order of the schema */
};

/* A row for the key that chooses the variant of a group; its choices are the names of the variants.
 * section_variant_row() fills `room` and returns the row in it. */
enum { MAX_VARIANTS = 63 };
struct variant_row {
    struct parameter row;
    const char *names[MAX_VARIANTS + 1];
};
const struct parameter *section_variant_row(const struct group *group, struct variant_row *room);

/* Returns the value of a key of the section; NULL if the section has no such key. */
struct value *section_find(const struct section *section, const char *key);

/* Reports an error at `location`: "file:line: outputs.1.every = value: reason". `key` and `value`
 * may be NULL, and so may `reason`, if there was no memory for it. Returns `status`. */
enum status section_report(const struct section *section, const char *key,
                           const struct location *location, const char *value, enum status status,
                           struct error *error, const char *reason);

/* Reads the setting `node` into `value`, as the row of its parameter says; errors name the location
 * of the node. Strings and lists are put into the arena. STATUS_CONFIG, STATUS_MEMORY. */
enum status value_read(const struct section *section, struct value *value, const struct node *node,
                       struct arena *arena, struct error *error);

/* Sets the value to the default of its row. Returns false for a mistake in the row: a default that
 * is not among the choices. */
bool value_default(struct value *value);

/* Tells whether the value equals the default of its row; false for lists of paths or values. */
bool value_is_default(const struct value *value);

/* Appends the value in config syntax; nothing if it is unset. */
void value_print(const struct value *value, struct text *text);

#endif
