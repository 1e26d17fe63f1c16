/*
 * The King model (1966, AJ 71, 64; Binney & Tremaine 2008, section 4.3.3c): isotropic velocities of
 * the distribution function f ~ exp(-E/sigma^2) - 1 below the energy at the tidal radius r_t. In
 * units of the King radius r_0 and of sigma the depth W = (Phi(r_t) - Phi) / sigma^2 obeys
 * W'' + 2 W'/r = -9 rho(W)/rho(W0), W0 its value at the centre, and G M(<r) = -r^2 W'. The model is
 * scaled so that in equilibrium E = -G M^2 / (4 r_v), r_v the key virial_radius: -1/4 in Henon
 * units.
 */
#include <math.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_sf_erf.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/cluster.h"
#include "initial/initial.h"

struct keys {
    struct cluster_keys cluster;
    double w0, virial_radius;
};

static const struct parameter parameters[] = {
    CLUSTER_PARAMETERS(true, "auto"),
    { BIND(REAL, struct keys, w0), BY_DEFAULT(REAL, 6.0), BETWEEN(0.1, 16),
      .help = "Depth W0 of the potential at the centre over the square of the velocity scale: the "
              "larger, the more concentrated." },
    INITIAL_POSITIVE(virial_radius, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Virial radius G M^2 / (2 |U|); the default gives Henon units if G = M = 1."),
};

enum { POINTS_MOST = 8192 };

/* The model as a table over radii, from the centre to the tidal radius, in units of r_0 and
 * sigma. */
struct king {
    double w0;
    size_t count;
    double *r, *depth;       /* W at r */
    double *root;            /* cube root of G M(<r), in which r is smooth at the centre */
    gsl_interp *radius_of;   /* interpolates r by root */
    gsl_interp *depth_at;    /* interpolates W by r */
    double mass;             /* G M */
    double potential_energy; /* G |U| */
};

/* Returns the density at the depth W of the potential, up to a constant factor. */
static double density(double depth)
{
    if (!(depth > 0))
        return 0;
    const double root = sqrt(depth);
    /* For small W the two terms below would cancel; their series is
     * 4/sqrt(pi) W^(5/2) (2/15 + 4 W/105 + ...). */
    if (depth < 1e-2) {
        const double w2 = depth * depth;
        return 4.0 / M_SQRTPI * w2 * root * (2.0 / 15.0 + 4.0 * depth / 105.0 + 8.0 * w2 / 945.0);
    }
    return exp(depth) * gsl_sf_erf(root) - root * 2.0 / M_SQRTPI * (1.0 + 2.0 * depth / 3.0);
}

/* Finds dy/dr for GSL's solver, where y has W, G M(<r), and the integral of G M dGM / r up to r,
 * which becomes G |U|. */
static int derivatives(double r, const double y[], double dydr[], void *context)
{
    const struct king *king = context;
    const double growth = 9.0 * r * r * density(y[0]) / density(king->w0);
    dydr[0] = -y[1] / (r * r);
    dydr[1] = growth;
    dydr[2] = y[1] / r * growth;
    return GSL_SUCCESS;
}

static void add_point(struct king *king, double r, const double y[3])
{
    king->r[king->count] = r;
    king->depth[king->count] = fmax(y[0], 0.0);
    king->root[king->count++] = cbrt(y[1]);
}

/*
 * Fills the table from near the centre, where W = W0 - 3 r^2 / 2 and G M = 3 r^3, outwards until W
 * is 1e-4 W0, beyond which is no more than 1e-13 of the mass. No step takes more than a small part
 * of r or of W, so that the table is dense everywhere. The last step to the edge, where W = 0, is a
 * straight line. STATUS_NUMERICAL.
 */
static enum status integrate(struct king *king, gsl_odeiv2_step *method, struct error *error)
{
    gsl_odeiv2_system system = { derivatives, NULL, 3, king };
    double r = 1e-3 * fmin(1.0, sqrt(king->w0));
    double y[3] = { king->w0 - 1.5 * r * r, 3.0 * r * r * r, 5.4 * gsl_pow_5(r) }, y_error[3];
    add_point(king, 0.0, (double[]){ king->w0, 0.0, 0.0 });
    while (y[0] > 1e-4 * king->w0) {
        add_point(king, r, y);
        const double step = fmin(0.01 * r, 0.02 * y[0] * r * r / y[1]);
        if (king->count + 2 > POINTS_MOST ||
            gsl_odeiv2_step_apply(method, r, step, y, y_error, NULL, NULL, &system))
            return error_set(error, STATUS_NUMERICAL, "the King model cannot be integrated");
        r += step;
    }
    r += y[0] * r * r / y[1];
    y[0] = 0;
    add_point(king, r, y);
    king->mass = y[1];
    king->potential_energy = y[2];
    return STATUS_OK;
}

static void king_free(struct king *king)
{
    memory_free(king->r);
    memory_free(king->depth);
    memory_free(king->root);
    gsl_interp_free(king->radius_of);
    gsl_interp_free(king->depth_at);
}

/* Makes the table, which king_free() frees also after an error. STATUS_MEMORY, STATUS_NUMERICAL. */
static enum status king_make(double w0, struct king *king, struct error *error)
{
    *king = (struct king){ .w0 = w0 };
    king->r = memory_array(POINTS_MOST, sizeof *king->r, error);
    king->depth = memory_array(POINTS_MOST, sizeof *king->depth, error);
    king->root = memory_array(POINTS_MOST, sizeof *king->root, error);
    gsl_odeiv2_step *method = gsl_odeiv2_step_alloc(gsl_odeiv2_step_rk8pd, 3);
    if (!method)
        error_memory(error);
    if (!error->status && !integrate(king, method, error)) {
        king->radius_of = gsl_interp_alloc(gsl_interp_steffen, king->count);
        king->depth_at = gsl_interp_alloc(gsl_interp_steffen, king->count);
        if (!king->radius_of || !king->depth_at ||
            gsl_interp_init(king->radius_of, king->root, king->r, king->count) ||
            gsl_interp_init(king->depth_at, king->r, king->depth, king->count))
            error_memory(error);
    }
    gsl_odeiv2_step_free(method);
    return error->status;
}

/* Draws v / sigma by rejection: its density is v^2 (exp(W - v^2/2) - 1), which nowhere exceeds
 * 2 exp(W - 1) nor W (exp(W) - 1) / 2. */
static double draw_speed(gsl_rng *generator, double depth)
{
    const double limit = fmin(2.0 * exp(depth - 1.0), 0.5 * depth * expm1(depth));
    double v, g;
    do {
        v = random_uniform(generator, 0.0, sqrt(2.0 * depth));
        g = v * v * expm1(depth - 0.5 * v * v);
    } while (random_uniform(generator, 0.0, limit) > g);
    return v;
}

static void draw(const void *model, gsl_rng *generator, double position[3], double velocity[3])
{
    const struct king *king = model;
    const double root = cbrt(random_uniform(generator, 0.0, king->mass));
    const double edge = king->root[king->count - 1];
    const double r = gsl_interp_eval(king->radius_of, king->root, king->r, fmin(root, edge), NULL);
    const double depth = gsl_interp_eval(king->depth_at, king->r, king->depth, r, NULL);
    random_on_sphere(generator, r, position);
    random_on_sphere(generator, depth > 0 ? draw_speed(generator, depth) : 0.0, velocity);
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    (void)warnings;
    struct keys keys;
    section_read(section, &keys);
    struct king king;
    if (!king_make(keys.w0, &king, error)) {
        const struct cluster cluster = {
            .draw = draw,
            .model = &king,
            /* r_v of the model in its own units is (G M)^2 / (2 G |U|) */
            .length = keys.virial_radius * 2.0 * king.potential_energy / (king.mass * king.mass),
            .mass = king.mass,
            .number = -1.0,
            .extent = 4.0 * keys.virial_radius,
        };
        cluster_fill(section, physics, &keys.cluster, &cluster, seed, bodies, error);
    }
    king_free(&king);
    return error->status;
}

static const char *const scales[] = { "mass", "virial_radius", NULL };

const struct initial_class initial_king = {
    .variant = { "king", "A King model: a star cluster with a tidal radius (King 1966).",
                 parameters, COUNT_OF(parameters) },
    .check = cluster_check,
    .count = initial_count_key,
    .fill_all = fill,
    .scales = scales,
    .uses_scale = cluster_uses_scale,
};
