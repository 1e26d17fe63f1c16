/* A configuration as written: groups, lists and scalars, each with its place; no schema yet. */
#ifndef ORRERY_CONFIG_TREE_H
#define ORRERY_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "config/arena.h"
#include "config/config.h"
#include "config/place.h"

#ifdef __cplusplus
extern "C" {
#endif

enum node_kind {
    NODE_FLAG,
    NODE_INTEGER,
    NODE_REAL,
    NODE_STRING,
    NODE_LIST, /* also libconfig's arrays */
    NODE_GROUP,
    NODE_BAD /* no value; `string` is what was written, `bad` why (enum source_bad) */
};

struct node {
    enum node_kind kind;
    char bad;
    bool flag;
    int64_t integer;
    double real;
    const char *string;
    const char *raw;  /* of an override: the value as it was typed */
    const char *name; /* in a group */
    struct place place;
    struct node **children;
    size_t count;
};

/* The file of `from` with its overrides applied. Nodes and strings live in the arena. */
enum status tree_read(const struct config_source *from, struct arena *arena, struct node **root,
                      struct error *error);

/* One value; what is no literal is a string without quotation marks ("velocity-verlet"). */
enum status tree_value(const struct place *place, const char *path, const char *bytes,
                       struct arena *arena, struct node **node, struct error *error);

/* The member of that name, or NULL; of NULL and of what is no group as well. */
struct node *tree_member(const struct node *group, const char *name);

/* In config syntax, and re-readable to the same bits; but a group is only hinted at: "{ ... }". */
void tree_print(const struct node *node, struct text *text);
void tree_print_real(double value, struct text *text);        /* 0.1, 1.0, 1e+300 */
void tree_print_string(const char *value, struct text *text); /* "a \"b\"" */

#ifdef __cplusplus
}
#endif

#endif
