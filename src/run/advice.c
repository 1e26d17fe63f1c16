#include "run/advice.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"
#include "diagnostics/nearest.h"
#include "diagnostics/watch.h"

/* Pairs of all systems whose orbits are looked at, a fraction of a second's work. Larger systems
 * are clusters, whose encounters are estimated. */
static const double most_pairs = 1e7;

enum {
    CLUSTER_COUNT = 10 /* from so many bodies on, encounters come by chance */
};
/* Where 2K/|U| is less, a system falls in before it is anything else. */
static const double cold = 0.3;
/* The tide of another body, over the pair's own force at its widest, that leaves the orbit be. */
static const double weak_tide = 0.1;

/* How near two of a few bodies from rest will come, over the half-mass radius: they fall towards
 * one another without angular momentum, and no chance is to be worked out. The value is chosen for
 * the Pythagorean problem, whose energy then is kept to about a hundredth; it is a guess for
 * others. */
static const double few_approach = 0.003;

/*
 * By velocity-verlet with WATCH_STEPS_PER_PERIOD steps of the period at the pericentre, the energy
 * is off there by this part of the potential energy at that place, as was measured for e = 0.5 to
 * 0.999, and by the square of the step otherwise. A run is to stay at half of the watch's standard
 * limit of 0.005, in which it counts over the energy of the whole orbit.
 */
static const double passage_error = 1e-4, orbit_error = 0.0025;

/* Steps of the period at the pericentre, where the potential is `depth` energies of the orbit. */
static double steps_wanted(double depth)
{
    return WATCH_STEPS_PER_PERIOD * sqrt(fmax(1.0, passage_error * depth / orbit_error));
}

static double period_at(const struct physics *physics, double distance, double mass)
{
    const double s2 = distance * distance + physics->softening * physics->softening;
    return 2.0 * M_PI * sqrt(s2 * sqrt(s2) / (physics->gravitational_constant * mass));
}

static void keep_shorter(struct advice *best, const struct advice *other)
{
    if (other->period / other->wanted < best->period / best->wanted)
        *best = *other;
}

/* --- pairs now, and at their pericentres ------------------------------------------------------ */

static void separation(const struct physics *physics, const struct bodies *b, size_t i, size_t j,
                       double d[3])
{
    d[0] = b->x[j] - b->x[i];
    d[1] = b->y[j] - b->y[i];
    d[2] = b->z[j] - b->z[i];
    for (int k = 0; k < 3 && physics->boundary == BOUNDARY_PERIODIC; k++)
        d[k] = physics_nearest_image(d[k], physics->box_length);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Does every other body pull the two, at `widest`, apart by less than a part of what holds them? */
static bool is_alone(const struct physics *physics, const struct bodies *b, size_t first, size_t i,
                     size_t j, double widest)
{
    const double mass = b->m[i] + b->m[j], widest3 = widest * widest * widest;
    for (size_t k = first; k < first + b->count; k++) {
        double from_i[3], from_j[3];
        if (k == i || k == j || !(b->m[k] > 0.0))
            continue;
        separation(physics, b, i, k, from_i);
        separation(physics, b, j, k, from_j);
        const double r2 = fmin(dot(from_i, from_i), dot(from_j, from_j));
        if (b->m[k] * widest3 > weak_tide * mass * r2 * sqrt(r2))
            return false;
    }
    return true;
}

/*
 * The osculating orbit of a bound pair: with h = |r x v| and E = v^2/2 - mu/s, s^2 = r^2 + eps^2,
 * e^2 = 1 + 2 E h^2 / mu^2 and the pericentre q = h^2 / (mu (1 + e)). Softened orbits have their
 * pericentre no closer; where it matters, q < eps, the period at q is that of eps.
 */
static void look_at_pair(const struct physics *physics, const struct bodies *b, size_t first,
                         size_t i, size_t j, struct advice *best)
{
    const double mass = b->m[i] + b->m[j], mu = physics->gravitational_constant * mass;
    if (!(mu > 0.0))
        return;
    const double v[3] = { b->vx[j] - b->vx[i], b->vy[j] - b->vy[i], b->vz[j] - b->vz[i] };
    double d[3];
    separation(physics, b, i, j, d);
    const double r2 = dot(d, d), eps = physics->softening;
    const double energy = 0.5 * dot(v, v) - mu / sqrt(r2 + eps * eps);
    if (!(energy < 0.0))
        return;
    const double rv = dot(d, v), h2 = fmax(0.0, r2 * dot(v, v) - rv * rv);
    const double e = sqrt(fmax(0.0, 1.0 + 2.0 * energy * h2 / (mu * mu)));
    const double q = h2 / (mu * (1.0 + e)), depth = mu / sqrt(q * q + eps * eps) / -energy;
    const struct advice pair = { .kind = q < 0.99 * sqrt(r2) ? ADVICE_PERICENTER : ADVICE_NOW,
                                 .id_i = b->id[i],
                                 .id_j = b->id[j],
                                 .distance = q,
                                 .eccentricity = e,
                                 .period = period_at(physics, q, mass),
                                 .wanted = steps_wanted(depth) };
    const double widest = fmax(sqrt(r2), -0.5 * mu / energy * (1.0 + e));
    const bool matters = pair.kind == ADVICE_PERICENTER || pair.wanted > WATCH_STEPS_PER_PERIOD;
    if (matters && is_alone(physics, b, first, i, j, widest))
        keep_shorter(best, &pair);
}

/* --- clusters --------------------------------------------------------------------------------- */

/* What a cluster is like, for the chances of encounters. */
struct cluster {
    double count, mass, heaviest;
    double half_mass_radius; /* of the bodies, by number */
    double speed2;           /* mean square, about the mean */
    double virial;           /* 2K / |U| with U = -0.4 G M^2 / r_h (Spitzer 1987) */
};

static enum status describe(const struct experiment *x, size_t system, struct cluster *cluster,
                            struct error *error)
{
    const struct bodies *b = x->bodies;
    const size_t first = system * b->stride;
    double *r = memory_array(b->count, sizeof *r, error), sums[6] = { 0 };
    if (!r)
        return error->status;
    const double *const arrays[6] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    *cluster = (struct cluster){ .count = (double)b->count };
    for (size_t i = first; i < first + b->count; i++) {
        cluster->mass += b->m[i];
        cluster->heaviest = fmax(cluster->heaviest, b->m[i]);
        for (int k = 0; k < 6; k++)
            sums[k] += b->m[i] * arrays[k][i];
    }
    for (size_t i = first; i < first + b->count; i++) {
        double squares[2] = { 0 };
        for (int k = 0; k < 6; k++) {
            const double d = arrays[k][i] - sums[k] / cluster->mass;
            squares[k / 3] += d * d;
        }
        r[i - first] = sqrt(squares[0]);
        cluster->speed2 += b->m[i] * squares[1] / cluster->mass;
    }
    gsl_sort(r, 1, b->count);
    cluster->half_mass_radius = gsl_stats_median_from_sorted_data(r, 1, b->count);
    memory_free(r);
    const double G = x->physics.gravitational_constant;
    cluster->virial = cluster->speed2 * cluster->half_mass_radius / (0.4 * G * cluster->mass);
    return STATUS_OK;
}

/*
 * The closest approach p that is expected once among n bodies in a sphere of radius R during t:
 * n^2/2 pairs x pi (p^2 + 2 p b) v / V x t = 1 with gravitational focusing (Binney & Tremaine
 * 2008, 7.5.8), b = G (m1 + m2) / v^2.
 */
static double closest_approach(const struct physics *physics, const struct cluster *c,
                               double radius, double speed2, double time)
{
    const double n = 0.5 * c->count, v = sqrt(2.0 * speed2);
    const double b = 2.0 * physics->gravitational_constant * c->mass / c->count / (v * v);
    const double volume = 4.0 / 3.0 * M_PI * radius * radius * radius;
    const double area = 2.0 * volume / (M_PI * n * n * v * time);
    return area / (b + sqrt(b * b + area));
}

/*
 * A cold sphere falls in within the free-fall time pi/2 sqrt(R^3 / 2GM), to a fraction of its size
 * that noise in its density, N^(-1/3) (Aarseth, Lin & Papaloizou 1988), or the heat at the start
 * leaves; energy is conserved, so that v^2 is G M / R there.
 */
static enum status look_at_cluster(const struct experiment *x, size_t system, struct advice *best,
                                   struct error *error)
{
    const struct physics *physics = &x->physics;
    struct cluster c = { 0 };
    if (physics->boundary == BOUNDARY_PERIODIC || x->bodies->count < 3)
        return STATUS_OK;
    if (describe(x, system, &c, error))
        return error->status;
    const double G = physics->gravitational_constant, end = x->step * (double)x->steps;
    const bool is_cold = c.virial < cold;
    /* A system about one heavy body, and a warm one of a few, has orbits rather than chances. */
    if (c.heaviest > 0.5 * c.mass || (c.count < CLUSTER_COUNT && !is_cold) ||
        !(c.half_mass_radius > 0.0))
        return STATUS_OK;
    const double R = c.half_mass_radius * (is_cold ? cbrt(2.0) : 1.0);
    const double free_fall = 0.5 * M_PI * sqrt(R * R * R / (2.0 * G * c.mass));
    struct advice advice = { .kind = is_cold ? ADVICE_COLLAPSE : ADVICE_ENCOUNTER,
                             .free_fall = free_fall,
                             .wanted = WATCH_STEPS_PER_PERIOD };
    if (is_cold && end < 0.9 * free_fall)
        return STATUS_OK;
    const double shrunk = is_cold ? fmax(1.0 / cbrt(c.count), c.virial) : 1.0;
    const double speed2 = is_cold ? G * c.mass / (R * shrunk) : c.speed2;
    /* After one bounce many bodies fly apart, or into a wider remnant. */
    const double time = is_cold ? fmin(end, free_fall * shrunk * sqrt(shrunk)) : end;
    advice.distance = c.count < CLUSTER_COUNT
                          ? few_approach * R
                          : closest_approach(physics, &c, R * shrunk, speed2, time);
    advice.period = period_at(physics, advice.distance, 2.0 * c.mass / c.count);
    keep_shorter(best, &advice);
    return STATUS_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum status look_at_system(const struct experiment *x, size_t system, struct advice *best,
                                  struct error *error)
{
    const struct bodies *b = x->bodies;
    const size_t first = system * b->stride;
    struct nearest_pair pair;
    if (nearest_pair(&x->physics, b, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    if (!pair.found)
        return STATUS_OK;
    const struct advice now = { .kind = ADVICE_NOW,
                                .id_i = b->id[first + pair.i],
                                .id_j = b->id[first + pair.j],
                                .distance = pair.distance,
                                .period = 2.0 * M_PI * pair.time_scale,
                                .wanted = WATCH_STEPS_PER_PERIOD };
    keep_shorter(best, &now);
    const double pairs = 0.5 * (double)b->systems * (double)b->count * (double)b->count;
    for (size_t i = first; i < first + b->count && pairs <= most_pairs; i++)
        for (size_t j = i + 1; j < first + b->count; j++)
            look_at_pair(&x->physics, b, first, i, j, best);
    return look_at_cluster(x, system, best, error);
}

/* To one digit: 0.0237 is 0.02. */
static double round_down(double value)
{
    const double power = pow(10.0, floor(log10(value)));
    return floor(value / power * (1.0 + 1e-12)) * power;
}

enum status advice_find(const struct experiment *x, struct advice *advice, struct error *error)
{
    *advice = (struct advice){ .kind = ADVICE_NONE,
                               .period = INFINITY,
                               .wanted = WATCH_STEPS_PER_PERIOD };
    for (size_t s = 0; s < x->bodies->systems; s++)
        if (look_at_system(x, s, advice, error))
            return error->status;
    advice->steps = advice->period / x->step;
    advice->step = advice->period > 0.0 ? round_down(advice->period / advice->wanted) : 0.0;
    return STATUS_OK;
}
