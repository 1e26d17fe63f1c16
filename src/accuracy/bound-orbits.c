#include "accuracy/bound-orbits.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/vec3.h"
#include "space/neighbours.h"

/* Other bodies hardly disturb an orbit if the tide of each at the apocentre distance is at most
 * this part of the pull of the centre there, see tide_on(). (For the tide of the Sun on the orbit
 * of the Moon about the Earth it is 0.013.) */
static const double weak_tide = 0.1;

/* The limit of the apocentre distance, over the side of a periodic box: half of the distance at
 * which another image of the body becomes the nearest one. */
static const double part_of_box = 0.25;

enum {
    ALL_PAIRS = 64, /* the most bodies of which every pair is tried as an orbit */
    HEAVIEST = 8, /* in a larger system, the number of heaviest bodies with which each is paired */
    NEAREST = 2   /* and the number of nearest neighbours with which each is paired */
};

/* Mass, position and velocity of the centre of an orbit. */
struct point {
    double m, x[3], v[3];
};

static double image_near(const struct physics *physics, double x, double other)
{
    return physics->boundary == BOUNDARY_PERIODIC
               ? other + physics_nearest_image(x - other, physics->box_length)
               : x;
}

static void place_near(const struct physics *physics, const struct bodies *b, size_t i,
                       const double other[3], double x[3])
{
    const double own[] = { b->x[i], b->y[i], b->z[i] };
    for (int axis = 0; axis < 3; axis++)
        x[axis] = image_near(physics, own[axis], other[axis]);
}

static struct point point_of(const struct physics *physics, const struct bodies *b, size_t first,
                             const struct bound_center *center)
{
    struct point point = { 0 };
    const size_t one = first + center->bodies[0];
    const double about[] = { b->x[one], b->y[one], b->z[one] };
    for (size_t k = 0; k < center->count; k++)
        point.m += b->m[first + center->bodies[k]];
    for (size_t k = 0; k < center->count; k++) {
        const size_t at = first + center->bodies[k];
        const double share = center->count > 1 ? b->m[at] / point.m : 1.0;
        const double v[] = { b->vx[at], b->vy[at], b->vz[at] };
        double x[3];
        place_near(physics, b, at, about, x);
        for (int axis = 0; axis < 3; axis++) {
            point.x[axis] += share * x[axis];
            point.v[axis] += share * v[axis];
        }
    }
    return point;
}

static double period_at(double mu, double distance, double eps)
{
    const double s2 = distance * distance + eps * eps;
    return 2.0 * M_PI * sqrt(s2 * sqrt(s2) / mu);
}

struct bound_orbit bound_orbit_about(const struct physics *physics, const struct bodies *b,
                                     size_t system, size_t body, const struct bound_center *center)
{
    const size_t first = system * b->stride, at = first + body;
    const struct point point = point_of(physics, b, first, center);
    const double mu = physics->gravitational_constant * (point.m + b->m[at]);
    const double eps = physics->softening;
    double x[3];
    place_near(physics, b, at, point.x, x);
    for (int axis = 0; axis < 3; axis++)
        x[axis] -= point.x[axis];
    const double v[] = { b->vx[at] - point.v[0], b->vy[at] - point.v[1], b->vz[at] - point.v[2] };
    const double r2 = vec3_dot(x, x), v2 = vec3_dot(v, v), rv = vec3_dot(x, v);
    const double h2 = fmax(0.0, r2 * v2 - rv * rv);
    struct bound_orbit orbit = {
        .body = body, .center = *center, .semi_major_axis = NAN, .period = NAN, .passage = NAN
    };
    orbit.reduced_mass = b->m[at] > 0.0 ? point.m * b->m[at] / (point.m + b->m[at]) : 0.0;
    orbit.potential = mu / sqrt(r2 + eps * eps);
    orbit.energy = 0.5 * v2 - orbit.potential;
    orbit.eccentricity = sqrt(fmax(0.0, 1.0 + 2.0 * orbit.energy * h2 / (mu * mu)));
    if (!(orbit.energy < 0.0) || !isfinite(orbit.energy))
        return orbit;
    orbit.semi_major_axis = -0.5 * mu / orbit.energy;
    orbit.period = period_at(mu, orbit.semi_major_axis, eps);
    orbit.passage = fmin(orbit.period, period_at(mu, h2 / mu / (1.0 + orbit.eccentricity), eps));
    return orbit;
}

static bool is_part(const struct bound_orbit *orbit, size_t k)
{
    bool part = k == orbit->body;
    for (size_t c = 0; c < orbit->center.count; c++)
        part |= k == orbit->center.bodies[c];
    return part;
}

static double distance2_of(const struct physics *physics, const struct bodies *b, size_t i,
                           const double x[3])
{
    double d[3];
    place_near(physics, b, i, x, d);
    for (int axis = 0; axis < 3; axis++)
        d[axis] -= x[axis];
    return vec3_dot(d, d);
}

/* Returns the strongest tide that a body outside of the orbit raises at the apocentre distance Q =
 * a (1 + e), over the pull of the centre there: 2 m Q^3 / (M d^3), with the body's mass m, its
 * distance d from the centre, and the mass M of the orbit's own bodies. */
static double tide_on(const struct physics *physics, const struct bodies *b, size_t first,
                      const struct bound_orbit *orbit)
{
    const struct point point = point_of(physics, b, first, &orbit->center);
    const double mass = point.m + b->m[first + orbit->body];
    const double a = -0.5 * physics->gravitational_constant * mass / orbit->energy;
    const double widest = a * (1.0 + orbit->eccentricity);
    double strongest = 0.0; /* the largest m / d^3 so far */
    for (size_t k = 0; k < b->count; k++) {
        const double d2 = distance2_of(physics, b, first + k, point.x);
        if (b->m[first + k] > strongest * d2 * sqrt(d2) && !is_part(orbit, k))
            strongest = b->m[first + k] / (d2 * sqrt(d2));
    }
    return 2.0 * widest * widest * widest * strongest / mass;
}

/*
 * Returns the time scale of the pericentre passage after a fall from the apocentre distance Q,
 * during which a tide (tide_on()) adds some tide (mu Q)^(1/2) / 2 to the orbit's own angular
 * momentum, in quadrature. Otherwise two bodies that begin at rest would meet head-on.
 */
static double passage_in_tide(const struct physics *physics, const struct bodies *b, size_t first,
                              const struct bound_orbit *orbit, double tide)
{
    const struct point point = point_of(physics, b, first, &orbit->center);
    const double mu = physics->gravitational_constant * (point.m + b->m[first + orbit->body]);
    const double a = -0.5 * mu / orbit->energy, e = orbit->eccentricity;
    const double h2 = fmax(0.0, mu * a * (1.0 - e * e)) + 0.25 * tide * tide * mu * a * (1.0 + e);
    return fmin(orbit->period, period_at(mu, h2 / mu / (1.0 + e), physics->softening));
}

/* --- what a body may be bound to -------------------------------------------------------------- */

struct search {
    const struct physics *physics;
    const struct bodies *bodies;
    size_t first, system;
    struct neighbours *tree; /* finds nearest neighbours; NULL for up to ALL_PAIRS bodies */
    size_t *heaviest; /* [heavy_count] indices of the heaviest bodies, descending by mass; for up to
                         ALL_PAIRS bodies of all that have mass */
    size_t heavy_count;
    struct bound_center two; /* the two heaviest bodies; count = 0: not bound to each other */
    double two_distance2;
    bool found;
    struct bound_orbit best;
    struct bound_filter filter; /* conditions on orbits; `passage` becomes that of `best` */
};

/* Tells whether body and centre remain each other's nearest images all along the orbit. */
static bool fits_box(const struct physics *physics, const struct bound_orbit *orbit)
{
    const double widest = orbit->semi_major_axis * (1.0 + orbit->eccentricity);
    return physics->boundary != BOUNDARY_PERIODIC || widest < part_of_box * physics->box_length;
}

static bool counts(const struct bound_filter *filter, const struct bound_orbit *orbit)
{
    return orbit->passage < filter->passage && orbit->period <= filter->longest &&
           (orbit->period < filter->period ||
            orbit->reduced_mass * fabs(orbit->energy) < filter->energy);
}

static enum status sort_by_mass(struct search *search, struct error *error)
{
    const struct bodies *b = search->bodies;
    search->heaviest = memory_array(b->count, sizeof *search->heaviest, error);
    if (!search->heaviest)
        return error->status;
    const size_t most = b->count > ALL_PAIRS ? HEAVIEST : b->count;
    gsl_sort_largest_index(search->heaviest, most, b->m + search->first, 1, b->count);
    while (search->heavy_count < most &&
           b->m[search->first + search->heaviest[search->heavy_count]] > 0.0)
        search->heavy_count++;
    return STATUS_OK;
}

static void look_at_two_heaviest(struct search *search)
{
    if (search->heavy_count < 2)
        return;
    const size_t *const two = search->heaviest;
    const struct bodies *b = search->bodies;
    const size_t other = search->first + two[1];
    const struct bound_center one = { 1, { two[0] } };
    const struct bound_orbit orbit =
        bound_orbit_about(search->physics, b, search->system, two[1], &one);
    if (isnan(orbit.period))
        return;
    search->two = (struct bound_center){ 2, { two[0], two[1] } };
    search->two_distance2 = distance2_of(search->physics, b, search->first + two[0],
                                         (const double[]){ b->x[other], b->y[other], b->z[other] });
}

static void consider(struct search *search, size_t body, const struct bound_center *center)
{
    const double mass = search->bodies->m[search->first + body];
    if (center->count == 1 && mass > search->bodies->m[search->first + center->bodies[0]])
        return; /* the lighter of two bodies goes around the heavier one */
    struct bound_orbit orbit =
        bound_orbit_about(search->physics, search->bodies, search->system, body, center);
    if (!counts(&search->filter, &orbit) || !fits_box(search->physics, &orbit))
        return;
    const double tide = tide_on(search->physics, search->bodies, search->first, &orbit);
    orbit.passage = passage_in_tide(search->physics, search->bodies, search->first, &orbit, tide);
    if (!counts(&search->filter, &orbit) || tide > weak_tide)
        return;
    search->filter.passage = orbit.passage;
    search->best = orbit;
    search->found = true;
}

static void consider_two_heaviest(struct search *search, size_t body)
{
    const struct bound_center *two = &search->two;
    if (two->count == 0 || body == two->bodies[0] || body == two->bodies[1])
        return;
    const struct point point = point_of(search->physics, search->bodies, search->first, two);
    if (distance2_of(search->physics, search->bodies, search->first + body, point.x) >
        search->two_distance2)
        consider(search, body, two);
}

/* Tries as centres of a body's orbit the heaviest bodies, the body's neighbours `near` (known only
 * among many bodies; else near[0] is NO_NEIGHBOUR), and the two heaviest bodies together. */
static void consider_body(struct search *search, size_t body, const size_t near[NEAREST])
{
    const struct bodies *b = search->bodies;
    for (size_t k = 0; k < search->heavy_count; k++)
        if (search->heaviest[k] != body)
            consider(search, body, &(struct bound_center){ 1, { search->heaviest[k] } });
    for (size_t k = 0; k < NEAREST && near[k] != NO_NEIGHBOUR; k++)
        if (b->m[search->first + near[k]] > 0.0)
            consider(search, body, &(struct bound_center){ 1, { near[k] } });
    consider_two_heaviest(search, body);
}

/* Calls `visit` for every body of the system, in the order of their indices; `near` has the body's
 * nearest neighbours, or begins with NO_NEIGHBOUR if there is no tree. */
static enum status search_all(struct search *search,
                              void (*visit)(struct search *search, size_t body,
                                            const size_t near[NEAREST], void *context),
                              void *context, struct error *error)
{
    const size_t count = search->bodies->count;
    for (size_t i = 0; i < count && !interruption_raised(search->physics->interruption);
         i += NEIGHBOURS_BLOCK) {
        size_t near[NEIGHBOURS_BLOCK][NEAREST];
        double r2[NEIGHBOURS_BLOCK][NEAREST];
        const size_t block = count - i < NEIGHBOURS_BLOCK ? count - i : NEIGHBOURS_BLOCK;
        for (size_t k = 0; k < block && !search->tree; k++)
            near[k][0] = NO_NEIGHBOUR;
        if (search->tree)
            neighbours_find_block(search->tree, i, block, NEAREST, near[0], r2[0]);
        for (size_t k = 0; k < block; k++)
            visit(search, i + k, near[k], context);
    }
    return interruption_status(search->physics->interruption, error);
}

static void visit_fastest(struct search *search, size_t body, const size_t near[NEAREST],
                          void *context)
{
    (void)context;
    consider_body(search, body, near);
}

/* Tells whether any orbit can have a pericentre passage shorter than `passage`. With softening
 * there is a shortest one: that of a body at the centre of mass of two others, all three as heavy
 * as the heaviest body of the system. */
static bool may_be_faster(const struct physics *physics, const struct bodies *b, size_t first,
                          double passage)
{
    const double heaviest = gsl_stats_max(b->m + first, 1, b->count);
    const double mu = physics->gravitational_constant * (BOUND_CENTER_BODIES + 1) * heaviest;
    return mu > 0.0 && period_at(mu, 0.0, physics->softening) < passage;
}

/* Creates the tree that finds neighbours among many bodies. A periodic box is cut open at its
 * faces: two bodies close to each other on both sides of a face are not found as neighbours. */
static enum status create_tree(struct search *search, struct error *error)
{
    const struct physics *physics = search->physics;
    struct bodies *inside;
    if (physics->boundary != BOUNDARY_PERIODIC)
        return neighbours_create(search->bodies, search->system, 0, &search->tree, error);
    if (bodies_create(1, search->bodies->count, &inside, error))
        return error->status;
    bodies_copy_system(inside, 0, search->bodies, search->system);
    for (size_t i = 0; i < inside->count; i++) {
        inside->x[i] = image_near(physics, inside->x[i], 0.0);
        inside->y[i] = image_near(physics, inside->y[i], 0.0);
        inside->z[i] = image_near(physics, inside->z[i], 0.0);
    }
    const enum status status = neighbours_create(inside, 0, 0, &search->tree, error);
    bodies_destroy(inside);
    return status;
}

static enum status open_search(const struct physics *physics, const struct bodies *bodies,
                               size_t system, const struct bound_filter *filter,
                               struct search *search, struct error *error)
{
    *search = (struct search){ .physics = physics,
                               .bodies = bodies,
                               .first = system * bodies->stride,
                               .system = system,
                               .filter = *filter };
    if ((bodies->count > ALL_PAIRS && create_tree(search, error)) || sort_by_mass(search, error))
        return error->status;
    look_at_two_heaviest(search);
    return STATUS_OK;
}

static void close_search(struct search *search)
{
    memory_free(search->heaviest);
    neighbours_destroy(search->tree);
}

enum status bound_orbit_fastest(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_filter *filter, bool *found,
                                struct bound_orbit *orbit, struct error *error)
{
    struct search search;
    *found = false;
    if (bodies->count < 2 ||
        !may_be_faster(physics, bodies, system * bodies->stride, filter->passage))
        return STATUS_OK;
    if (!open_search(physics, bodies, system, filter, &search, error))
        search_all(&search, visit_fastest, NULL, error);
    *found = search.found;
    *orbit = search.best;
    close_search(&search);
    return error->status;
}

/* Inserts an orbit into the list, which ascends by semi-major axis, and drops the largest orbit if
 * there are more than `most`. */
static void insert(struct bound_orbit *orbits, size_t most, size_t *count,
                   const struct bound_orbit *orbit)
{
    size_t k = *count < most ? (*count)++ : most;
    for (; k > 0 && orbits[k - 1].semi_major_axis > orbit->semi_major_axis; k--)
        if (k < most)
            orbits[k] = orbits[k - 1];
    if (k < most)
        orbits[k] = *orbit;
}

struct smallest {
    struct bound_orbit *orbits;
    size_t most, *count;
};

static void visit_smallest(struct search *search, size_t body, const size_t near[NEAREST],
                           void *context)
{
    const struct bound_filter all = { INFINITY, INFINITY, INFINITY, INFINITY };
    const struct smallest *const smallest = context;
    search->found = false;
    search->filter = all;
    consider_body(search, body, near);
    if (search->found)
        insert(smallest->orbits, smallest->most, smallest->count, &search->best);
}

enum status bound_orbits_smallest(const struct physics *physics, const struct bodies *bodies,
                                  size_t system, size_t most, struct bound_orbit *orbits,
                                  size_t *count, struct error *error)
{
    const struct bound_filter all = { INFINITY, INFINITY, INFINITY, INFINITY };
    struct smallest smallest = { orbits, most, count };
    struct search search;
    *count = 0;
    if (bodies->count < 2 || physics->boundary != BOUNDARY_OPEN)
        return STATUS_OK;
    if (!open_search(physics, bodies, system, &all, &search, error))
        search_all(&search, visit_smallest, &smallest, error);
    close_search(&search);
    return error->status;
}

/* --- a system of its own ---------------------------------------------------------------------- */

/* Copies the body at index `at` of `from` to index k of `to`, at its image nearest to `center`. */
static void copy_body(const struct physics *physics, struct bodies *to, size_t k,
                      const struct bodies *from, size_t at, const double center[3])
{
    double *source[BODIES_REALS], *target[BODIES_REALS];
    bodies_reals(from, source);
    bodies_reals(to, target);
    for (size_t array = 0; array < BODIES_REALS; array++)
        target[array][k] = source[array][at];
    to->id[k] = from->id[at];
    to->x[k] = image_near(physics, to->x[k], center[0]);
    to->y[k] = image_near(physics, to->y[k], center[1]);
    to->z[k] = image_near(physics, to->z[k], center[2]);
}

/* Puts the indices of all bodies of a system into `body`, in the order of their tides on an orbit,
 * the strongest first, and -m / d^3 of each into `key` (d: distance from the orbit's centre). The
 * bodies of the orbit itself are last. */
static void sort_by_tide(const struct physics *physics, const struct bodies *b, size_t first,
                         const struct bound_orbit *orbit, double *key, double *body)
{
    const struct point point = point_of(physics, b, first, &orbit->center);
    for (size_t k = 0; k < b->count; k++) {
        const double d2 = distance2_of(physics, b, first + k, point.x);
        key[k] = is_part(orbit, k) ? INFINITY : -b->m[first + k] / (d2 * sqrt(d2));
        body[k] = (double)k;
    }
    gsl_sort2(key, 1, body, 1, b->count);
}

enum status bound_orbit_isolate(const struct physics *physics, const struct bodies *bodies,
                                size_t system, const struct bound_orbit *orbit, size_t most,
                                struct bodies **isolated, struct bound_orbit *inner,
                                struct error *error)
{
    const size_t first = system * bodies->stride, own = orbit->center.count + 1;
    const size_t count = bodies->count < most ? bodies->count : most;
    *isolated = NULL;
    double *const key = memory_array(bodies->count, sizeof *key, error);
    double *const body = memory_array(bodies->count, sizeof *body, error);
    if (key && body && !bodies_create(1, count, isolated, error)) {
        const struct point point = point_of(physics, bodies, first, &orbit->center);
        sort_by_tide(physics, bodies, first, orbit, key, body);
        *inner = *orbit;
        for (size_t k = 0; k < orbit->center.count; k++) {
            copy_body(physics, *isolated, k, bodies, first + orbit->center.bodies[k], point.x);
            inner->center.bodies[k] = k;
        }
        copy_body(physics, *isolated, own - 1, bodies, first + orbit->body, point.x);
        inner->body = own - 1;
        for (size_t k = own; k < count; k++)
            copy_body(physics, *isolated, k, bodies, first + (size_t)body[k - own], point.x);
    }
    memory_free(key);
    memory_free(body);
    return error->status;
}
