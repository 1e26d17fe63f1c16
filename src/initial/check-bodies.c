#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "initial/initial.h"
#include "model/bodies.h"

/* The system that is checked: the bodies with the indices [first, last) of the arrays. `source`
 * names their origin in messages. */
struct subject {
    const struct bodies *bodies;
    size_t first, last;
    const struct physics *physics;
    const char *source;
    struct error *error;
};

static enum status check_values(const struct subject *subject)
{
    const struct bodies *b = subject->bodies;
    const struct {
        const char *name;
        const double *values;
    } columns[] = { { "mass", b->m }, { "x", b->x },   { "y", b->y },  { "z", b->z },
                    { "vx", b->vx },  { "vy", b->vy }, { "vz", b->vz } };
    char name[BODIES_NAME_SIZE];
    double mass = 0;
    for (size_t i = subject->first; i < subject->last; i++) {
        for (size_t k = 0; k < COUNT_OF(columns); k++)
            if (!isfinite(columns[k].values[i]))
                return error_set(subject->error, STATUS_DATA, "%s: %s of %s is not finite",
                                 subject->source, columns[k].name, bodies_name(b, b->id[i], name));
        if (b->m[i] < 0)
            return error_set(subject->error, STATUS_DATA, "%s: the mass of %s is negative: %g",
                             subject->source, bodies_name(b, b->id[i], name), b->m[i]);
        mass += b->m[i];
    }
    if (!(mass > 0) && !subject->physics->external)
        return error_set(subject->error, STATUS_DATA, "%s: no body has any mass", subject->source);
    return STATUS_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static enum status find_equal_ids(const struct subject *subject, int64_t *sorted)
{
    const size_t count = subject->last - subject->first;
    const int64_t *id = subject->bodies->id + subject->first;
    for (size_t i = 0; i < count; i++)
        sorted[i] = id[i];
    qsort(sorted, count, sizeof *sorted, compare_ids);
    for (size_t i = 1; i < count; i++) {
        if (sorted[i] != sorted[i - 1])
            continue;
        size_t one = 0;
        while (id[one] != sorted[i])
            one++;
        size_t other = one + 1;
        while (id[other] != sorted[i])
            other++;
        return error_set(subject->error, STATUS_DATA,
                         "%s: two bodies have the id %" PRId64 ": number %zu and number %zu "
                         "(several systems in one file need a column cluster or system)",
                         subject->source, sorted[i], one + 1, other + 1);
    }
    return STATUS_OK;
}

enum status check_ids(const struct bodies *bodies, size_t first, const char *source,
                      struct error *error)
{
    const struct subject subject = { .bodies = bodies,
                                     .first = first,
                                     .last = first + bodies->count,
                                     .source = source,
                                     .error = error };
    const size_t count = bodies->count;
    const int64_t *id = bodies->id + first;
    bool ascending = true; /* then no id is there twice */
    for (size_t i = 1; i < count && ascending; i++)
        ascending = id[i] > id[i - 1];
    if (ascending)
        return STATUS_OK;
    int64_t *sorted = memory_array(count, sizeof *sorted, error);
    if (!sorted)
        return error->status;
    const enum status status = find_equal_ids(&subject, sorted);
    memory_free(sorted);
    return status;
}

static int compare_positions(const struct subject *subject, size_t i, size_t j)
{
    const struct bodies *b = subject->bodies;
    const double *const axes[] = { b->x, b->y, b->z };
    for (size_t k = 0; k < 3; k++) {
        const double left = physics_inside(subject->physics, axes[k][i]),
                     right = physics_inside(subject->physics, axes[k][j]);
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}

/* One body to be sorted. It has a pointer to the system because qsort() passes only two elements to
 * compare_candidates(). */
struct candidate {
    const struct subject *subject;
    size_t body;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    const size_t i = left->body, j = right->body;
    const int order = compare_positions(left->subject, i, j);
    return order ? order : (i > j) - (i < j);
}

/* Adds the number of pairs at one position to *coincident; without softening, reports the first
 * pair as an error. `order` has the bodies sorted by their positions. */
static enum status count_coincident(const struct subject *subject, const struct candidate *order,
                                    size_t *coincident)
{
    const struct bodies *b = subject->bodies;
    const size_t count = subject->last - subject->first;
    size_t others = 0; /* bodies before order[k] that are at the position of order[k] */
    char pair[BODIES_PAIR_SIZE];
    for (size_t k = 1; k < count; k++) {
        const size_t i = order[k - 1].body, j = order[k].body;
        others = compare_positions(subject, i, j) == 0 ? others + 1 : 0;
        if (others > 0 && !(subject->physics->softening > 0))
            return error_set(subject->error, STATUS_DATA,
                             "%s: %s are both at (%.9g, %.9g, %.9g), where the force between "
                             "them is infinite; physics.softening > 0 allows it",
                             subject->source, bodies_pair(b, b->id[i], b->id[j], pair), b->x[j],
                             b->y[j], b->z[j]);
        *coincident += others;
    }
    return STATUS_OK;
}

static enum status check_positions(struct subject *subject, size_t *coincident)
{
    const size_t count = subject->last - subject->first;
    struct candidate *order = memory_array(count, sizeof *order, subject->error);
    if (!order)
        return subject->error->status;
    for (size_t k = 0; k < count; k++)
        order[k] = (struct candidate){ subject, subject->first + k };
    qsort(order, count, sizeof *order, compare_candidates);
    const enum status status = count_coincident(subject, order, coincident);
    memory_free(order);
    return status;
}

enum status check_bodies(const struct bodies *bodies, size_t first, const struct physics *physics,
                         const char *source, size_t *coincident, struct error *error)
{
    struct subject subject = { bodies, first, first + bodies->count, physics, source, error };
    if (check_values(&subject) || check_ids(bodies, first, source, error))
        return error->status;
    return check_positions(&subject, coincident);
}
