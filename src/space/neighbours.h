/* A k-d tree, and by it the nearest neighbours of every body of a system in open space. */
#ifndef ORRERY_SPACE_NEIGHBOURS_H
#define ORRERY_SPACE_NEIGHBOURS_H

#include <stddef.h>

#include "base/interruption.h"
#include "base/status.h"
#include "model/bodies.h"

/*
 * A k-d tree over points: each cell has half of the points of the cell above it, on one side of a
 * plane across the longest side of that cell's box. The points are sorted so that each cell has a
 * range of them. The tree serves searches for what is near a point or near a leaf. It depends on
 * the points alone, not on the threads that build it.
 */
struct tree_point {
    double x[3];
    size_t index; /* number of the point, given by the caller */
};

/* A cell of the tree: one cache line. */
struct point_cell {
    double low[3], high[3]; /* the box around its points */
    size_t first, last;     /* its points: [first, last) */
};

struct point_tree {
    size_t count;
    struct tree_point *points; /* sorted, so that each cell is a range of points */
    size_t leaves;             /* number of leaves, a power of two */
    struct point_cell *cells;  /* [2 leaves]: the root is cell 1; below cell n are cells 2 n and 2 n
                                  + 1; cells from `leaves` on are leaves */
};

/* The bytes of a tree for each point, at most, with leaves of `leaf` points. */
#define POINT_TREE_BYTES(leaf) (sizeof(struct tree_point) + 4 * sizeof(struct point_cell) / (leaf))

/* Creates a tree with room for `count` points, which the caller then puts into `points`; the caller
 * may then make tree->count less. With `count` points a leaf has at most `leaf` of them and, unless
 * it is the only leaf, at least half of `leaf`. STATUS_MEMORY. */
enum status point_tree_create(size_t count, size_t leaf, struct point_tree **tree,
                              struct error *error);
void point_tree_destroy(struct point_tree *tree); /* accepts NULL */

/* Sorts the points, which must be finite, and makes the cells, by `threads` threads; 0: by as many
 * as OpenMP gives. If it is interrupted, the tree is not complete. */
void point_tree_build(struct point_tree *tree, int threads, struct interruption *interruption);

/* Returns the square of the shortest distance between the box of a cell and another box; 0 if they
 * overlap. For the distance of a point, low = high = the point. */
static inline double point_cell_gap2(const struct point_cell *cell, const double low[3],
                                     const double high[3])
{
    double gap2 = 0.0;
    for (int k = 0; k < 3; k++) {
        const double below = low[k] - cell->high[k], above = cell->low[k] - high[k];
        const double gap = below > above ? below : above;
        gap2 += gap > 0.0 ? gap * gap : 0.0;
    }
    return gap2;
}

/* --- neighbours ------------------------------------------------------------------------------- */

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
