#include "space/body-tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/vec3.h"

/* A branch, a subtree that one thread builds, has at most count / BRANCHES_WANTED bodies, or
 * LEAST_BRANCH if that is more. Cells deeper than DEEPEST_MIDDLE levels are halved by number of
 * bodies, not at the middle of their box. */
enum { BRANCHES_WANTED = 128, LEAST_BRANCH = 1024, DEEPEST_MIDDLE = 64 };

/* A leaf in the outskirts of a dense part has at most SPARSE_LEAF bodies. A cell lies there if one
 * of the cells above it is more than CONTRAST times as dense (is_leaf()). */
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
    if (!(t->bodies = memory_array(count + 4, sizeof *t->bodies, error)) ||
        !(t->spare = memory_array(count + 4, sizeof *t->spare, error)) ||
        !(t->keys = memory_array(count, sizeof *t->keys, error)) ||
        !(t->cells = memory_array(body_tree_cells_of(count), sizeof *t->cells, error)) ||
        !(t->frame = memory_array(BODY_TREE_TRUNK, sizeof *t->frame, error)) ||
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
    memory_free(tree->frame);
    memory_free(tree->cells);
    memory_free(tree->keys);
    memory_free(tree->spare);
    memory_free(tree->bodies);
    memory_free(tree);
}

/* Finds the box around the bodies of a cell, from the first three of four numbers of each: one
 * vector instruction compares all four. Bodies are taken in two independent series, so that one
 * comparison need not wait for the one before it; the bounds of the series have names of their own,
 * so that the compiler keeps them in registers. */
#define FIND_BOX(type, numbers_of)                                                                 \
    type low[4] = { INFINITY, INFINITY, INFINITY, INFINITY }, odd_low[4];                          \
    type high[4] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY }, odd_high[4];                    \
    memcpy(odd_low, low, sizeof low);                                                              \
    memcpy(odd_high, high, sizeof high);                                                           \
    for (size_t i = cell->first; i < cell->last; i += 2) {                                         \
        type x[4], y[4];                                                                           \
        memcpy(x, numbers_of(i), sizeof x);                                                        \
        memcpy(y, numbers_of(i + 1 < cell->last ? i + 1 : i), sizeof y);                           \
        WIDEN(low, high, x)                                                                        \
        WIDEN(odd_low, odd_high, y)                                                                \
    }                                                                                              \
    WIDEN(low, high, odd_low)                                                                      \
    WIDEN(low, high, odd_high)                                                                     \
    for (int d = 0; d < 3; d++) {                                                                  \
        cell->low[d] = low[d];                                                                     \
        cell->high[d] = high[d];                                                                   \
    }
#define WIDEN(low, high, x)                                                                        \
    _Pragma("omp simd") for (int d = 0; d < 4; d++)                                                \
    {                                                                                              \
        low[d] = x[d] < low[d] ? x[d] : low[d];                                                    \
        high[d] = x[d] > high[d] ? x[d] : high[d];                                                 \
    }

/* Finds the box in units of the frame, from keys. */
static void find_key_box(struct body_tree_cell *cell, const struct body_tree_key *keys)
{
#define NUMBERS(i) &keys[i]
    FIND_BOX(float, NUMBERS)
#undef NUMBERS
}

/* Finds the exact box of the bodies, which stand in the order of the tree. */
static void find_exact_box(struct body_tree_cell *cell, const struct body_tree_body *bodies)
{
#define NUMBERS(i) &bodies[i]
    FIND_BOX(double, NUMBERS)
#undef NUMBERS
}

/* Gives the keys of a cell a frame of their own: its box has the middle 0 and sides of 2 at
 * most. */
static void set_frame(struct body_tree *tree, struct body_tree_cell *cell,
                      struct body_tree_frame *frame)
{
    struct body_tree_key *const keys = tree->keys;
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    double size = 0;
    for (size_t i = cell->first; i < cell->last; i++)
        for (int d = 0; d < 3; d++) {
            const double x = tree->bodies[keys[i].index].x[d];
            low[d] = x < low[d] ? x : low[d];
            high[d] = x > high[d] ? x : high[d];
        }
    for (int d = 0; d < 3; d++) {
        frame->center[d] = 0.5 * low[d] + 0.5 * high[d];
        size = fmax(size, high[d] - low[d]);
    }
    frame->scale = size > 0 ? ldexp(1, -ilogb(fmin(fmax(size, DBL_MIN), DBL_MAX))) : 0;
    for (size_t i = cell->first; i < cell->last; i++)
        for (int d = 0; d < 3; d++)
            keys[i].x[d] =
                (float)((tree->bodies[keys[i].index].x[d] - frame->center[d]) * frame->scale);
    find_key_box(cell, keys);
}

/* Gives the keys of a cell another frame if the cell is too small in theirs: keys are right to
 * 2^-24, so that a cell has 2^10 of their steps at least. */
static void refine_frame(struct body_tree *tree, struct body_tree_cell *cell,
                         struct body_tree_frame *frame)
{
    const int axis = vec3_longest_side(cell->low, cell->high);
    if (frame->scale > 0 && cell->high[axis] - cell->low[axis] < 0x1p-14)
        set_frame(tree, cell, frame);
}

/*
 * Sorts the bodies of a cell into those below and those above the middle of the longest side of its
 * box, and returns the index at which the second part begins. Bodies keep their order within both
 * parts, so that the order of the tree depends on nothing but positions and the order of the input.
 */
static size_t cut(struct body_tree *tree, const struct body_tree_cell *cell)
{
    struct body_tree_key *const keys = tree->keys;
    struct body_tree_key *const spare = (struct body_tree_key *)&tree->spare[cell->first];
    const int axis = vec3_longest_side(cell->low, cell->high);
    const float middle = (float)(0.5 * (cell->low[axis] + cell->high[axis]));
    size_t at = cell->first, held = 0;
    for (size_t i = cell->first; i < cell->last; i++) {
        const struct body_tree_key key = keys[i];
        const bool is_above = keys[i].x[axis] >= middle;
        keys[at] = key; /* the key is written to both places; the wrong one is written over by the
                           next */
        spare[held] = key;
        at += !is_above;
        held += is_above;
    }
    memcpy(&keys[at], spare, held * sizeof *keys);
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
    find_key_box(below, tree->keys);
    find_key_box(above, tree->keys);
}

static size_t bodies_of(const struct body_tree_cell *cell)
{
    return cell->last - cell->first;
}

void body_tree_plant(struct body_tree *tree)
{
    tree->cells[0] = (struct body_tree_cell){ .first = 0, .last = (uint32_t)tree->count };
    for (size_t i = 0; i < tree->count; i++)
        tree->keys[i].index = (uint32_t)i;
    set_frame(tree, &tree->cells[0], &tree->frame[0]);
    tree->trunk = 1;
    tree->level = 0;
    tree->levels = 0;
    tree->branches = 0;
}

/* Returns the density of a cell whose box is in units of a frame: its number of bodies over the
 * cube of the longest side of its box; 0 if all bodies are at one point. */
static double density_of(const struct body_tree_cell *cell, const struct body_tree_frame *frame)
{
    const int axis = vec3_longest_side(cell->low, cell->high);
    const double side = frame->scale > 0 ? (cell->high[axis] - cell->low[axis]) / frame->scale : 0;
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
        if (density_of(root, &tree->frame[branch->root]) * CONTRAST < branch->densest &&
            2 * bodies_of(root) + kept < left)
            room = 2 * bodies_of(root);
        branch->first = branch->last = (uint32_t)next;
        branch->room = (uint32_t)room;
        next += room;
        left -= room;
    }
}

/* Lists the branches below a cell of the trunk in the order of their bodies: branches that follow
 * one another have most of the cells above them in common. */
static void list_branches(struct body_tree *tree, uint32_t c, int depth, double densest)
{
    const struct body_tree_cell *const cell = &tree->cells[c];
    if (!cell->child[0]) {
        tree->branch[tree->branches++] =
            (struct body_tree_branch){ .root = c, .depth = depth, .densest = densest };
        return;
    }
    densest = fmax(densest, density_of(cell, &tree->frame[c]));
    for (int k = 0; k < 2; k++)
        list_branches(tree, cell->child[k], depth + 1, densest);
}

bool body_tree_plan_level(struct body_tree *tree, size_t *first, size_t *last)
{
    const size_t wanted = tree->count / BRANCHES_WANTED;
    const size_t most = wanted > LEAST_BRANCH ? wanted : LEAST_BRANCH;
    *first = tree->level;
    *last = tree->level = tree->trunk;
    for (size_t c = *first; c < *last; c++) {
        struct body_tree_cell *const cell = &tree->cells[c];
        if (bodies_of(cell) > most && tree->trunk + 2 <= BODY_TREE_TRUNK) {
            cell->child[0] = (uint32_t)tree->trunk;
            cell->child[1] = (uint32_t)tree->trunk + 1;
            tree->trunk += 2;
        }
    }
    tree->levels++;
    if (tree->trunk == *last) {
        list_branches(tree, 0, 0, 0);
        place_branches(tree);
        return false;
    }
    return true;
}

void body_tree_cut(struct body_tree *tree, size_t c)
{
    struct body_tree_cell *const cell = &tree->cells[c];
    if (!cell->child[0])
        return;
    refine_frame(tree, cell, &tree->frame[c]);
    divide(tree, cell, tree->levels - 1, &tree->cells[cell->child[0]],
           &tree->cells[cell->child[1]]);
    for (int k = 0; k < 2; k++)
        tree->frame[cell->child[k]] = tree->frame[c];
}

/*
 * Tells whether a cell is a leaf: whether it has few enough bodies. If `densest`, the greatest
 * density of its ancestors, is much greater than its own, the cell lies in the outskirts of that
 * ancestor: its bodies are far apart, as seen from where most mass is, and fewer of them go into a
 * leaf.
 */
static bool is_leaf(const struct body_tree *tree, const struct body_tree_cell *cell, double density,
                    double densest)
{
    const size_t count = bodies_of(cell);
    return count <= tree->leaf && (count <= SPARSE_LEAF || density * CONTRAST > densest);
}

static void grow(struct body_tree *tree, struct body_tree_branch *branch, uint32_t c, int depth,
                 double densest, struct body_tree_frame frame)
{
    struct body_tree_cell *const cell = &tree->cells[c];
    refine_frame(tree, cell, &frame);
    const double density = density_of(cell, &frame);
    if (is_leaf(tree, cell, density, densest) || branch->last + 2 > branch->first + branch->room)
        return;
    const uint32_t children = branch->last;
    branch->last += 2;
    cell->child[0] = children;
    cell->child[1] = children + 1;
    divide(tree, cell, depth, &tree->cells[children], &tree->cells[children + 1]);
    densest = density > densest ? density : densest;
    grow(tree, branch, children, depth + 1, densest, frame);
    grow(tree, branch, children + 1, depth + 1, densest, frame);
}

/* Finds the exact box of a cell, whose bodies stand in their order in `spare`: that around the
 * boxes of its children. */
static void find_final_box(struct body_tree *tree, size_t c)
{
    struct body_tree_cell *const cell = &tree->cells[c];
    if (!cell->child[0]) {
        find_exact_box(cell, tree->spare);
        return;
    }
    const struct body_tree_cell *const one = &tree->cells[cell->child[0]];
    const struct body_tree_cell *const two = &tree->cells[cell->child[1]];
    for (int d = 0; d < 3; d++) {
        cell->low[d] = one->low[d] < two->low[d] ? one->low[d] : two->low[d];
        cell->high[d] = one->high[d] > two->high[d] ? one->high[d] : two->high[d];
    }
}

void body_tree_grow_branch(struct body_tree *tree, size_t branch)
{
    enum { AHEAD = 16 }; /* bodies that are on their way from the memory */
    struct body_tree_branch *const b = &tree->branch[branch];
    const struct body_tree_cell *const root = &tree->cells[b->root];
    b->last = b->first;
    tree->cells[b->root].child[0] = tree->cells[b->root].child[1] = 0;
    grow(tree, b, b->root, b->depth, b->densest, tree->frame[b->root]);
    for (size_t i = root->first; i < root->last; i++) {
        __builtin_prefetch(&tree->bodies[tree->keys[i + AHEAD < root->last ? i + AHEAD : i].index]);
        tree->spare[i] = tree->bodies[tree->keys[i].index];
    }
    for (uint32_t k = body_tree_cells_below(b); k-- > 0;)
        find_final_box(tree, body_tree_cell_below(b, k));
}

void body_tree_finish(struct body_tree *tree)
{
    for (size_t c = tree->trunk; c-- > 0;)
        if (tree->cells[c].child[0] && tree->cells[c].child[0] < tree->trunk)
            find_final_box(tree, c);
    struct body_tree_body *const bodies = tree->spare;
    tree->spare = tree->bodies;
    tree->bodies = bodies;
}
