/* The diagnostic of the bound mass: the bodies that are bound to one another in a tide, those that
 * they have captured, and King's tidal radius in the external fields. */
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"
#include "diagnostics/bound-set.h"
#include "diagnostics/diagnostic.h"
#include "external/external.h"
#include "model/vec3.h"
#include "space/sphere.h"

enum {
    BOUND,
    BOUND_MASS,
    CAPTURED,
    CAPTURED_MASS,
    HALF_MASS_RADIUS,
    TIDAL_RADIUS,
    CENTER_X,
    CENTER_Y,
    CENTER_Z,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "self_bound", DIMENSION_NONE,
      "bodies of `species` with 1/2 |v - V|^2 / (1 - m / M) + phi < 0, phi the potential of the "
      "bound ones alone, M and V the mass and the mean velocity of these and the body" },
    { "self_bound_mass", DIMENSION_MASS, "their mass M_b" },
    { "captured", DIMENSION_NONE,
      "bodies of other species that are bound to them by this measure" },
    { "captured_mass", DIMENSION_MASS, "their mass" },
    { "half_mass_radius", DIMENSION_LENGTH,
      "radius about the density centre of the bound bodies that encloses half of their mass" },
    { "tidal_radius", DIMENSION_LENGTH,
      "(G M_b / (Omega^2 - d^2 Phi/dR^2))^(1/3), with Phi the external fields, R the distance of "
      "the density centre of the bound bodies from the centre of the fields, and Omega the angular "
      "speed of the former about the latter; empty without fields, and where they do not pull the "
      "bodies apart" },
    { "bound_center_x", DIMENSION_LENGTH, "density centre of the bound bodies: x component" },
    { "bound_center_y", DIMENSION_LENGTH, "density centre of the bound bodies: y component" },
    { "bound_center_z", DIMENSION_LENGTH, "density centre of the bound bodies: z component" },
};

#define CORE 0.1 /* part of the mass whose velocity is the first guess of the frame */

struct bound_mass {
    struct diagnostic base;
    const char *species; /* NULL: all bodies */
};

/* One system while its bound bodies are sought: those of the species that is measured may be bound,
 * and phi is the potential of the bound bodies alone. */
struct search {
    struct bound_search base;
    double softening2, gravitational_constant;
    struct interruption *interruption;
    int threads;
};

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    return species_check(section, ((struct bound_mass *)diagnostic)->species, start->bodies, error);
}

/* --- the bound bodies ------------------------------------------------------------------------- */

/* Adds the potential of `count` bodies, whose numbers are in `which`, to phi of every body (sign
 * 1), or takes it away (-1). */
static void add_potential(struct bound_search *search, const size_t *which, size_t count,
                          double sign)
{
    const struct search *const s = (const struct search *)search;
    const struct bodies *const b = search->bodies;
    if (count == 0)
        return;
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (size_t i = 0; i < b->count; i++) {
        const size_t at = search->first + i;
        double sum = 0.0;
        if (interruption_raised(s->interruption))
            continue;
        for (size_t k = 0; k < count; k++) {
            const size_t j = search->first + which[k];
            const double dx = b->x[j] - b->x[at], dy = b->y[j] - b->y[at], dz = b->z[j] - b->z[at];
            const double s2 = dx * dx + dy * dy + dz * dz + s->softening2;
            sum += j != at && s2 > 0 ? b->m[j] / sqrt(s2) : 0.0;
        }
        search->phi[i] -= sign * s->gravitational_constant * sum;
    }
}

/* Begins with all bodies of the species bound: phi is the potential of the moment without that of
 * the external fields and of all other bodies. */
static void begin(struct bound_search *s, bool *member, const struct bound_mass *bound_mass,
                  const struct moment *now)
{
    const struct bodies *const b = s->bodies;
    size_t others = 0;
    for (size_t i = 0; i < b->count; i++) {
        const size_t at = s->first + i;
        const double x[3] = { b->x[at], b->y[at], b->z[at] };
        member[i] = s->bound[i] = species_has(bound_mass->species, b, at);
        s->phi[i] = now->phi[at];
        if (now->physics->external)
            s->phi[i] -= external_potential(now->physics->external, x);
        if (member[i])
            s->mass += b->m[at];
        else
            s->changed[others++] = i;
    }
    add_potential(s, s->changed, others, -1.0);
}

/* Finds the frame to begin with: the median velocity of the tenth of the mass that is deepest in
 * the potential, which tails and passing bodies do not carry away as they do the mean of all. */
static enum status find_core_velocity(const struct bound_search *s, double velocity[3],
                                      struct error *error)
{
    const struct bodies *const b = s->bodies;
    double *const values = memory_array(b->count, sizeof *values, error);
    if (!values)
        return error->status;
    for (size_t i = 0; i < b->count; i++)
        values[i] = s->member[i] ? s->phi[i] : INFINITY;
    gsl_sort_index(s->changed, values, 1, b->count);
    size_t core = 0;
    for (double mass = 0.0; core < b->count && mass <= CORE * s->mass; core++)
        mass += s->member[s->changed[core]] ? b->m[s->first + s->changed[core]] : 0.0;
    for (int axis = 0; axis < 3; axis++) {
        for (size_t k = 0; k < core; k++) {
            double v[3];
            bound_set_velocity(s->rotation, b, s->first + s->changed[k], v);
            values[k] = v[axis];
        }
        velocity[axis] = gsl_stats_median(values, 1, core);
    }
    memory_free(values);
    return STATUS_OK;
}

/* Finds the bound bodies, in the frame of the core at first. Where no member has mass, none is
 * bound. */
static enum status find_bound(struct bound_search *s, struct error *error)
{
    double core[3];
    if (find_core_velocity(s, core, error))
        return error->status;
    bound_search_judge(s, core);
    bound_search_settle(s);
    for (size_t i = 0; i < s->bodies->count; i++)
        s->bound[i] = s->bound[i] && s->mass > 0;
    return STATUS_OK;
}

/* --- what is measured ------------------------------------------------------------------------- */

static void fill_counts(const struct bound_search *s, double *row)
{
    const struct bound_set set = bound_search_set(s);
    for (int k = BOUND; k <= CAPTURED_MASS; k++)
        row[k] = 0.0;
    for (size_t i = 0; i < s->bodies->count; i++) {
        const int k = s->bound[i] ? BOUND : CAPTURED;
        if (!s->bound[i] &&
            (s->member[i] || !(set.mass > 0) || !bound_search_holds(s, &set, i, NULL)))
            continue;
        row[k] += 1.0;
        row[k + 1] += s->bodies->m[s->first + i];
    }
}

/*
 * Returns King's radius (1962, AJ 67, 471), at which the field of the bound mass M balances
 * the tide on the line through the centre of the fields: d = x - center, R = |d|, n = d / R,
 * Omega = |d x v| / R^2, v the velocity without that of the centre. The jerk of a body that moves
 * with n is da/dR along n, -d^2 Phi/dR^2; in a frame that turns it has a centrifugal part, which is
 * no tide.
 */
static double tidal_radius(const struct physics *physics, double GM, const double x[3],
                           const double velocity[3])
{
    const struct external *const external = physics->external;
    const double *const c = external->center, turn = physics->rotation;
    const double v[3] = { velocity[0] + turn * c[1], velocity[1] - turn * c[0], velocity[2] };
    double d[3], n[3], L[3];
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - c[k];
    const double R2 = vec3_dot(d, d);
    for (int k = 0; k < 3; k++)
        n[k] = d[k] / sqrt(R2);
    vec3_cross(d, v, L);
    const struct field_motion motion = external_motion(external, x, n);
    const double outwards = turn * turn * (n[0] * n[0] + n[1] * n[1]);
    const double tide = vec3_dot(L, L) / (R2 * R2) + vec3_dot(n, motion.jerk) - outwards;
    return tide > 0 ? cbrt(GM / tide) : NAN;
}

static bool is_bound(const void *search, size_t number)
{
    return ((const struct bound_search *)search)->bound[number];
}

/* Fills in the centre and the radii of the bound bodies, which stay NaN if no bound body has
 * mass. */
static enum status fill_place(const struct bound_search *s, const struct moment *now, double *row,
                              struct error *error)
{
    const struct physics *const physics = now->physics;
    struct bodies *bound;
    struct sphere sphere;
    if (!(row[BOUND_MASS] > 0) || bodies_select(s->bodies, s->first, is_bound, s, &bound, error))
        return error->status;
    if (!sphere_create(bound, 0, SPHERE_DENSITY, now->threads, &sphere, error)) {
        const struct bound_set set = bound_search_set(s);
        double v[3];
        for (int k = 0; k < 3; k++) {
            row[CENTER_X + k] = sphere.center[k];
            v[k] = set.momentum[k] / set.mass;
        }
        row[HALF_MASS_RADIUS] = sphere_radius(&sphere, 0.5);
        if (physics->external && physics->external->count > (physics->rotation != 0.0))
            row[TIDAL_RADIUS] =
                tidal_radius(physics, physics->gravitational_constant * set.mass, sphere.center, v);
        sphere_destroy(&sphere);
    }
    bodies_destroy(bound);
    return error->status;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    const size_t count = now->bodies->count;
    bool *const member = memory_array(count, sizeof *member, error);
    struct search s = {
        .base = { .bodies = now->bodies,
                  .first = system * now->bodies->stride,
                  .rotation = now->physics->rotation,
                  .member = member,
                  .bound = memory_array(count, sizeof *s.base.bound, error),
                  .phi = memory_array(count, sizeof *s.base.phi, error),
                  .changed = memory_array(count, sizeof *s.base.changed, error),
                  .move = add_potential },
        .softening2 = now->physics->softening * now->physics->softening,
        .gravitational_constant = now->physics->gravitational_constant,
        .interruption = now->physics->interruption,
        .threads = now->threads,
    };
    if (!error->status) {
        begin(&s.base, member, (struct bound_mass *)diagnostic, now);
        if (!find_bound(&s.base, error)) {
            fill_counts(&s.base, row);
            fill_place(&s.base, now, row, error);
        }
    }
    memory_free(member);
    memory_free(s.base.bound);
    memory_free(s.base.phi);
    memory_free(s.base.changed);
    return error->status ? error->status : interruption_status(now->physics->interruption, error);
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    SPECIES_PARAMETER(struct bound_mass),
};

static const struct drawing drawings[] = {
    { .name = "bound-mass",
      .title = "Bound mass",
      .y_label = "mass",
      .curves = { { "self_bound_mass", "bound" }, { "captured_mass", "captured", CURVE_DASHED } },
      .caption = "Mass of the bodies that are bound to one another, and of bodies of other species "
                 "that are bound to them." },
    { .name = "bound-mass-radii",
      .title = "Size of the bound mass, and tidal radius",
      .y_label = "radius",
      .scale = SCALE_BY_RANGE,
      .curves = { { "half_mass_radius", "half of the bound mass" },
                  { "tidal_radius", "tidal radius", CURVE_DASHED } },
      .caption = "Radius that holds half of the bound mass, and the radius beyond which the "
                 "external fields pull bodies away, as the bound mass is and moves then." },
    { .name = "bound-mass-path",
      .title = "Path of the bound mass",
      .y_label = "y",
      .equal_axes = true,
      .curves = { { "bound_center_y", "", CURVE_PATH, .x = "bound_center_x" } },
      .caption = "The density centre of the bound bodies, projected on the xy plane." },
};

const struct diagnostic_class diagnostic_bound_mass = {
    .variant = { "bound-mass",
                 "Bodies bound to one another, all or of a species, in external fields too; tidal "
                 "radius.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct bound_mass),
    .needs = NEED_STATE | NEED_POTENTIALS,
    .open_space = true,
    .init = init,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    /* A copy of the bound bodies, four arrays, and what the centre takes. */
    .body_bytes = SPHERE_BODY_BYTES + (BODIES_REALS + 1 + 4) * sizeof(double),
    .pairwise = true,
};
