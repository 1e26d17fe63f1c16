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

#endif
