/* The diagnostic of the velocity dispersion: the scatter of the velocities of all bodies, along the
 * axes, radially and tangentially as seen from the centre, and of the bodies near the centre. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "space/sphere.h"

enum {
    DISPERSION,
    DISPERSION_X,
    DISPERSION_Y,
    DISPERSION_Z,
    DISPERSION_RADIAL,
    DISPERSION_TANGENTIAL,
    ANISOTROPY,
    MEAN_RADIAL_VELOCITY,
    CENTRAL_DISPERSION,
    CENTRAL_RADIUS,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "dispersion", DIMENSION_VELOCITY,
      "one-dimensional velocity dispersion, sigma^2 = sum m |v - V|^2 / (3 sum m), V the velocity "
      "of the centre of mass" },
    { "dispersion_x", DIMENSION_VELOCITY,
      "the same of v_x alone: sigma_x^2 = sum m (v_x - V_x)^2 / sum m" },
    { "dispersion_y", DIMENSION_VELOCITY, "the same of v_y" },
    { "dispersion_z", DIMENSION_VELOCITY, "the same of v_z" },
    { "dispersion_radial", DIMENSION_VELOCITY,
      "sigma_r: scatter of the radial velocity, seen from the centre, about its mean" },
    { "dispersion_tangential", DIMENSION_VELOCITY,
      "sigma_t: of one tangential direction, sigma_t^2 = sum m v_t^2 / (2 sum m)" },
    { "anisotropy", DIMENSION_NONE, "beta = 1 - sigma_t^2 / sigma_r^2, 0 when isotropic" },
    { "mean_radial_velocity", DIMENSION_VELOCITY,
      "sum m v_r / sum m, seen from the centre: negative in a collapse" },
    { "central_dispersion", DIMENSION_VELOCITY,
      "one-dimensional dispersion of the innermost bodies, which hold `central_fraction` of the "
      "mass, about their own mean velocity; sigma^2 is multiplied by n / (n - 1), n = (sum m)^2 / "
      "sum m^2; empty for a single body" },
    { "central_radius", DIMENSION_LENGTH, "radius of the sphere of these bodies" },
};

struct dispersion {
    struct diagnostic base;
    enum sphere_center center;
    double central_fraction;
};

/* Masses and velocities of `count` bodies, and, of the velocities without their mean and seen from
 * the centre, the radial part and the square of the tangential part. */
struct sample {
    size_t count;
    double *m, *v[3];
    double *radial, *tangential2;
};

enum { ARRAYS = 6 };

static void fill_sample(struct sample *sample, const struct bodies *b, size_t system,
                        const struct sphere *sphere, size_t count)
{
    const double *const axes[3] = { b->x, b->y, b->z };
    const double *const velocities[3] = { b->vx, b->vy, b->vz };
    sample->count = count;
    for (size_t k = 0; k < count; k++) {
        const size_t i = system * b->stride + sphere->body[k];
        sample->m[k] = b->m[i];
        for (int axis = 0; axis < 3; axis++)
            sample->v[axis][k] = velocities[axis][i];
    }
    double mean[3];
    for (int axis = 0; axis < 3; axis++)
        mean[axis] = gsl_stats_wmean(sample->m, 1, sample->v[axis], 1, count);
    for (size_t k = 0; k < count; k++) {
        const size_t i = system * b->stride + sphere->body[k];
        double along = 0.0, v2 = 0.0;
        for (int axis = 0; axis < 3; axis++) {
            const double v = velocities[axis][i] - mean[axis];
            along += v * (axes[axis][i] - sphere->center[axis]);
            v2 += v * v;
        }
        sample->radial[k] = sphere->r[k] > 0.0 ? along / sphere->r[k] : 0.0;
        sample->tangential2[k] = v2 - sample->radial[k] * sample->radial[k];
    }
}

/* Returns the one-dimensional dispersion of these bodies about their mean velocity; NaN for a
 * single body. Its square has the factor n / (n - 1), n = (sum m)^2 / sum m^2, since the mean
 * itself comes from few bodies. */
static double central_dispersion_of(const struct sample *sample)
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++)
        sum += gsl_stats_wvariance(sample->m, 1, sample->v[axis], 1, sample->count);
    const double dispersion = sqrt(sum / 3.0);
    return isfinite(dispersion) ? dispersion : NAN;
}

/* Returns the variance of x, weighted by mass: sum m (x - mean)^2 / sum m. */
static double variance(const struct sample *sample, const double *x)
{
    const double mean = gsl_stats_wmean(sample->m, 1, x, 1, sample->count);
    return gsl_stats_wvariance_with_fixed_mean(sample->m, 1, x, 1, sample->count, mean);
}

static double dispersion_of(const struct sample *sample)
{
    return sqrt((variance(sample, sample->v[0]) + variance(sample, sample->v[1]) +
                 variance(sample, sample->v[2])) /
                3.0);
}

static void fill_row(const struct dispersion *dispersion, const struct bodies *bodies,
                     size_t system, const struct sphere *sphere, struct sample *sample, double *row)
{
    fill_sample(sample, bodies, system, sphere, sphere->count);
    const double radial2 = variance(sample, sample->radial);
    const double tangential2 =
        0.5 * gsl_stats_wmean(sample->m, 1, sample->tangential2, 1, sample->count);
    row[DISPERSION] = dispersion_of(sample);
    for (int axis = 0; axis < 3; axis++)
        row[DISPERSION_X + axis] = sqrt(variance(sample, sample->v[axis]));
    row[DISPERSION_RADIAL] = sqrt(radial2);
    row[DISPERSION_TANGENTIAL] = sqrt(fmax(tangential2, 0.0));
    row[ANISOTROPY] = radial2 > 0.0 ? 1.0 - tangential2 / radial2 : NAN;
    row[MEAN_RADIAL_VELOCITY] = gsl_stats_wmean(sample->m, 1, sample->radial, 1, sample->count);

    row[CENTRAL_RADIUS] = sphere_radius(sphere, dispersion->central_fraction);
    size_t inner = 0;
    while (inner < sphere->count && sphere->r[inner] <= row[CENTRAL_RADIUS])
        inner++;
    fill_sample(sample, bodies, system, sphere, inner);
    row[CENTRAL_DISPERSION] = central_dispersion_of(sample);
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    const struct dispersion *dispersion = (const struct dispersion *)diagnostic;
    const size_t count = now->bodies->count;
    struct sphere sphere;
    double *arrays = memory_array(count, ARRAYS * sizeof *arrays, error);
    if (!arrays)
        return error->status;
    struct sample sample = { .m = arrays,
                             .v = { arrays + count, arrays + 2 * count, arrays + 3 * count },
                             .radial = arrays + 4 * count,
                             .tangential2 = arrays + 5 * count };
    const enum status status =
        sphere_create(now->bodies, system, dispersion->center, now->threads, &sphere, error);
    if (!status) {
        fill_row(dispersion, now->bodies, system, &sphere, &sample, row);
        sphere_destroy(&sphere);
    }
    memory_free(arrays);
    return status;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { BIND(REAL, struct dispersion, central_fraction), BY_DEFAULT(REAL, 0.05), POSITIVE_TO(1),
      .help = "Fraction of the mass that counts as central." },
    SPHERE_CENTER_PARAMETER(struct dispersion),
};

static const struct drawing drawings[] = {
    { .name = "velocity-dispersion",
      .title = "Velocity dispersion",
      .y_label = "dispersion",
      .curves = { { "dispersion", "in one dimension" },
                  { "dispersion_radial", "radial" },
                  { "dispersion_tangential", "tangential" },
                  { "central_dispersion", "at the centre", CURVE_DASHED } },
      .caption = "The scatter of the velocities. The radial and the tangential one differ if "
                 "orbits are not isotropic." },
};

const struct diagnostic_class diagnostic_velocity_dispersion = {
    .variant = { "velocity-dispersion",
                 "Velocity dispersions: of the whole, by axes, radial and tangential, central.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct dispersion),
    .needs = NEED_STATE,
    .open_space = true,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = SPHERE_BODY_BYTES + ARRAYS * sizeof(double),
};
