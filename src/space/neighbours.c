#include "space/neighbours.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/vec3.h"

/* The number of cells of the level at which the work is divided: a thread takes a cell of this
 * level with all cells below it. */
enum { BRANCHES = 64 };

enum status point_tree_create(size_t count, size_t leaf, struct point_tree **tree,
                              struct error *error)
{
    struct point_tree *const t = *tree = memory_array(1, sizeof *t, error);
    if (!t)
        return error->status;
    t->count = count;
    t->leaves = 1;
    while (count / t->leaves >= leaf)
        t->leaves *= 2;
    if (!(t->points = memory_array(count, sizeof *t->points, error)) ||
        !(t->cells = memory_array(t->leaves, 2 * sizeof *t->cells, error))) {
        point_tree_destroy(t);
        *tree = NULL;
    }
    return error->status;
}

void point_tree_destroy(struct point_tree *tree)
{
    if (!tree)
        return;
    memory_free(tree->cells);
    memory_free(tree->points);
    memory_free(tree);
}

static void find_box(struct point_cell *cell, const struct tree_point *points)
{
    for (int k = 0; k < 3; k++) {
        cell->low[k] = INFINITY;
        cell->high[k] = -INFINITY;
    }
    for (size_t i = cell->first; i < cell->last; i++)
        for (int k = 0; k < 3; k++) {
            const double x = points[i].x[k];
            cell->low[k] = x < cell->low[k] ? x : cell->low[k];
            cell->high[k] = x > cell->high[k] ? x : cell->high[k];
        }
}

/* Sorts the points [begin, end) partly, along axis k by Hoare's selection: afterwards no point
 * before `middle` has a greater coordinate than a point from `middle` on. */
static void select_middle(struct tree_point *points, size_t begin, size_t end, size_t middle, int k)
{
    while (end - begin > 1) {
        /* Never the last point, since `end` might not move then. */
        const double pivot = points[begin + (end - begin - 1) / 2].x[k];
        size_t i = begin, j = end - 1;
        for (;;) {
            while (points[i].x[k] < pivot)
                i++;
            while (points[j].x[k] > pivot)
                j--;
            if (i >= j)
                break;
            const struct tree_point held = points[i];
            points[i++] = points[j];
            points[j--] = held;
        }
        if (middle <= j)
            end = j + 1;
        else
            begin = j + 1;
    }
}

static void divide(struct point_tree *tree, size_t n)
{
    const struct point_cell *const cell = &tree->cells[n];
    const size_t middle = cell->first + (cell->last - cell->first) / 2;
    struct point_cell *const children = &tree->cells[2 * n];
    if (middle > cell->first)
        select_middle(tree->points, cell->first, cell->last, middle,
                      vec3_longest_side(cell->low, cell->high));
    children[0].first = cell->first;
    children[0].last = children[1].first = middle;
    children[1].last = cell->last;
    find_box(&children[0], tree->points);
    find_box(&children[1], tree->points);
}

static void divide_all(struct point_tree *tree, size_t n)
{
    if (n >= tree->leaves)
        return;
    divide(tree, n);
    divide_all(tree, 2 * n);
    divide_all(tree, 2 * n + 1);
}

void point_tree_build(struct point_tree *tree, int threads, struct interruption *interruption)
{
    const size_t branches = tree->leaves < BRANCHES ? tree->leaves : BRANCHES;
    const int team = threads > 0 ? threads : omp_get_max_threads();
    tree->cells[1].first = 0;
    tree->cells[1].last = tree->count;
    find_box(&tree->cells[1], tree->points);
    for (size_t level = 1; level < branches; level *= 2) {
#pragma omp parallel for num_threads(team) schedule(dynamic) if (tree->count > 4096)
        for (size_t n = level; n < 2 * level; n++)
            divide(tree, n);
    }
#pragma omp parallel for num_threads(team) schedule(dynamic) if (tree->count > 4096)
    for (size_t n = branches; n < 2 * branches; n++)
        if (!interruption_raised(interruption))
            divide_all(tree, n);
}

/* --- neighbours ------------------------------------------------------------------------------- */

struct neighbours {
    struct point_tree *tree;
    size_t *rank; /* index of each body among the points of the tree */
};

enum status neighbours_create(const struct bodies *bodies, size_t system, int threads,
                              struct neighbours **result, struct error *error)
{
    *result = NULL;
    struct neighbours *own = calloc(1, sizeof *own);
    if (!own)
        return error_set(error, STATUS_MEMORY, "out of memory for a tree of neighbours");
    const size_t first = system * bodies->stride, count = bodies->count;
    own->rank = memory_array(count, sizeof *own->rank, error);
    if (!own->rank || point_tree_create(count, NEIGHBOURS_LEAF, &own->tree, error))
        goto fail;
    for (size_t i = 0; i < count; i++) {
        const double x = bodies->x[first + i], y = bodies->y[first + i], z = bodies->z[first + i];
        if (!isfinite(x) || !isfinite(y) || !isfinite(z)) {
            error_set(error, STATUS_NUMERICAL, "body %lld is at (%g, %g, %g)",
                      (long long)bodies->id[first + i], x, y, z);
            goto fail;
        }
        own->tree->points[i] = (struct tree_point){ { x, y, z }, i };
    }
    point_tree_build(own->tree, threads, NULL);
    for (size_t i = 0; i < count; i++)
        own->rank[own->tree->points[i].index] = i;
    *result = own;
    return STATUS_OK;
fail:
    neighbours_destroy(own);
    return error->status;
}

void neighbours_destroy(struct neighbours *neighbours)
{
    if (!neighbours)
        return;
    point_tree_destroy(neighbours->tree);
    memory_free(neighbours->rank);
    free(neighbours);
}

/* A search for the `wanted` points nearest to `from`. `index` and `r2` have the bodies found so far
 * and their squared distances, nearest first; of equal distances the lower index comes first. */
struct search {
    const struct point_tree *tree;
    const struct tree_point *from;
    size_t wanted, found;
    size_t index[NEIGHBOURS_MAX];
    double r2[NEIGHBOURS_MAX];
};

static inline bool is_nearer(double r2, size_t index, double other_r2, size_t other)
{
    return r2 < other_r2 || (r2 == other_r2 && index < other);
}

static void consider(struct search *search, const struct tree_point *point)
{
    const struct tree_point *const from = search->from;
    const double dx = point->x[0] - from->x[0], dy = point->x[1] - from->x[1],
                 dz = point->x[2] - from->x[2];
    const double r2 = dx * dx + dy * dy + dz * dz;
    const size_t last = search->found - 1;
    if (point == from || (search->found == search->wanted &&
                          !is_nearer(r2, point->index, search->r2[last], search->index[last])))
        return;
    size_t k = search->found < search->wanted ? search->found++ : last;
    for (; k > 0 && is_nearer(r2, point->index, search->r2[k - 1], search->index[k - 1]); k--) {
        search->r2[k] = search->r2[k - 1];
        search->index[k] = search->index[k - 1];
    }
    search->r2[k] = r2;
    search->index[k] = point->index;
}

/* Searches cell n of the tree, whose box is at the squared distance gap2 from the point. No body in
 * the box is nearer than that, not even by a rounding, since both distances are summed alike. */
static void descend(struct search *search, size_t n, double gap2)
{
    const struct point_tree *const tree = search->tree;
    if (search->found == search->wanted && gap2 > search->r2[search->found - 1])
        return;
    if (n >= tree->leaves) {
        const struct point_cell *const leaf = &tree->cells[n];
        for (size_t i = leaf->first; i < leaf->last; i++)
            consider(search, &tree->points[i]);
        return;
    }
    const double *const x = search->from->x;
    const double below = point_cell_gap2(&tree->cells[2 * n], x, x),
                 above = point_cell_gap2(&tree->cells[2 * n + 1], x, x);
    const bool first = above < below;
    descend(search, 2 * n + first, first ? above : below);
    descend(search, 2 * n + !first, first ? below : above);
}

size_t neighbours_find(const struct neighbours *neighbours, size_t i, size_t wanted, size_t *index,
                       double *r2)
{
    struct search search = { .tree = neighbours->tree,
                             .from = &neighbours->tree->points[neighbours->rank[i]],
                             .wanted = wanted };
    if (wanted > 0)
        descend(&search, 1, 0.0);
    for (size_t k = 0; k < search.found; k++) {
        index[k] = search.index[k];
        r2[k] = search.r2[k];
    }
    return search.found;
}

void neighbours_find_block(const struct neighbours *neighbours, size_t first, size_t count,
                           size_t wanted, size_t *index, double *r2)
{
#pragma omp parallel for schedule(dynamic, 64) if (neighbours->tree->count > NEIGHBOURS_BLOCK)
    for (size_t k = 0; k < count; k++) {
        size_t *const at = &index[k * wanted];
        const size_t found = neighbours_find(neighbours, first + k, wanted, at, &r2[k * wanted]);
        for (size_t missing = found; missing < wanted; missing++)
            at[missing] = NO_NEIGHBOUR;
    }
}
