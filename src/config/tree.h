/* The tree of a configuration as it is written: groups, lists and scalars, each with its location,
 * not yet checked against the schema. */
#ifndef ORRERY_CONFIG_TREE_H
#define ORRERY_CONFIG_TREE_H

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/node.h"

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
