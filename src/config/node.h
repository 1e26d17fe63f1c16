/* The groups, lists and scalars of a configuration as written, each with its location. */
#ifndef ORRERY_CONFIG_NODE_H
#define ORRERY_CONFIG_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/location.h"

enum node_kind {
    NODE_FLAG,
    NODE_INTEGER,
    NODE_REAL,
    NODE_STRING,
    NODE_LIST, /* also libconfig's arrays */
    NODE_GROUP,
    NODE_BAD /* no value; `string` is what was written */
};

/* The reason why a value is none. */
enum node_bad {
    BAD_WORD,   /* nan, inf, or a string without quotation marks */
    BAD_NUMBER, /* 1.2.3 */
    BAD_RANGE,  /* 1e999, or an integer beyond 64 bits */
    BAD_TOLD    /* its statement could not be read, which has been said */
};

struct node {
    enum node_kind kind;
    enum node_bad bad;
    bool flag;
    int64_t integer;
    double real;
    const char *string;
    const char *raw;  /* of an override: the value as it was typed */
    const char *name; /* in a group */
    struct location location;
    struct node **children;
    size_t count;
    struct node *next;   /* in the text */
    struct node *before; /* in the same group */
};

#endif
