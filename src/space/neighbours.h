/* The nearest neighbours of every body of a system in open space, by a k-d tree. */
#ifndef ORRERY_SPACE_NEIGHBOURS_H
#define ORRERY_SPACE_NEIGHBOURS_H

#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "space/point-tree.h"

enum {
    NEIGHBOURS_LEAF = 8, /* bodies of a leaf of the tree, at most */
    /* The most memory that the tree takes for each body, in bytes. */
    NEIGHBOURS_BODY_BYTES = POINT_TREE_BYTES(NEIGHBOURS_LEAF) + sizeof(size_t)
};

struct neighbours; /* opaque; has a copy of the positions, so the bodies may move afterwards */

/* Creates the tree of a system's positions by `threads` threads; 0: by as many as OpenMP gives.
 * STATUS_MEMORY; STATUS_NUMERICAL if a position is no number (NaN, infinite). */
enum status neighbours_create(const struct bodies *bodies, size_t system, int threads,
                              struct neighbours **neighbours, struct error *error);
void neighbours_destroy(struct neighbours *neighbours); /* accepts NULL */

enum { NEIGHBOURS_MAX = 32 };

/*
 * Finds the `wanted` <= NEIGHBOURS_MAX bodies nearest to body i other than itself: puts their
 * indices within the system into `index` and their squared distances into `r2`, nearest first, and
 * of equal distances the lower index first. Returns how many there are. Threads may ask at the same
 * time.
 */
size_t neighbours_find(const struct neighbours *neighbours, size_t i, size_t wanted, size_t *index,
                       double *r2);

/* Finds the neighbours of the bodies [first, first + count), `wanted` numbers in `index` and `r2`
 * for each body, by as many threads as OpenMP gives. If a body has fewer neighbours, the last of
 * its indices are NO_NEIGHBOUR. */
#define NO_NEIGHBOUR ((size_t)-1)
enum { NEIGHBOURS_BLOCK = 4096 }; /* a good value of `count`: enough work for all threads */
void neighbours_find_block(const struct neighbours *neighbours, size_t first, size_t count,
                           size_t wanted, size_t *index, double *r2);

#endif
