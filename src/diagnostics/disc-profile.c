/* The diagnostic of the profile of a disc: surface density, rotation, dispersions and the amplitude
 * of bars and two-armed spirals, in rings about an axis through the centre of the disc along its
 * angular momentum. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "model/vec3.h"
#include "space/sphere.h"

enum {
    RADIUS,
    INNER,
    OUTER,
    BODIES,
    MASS,
    SURFACE_DENSITY,
    SURFACE_DENSITY_ERROR,
    ROTATION_SPEED,
    DISPERSION_RADIAL,
    DISPERSION_AZIMUTHAL,
    DISPERSION_VERTICAL,
    THICKNESS,
    M2_AMPLITUDE,
    M2_PHASE,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "r", DIMENSION_LENGTH, "mean of the ring's radii" },
    { "r_inner", DIMENSION_LENGTH,
      "inner radius R of the ring, about the axis through the `center` along the angular momentum "
      "of the bodies" },
    { "r_outer", DIMENSION_LENGTH, "outer radius of the ring; a body at it counts outside" },
    { "bodies", DIMENSION_NONE, "bodies in the ring, at any height" },
    { "mass", DIMENSION_MASS, "their mass" },
    { "surface_density", DIMENSION_SURFACE_DENSITY, "mass / (pi (r_outer^2 - r_inner^2))" },
    { "surface_density_error", DIMENSION_SURFACE_DENSITY,
      "surface_density / sqrt(n), n = (sum m)^2 / sum m^2; empty without mass" },
    { "rotation_speed", DIMENSION_VELOCITY,
      "sum m v_phi / sum m, v_phi the velocity about the axis, without the mean velocity of all "
      "unless `center` is \"origin\", as it should be in external fields" },
    { "dispersion_radial", DIMENSION_VELOCITY,
      "scatter of the velocity away from the axis about its mean in the ring" },
    { "dispersion_azimuthal", DIMENSION_VELOCITY, "the same of v_phi" },
    { "dispersion_vertical", DIMENSION_VELOCITY, "the same of the velocity along the axis" },
    { "thickness", DIMENSION_LENGTH,
      "the same of the height over the centre; z_0 pi / sqrt(12) for a disc sech^2(z / z_0)" },
    { "m2_amplitude", DIMENSION_NONE,
      "|sum m exp(2 i phi)| / sum m, phi the angle about the axis: 0 for a round ring, apart from "
      "noise of about sqrt(pi / (4 n)); 1 for bodies on a line through the centre" },
    { "m2_phase", DIMENSION_NONE,
      "half of the argument of that sum, from -pi / 2 to pi / 2: the direction of a bar, from the "
      "x axis, or from the y axis where the axis of the disc is within 25 degrees of x" },
};

struct disc_profile {
    struct diagnostic base;
    enum sphere_center center;
    const char *species; /* species of the bodies that are measured; NULL: all bodies */
    size_t rings;
    double r_max; /* outer radius of the last ring as given; NaN: not given */
};

/* The frame of a disc: its centre, the centre's velocity, and three unit vectors, of which the
 * third is along the angular momentum. */
struct frame {
    double center[3], velocity[3], axis[3][3];
};

/* The quantities of which a ring has mean and scatter: three components of the velocity, and the
 * height. */
enum { RADIAL, AZIMUTHAL, VERTICAL, HEIGHT, QUANTITIES };

/* The sums over the bodies in a ring. */
struct ring {
    double bodies, mass, squares;                /* number, sum of m, sum of m^2 */
    double mean[QUANTITIES], square[QUANTITIES]; /* mean weighted by mass; sum of m (deviation)^2 */
    double cosine, sine;                         /* sums of m cos(2 phi), m sin(2 phi) */
};

/* One body in the frame of the disc: mass, distance R from the axis, quantities, and cos(2 phi) and
 * sin(2 phi). */
struct placed {
    double m, R, quantity[QUANTITIES], cosine, sine;
};

/* The bodies of a system that are measured: those of a species. */
struct part {
    const char *species;
    const struct bodies *bodies;
    size_t first; /* index of the first body of the system */
};

static bool is_measured(const void *context, size_t number)
{
    const struct part *const part = context;
    return species_has(part->species, part->bodies, part->first + number);
}

static enum status copy_part(const struct disc_profile *profile, const struct bodies *from,
                             size_t system, struct bodies **copy, struct error *error)
{
    const struct part part = { profile->species, from, system * from->stride };
    return bodies_select(from, part.first, is_measured, &part, copy, error);
}

/* --- the frame of the disc -------------------------------------------------------------------- */

static void relative(const struct frame *frame, const struct bodies *b, size_t i, double d[3],
                     double v[3])
{
    const double x[3] = { b->x[i], b->y[i], b->z[i] }, u[3] = { b->vx[i], b->vy[i], b->vz[i] };
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - frame->center[k];
        v[k] = u[k] - frame->velocity[k];
    }
}

/* Sets the velocity of the frame: 0 about the origin, which is at rest, else the mean velocity. */
static void find_velocity(const struct bodies *b, enum sphere_center center, struct frame *frame)
{
    memset(frame->velocity, 0, sizeof frame->velocity);
    if (center == SPHERE_ORIGIN)
        return;
    frame->velocity[0] = gsl_stats_wmean(b->m, 1, b->vx, 1, b->count);
    frame->velocity[1] = gsl_stats_wmean(b->m, 1, b->vy, 1, b->count);
    frame->velocity[2] = gsl_stats_wmean(b->m, 1, b->vz, 1, b->count);
}

/* Puts the third axis along the angular momentum (along z if it is 0), and the first axis along the
 * projection of x onto the plane of the disc (of y if x is nearly along the third axis). */
static void find_axes(const struct bodies *b, struct frame *frame)
{
    double *const n = frame->axis[2], L[3] = { 0 }, d[3], v[3], l[3];
    for (size_t i = 0; i < b->count; i++) {
        relative(frame, b, i, d, v);
        vec3_cross(d, v, l);
        for (int k = 0; k < 3; k++)
            L[k] += b->m[i] * l[k];
    }
    const double length = vec3_length(L);
    for (int k = 0; k < 3; k++)
        n[k] = length > 0 ? L[k] / length : k == 2;
    const double e[3] = { fabs(n[0]) <= 0.9, fabs(n[0]) > 0.9, 0.0 }, along = vec3_dot(e, n);
    const double rest = sqrt(1.0 - along * along);
    for (int k = 0; k < 3; k++)
        frame->axis[0][k] = (e[k] - along * n[k]) / rest;
    vec3_cross(n, frame->axis[0], frame->axis[1]);
}

static struct placed place(const struct frame *frame, const struct bodies *b, size_t i)
{
    double d[3], v[3];
    relative(frame, b, i, d, v);
    const double x = vec3_dot(d, frame->axis[0]), y = vec3_dot(d, frame->axis[1]);
    const double vx = vec3_dot(v, frame->axis[0]), vy = vec3_dot(v, frame->axis[1]);
    const double R = hypot(x, y), c = R > 0 ? x / R : 1.0, s = R > 0 ? y / R : 0.0;
    return (struct placed){ .m = b->m[i],
                            .R = R,
                            .quantity = { vx * c + vy * s, vy * c - vx * s,
                                          vec3_dot(v, frame->axis[2]),
                                          vec3_dot(d, frame->axis[2]) },
                            .cosine = c * c - s * s,
                            .sine = 2.0 * c * s };
}

/* --- the rings -------------------------------------------------------------------------------- */

static struct ring *ring_of(struct ring *rings, const struct disc_profile *profile, double R)
{
    const double number = R / profile->base.state[0] * (double)profile->rings;
    return number < (double)profile->rings ? &rings[(size_t)number] : NULL;
}

/* Fills the rings in two passes: sums and means, then sums of squared deviations from the means. */
static void fill_rings(const struct disc_profile *profile, const struct frame *frame,
                       const struct bodies *b, struct ring *rings)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct placed body = place(frame, b, i);
        struct ring *const ring = ring_of(rings, profile, body.R);
        if (!ring)
            continue;
        ring->bodies += 1.0;
        ring->mass += body.m;
        ring->squares += body.m * body.m;
        ring->cosine += body.m * body.cosine;
        ring->sine += body.m * body.sine;
        for (int q = 0; q < QUANTITIES; q++)
            ring->mean[q] += body.m * body.quantity[q];
    }
    for (size_t k = 0; k < profile->rings; k++)
        for (int q = 0; q < QUANTITIES; q++)
            rings[k].mean[q] /= rings[k].mass; /* NaN in a ring without mass */
    for (size_t i = 0; i < b->count; i++) {
        const struct placed body = place(frame, b, i);
        struct ring *const ring = ring_of(rings, profile, body.R);
        for (int q = 0; q < QUANTITIES && ring; q++)
            ring->square[q] += body.m * pow(body.quantity[q] - ring->mean[q], 2);
    }
}

static void fill_row(const struct ring *ring, double inner, double outer, double row[COLUMNS])
{
    const double area = M_PI * (outer * outer - inner * inner);
    const double n = diagnostic_equal_bodies(ring->mass, ring->squares);
    double scatter[QUANTITIES];
    for (int q = 0; q < QUANTITIES; q++)
        scatter[q] = sqrt(ring->square[q] / ring->mass);
    row[RADIUS] = 0.5 * (inner + outer);
    row[INNER] = inner;
    row[OUTER] = outer;
    row[BODIES] = ring->bodies;
    row[MASS] = ring->mass;
    row[SURFACE_DENSITY] = ring->mass / area;
    row[SURFACE_DENSITY_ERROR] = n > 0.0 ? row[SURFACE_DENSITY] / sqrt(n) : NAN;
    row[ROTATION_SPEED] = ring->mean[AZIMUTHAL];
    row[DISPERSION_RADIAL] = scatter[RADIAL];
    row[DISPERSION_AZIMUTHAL] = scatter[AZIMUTHAL];
    row[DISPERSION_VERTICAL] = scatter[VERTICAL];
    row[THICKNESS] = scatter[HEIGHT];
    row[M2_AMPLITUDE] = hypot(ring->cosine, ring->sine) / ring->mass;
    row[M2_PHASE] = ring->mass > 0 ? 0.5 * atan2(ring->sine, ring->cosine) : NAN;
}

static enum status measure_rows(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error)
{
    const struct disc_profile *const profile = (struct disc_profile *)diagnostic;
    const double width = diagnostic->state[0] / (double)profile->rings;
    struct frame frame;
    struct sphere sphere;
    struct bodies *part = NULL;
    struct ring *const rings = memory_array(profile->rings, sizeof *rings, error);
    if (rings && !copy_part(profile, now->bodies, system, &part, error) &&
        !sphere_create(part, 0, profile->center, now->threads, &sphere, error)) {
        memcpy(frame.center, sphere.center, sizeof frame.center);
        sphere_destroy(&sphere);
        find_velocity(part, profile->center, &frame);
        find_axes(part, &frame);
        fill_rings(profile, &frame, part, rings);
        for (size_t k = 0; k < profile->rings && !error->status; k++) {
            double row[COLUMNS];
            fill_row(&rings[k], width * (double)k, width * (double)(k + 1), row);
            sink->row(sink->context, system, row, error);
        }
    }
    bodies_destroy(part);
    memory_free(rings);
    return error->status;
}

/* --- its keys --------------------------------------------------------------------------------- */

/* Sets r_max in state[0], to three half-mass radii (1 if that is 0) if it is not given: after a
 * restart the checkpoint restores there the value of the first start. */
static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    struct disc_profile *const profile = (struct disc_profile *)diagnostic;
    struct bodies *part = NULL;
    struct sphere sphere;
    diagnostic->row_count = profile->rings;
    diagnostic->state[0] = profile->r_max;
    if (species_check(section, profile->species, start->bodies, error) || !isnan(profile->r_max))
        return error->status;
    if (!copy_part(profile, start->bodies, 0, &part, error) &&
        !sphere_create(part, 0, profile->center, start->threads, &sphere, error)) {
        const double half = sphere_radius(&sphere, 0.5);
        diagnostic->state[0] = half > 0 ? 3.0 * half : 1.0;
        sphere_destroy(&sphere);
    }
    bodies_destroy(part);
    return error->status;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { BIND(INTEGER, struct disc_profile, rings), BY_DEFAULT(INTEGER, 20), BETWEEN(1, 100000),
      .help = "Rings from the axis to r_max, of one width." },
    { BIND(REAL, struct disc_profile, r_max), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,
      .help =
          "Outer radius of the last ring; unset: 3 half-mass radii at step 0, which are 5 scale "
          "lengths of an exponential disc." },
    SPECIES_PARAMETER(struct disc_profile),
    SPHERE_CENTER_PARAMETER(struct disc_profile),
};

static const struct drawing drawings[] = {
    { .name = "disc-profile-density",
      .title = "Surface density of the disc",
      .y_label = "Σ",
      .scale = SCALE_BY_RANGE,
      .curves = { { "surface_density" },
                  { "surface_density", .kind = CURVE_DASHED, .first = true } },
      .caption = "Mass over area in rings about the axis of the angular momentum, at the last "
                 "event and at the first (dashed)." },
    { .name = "disc-profile-rotation",
      .title = "Rotation and dispersions of the disc",
      .y_label = "velocity",
      .curves = { { "rotation_speed", "rotation" },
                  { "dispersion_radial", "dispersion, radial", CURVE_DASHED },
                  { "dispersion_azimuthal", "azimuthal", CURVE_DASHED },
                  { "dispersion_vertical", "vertical", CURVE_DASHED } },
      .caption = "Mean velocity about the axis in each ring, and the scatter of the velocities." },
    { .name = "disc-profile-m2",
      .title = "Amplitude of m = 2",
      .y_label = "amplitude",
      .curves = { { "m2_amplitude" }, { "m2_amplitude", .kind = CURVE_DASHED, .first = true } },
      .caption = "0 for a round ring, apart from the noise of its number of bodies; a bar or two "
                 "arms raise it." },
};

const struct diagnostic_class diagnostic_disc_profile = {
    .variant = { "disc-profile",
                 "Surface density, rotation, dispersions and amplitude of m = 2 of a disc, in "
                 "rings.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct disc_profile),
    .needs = NEED_STATE,
    .open_space = true,
    .shared_reals = 1, /* r_max */
    .init = init,
    .measure_rows = measure_rows,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .table = true,
    .rows_key = "rings",
    .bin_columns = BODIES,
    /* Memory for a copy of the bodies, and for the search for their centre. */
    .body_bytes = SPHERE_BODY_BYTES + (BODIES_REALS + 1) * sizeof(double),
    .thread_reals = sizeof(struct ring) / sizeof(double),
};
