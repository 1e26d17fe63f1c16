/* A binary tree over the bodies of one system. A cell is a range of bodies, which the tree has put
 * in an order of its own; it is cut into two cells at the middle of the longest side of the box
 * around its bodies. The tree depends on positions alone: not on the threads that build it. */
#ifndef ORRERY_SPACE_BODY_TREE_H
#define ORRERY_SPACE_BODY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The most cells of the trunk (the upper part of the tree), and the most branches. */
enum { BODY_TREE_TRUNK = 4096 };

struct body_tree_cell {
    uint32_t first, last; /* bodies [first, last), in the order of the tree */
    uint32_t child[2];    /* indices of the two cells below; both 0: a leaf */
    double low[3],
        high[3]; /* the box around the bodies; in units of the frame while cells are cut */
};

/* A body of the tree: 32 bytes, so that two of them make a cache line. */
struct body_tree_body {
    double x[3], m;
};

/* A body while cells are cut: a quarter of a cache line, so that cuts move few bytes. */
struct body_tree_key {
    float x[3];     /* (x - center) scale, by the frame of the cell */
    uint32_t index; /* index of the body in the arrays that the tree was built from */
};

/* The origin and the unit of keys. Scale 0: all bodies are at one point. */
struct body_tree_frame {
    double center[3], scale;
};

/*
 * The cells of the trunk come first, the root at 0, then those of one branch after another, in the
 * order of their bodies. A parent stands before its children. A branch is a subtree below a leaf of
 * the trunk, which one thread builds, and later treats, as a whole; the number of bodies in the
 * tree decides how large a branch may be.
 */
struct body_tree {
    size_t count, leaf;            /* number of bodies; the most bodies of a leaf */
    struct body_tree_body *bodies; /* in the order of the tree after body_tree_finish() */
    struct body_tree_key *keys;    /* in the order of the tree; their x is of use to cuts alone */
    struct body_tree_cell *cells;
    struct body_tree_frame *frame; /* [trunk] frame of the keys in each cell of the trunk */
    size_t trunk;                  /* number of cells of the trunk */
    size_t level;                  /* the first cell on the trunk's lowest level */
    int levels;
    size_t branches;
    struct body_tree_branch {
        uint32_t root;        /* the cell at its top, a leaf of the trunk */
        uint32_t first, last; /* the cells below its root */
        uint32_t room;        /* number of cells that are reserved for it */
        int depth;            /* depth of its root; cell 0 has depth 0 */
        double densest;       /* the greatest density of the cells above its root */
    } * branch;
    /* Working space until the tree is finished; then others may use it. Both `bodies` and `spare`
     * have room for four bodies more than the tree has. */
    struct body_tree_body *spare;
};

/* Return the index of cell k of a branch, whose root is its cell 0 and stands apart from the
 * others, and the number of cells of the branch. */
static inline uint32_t body_tree_cell_below(const struct body_tree_branch *branch, uint32_t k)
{
    return k ? branch->first + k - 1 : branch->root;
}

static inline uint32_t body_tree_cells_below(const struct body_tree_branch *branch)
{
    return 1 + branch->last - branch->first;
}

/* Creates a tree for `count` bodies. A leaf has at most `leaf` bodies, or more if the room for
 * cells runs out. STATUS_MEMORY. */
enum status body_tree_create(size_t count, size_t leaf, struct body_tree **tree,
                             struct error *error);
void body_tree_destroy(struct body_tree *tree);

/* Returns the number of cells that a tree of `count` bodies has room for. */
size_t body_tree_cells_of(size_t count);

/*
 * The tree grows from bodies (x and m) that the caller has put into `bodies`; what was at place i
 * has the index i. First the trunk grows, level by level, then the branches. The cells of a level
 * can be cut in any order and at the same time, and different branches can be built at the same
 * time:
 *
 *     body_tree_plant(tree);
 *     while (body_tree_plan_level(tree, &first, &last))
 *         for (c = first; c < last; c++)
 *             body_tree_cut(tree, c);
 *     for (b = 0; b < tree->branches; b++)
 *         body_tree_grow_branch(tree, b);
 *     body_tree_finish(tree);
 */
void body_tree_plant(struct body_tree *tree);
bool body_tree_plan_level(struct body_tree *tree, size_t *first, size_t *last);
void body_tree_cut(struct body_tree *tree, size_t cell);
void body_tree_grow_branch(struct body_tree *tree, size_t branch);
void body_tree_finish(struct body_tree *tree);

#endif
