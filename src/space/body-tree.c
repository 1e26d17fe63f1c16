#include "space/body-tree.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/vec3.h"

/* A branch, a subtree that one thread builds, has at most count / BRANCHES_WANTED bodies, or
 * LEAST_BRANCH if that is more. Cells deeper than DEEPEST_MIDDLE levels are halved by number of
 * bodies, not at the middle of their box. */
enum { BRANCHES_WANTED = 128, LEAST_BRANCH = 1024, DEEPEST_MIDDLE = 64 };

/* See is_leaf(): the most bodies of a leaf in the outskirts, and how many times as dense as such a
 * leaf a cell above it is. */
enum { SPARSE_LEAF = 4, CONTRAST = 6 };

size_t body_tree_cells_of(size_t count)
{
    return BODY_TREE_TRUNK + count + 8 * (BODY_TREE_TRUNK / 2 + 1);
}

enum status body_tree_create(size_t count, size_t leaf, struct body_tree **tree,
                             struct error *error)
{
    struct body_tree *const t = *tree = memory_array(1, sizeof *t, error);
    if (!t)
        return error->status;
    t->count = count;
    t->leaf = leaf;
    if (!(t->bodies = memory_array(count, sizeof *t->bodies, error)) ||
        !(t->index = memory_array(count, sizeof *t->index, error)) ||
        !(t->spare_index = memory_array(count, sizeof *t->spare_index, error)) ||
        !(t->spare = memory_array(count + 4, sizeof *t->spare, error)) ||
        !(t->cells = memory_array(body_tree_cells_of(count), sizeof *t->cells, error)) ||
        !(t->branch = memory_array(BODY_TREE_TRUNK, sizeof *t->branch, error))) {
        body_tree_destroy(t);
        *tree = NULL;
    }
    return error->status;
}

void body_tree_destroy(struct body_tree *tree)
{
    if (!tree)
        return;
    memory_free(tree->branch);
    memory_free(tree->cells);
    memory_free(tree->spare);
    memory_free(tree->spare_index);
    memory_free(tree->index);
    memory_free(tree->bodies);
    memory_free(tree);
}

/* Finds the box around the bodies of a cell. The mass is compared like a fourth coordinate, so that
 * one vector instruction takes all four numbers of a body; bodies are taken in two independent
 * series, so that one comparison need not wait for the one before it. */
static void find_box(struct body_tree_cell *cell, const struct body_tree_body *bodies)
{
    double low[2][4], high[2][4];
    for (int k = 0; k < 8; k++) {
        low[k / 4][k % 4] = INFINITY;
        high[k / 4][k % 4] = -INFINITY;
    }
    for (size_t i = cell->first; i < cell->last; i += 2)
        for (size_t k = 0; k < 2; k++) {
            const double *const x = bodies[i + k < cell->last ? i + k : i].x;
#pragma omp simd
            for (int d = 0; d < 4; d++) {
                low[k][d] = x[d] < low[k][d] ? x[d] : low[k][d];
                high[k][d] = x[d] > high[k][d] ? x[d] : high[k][d];
            }
        }
    for (int d = 0; d < 3; d++) {
        cell->low[d] = low[0][d] < low[1][d] ? low[0][d] : low[1][d];
        cell->high[d] = high[0][d] > high[1][d] ? high[0][d] : high[1][d];
    }
}

/*
 * Sorts the bodies of a cell into those below and those above the middle of the longest side of its
 * box, and returns the index at which the second part begins. Bodies keep their order within both
 * parts, so that the order of the tree depends on nothing but positions and the order of the input.
 */
static size_t cut(struct body_tree *tree, const struct body_tree_cell *cell)
{
    struct body_tree_body *const bodies = tree->bodies, *const spare = tree->spare;
    uint32_t *const index = tree->index, *const spare_index = tree->spare_index;
    const int axis = vec3_longest_side(cell->low, cell->high);
    const double middle = 0.5 * (cell->low[axis] + cell->high[axis]);
    size_t at = cell->first, held = at;
    for (size_t i = cell->first; i < cell->last; i++) {
        const struct body_tree_body body = bodies[i];
        const uint32_t number = index[i];
        const bool is_above = body.x[axis] >= middle;
        bodies[at] = body; /* the body is written to both places; the wrong one is written over by
                              the next */
        index[at] = number;
        spare[held] = body;
        spare_index[held] = number;
        at += !is_above;
        held += is_above;
    }
    memcpy(&bodies[at], &spare[cell->first], (cell->last - at) * sizeof *bodies);
    memcpy(&index[at], &spare_index[cell->first], (cell->last - at) * sizeof *index);
    return at;
}

/* Divides a cell into the children `below` and `above` by cut(), or into halves by number if all
 * bodies are at one point or cells would get too deep. */
static void divide(struct body_tree *tree, const struct body_tree_cell *cell, int depth,
                   struct body_tree_cell *below, struct body_tree_cell *above)
{
    size_t at = cell->first;
    if (depth < DEEPEST_MIDDLE)
        at = cut(tree, cell);
    if (at == cell->first || at == cell->last)
        at = cell->first + (cell->last - cell->first) / 2;
    *below = (struct body_tree_cell){ .first = cell->first, .last = (uint32_t)at };
    *above = (struct body_tree_cell){ .first = (uint32_t)at, .last = cell->last };
    find_box(below, tree->bodies);
    find_box(above, tree->bodies);
}

static size_t bodies_of(const struct body_tree_cell *cell)
{
    return cell->last - cell->first;
}

void body_tree_plant(struct body_tree *tree)
{
    tree->cells[0] = (struct body_tree_cell){ .first = 0, .last = (uint32_t)tree->count };
    find_box(&tree->cells[0], tree->bodies);
    tree->trunk = 1;
    tree->level = 0;
    tree->levels = 0;
    tree->branches = 0;
}

/* Returns the density of a cell: its number of bodies over the cube of the longest side of its box;
 * 0 if all bodies are at one point. */
static double density_of(const struct body_tree_cell *cell)
{
    const int axis = vec3_longest_side(cell->low, cell->high);
    const double side = cell->high[axis] - cell->low[axis];
    return side > 0 ? (double)bodies_of(cell) / (side * side * side) : 0;
}

/*
 * Reserves room for the cells of each branch: as if leaves had four bodies on average, which is
 * more than enough; but four times as many cells for a branch in the outskirts (is_leaf()), where
 * each body may need a leaf of its own. If there is no room for all these cells, leaves stay
 * larger.
 */
static void place_branches(struct body_tree *tree)
{
    size_t next = tree->trunk, left = body_tree_cells_of(tree->count) - tree->trunk, kept = 0;
    for (size_t b = 0; b < tree->branches; b++)
        kept += bodies_of(&tree->cells[tree->branch[b].root]) / 2 + 8;
    for (size_t b = 0; b < tree->branches; b++) {
        struct body_tree_branch *const branch = &tree->branch[b];
        const struct body_tree_cell *const root = &tree->cells[branch->root];
        size_t room = bodies_of(root) / 2 + 8;
        kept -= room;
        if (density_of(root) * CONTRAST < branch->densest && 2 * bodies_of(root) + kept < left)
            room = 2 * bodies_of(root);
        branch->first = branch->last = (uint32_t)next;
        branch->room = (uint32_t)room;
        next += room;
        left -= room;
    }
}

/* Returns the greatest density of the cells above a cell of the trunk, from the root down. */
static double densest_above(const struct body_tree *tree, size_t cell)
{
    double densest = 0;
    for (size_t c = tree->cells[0].child[0] && cell ? 0 : cell; c != cell;) {
        const struct body_tree_cell *const above = &tree->cells[c];
        const double density = density_of(above);
        densest = density > densest ? density : densest;
        const struct body_tree_cell *const second = &tree->cells[above->child[1]];
        c = above->child[tree->cells[cell].first >= second->first];
    }
    return densest;
}

bool body_tree_plan_level(struct body_tree *tree, size_t *first, size_t *last)
{
    const size_t wanted = tree->count / BRANCHES_WANTED;
    const size_t most = wanted > LEAST_BRANCH ? wanted : LEAST_BRANCH;
    *first = tree->level;
    *last = tree->level = tree->trunk;
    for (size_t c = *first; c < *last; c++) {
        struct body_tree_cell *const cell = &tree->cells[c];
        if (bodies_of(cell) <= most || tree->trunk + 2 > BODY_TREE_TRUNK) {
            tree->branch[tree->branches++] = (struct body_tree_branch){
                .root = (uint32_t)c, .depth = tree->levels, .densest = densest_above(tree, c)
            };
        } else {
            cell->child[0] = (uint32_t)tree->trunk;
            cell->child[1] = (uint32_t)tree->trunk + 1;
            tree->trunk += 2;
        }
    }
    tree->levels++;
    if (tree->trunk == *last) {
        place_branches(tree);
        return false;
    }
    return true;
}

void body_tree_cut(struct body_tree *tree, size_t c)
{
    const struct body_tree_cell *const cell = &tree->cells[c];
    if (cell->child[0])
        divide(tree, cell, tree->levels - 1, &tree->cells[cell->child[0]],
               &tree->cells[cell->child[1]]);
}

/*
 * Tells whether a cell is a leaf: whether it has few enough bodies. If `densest`, the greatest
 * density of its ancestors, is much greater than its own, the cell lies in the outskirts of that
 * ancestor: its bodies are far apart, as seen from where most mass is, and fewer of them go into a
 * leaf.
 */
static bool is_leaf(const struct body_tree *tree, const struct body_tree_cell *cell, double densest)
{
    const size_t count = bodies_of(cell);
    return count <= tree->leaf && (count <= SPARSE_LEAF || density_of(cell) * CONTRAST > densest);
}

static void grow(struct body_tree *tree, struct body_tree_branch *branch, uint32_t c, int depth,
                 double densest)
{
    struct body_tree_cell *const cell = &tree->cells[c];
    if (is_leaf(tree, cell, densest) || branch->last + 2 > branch->first + branch->room)
        return;
    const double density = density_of(cell);
    const uint32_t children = branch->last;
    branch->last += 2;
    cell->child[0] = children;
    cell->child[1] = children + 1;
    divide(tree, cell, depth, &tree->cells[children], &tree->cells[children + 1]);
    densest = density > densest ? density : densest;
    grow(tree, branch, children, depth + 1, densest);
    grow(tree, branch, children + 1, depth + 1, densest);
}

void body_tree_grow_branch(struct body_tree *tree, size_t branch)
{
    struct body_tree_branch *const b = &tree->branch[branch];
    b->last = b->first;
    tree->cells[b->root].child[0] = tree->cells[b->root].child[1] = 0;
    grow(tree, b, b->root, b->depth, b->densest);
}
