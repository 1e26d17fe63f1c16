/*
 * The systems of a file: the numbers that name them in its rows, in ascending order, and how many
 * bodies of each were found so far. Rows may come in any order; mostly those of one system follow
 * each other, and then a system is found at once.
 */
#ifndef ORRERY_FORMATS_SYSTEM_LIST_H
#define ORRERY_FORMATS_SYSTEM_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A list of systems; all zero is an empty list. */
struct system_list {
    struct {
        int64_t name; /* the number that names the system in the file */
        size_t count; /* the count of its bodies so far */
    } * all;          /* [length], owned */
    size_t length, capacity;
    size_t last; /* index found last */
};

/* Returns the index of the system with the number `name`, or the index at which that system would
 * have to be inserted. */
size_t system_list_find(struct system_list *systems, int64_t name);

/* Counts a body of the system with the number `name`, and inserts the system if the list has none.
 * STATUS_MEMORY. */
enum status system_list_add(struct system_list *systems, int64_t name, struct error *error);

void system_list_free(struct system_list *systems);

#endif
