#include "initial/cusp.h"

#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_integration.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_math.h>

#include "base/memory.h"
#include "base/random.h"

/* Numbers of points of Gauss-Legendre integration: in an interval of the grid, and in each part of
 * the integral for a softened density. */
enum { RULE = 6, SOFTENED_RULE = 64 };

/* A softened density is taken as constant within this radius, in softening lengths eps. */
#define SOFTENED_CORE 0.02
/* The grid does not begin nearer to the centre than SOFTENED_FIRST eps, within which phi is
 * constant, or than SOFTENED_FIRST_LARGEST times the smaller of scale and cut-off radius, if that
 * is less. */
#define SOFTENED_FIRST 1e-5
#define SOFTENED_FIRST_LARGEST 1e-3
/* Beyond this radius, in eps, a softened density is made no less than the density itself. */
#define SOFTENED_FAR 10.0
/* Beyond this radius, in eps, softening changes the density by less than 1e-9. */
#define SOFTENED_END 1e5
#define GRID_STEP 0.0625 /* step of the grid in ln r */
/* The grid does not begin within the radius r, in units of the smaller of scale and cut-off radius,
 * where r^(3 - gamma) has this value (gamma: the inner slope): the mass within r goes as this
 * power. */
#define INNER_MASS 1e-12
/* Bodies are drawn within this radius, in scale radii; 3e-9 of the mass is beyond. */
#define OUTER_RADIUS 1e9
/* With a cut-off, within this radius in cut-off radii; 1e-10 of the mass is beyond. */
#define OUTER_CUTOFFS 30.0
/* The radius at which the grid and its integrals end, in scale radii or, with a cut-off, in cut-off
 * radii. */
#define FARTHEST_RADIUS 1e12
#define FARTHEST_CUTOFFS 60.0

/* A point of the integration in Eddington's formula (cusp.h), in the interval from a radius of the
 * grid to the next. */
struct point {
    double term; /* weight of the point times 4 pi d^2 rho/dPsi^2 dPsi/d ln r */
    double fall; /* Psi at that radius less Psi at the point */
};

/* The model as tables over the radii of a grid, which ascend. Bodies are within radius number
 * `used` - 1; the radii from there to `count` - 1 serve the integrals only. [count] is the length
 * of all arrays. */
struct cusp {
    struct cusp_shape shape;
    struct cusp_surroundings around;
    gsl_integration_glfixed_table *rule;
    size_t count, used;
    /* mass of the sphere within r; Psi at r less Psi at the next radius */
    double *log_r, *mass, *fall;
    double *whole; /* mass within r of the sphere and its surroundings, softened */
    double *log_mass, *log_whole;
    double *phi;          /* -Psi */
    double *log_f;        /* ln f at E = Psi, up to a constant */
    double *bound;        /* upper bound of v^2 f between this radius and the next */
    double *log_softened; /* ln of 4 pi rho of all mass, softened */
    struct point (*points)[RULE];
    /* Interpolations, in this order: ln r by ln mass, ln mass by ln r, ln whole by ln r, phi by
     * ln r, ln f by phi, log_softened by ln r. */
    gsl_interp *radius_of, *mass_at, *whole_at, *phi_at, *f_at, *softened_at;
    double potential_energy; /* of the sphere alone, |U| without softening */
    double virial;           /* 2K = integral of M/r over the mass of the sphere, M as `whole` */
};

static double sech(double x)
{
    const double e = exp(-x);
    return 2.0 * e / (1.0 + e * e);
}

/* Returns 4 pi rho of a shape at the radius r, in units of the shape. */
static double density(const struct cusp_shape *s, double r)
{
    if (s->disc_height > 0)
        return exp(-r) / hypot(r, s->disc_height);
    const double rho = pow(r, -s->inner) * pow(1.0 + r, s->inner - s->outer);
    return isfinite(s->cutoff) ? rho * sech(r / s->cutoff) : rho;
}

/* Returns 4 pi rho of the parts around the sphere, in units of the sphere. */
static double density_around(const struct cusp_surroundings *around, double r)
{
    double sum = 0;
    for (size_t k = 0; k < around->count; k++) {
        const struct cusp_part *const part = &around->parts[k];
        sum += part->mass * density(&part->shape, r / part->scale) / gsl_pow_3(part->scale);
    }
    return sum;
}

static double density_of_all(const struct cusp *sphere, double r)
{
    return density(&sphere->shape, r) + density_around(&sphere->around, r);
}

/* Returns the integral over u of h(r + t) from u = a to b; soften(), below, defines u, t and h. */
static double soften_far(const struct cusp *sphere, gsl_integration_glfixed_table *rule, double r,
                         double a, double b)
{
    double sum = 0;
    for (size_t k = 0; k < SOFTENED_RULE; k++) {
        double u, weight;
        gsl_integration_glfixed_point(a, b, k, &u, &weight, rule);
        const double s = r + sphere->around.softening * u / sqrt(1.0 - u * u);
        sum += weight * s * density_of_all(sphere, fabs(s));
    }
    return sum;
}

/* Returns du/dt at t = s - r less du/dt at t = s + r; soften(), below, defines u. */
static double soften_kernel(double eps, double r, double s)
{
    const double near = hypot(s - r, eps), far = hypot(s + r, eps);
    return eps * eps * (1.0 / gsl_pow_3(near) - 1.0 / gsl_pow_3(far));
}

/*
 * Returns 4 pi rho_eps at the radius, where rho_eps is the density which attracts without softening
 * as the sphere and the parts around it do with softening: each of their masses is spread out as
 * eps^2 / (r^2 + eps^2)^(5/2). The mean over directions gives, with u = t / sqrt(t^2 + eps^2),
 *   rho_eps(r) = 1/(2r) int_-1^1 h(r + t) du,   h(s) = s rho(|s|).
 * Near s = 0, where h may be infinite, both signs of s are taken together: |s| below `middle` gives
 *   int_0^middle h(s) (du/dt(s - r) - du/dt(s + r)) ds,   s = middle q^4.
 */
static double soften(const struct cusp *sphere, gsl_integration_glfixed_table *rule, double radius)
{
    const double eps = sphere->around.softening, r = fmax(radius, SOFTENED_CORE * eps);
    const double middle = 0.5 * fmax(r, eps);
    if (radius > SOFTENED_END * eps)
        return density_of_all(sphere, radius);
    double sum = soften_far(sphere, rule, r, -1.0, -(r + middle) / hypot(r + middle, eps)) +
                 soften_far(sphere, rule, r, (middle - r) / hypot(middle - r, eps), 1.0);
    for (size_t k = 0; k < SOFTENED_RULE; k++) {
        double q, weight;
        gsl_integration_glfixed_point(0.0, 1.0, k, &q, &weight, rule);
        const double s = middle * gsl_pow_4(q), ds = 4.0 * middle * gsl_pow_3(q) * weight;
        sum += ds * s * density_of_all(sphere, s) * soften_kernel(eps, r, s);
    }
    const double softened = sum / (2.0 * r);
    return radius < SOFTENED_FAR * eps ? softened : fmax(softened, density_of_all(sphere, radius));
}

static enum status fill_softened(struct cusp *sphere, struct error *error)
{
    gsl_integration_glfixed_table *const rule = gsl_integration_glfixed_table_alloc(SOFTENED_RULE);
    if (!rule)
        return error_memory(error);
    for (size_t i = 0; i < sphere->count; i++)
        sphere->log_softened[i] = log(soften(sphere, rule, exp(sphere->log_r[i])));
    gsl_integration_glfixed_table_free(rule);
    return gsl_interp_init(sphere->softened_at, sphere->log_r, sphere->log_softened, sphere->count)
               ? error_memory(error)
               : STATUS_OK;
}

/* Returns what soften() would, from the table; without softening the density of sphere and
 * parts. */
static double attracting(const struct cusp *sphere, double r)
{
    const double last = sphere->log_r[sphere->count - 1], log_r = log(r);
    if (!(sphere->around.softening > 0) || log_r > last)
        return density_of_all(sphere, r);
    return exp(gsl_interp_eval(sphere->softened_at, sphere->log_r, sphere->log_softened,
                               fmax(log_r, sphere->log_r[0]), NULL));
}

/* Returns 4 pi d^2 rho/dPsi^2 of the sphere: 4 pi rho r^2/M^2 (l^2 + l + l' - l m), where l = d ln
 * rho/d ln r, l' = dl/d ln r and m = d ln M/d ln r, because dPsi/dr = -M/r^2. M is `whole`, the
 * mass within r of the sphere and its surroundings. */
static double curvature(const struct cusp *sphere, double r, double whole)
{
    const struct cusp_shape *const s = &sphere->shape;
    const double rho = density(s, r), x = r / s->cutoff, t = tanh(x);
    const double steepening = (s->outer - s->inner) * r / (1.0 + r);
    const double l = -s->inner - steepening - x * t;
    const double slope = -steepening / (1.0 + r) - x * t - x * x * (1.0 - t * t);
    const double m = attracting(sphere, r) * gsl_pow_3(r) / whole;
    return rho * gsl_pow_2(r / whole) * (l * l + l + slope - l * m);
}

/* Changes from one radius to a larger one: mass of the sphere in between, mass of sphere and
 * surroundings in between, and the fall of Psi. */
struct stretch {
    double mass, whole, fall;
};

/* Integrates from the radius a = exp(log_r) to b = exp(log_r + length); `whole` is the mass of
 * sphere and surroundings within a. The fall of Psi is integrated by parts,
 * int M/r^2 dr = M_a/a - M_b/b + int dM/r. */
static struct stretch advance(const struct cusp *sphere, double log_r, double length, double whole)
{
    const double a = exp(log_r), b = exp(log_r + length);
    double sum = 0, all = 0, over_r = 0;
    for (size_t k = 0; k < RULE; k++) {
        double x, weight;
        gsl_integration_glfixed_point(0.0, length, k, &x, &weight, sphere->rule);
        const double r = exp(log_r + x), ring = weight * density(&sphere->shape, r) * r * r;
        const double with = weight * attracting(sphere, r) * r * r;
        sum += ring * r;
        all += with * r;
        over_r += with;
    }
    return (struct stretch){ sum, all, whole / a - (whole + all) / b + over_r };
}

/* Returns the integral of Eddington's formula over the interval from radius i to the next, for
 * E = Psi at radius i. The variable s, with ln r = ln r_i + s^2, removes the singularity at
 * Psi = E. */
static double first_interval(const struct cusp *sphere, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < RULE; k++) {
        double s, weight;
        gsl_integration_glfixed_point(0.0, sqrt(GRID_STEP), k, &s, &weight, sphere->rule);
        const struct stretch to = advance(sphere, sphere->log_r[i], s * s, sphere->whole[i]);
        const double r = exp(sphere->log_r[i] + s * s), whole = sphere->whole[i] + to.whole;
        sum += 2.0 * s * weight * curvature(sphere, r, whole) * whole / (r * sqrt(to.fall));
    }
    return sum;
}

/* Returns the mass of a shape within a radius r so small that the density goes as r^-inner
 * there. */
static double innermost(const struct cusp_shape *shape, double r)
{
    return density(shape, r) * gsl_pow_3(r) / (3.0 - shape->inner);
}

/* Fills in the masses, the falls of Psi, the points of each interval, the potential energy and the
 * virial, by integration outwards. */
static void integrate(struct cusp *sphere)
{
    const double inner = sphere->shape.inner, r0 = exp(sphere->log_r[0]);
    double mass = innermost(&sphere->shape, r0), whole = mass;
    for (size_t k = 0; k < sphere->around.count; k++) {
        const struct cusp_part *const part = &sphere->around.parts[k];
        whole += part->mass * innermost(&part->shape, r0 / part->scale);
    }
    if (sphere->around.softening > r0)
        whole = attracting(sphere, r0) * gsl_pow_3(r0) / 3.0;
    sphere->potential_energy = mass * mass * (3.0 - inner) / ((5.0 - 2.0 * inner) * r0);
    sphere->virial = mass * whole * (3.0 - inner) / ((5.0 - 2.0 * inner) * r0);
    for (size_t i = 0; i < sphere->count; i++) {
        const double log_r = sphere->log_r[i];
        sphere->mass[i] = mass;
        sphere->whole[i] = whole;
        for (size_t k = 0; k < RULE; k++) {
            struct point *const point = &sphere->points[i][k];
            double x, weight;
            gsl_integration_glfixed_point(0.0, GRID_STEP, k, &x, &weight, sphere->rule);
            const struct stretch to = advance(sphere, log_r, x, whole);
            const double r = exp(log_r + x), M = whole + to.whole;
            point->fall = to.fall;
            point->term = weight * curvature(sphere, r, M) * M / r;
            const double ring = weight * density(&sphere->shape, r) * r * r;
            sphere->potential_energy += ring * (mass + to.mass);
            sphere->virial += ring * M;
        }
        const struct stretch next = advance(sphere, log_r, GRID_STEP, whole);
        sphere->fall[i] = next.fall;
        mass += next.mass;
        whole += next.whole;
    }
}

/* Finds ln f for E = Psi at each radius up to `used`, by Eddington's formula. STATUS_NUMERICAL if f
 * is not positive. */
static enum status find_f(struct cusp *sphere, struct error *error)
{
    for (size_t i = 0; i < sphere->used; i++) {
        double f = first_interval(sphere, i), fall = sphere->fall[i];
        for (size_t j = i + 1; j < sphere->count; fall += sphere->fall[j++])
            for (size_t k = 0; k < RULE; k++) {
                const struct point *const point = &sphere->points[j][k];
                f += point->term / sqrt(fall + point->fall);
            }
        if (!(f > 0 && isfinite(f)))
            return error_set(error, STATUS_NUMERICAL,
                             "the sphere has no isotropic distribution function at a radius of %g "
                             "scale radii",
                             exp(sphere->log_r[i]));
        sphere->log_f[i] = log(f);
    }
    return STATUS_OK;
}

/*
 * Finds for each radius an upper bound of v^2 f(E), where E = Psi - v^2/2. It also holds up to the
 * next radius, since for equal E v^2 = 2 (Psi - E) falls outwards. It is the largest product, over
 * the intervals of E between neighbouring radii, of v^2 at the end where v^2 is larger and f at the
 * end where f is larger.
 */
static void find_bounds(struct cusp *sphere)
{
    for (size_t i = 0; i < sphere->used; i++) {
        double largest = 0;
        for (size_t j = i; j + 1 < sphere->used; j++) {
            const double v2 = 2.0 * (sphere->phi[j + 1] - sphere->phi[i]);
            largest = fmax(largest, v2 * exp(fmax(sphere->log_f[j], sphere->log_f[j + 1])));
        }
        sphere->bound[i] = largest;
    }
}

void cusp_destroy(struct cusp *sphere)
{
    if (!sphere)
        return;
    double *const arrays[] = { sphere->log_r,        sphere->mass,     sphere->whole, sphere->fall,
                               sphere->log_mass,     sphere->phi,      sphere->log_f, sphere->bound,
                               sphere->log_softened, sphere->log_whole };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        memory_free(arrays[k]);
    memory_free(sphere->points);
    gsl_interp_free(sphere->radius_of);
    gsl_interp_free(sphere->mass_at);
    gsl_interp_free(sphere->whole_at);
    gsl_interp_free(sphere->phi_at);
    gsl_interp_free(sphere->f_at);
    gsl_interp_free(sphere->softened_at);
    if (sphere->rule)
        gsl_integration_glfixed_table_free(sphere->rule);
    memory_free(sphere);
}

static enum status allocate(struct cusp *sphere, struct error *error)
{
    double **const arrays[] = { &sphere->log_r,    &sphere->mass,     &sphere->whole,
                                &sphere->fall,     &sphere->log_mass, &sphere->phi,
                                &sphere->log_f,    &sphere->bound,    &sphere->log_softened,
                                &sphere->log_whole };
    for (size_t k = 0; k < COUNT_OF(arrays); k++)
        *arrays[k] = memory_array(sphere->count, sizeof **arrays[k], error);
    sphere->points = memory_array(sphere->count, sizeof *sphere->points, error);
    sphere->radius_of = gsl_interp_alloc(gsl_interp_steffen, sphere->used);
    sphere->mass_at = gsl_interp_alloc(gsl_interp_steffen, sphere->used);
    sphere->whole_at = gsl_interp_alloc(gsl_interp_steffen, sphere->used);
    sphere->phi_at = gsl_interp_alloc(gsl_interp_steffen, sphere->used);
    sphere->f_at = gsl_interp_alloc(gsl_interp_steffen, sphere->used);
    sphere->softened_at = gsl_interp_alloc(gsl_interp_steffen, sphere->count);
    sphere->rule = gsl_integration_glfixed_table_alloc(RULE);
    if (!sphere->radius_of || !sphere->mass_at || !sphere->whole_at || !sphere->phi_at ||
        !sphere->f_at || !sphere->softened_at || !sphere->rule)
        error_memory(error);
    return error->status;
}

static enum status make(struct cusp_shape shape, const struct cusp_surroundings *around,
                        struct cusp *sphere, struct error *error)
{
    const bool cut = isfinite(shape.cutoff);
    const double scale = cut ? fmin(1.0, shape.cutoff) : 1.0;
    const double eps = around ? around->softening : 0.0;
    const double first = fmax(log(scale) + log(INNER_MASS) / (3.0 - shape.inner),
                              log(fmin(SOFTENED_FIRST * eps, SOFTENED_FIRST_LARGEST * scale)));
    const double last = log(cut ? OUTER_CUTOFFS * shape.cutoff : OUTER_RADIUS);
    const double farthest = log(cut ? FARTHEST_CUTOFFS * shape.cutoff : FARTHEST_RADIUS);
    *sphere = (struct cusp){ .shape = shape,
                             .around = around ? *around : (struct cusp_surroundings){ 0 },
                             .count = (size_t)((farthest - first) / GRID_STEP) + 1,
                             .used = (size_t)((last - first) / GRID_STEP) + 1 };
    if (allocate(sphere, error))
        return error->status;
    for (size_t i = 0; i < sphere->count; i++)
        sphere->log_r[i] = first + GRID_STEP * (double)i;
    if (sphere->around.softening > 0 && fill_softened(sphere, error))
        return error->status;
    integrate(sphere);
    if (find_f(sphere, error))
        return error->status;
    const size_t end = sphere->count - 1;
    double psi = sphere->whole[end] / exp(sphere->log_r[end]);
    for (size_t i = end; i-- > 0;) {
        psi += sphere->fall[i];
        sphere->phi[i] = -psi;
        sphere->log_mass[i] = log(sphere->mass[i]);
        sphere->log_whole[i] = log(sphere->whole[i]);
    }
    find_bounds(sphere);
    if (gsl_interp_init(sphere->radius_of, sphere->log_mass, sphere->log_r, sphere->used) ||
        gsl_interp_init(sphere->mass_at, sphere->log_r, sphere->log_mass, sphere->used) ||
        gsl_interp_init(sphere->whole_at, sphere->log_r, sphere->log_whole, sphere->used) ||
        gsl_interp_init(sphere->phi_at, sphere->log_r, sphere->phi, sphere->used) ||
        gsl_interp_init(sphere->f_at, sphere->phi, sphere->log_f, sphere->used))
        error_memory(error);
    return error->status;
}

enum status cusp_check_softening(const struct section *section, const char *key, double scale,
                                 double softening, struct error *error)
{
    return softening <= CUSP_GREATEST_SOFTENING * scale
               ? STATUS_OK
               : section_error(
                     section, key, error,
                     "must be at least %g, a tenth of physics.softening = %g, which would "
                     "leave nothing of a smaller sphere",
                     softening / CUSP_GREATEST_SOFTENING, softening);
}

enum status cusp_create(struct cusp_shape shape, const struct cusp_surroundings *around,
                        struct cusp **sphere, struct error *error)
{
    *sphere = memory_array(1, sizeof **sphere, error);
    if (*sphere && make(shape, around, *sphere, error)) {
        cusp_destroy(*sphere);
        *sphere = NULL;
    }
    if (*sphere)
        (*sphere)->around = (struct cusp_surroundings){ 0 };
    return error->status;
}

double cusp_mass(const struct cusp *sphere)
{
    return sphere->mass[sphere->count - 1];
}

double cusp_mass_within(const struct cusp *sphere, double r)
{
    const double *const log_r = sphere->log_r, x = log(r);
    if (x <= log_r[0])
        return innermost(&sphere->shape, r);
    if (x >= log_r[sphere->used - 1])
        return cusp_mass(sphere);
    return exp(gsl_interp_eval(sphere->mass_at, log_r, sphere->log_mass, x, NULL));
}

double cusp_attraction(const struct cusp *sphere, double r)
{
    const double *const log_r = sphere->log_r, x = log(r);
    const size_t last = sphere->used - 1;
    if (x <= log_r[0])
        return sphere->whole[0] * exp(x - log_r[0]) / gsl_pow_2(exp(log_r[0]));
    const double log_whole =
        x < log_r[last] ? gsl_interp_eval(sphere->whole_at, log_r, sphere->log_whole, x, NULL)
                        : sphere->log_whole[last];
    return exp(log_whole - 2.0 * x);
}

double cusp_energy(const struct cusp *sphere)
{
    return 0.5 * sphere->virial - sphere->potential_energy;
}

double cusp_distribution(const struct cusp *sphere, double energy)
{
    return exp(gsl_interp_eval(sphere->f_at, sphere->phi, sphere->log_f, energy, NULL));
}

/* --- its bodies ------------------------------------------------------------------------------- */

/* Draws a speed at the radius exp(log_r) by rejection: its density is v^2 f(Psi - v^2/2). */
static double draw_speed(const struct cusp *sphere, gsl_rng *generator, double log_r)
{
    const size_t last = sphere->used - 1;
    const double phi = gsl_interp_eval(sphere->phi_at, sphere->log_r, sphere->phi, log_r, NULL);
    const double range = sphere->phi[last] - phi;
    if (!(range > 0))
        return 0;
    const size_t inner = (size_t)((log_r - sphere->log_r[0]) / GRID_STEP);
    const double limit = sphere->bound[inner < last ? inner : last - 1];
    double v, g;
    do {
        v = random_uniform(generator, 0.0, sqrt(2.0 * range));
        const double energy = fmin(phi + 0.5 * v * v, sphere->phi[last]);
        g = v * v * cusp_distribution(sphere, energy);
    } while (random_uniform(generator, 0.0, limit) > g);
    return v;
}

void cusp_draw(const void *model, gsl_rng *generator, double position[3], double velocity[3])
{
    const struct cusp *sphere = model;
    const double *const log_mass = sphere->log_mass, edge = log_mass[sphere->used - 1];
    const double drawn = edge + log(random_uniform(generator, 0.0, 1.0));
    const double log_r =
        gsl_interp_eval(sphere->radius_of, log_mass, sphere->log_r, fmax(drawn, log_mass[0]), NULL);
    random_on_sphere(generator, exp(log_r), position);
    random_on_sphere(generator, draw_speed(sphere, generator, log_r), velocity);
}
