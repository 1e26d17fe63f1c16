/* The members of struct config and struct section, which only src/config knows, and the tree that
 * they are read from. */
#ifndef ORRERY_CONFIG_SECTION_H
#define ORRERY_CONFIG_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/node.h"
#include "config/parameter.h"

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

/* --- tree.c: the tree of a configuration ------------------------------------------------------ */

/* The tree of a configuration as it is written: groups, lists and scalars, each with its location,
 * not yet checked against the schema. */

/* Reads the file of `from` into a tree and applies the overrides of `from`. Nodes and strings are
 * put into the arena. After an error *root is the part that could be read, so that its errors can
 * be reported too, or NULL. */
enum status tree_read(const struct config_source *from, struct arena *arena, struct node **root,
                      struct error *error);

/* Applies the overrides to the tree `base`, which stays as it is and must outlive the new tree
 * *root. No file is read. */
enum status tree_vary(const struct node *base, const struct config_source *overrides,
                      struct arena *arena, struct node **root, struct error *error);

/* Returns the node called `name` of the group; NULL if there is none, or if `group` is NULL or no
 * group. */
struct node *tree_member(const struct node *group, const char *name);

/* Appends the node in config syntax, which reads back to the same bits; for a group appends only
 * the words "{ ... }". */
void tree_print(const struct node *node, struct text *text);
void tree_print_real(double value, struct text *text);        /* as 0.1, 1.0 or 1e+300 */
void tree_print_string(const char *value, struct text *text); /* as "a \"b\"" */

/* --- source.c: the text ----------------------------------------------------------------------- */

/*
 * The one pass over the text of a configuration. It expands @include, checks the tokens and their
 * order, and notes each value with its location. libconfig 1.5 then reads the same text, but with a
 * 0 in the place of every value that libconfig would silently get wrong: numbers, which may
 * overflow there, and invalid values (nan, a string without quotation marks), which value.c reports
 * later with key and range. Arrays become lists, since libconfig refuses arrays that mix 0 and 0.5.
 */

/* The text for libconfig, which is a list of groups: the file, then for each value that was added a
 * group whose single member is that value. The nodes, linked by `next`, are in the order of the
 * text; libconfig then reads names, structure, strings and flags into them. */
struct source {
    struct text text;
    struct node *first, *last;
};

/* Reads the file and what it includes; nodes are put into the arena. The first node is the group of
 * the whole file. STATUS_NO_INPUT, STATUS_IO, STATUS_CONFIG with file and line, STATUS_MEMORY. */
enum status source_read(const struct config_source *from, struct arena *arena,
                        struct source *source, struct error *error);

/* Begins a source without a file: its first node is an empty group; errors call it `path`.
 * STATUS_MEMORY. */
enum status source_begin(const char *path, struct arena *arena, struct source *source,
                         struct error *error);

/* Adds the value `bytes`, which is not part of the file, and returns its node, or NULL with an
 * error. Errors name `location` and `path`, the path of the key, and leave the source as it was. */
struct node *source_value(const struct location *location, const char *path, const char *bytes,
                          struct arena *arena, struct source *source, struct error *error);

#endif
