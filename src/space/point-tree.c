#include "space/point-tree.h"

#include <math.h>
#include <omp.h>

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
