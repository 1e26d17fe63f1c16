/* A configuration as written: groups, lists and scalars, each with its location; no schema yet. */
#ifndef ORRERY_CONFIG_TREE_H
#define ORRERY_CONFIG_TREE_H

#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "config/node.h"

/* The file of `from` with its overrides applied. Nodes and strings live in the arena. With errors
 * *root is what could be read all the same, so that its own can be told too, or NULL. */
enum status tree_read(const struct config_source *from, struct arena *arena, struct node **root,
                      struct error *error);

/* The same for the tree `base`, which stays as it is and must outlive the new one, in the place of
 * the file: only the overrides are read. */
enum status tree_vary(const struct node *base, const struct config_source *overrides,
                      struct arena *arena, struct node **root, struct error *error);

/* The member of that name, or NULL; of NULL and of what is no group as well. */
struct node *tree_member(const struct node *group, const char *name);

/* In config syntax, and re-readable to the same bits; but a group is only hinted at: "{ ... }". */
void tree_print(const struct node *node, struct text *text);
void tree_print_real(double value, struct text *text);        /* 0.1, 1.0, 1e+300 */
void tree_print_string(const char *value, struct text *text); /* "a \"b\"" */

#endif
