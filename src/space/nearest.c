#include "space/nearest.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#include "base/memory.h"
#include "model/vec3.h"

/* A search by a sweep along x. The best pair has the least (r^2 + eps^2)^3 / (m_i + m_j)^2, which
 * is G^2 tau^4 with its time scale tau (nearest.h). In a search by distance eps counts as 0 and
 * every mass as 1/2, which makes this r^6. */
struct sweep {
    double box_length; /* 0 in open space */
    double eps2;
    double heaviest; /* twice the largest mass, which no two bodies exceed together */
    size_t count;
    const double *x;         /* ascending; of the images within the box, if there is a box */
    const double *body;      /* number of the body with each x, made a double for gsl_sort2() */
    const double *y, *z, *m; /* by number of the body; m NULL: all 1/2 */
    double best;
    size_t i, j; /* numbers of the best pair; i = j: none yet */
    struct interruption *interruption;
};

static inline double cube(double x)
{
    return x * x * x;
}

static inline double image(const struct sweep *sweep, double d)
{
    return sweep->box_length > 0.0 ? physics_nearest_image(d, sweep->box_length) : d;
}

/* Considers the pair of bodies at two places of the order along x, which are dx apart along x.
 * Returns false if no pair at least as far apart along x can be nearer than the best pair. */
static inline bool consider(struct sweep *sweep, size_t here, size_t there, double dx)
{
    if (cube(dx * dx + sweep->eps2) >= sweep->best * sweep->heaviest * sweep->heaviest)
        return false;
    const size_t i = (size_t)sweep->body[here], j = (size_t)sweep->body[there];
    const double x = image(sweep, dx), y = image(sweep, sweep->y[j] - sweep->y[i]),
                 z = image(sweep, sweep->z[j] - sweep->z[i]);
    const double m = sweep->m ? sweep->m[i] + sweep->m[j] : 1.0;
    const double order = cube(x * x + y * y + z * z + sweep->eps2) / (m * m);
    if (order < sweep->best) { /* false if both masses are 0: infinite, or 0/0 */
        sweep->best = order;
        sweep->i = i;
        sweep->j = j;
    }
    return true;
}

static void run_sweep(struct sweep *sweep)
{
    double done = 0;
    size_t j = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        if (interruption_after(sweep->interruption, &done, j > i ? (double)(j - i) : 1))
            return;
        j = i + 1;
        while (j < sweep->count && consider(sweep, i, j, sweep->x[j] - sweep->x[i]))
            j++;
        if (sweep->box_length == 0.0 || j < sweep->count)
            continue;
        for (j = 0; j < i && consider(sweep, i, j, sweep->x[j] + sweep->box_length - sweep->x[i]);)
            j++;
    }
}

/* Finds a first best pair among bodies that are near each other along x, so that the sweep, which
 * goes only as far as the best pair allows, is short from its start. */
static void find_bound(struct sweep *sweep)
{
    enum { REACH = 4 };
    for (size_t i = 0; i < sweep->count; i++)
        for (size_t j = i + 1; j < sweep->count && j <= i + REACH; j++)
            consider(sweep, i, j, sweep->x[j] - sweep->x[i]);
}

static void describe(const struct physics *physics, const struct bodies *bodies, size_t first,
                     size_t i, size_t j, struct nearest_pair *pair)
{
    double d[3];
    pair_separation(physics, bodies, first + i, first + j, d);
    const double r2 = vec3_dot(d, d);
    const double mass = bodies->m[first + i] + bodies->m[first + j];
    pair->found = true;
    pair->i = i < j ? i : j;
    pair->j = i < j ? j : i;
    pair->distance = sqrt(r2);
    pair->time_scale = pow(r2 + physics->softening * physics->softening, 0.75) /
                       sqrt(physics->gravitational_constant * mass);
}

static void sort_bodies(struct sweep *sweep, const struct physics *physics,
                        const struct bodies *bodies, size_t first, double *x, double *body)
{
    size_t count = 0;
    for (size_t i = 0; i < bodies->count; i++) {
        const size_t at = first + i;
        if (!isfinite(bodies->x[at]) || !isfinite(bodies->y[at]) || !isfinite(bodies->z[at]))
            continue;
        x[count] = physics_inside(physics, bodies->x[at]);
        body[count++] = (double)i;
        sweep->heaviest = fmax(sweep->heaviest, sweep->m ? 2.0 * sweep->m[i] : 1.0);
    }
    gsl_sort2(x, 1, body, 1, count);
    sweep->count = count;
    sweep->x = x;
    sweep->body = body;
}

enum status nearest_pair(const struct physics *physics, const struct bodies *bodies, size_t system,
                         enum nearest_by by, struct nearest_pair *pair, struct error *error)
{
    *pair = (struct nearest_pair){ .distance = NAN, .time_scale = NAN };
    const size_t count = bodies->count, first = system * bodies->stride;
    double *const x = memory_array(count, sizeof *x, error);
    double *const body = memory_array(count, sizeof *body, error);
    if (x && body) {
        const double eps = by == NEAREST_IN_TIME ? physics->softening : 0.0;
        struct sweep sweep = {
            .eps2 = eps * eps,
            .interruption = physics->interruption,
            .best = INFINITY,
            .box_length = physics->boundary == BOUNDARY_PERIODIC ? physics->box_length : 0.0,
            .y = bodies->y + first,
            .z = bodies->z + first,
            .m = by == NEAREST_IN_TIME ? bodies->m + first : NULL,
        };
        sort_bodies(&sweep, physics, bodies, first, x, body);
        find_bound(&sweep);
        run_sweep(&sweep);
        if (sweep.i != sweep.j)
            describe(physics, bodies, first, sweep.i, sweep.j, pair);
    }
    const enum status status =
        x && body ? interruption_status(physics->interruption, error) : error->status;
    memory_free(x);
    memory_free(body);
    return status;
}
