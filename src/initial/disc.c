/*
 * A disc of a galaxy in near equilibrium: exponential in the radius, sech^2 in the height,
 *
 *     rho = M / (4 pi Rd^2 z0) exp(-R/Rd) sech^2(z/z0)
 *
 * with velocities by the epicyclic approximation (Hernquist 1993, ApJS 86, 389; Binney & Tremaine
 * 2008, 4.4.3 and 4.8.2) in its own field and in that of the external fields and of the spheres
 * about it. With the softening eps a layer at the height z' acts on one at z as if it were at the
 * distance D = sqrt((z - z')^2 + eps^2), so that Hankel's transform of the surface density (Toomre
 * 1963, ApJ 138, 385) gives its own potential
 *
 *     Phi = -G M int_0^inf J_0(kR) <exp(-k D)> / (1 + k^2 Rd^2)^(3/2) dk
 *
 * where <> is the mean over z', and its own circular speed in the plane
 *
 *     v_c^2 = G M R int_0^inf k J_1(kR) <exp(-k D)> / (1 + k^2 Rd^2)^(3/2) dk,   z = 0
 *
 * Then
 *
 *     kappa^2 = (2 v_c^2 + d v_c^2/d ln R) / R^2
 *     sigma_R = 3.36 Q G Sigma / kappa,   sigma_phi = sigma_R kappa / 2 Omega
 *     <v_phi>^2 = v_c^2 + sigma_R^2 (1 - kappa^2/4 Omega^2 + d ln(Sigma sigma_R^2)/d ln R)
 *     sigma_z^2 = <z dPhi/dz>
 *
 * The last is the virial theorem of the heights at R: Jeans's vertical equation times z, over all
 * z, for velocities of which those across the plane are independent of the others. In its own field
 * each pair of layers counts once for each of the two; with the mean over pairs and d = z - z'
 *
 *     sigma_z^2 = G M/2 int_0^inf k J_0(kR) <d^2/D exp(-k D)> / (1 + k^2 Rd^2)^(3/2) dk
 *
 * which is pi G Sigma z0 for a thin disc without softening.
 */
#include "initial/disc.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_integration.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_bessel.h>
#include <gsl/gsl_sf_lambert.h>

#include "base/memory.h"
#include "base/random.h"
#include "external/external.h"
#include "initial/initial.h"

struct keys {
    double mass, scale_length, scale_height, cutoff_radius, toomre_q;
};

static const struct parameter parameters[] = {
    INITIAL_COUNT(DEFAULT_NONE, "Number of bodies, of equal masses."),
    { KEY(FLAG, center), OPTIONAL,
      .help = "Move the centre of mass to the origin and to rest. Unset: true, but false in "
              "external fields, about whose centre the disc is in equilibrium: moved there, it is "
              "hotter than toomre_q." },
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS, "Mass of the disc."),
    INITIAL_POSITIVE(scale_length, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Rd of the surface density exp(-R/Rd)."),
    INITIAL_POSITIVE(scale_height, DEFAULT_REAL(0.1), DIMENSION_LENGTH,
                     "z0 of the density sech^2(z/z0), at most half of scale_length."),
    INITIAL_POSITIVE(cutoff_radius, DEFAULT_UNSET, DIMENSION_LENGTH,
                     "Radius at which the disc ends, 4 to 30 scale lengths; unset: 8."),
    { BIND(REAL, struct keys, toomre_q), BY_DEFAULT(REAL, 1.5), POSITIVE,
      .help = "Toomre's Q = sigma_R kappa / (3.36 G Sigma) at all radii; below 1 the disc falls "
              "into rings." },
};

/* Limits of the model, radii in scale lengths Rd. */
#define LEAST_RADIUS 1e-3 /* smallest radius of the table: 5e-7 of the mass is within */
#define LEAST_CUTOFF 4.0  /* 9 % of the mass of the endless disc is beyond */
#define GREATEST_CUTOFF 30.0
#define USUAL_CUTOFF 8.0
#define GREATEST_HEIGHT 0.5 /* the epicyclic approximation holds for thin discs */
#define LAST_WAVE 100.0     /* k Rd at which the integrals end: 1e-5 of v_c^2 is beyond */
#define FARTHEST_LAYER 20.0 /* largest height, in z0: 1e-17 of the mass is beyond */

enum { RADII = 256, RULE = 8, LAYERS = 64 };

/* A disc as a table over ln(R/Rd), in the units of the run, with the symbols above: speed2 is
 * v_c^2, kappa2 kappa^2, vertical2 sigma_z^2; radial, azimuthal and vertical are sigma_R, sigma_phi
 * and sigma_z; mean is <v_phi>. */
struct disc {
    struct disc_shape shape;
    double log_radius[RADII], speed2[RADII], kappa2[RADII], log_kappa2[RADII];
    double vertical2[RADII];
    double radial[RADII], azimuthal[RADII], vertical[RADII], mean[RADII];
};

/* --- its layers ------------------------------------------------------------------------------- */

/* Nodes for means over the heights of the disc, h = |z|/z0, with their weights. */
struct layers {
    double height[LAYERS];
    double one[LAYERS]; /* weights of heights |z|, whose density is sech^2 h */
    double two[LAYERS]; /* weights of differences |d| of two heights: 2 (h coth h - 1) / sinh^2 h */
};

/* Sets the nodes by Gauss-Legendre integration over t = sqrt(h), so that they are densest at the
 * plane h = 0. */
static enum status find_layers(struct layers *layers, struct error *error)
{
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(LAYERS);
    if (!rule)
        return error_memory(error);
    for (size_t i = 0; i < LAYERS; i++) {
        double t, weight;
        gsl_integration_glfixed_point(0.0, sqrt(FARTHEST_LAYER), i, &t, &weight, rule);
        const double h = t * t, sinh2 = gsl_pow_2(sinh(h));
        layers->height[i] = h;
        layers->one[i] = 2.0 * t * weight / (1.0 + sinh2);
        layers->two[i] =
            2.0 * t * weight * (h < 1e-3 ? 2.0 / 3.0 : 2.0 * (h / tanh(h) - 1.0) / sinh2);
    }
    gsl_integration_glfixed_table_free(rule);
    return STATUS_OK;
}

/* --- its own field ---------------------------------------------------------------------------- */

/* A node of the integrals over k, in units of 1/Rd, with the factors of the Bessel functions J_1
 * (in_plane) and J_0 (vertical). */
struct wave {
    double k;
    double in_plane; /* k <exp(-k D)> / (1 + k^2)^(3/2) dk, D seen from z = 0 */
    /* k / 2 (m(k) - m(K)) / (1 + k^2)^(3/2) dk, with m = <d^2/D exp(-k D)> and K = LAST_WAVE. */
    double vertical;
};

/* Returns m(k) = <d^2/D exp(-k D)>, a mean over pairs of layers; *in_plane becomes <exp(-k D)>, a
 * mean over layers seen from z = 0. All lengths are in units of Rd. */
static double pull(const struct layers *layers, double z0, double eps, double k, double *in_plane)
{
    double sum = 0;
    *in_plane = 0;
    for (size_t i = 0; i < LAYERS; i++) {
        const double d = z0 * layers->height[i], D = hypot(d, eps), wave = exp(-k * D);
        *in_plane += layers->one[i] * wave;
        sum += layers->two[i] * d * d / D * wave;
    }
    return sum;
}

/* Finds v_c^2 and sigma_z^2 in the disc's own field at all radii, in units of G M / Rd, from
 * lengths in Rd. m(k) has not fallen to 0 at the last wave number K: the integral with m(K) in the
 * place of m(k) is known (1/2 m(K) exp(-R/Rd)), and only that with m(k) - m(K) is summed. */
static enum status find_own(const struct layers *layers, double eps, struct disc *disc,
                            struct interruption *interruption, struct error *error)
{
    const struct disc_shape *const shape = &disc->shape;
    const double z0 = shape->height / shape->length;
    /* An interval of k is a third of a period of J_1(kR) at the edge of the disc. */
    const double width = 2.0 * shape->length / shape->cutoff;
    /* At most 12000, since the cut-off is at most GREATEST_CUTOFF. */
    const size_t nodes = RULE * (size_t)ceil(LAST_WAVE / width);
    struct wave *waves = memory_array(nodes, sizeof *waves, error);
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(RULE);
    if (!rule)
        error_memory(error);
    double in_plane;
    const double last = pull(layers, z0, eps, LAST_WAVE, &in_plane);
    for (size_t i = 0; !error->status && i < nodes; i++) {
        double k, weight;
        const double from = (double)(i / RULE) * width;
        gsl_integration_glfixed_point(from, from + width, i % RULE, &k, &weight, rule);
        const double m = pull(layers, z0, eps, k, &in_plane);
        const double term = weight * k / pow(1.0 + k * k, 1.5);
        waves[i] = (struct wave){ k, term * in_plane, 0.5 * term * (m - last) };
    }
    for (size_t n = 0; !error->status && n < RADII; n++) {
        const double x = exp(disc->log_radius[n]);
        double speed2 = 0, vertical2 = 0.5 * last * exp(-x);
        for (size_t i = 0; i < nodes; i++) {
            speed2 += x * waves[i].in_plane * gsl_sf_bessel_J1(waves[i].k * x);
            vertical2 += waves[i].vertical * gsl_sf_bessel_J0(waves[i].k * x);
        }
        disc->speed2[n] = speed2;
        disc->vertical2[n] = vertical2;
        interruption_status(interruption, error);
    }
    if (rule)
        gsl_integration_glfixed_table_free(rule);
    memory_free(waves);
    return error->status;
}

/* --- the field of all that is beside it ------------------------------------------------------- */

static void add_fields(const struct external *external, const struct layers *layers,
                       struct disc *disc)
{
    for (size_t n = 0; external && n < RADII; n++) {
        const double R = disc->shape.length * exp(disc->log_radius[n]);
        double a[3], below[3], virial = 0;
        external_acceleration(external, (const double[3]){ R, 0.0, external->center[2] }, a);
        disc->speed2[n] -= R * a[0];
        for (size_t k = 0; k < LAYERS; k++) {
            const double z = disc->shape.height * layers->height[k], middle = external->center[2];
            external_acceleration(external, (const double[3]){ R, 0.0, middle + z }, a);
            external_acceleration(external, (const double[3]){ R, 0.0, middle - z }, below);
            virial += layers->one[k] * 0.5 * z * (below[2] - a[2]);
        }
        disc->vertical2[n] += fmax(0.0, virial);
    }
}

static void add_spheres(const struct disc_spheres *spheres, const struct layers *layers,
                        struct disc *disc)
{
    for (size_t n = 0; spheres && n < RADII; n++) {
        const double R = disc->shape.length * exp(disc->log_radius[n]);
        disc->speed2[n] += R * spheres->attraction(spheres->model, R);
        for (size_t k = 0; k < LAYERS; k++) {
            const double z = disc->shape.height * layers->height[k], r = hypot(R, z);
            disc->vertical2[n] +=
                layers->one[k] * z * z * spheres->attraction(spheres->model, r) / r;
        }
    }
}

/* --- its velocities --------------------------------------------------------------------------- */

static enum status find_slopes(const double log_radius[RADII], const double values[RADII],
                               double slopes[RADII], struct error *error)
{
    gsl_interp *spline = gsl_interp_alloc(gsl_interp_cspline, RADII);
    if (!spline)
        return error_memory(error);
    gsl_interp_init(spline, log_radius, values, RADII);
    for (size_t n = 0; n < RADII; n++)
        slopes[n] = gsl_interp_eval_deriv(spline, log_radius, values, log_radius[n], NULL);
    gsl_interp_free(spline);
    return STATUS_OK;
}

/* Returns the part of the mass of a disc without an end that is within x scale lengths. */
static double enclosed(double x)
{
    return 1.0 - (1.0 + x) * exp(-x);
}

double disc_endless_mass(const struct disc_shape *shape)
{
    return shape->mass / enclosed(shape->cutoff / shape->length);
}

static enum status find_velocities(const struct section *section, const struct physics *physics,
                                   struct disc *t, struct error *error)
{
    const double G = physics->gravitational_constant;
    const double length = t->shape.length;
    const double whole = disc_endless_mass(&t->shape);
    double slope[RADII];
    if (find_slopes(t->log_radius, t->speed2, slope, error))
        return error->status;
    for (size_t n = 0; n < RADII; n++) {
        const double R = length * exp(t->log_radius[n]);
        t->kappa2[n] = (2.0 * t->speed2[n] + slope[n]) / (R * R);
        if (!(t->speed2[n] > 0 && t->kappa2[n] > 0))
            return section_error(section, NULL, error,
                                 "has no stable circular orbit at R = %g in these external fields",
                                 R);
        t->log_kappa2[n] = log(t->kappa2[n]);
    }
    if (find_slopes(t->log_radius, t->log_kappa2, slope, error))
        return error->status;
    for (size_t n = 0; n < RADII; n++) {
        const double x = exp(t->log_radius[n]), R = length * x;
        const double surface = whole / (2.0 * M_PI * length * length) * exp(-x);
        const double radial = 3.36 * t->shape.toomre_q * G * surface / sqrt(t->kappa2[n]);
        const double ratio = 0.25 * t->kappa2[n] * R * R / t->speed2[n];
        const double drift = 1.0 - ratio - 3.0 * x - slope[n];
        t->radial[n] = radial;
        t->azimuthal[n] = radial * sqrt(ratio);
        t->mean[n] = sqrt(fmax(0.0, t->speed2[n] + radial * radial * drift));
        t->vertical[n] = sqrt(t->vertical2[n]);
    }
    return STATUS_OK;
}

enum status disc_create(const struct section *section, const struct disc_shape *shape,
                        const struct physics *physics, const struct disc_spheres *spheres,
                        struct disc **disc, struct error *error)
{
    const double length = shape->length, G = physics->gravitational_constant;
    const double farthest = shape->cutoff / length;
    const double unit = G * disc_endless_mass(shape) / length;
    struct disc *const made = *disc = memory_array(1, sizeof *made, error);
    struct layers layers;
    if (!made || find_layers(&layers, error))
        goto fail;
    *made = (struct disc){ .shape = *shape };
    for (size_t n = 0; n < RADII; n++)
        made->log_radius[n] =
            log(LEAST_RADIUS) + log(farthest / LEAST_RADIUS) * (double)n / (RADII - 1.0);
    if (find_own(&layers, physics->softening / length, made, physics->interruption, error))
        goto fail;
    for (size_t n = 0; n < RADII; n++) {
        made->speed2[n] *= unit;
        made->vertical2[n] *= unit;
    }
    add_fields(physics->external, &layers, made);
    add_spheres(spheres, &layers, made);
    if (!find_velocities(section, physics, made, error))
        return STATUS_OK;
fail:
    disc_destroy(made);
    *disc = NULL;
    return error->status;
}

void disc_destroy(struct disc *disc)
{
    memory_free(disc);
}

/* --- its bodies ------------------------------------------------------------------------------- */

/* Returns values[] at ln(R/Rd) = log_radius, by linear interpolation; beyond the table its first or
 * last value. */
static double at(const struct disc *t, const double values[RADII], double log_radius)
{
    const double step = t->log_radius[1] - t->log_radius[0];
    const double place = fmin(fmax((log_radius - t->log_radius[0]) / step, 0.0), RADII - 1.0);
    const size_t n = place < RADII - 1 ? (size_t)place : RADII - 2;
    return values[n] + (place - (double)n) * (values[n + 1] - values[n]);
}

void disc_draw(const struct disc *t, gsl_rng *generator, double position[3], double velocity[3])
{
    const struct disc_shape *const shape = &t->shape;
    const double within = enclosed(shape->cutoff / shape->length);
    const double u = within * random_uniform(generator, 0.0, 1.0);
    const double x = -1.0 - gsl_sf_lambert_Wm1(-(1.0 - u) / M_E); /* solves u = enclosed(x) */
    const double R = shape->length * x, log_radius = log(x);
    const double angle = random_uniform(generator, -M_PI, M_PI), c = cos(angle), s = sin(angle);
    double height;
    do
        height = shape->height * atanh(random_uniform(generator, -1.0, 1.0));
    while (!isfinite(height));
    const double radial = at(t, t->radial, log_radius) * gsl_ran_gaussian_ziggurat(generator, 1.0);
    const double azimuthal =
        at(t, t->mean, log_radius) +
        at(t, t->azimuthal, log_radius) * gsl_ran_gaussian_ziggurat(generator, 1.0);
    const double p[3] = { R * c, R * s, height };
    const double v[3] = { radial * c - azimuthal * s, radial * s + azimuthal * c,
                          at(t, t->vertical, log_radius) *
                              gsl_ran_gaussian_ziggurat(generator, 1.0) };
    memcpy(position, p, sizeof p);
    memcpy(velocity, v, sizeof v);
}

/* --- the start -------------------------------------------------------------------------------- */

/* A disc in the plane z = `plane`; m is the mass of each body. */
struct placed_disc {
    const struct disc *disc;
    double plane, m;
};

static void draw(const void *model, gsl_rng *generator, size_t i, struct initial_body *body)
{
    const struct placed_disc *const placed = model;
    (void)i;
    disc_draw(placed->disc, generator, body->position, body->velocity);
    body->position[2] += placed->plane;
    body->m = placed->m;
}

double disc_cutoff(double cutoff, double length)
{
    return isnan(cutoff) ? USUAL_CUTOFF * length : cutoff;
}

enum status disc_check(const struct section *section, const struct disc_shape *shape,
                       const struct disc_names *names, struct error *error)
{
    const double cutoff = shape->cutoff / shape->length, height = shape->height / shape->length;
    initial_check_times(section, names->cutoff, cutoff, names->length, LEAST_CUTOFF,
                        GREATEST_CUTOFF, error);
    if (!(height <= GREATEST_HEIGHT))
        section_error(section, names->height, error,
                      "is %g times %s; must be at most %g times, since the velocities are those of "
                      "a thin disc",
                      height, names->length, GREATEST_HEIGHT);
    return error->status;
}

static struct disc_shape shape_of(const struct section *section)
{
    struct keys keys;
    section_read(section, &keys);
    return (struct disc_shape){ .mass = keys.mass,
                                .length = keys.scale_length,
                                .height = keys.scale_height,
                                .cutoff = disc_cutoff(keys.cutoff_radius, keys.scale_length),
                                .toomre_q = keys.toomre_q };
}

/* Counts the bodies, and checks the lengths. check() cannot: it runs before initial_check_units()
 * has made sure that a default, meant for N-body units, is used in these only. */
static enum status count(const struct section *section, size_t *count, struct error *error)
{
    const struct disc_shape shape = shape_of(section);
    const struct disc_names names = { "scale_length", "scale_height", "cutoff_radius" };
    const enum status status = disc_check(section, &shape, &names, error);
    return status ? status : initial_count_key(section, count, error);
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    (void)warnings;
    const struct external *const external = physics->external;
    const struct disc_shape shape = shape_of(section);
    if (external && !(external->keeps_angular_momentum[2] && external->center[0] == 0 &&
                      external->center[1] == 0))
        return section_error(section, NULL, error,
                             "a disc about the z axis is in equilibrium only in external fields "
                             "that are symmetric about it");
    static const char *const moves[] = { "origin", "origin_velocity" };
    for (size_t k = 0; external && k < COUNT_OF(moves); k++)
        if (section_has(section, moves[k]))
            return section_error(section, moves[k], error,
                                 "would move the disc out of the middle of the external fields, "
                                 "where it is in equilibrium");
    struct disc *disc;
    if (disc_create(section, &shape, physics, NULL, &disc, error))
        return error->status;
    const struct placed_disc placed = { .disc = disc,
                                        .plane = external ? external->center[2] : 0.0,
                                        .m = shape.mass / (double)bodies->count };
    initial_draw_systems(draw, &placed, physics->interruption, seed, bodies, error);
    disc_destroy(disc);
    return error->status;
}

static const char *const scales[] = { "mass", "scale_length", "scale_height", NULL };

const struct initial_class initial_disc = {
    .variant = { "disc", "An exponential disc of a galaxy, in external fields or alone.",
                 parameters, COUNT_OF(parameters) },
    .count = count,
    .fill_all = fill,
    .scales = scales,
};
