#include "diagnostics/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { LEAF = 8 }; /* bodies that are no longer split */

struct position {
    double x[3];
    size_t body;
};

/*
 * The positions in an order that is the tree: a range is split at its middle position by the
 * coordinate `axis[middle]`; what stands before the middle is not above it, what stands behind not
 * below.
 */
struct neighbours {
    size_t count;
    struct position *positions;
    size_t *rank; /* of a body in `positions` */
    unsigned char *axis;
};

/* The axis along which the positions of a range reach farthest. */
static unsigned char widest(const struct position *positions, size_t begin, size_t end)
{
    unsigned char best = 0;
    double width = -1.0;
    for (unsigned char k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = begin; i < end; i++) {
            low = fmin(low, positions[i].x[k]);
            high = fmax(high, positions[i].x[k]);
        }
        if (high - low > width) {
            width = high - low;
            best = k;
        }
    }
    return best;
}

/* Hoare's selection: the position at `middle` is the one that sorting along k would put there. */
static void select_middle(struct position *positions, size_t begin, size_t end, size_t middle,
                          int k)
{
    while (end - begin > 1) {
        const double pivot = positions[begin + (end - begin - 1) / 2].x[k]; /* never the last one */
        size_t i = begin, j = end - 1;
        for (;;) {
            while (positions[i].x[k] < pivot)
                i++;
            while (positions[j].x[k] > pivot)
                j--;
            if (i >= j)
                break;
            const struct position held = positions[i];
            positions[i++] = positions[j];
            positions[j--] = held;
        }
        if (middle <= j)
            end = j + 1;
        else
            begin = j + 1;
    }
}

static void split(struct neighbours *tree, size_t begin, size_t end)
{
    while (end - begin > LEAF) {
        const size_t middle = begin + (end - begin) / 2;
        const unsigned char k = widest(tree->positions, begin, end);
        select_middle(tree->positions, begin, end, middle, k);
        tree->axis[middle] = k;
        split(tree, begin, middle);
        begin = middle + 1;
    }
}

enum status neighbours_create(const struct bodies *bodies, size_t system,
                              struct neighbours **result, struct error *error)
{
    *result = NULL;
    struct neighbours *tree = calloc(1, sizeof *tree);
    if (!tree)
        return error_set(error, STATUS_MEMORY, "out of memory for a tree of neighbours");
    const size_t first = system * bodies->stride, count = bodies->count;
    tree->count = count;
    tree->positions = memory_array(count, sizeof *tree->positions, error);
    tree->rank = memory_array(count, sizeof *tree->rank, error);
    tree->axis = memory_array(count, sizeof *tree->axis, error);
    if (!tree->positions || !tree->rank || !tree->axis)
        goto fail;
    for (size_t i = 0; i < count; i++) {
        const double x = bodies->x[first + i], y = bodies->y[first + i], z = bodies->z[first + i];
        if (!isfinite(x) || !isfinite(y) || !isfinite(z)) {
            error_set(error, STATUS_NUMERICAL, "body %lld is at (%g, %g, %g)",
                      (long long)bodies->id[first + i], x, y, z);
            goto fail;
        }
        tree->positions[i] = (struct position){ { x, y, z }, i };
    }
    split(tree, 0, count);
    for (size_t i = 0; i < count; i++)
        tree->rank[tree->positions[i].body] = i;
    *result = tree;
    return STATUS_OK;
fail:
    neighbours_destroy(tree);
    return error->status;
}

void neighbours_destroy(struct neighbours *neighbours)
{
    if (!neighbours)
        return;
    memory_free(neighbours->positions);
    memory_free(neighbours->rank);
    memory_free(neighbours->axis);
    free(neighbours);
}

/* The nearest so far, in order. */
struct search {
    const struct neighbours *tree;
    const struct position *from;
    size_t wanted, found;
    size_t index[NEIGHBOURS_MAX];
    double r2[NEIGHBOURS_MAX];
};

static void consider(struct search *search, size_t at)
{
    const struct position *position = &search->tree->positions[at], *from = search->from;
    const double dx = position->x[0] - from->x[0], dy = position->x[1] - from->x[1],
                 dz = position->x[2] - from->x[2];
    const double r2 = dx * dx + dy * dy + dz * dz;
    if (position == from ||
        (search->found == search->wanted && r2 >= search->r2[search->found - 1]))
        return;
    size_t k = search->found < search->wanted ? search->found++ : search->found - 1;
    for (; k > 0 && search->r2[k - 1] > r2; k--) {
        search->r2[k] = search->r2[k - 1];
        search->index[k] = search->index[k - 1];
    }
    search->r2[k] = r2;
    search->index[k] = position->body;
}

static void descend(struct search *search, size_t begin, size_t end)
{
    while (end - begin > LEAF) {
        const size_t middle = begin + (end - begin) / 2;
        const int k = search->tree->axis[middle];
        const double d = search->from->x[k] - search->tree->positions[middle].x[k];
        const size_t far_begin = d < 0.0 ? middle + 1 : begin, far_end = d < 0.0 ? end : middle;
        descend(search, d < 0.0 ? begin : middle + 1, d < 0.0 ? middle : end);
        consider(search, middle);
        if (search->found == search->wanted && d * d >= search->r2[search->found - 1])
            return;
        begin = far_begin;
        end = far_end;
    }
    for (; begin < end; begin++)
        consider(search, begin);
}

size_t neighbours_find(const struct neighbours *neighbours, size_t i, size_t wanted, size_t *index,
                       double *r2)
{
    struct search search = { .tree = neighbours,
                             .from = &neighbours->positions[neighbours->rank[i]],
                             .wanted = wanted };
    if (wanted > 0)
        descend(&search, 0, neighbours->count);
    for (size_t k = 0; k < search.found; k++) {
        index[k] = search.index[k];
        r2[k] = search.r2[k];
    }
    return search.found;
}
