#include "external/external.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "external/field.h"
#include "model/vec3.h"

/* clang-format off */
#define POSITIVE_KEY(key_, dimension_, help_)                                                      \
    { BIND(REAL, struct field, key_), POSITIVE, .dimension = dimension_, .help = (help_) }
/* clang-format on */

const struct parameter field_parameters[FIELD_PARAMETERS] = {
    { KEY(REALS, center), BY_DEFAULT(REALS, 0.0, 0.0, 0.0), .length = 3,
      .dimension = DIMENSION_LENGTH, .help = "Position of its centre, which stays at rest." },
};

static bool never(const struct field *field, int axis)
{
    (void)field, (void)axis;
    return false;
}

static bool always(const struct field *field, int axis)
{
    (void)field, (void)axis;
    return true;
}

static bool about_z(const struct field *field, int axis)
{
    (void)field;
    return axis == 2;
}

static bool logarithmic_keeps(const struct field *field, int axis)
{
    return axis == 2 || field->flattening == 1.0;
}

static bool harmonic_keeps_momentum(const struct field *field, int axis)
{
    return field->frequencies[axis] == 0.0;
}

static bool harmonic_keeps_angular_momentum(const struct field *field, int axis)
{
    return field->frequencies[(axis + 1) % 3] == field->frequencies[(axis + 2) % 3];
}

static bool uniform_keeps_momentum(const struct field *field, int axis)
{
    return field->acceleration[axis] == 0.0;
}

/* Tells whether the acceleration g of the field lies along `axis`: then the torque r x g has no
 * component along it at any position r. */
static bool uniform_keeps_angular_momentum(const struct field *field, int axis)
{
    return field->acceleration[(axis + 1) % 3] == 0.0 && field->acceleration[(axis + 2) % 3] == 0.0;
}

/* --- the table -------------------------------------------------------------------------------- */

static const char mass_help[] = "Its mass.";

static const struct parameter point_rows[] = {
    POSITIVE_KEY(mass, DIMENSION_MASS, mass_help),
};

static const struct parameter sphere_rows[] = {
    POSITIVE_KEY(mass, DIMENSION_MASS, mass_help),
    POSITIVE_KEY(scale_radius, DIMENSION_LENGTH, "Its scale radius b."),
};

static const struct parameter nfw_rows[] = {
    POSITIVE_KEY(
        mass, DIMENSION_MASS,
        "Its mass M = 4 pi rho_0 scale_radius^3; 0.193 M lies within scale_radius, M within "
        "5.31 of them."),
    POSITIVE_KEY(scale_radius, DIMENSION_LENGTH,
                 "Its scale radius b, where the density goes as r^-2."),
};

static const struct parameter disc_rows[] = {
    POSITIVE_KEY(mass, DIMENSION_MASS, mass_help),
    { BIND(REAL, struct field, a), NOT_NEGATIVE, .dimension = DIMENSION_LENGTH,
      .help = "Its scale length in the plane z = 0; 0: a Plummer sphere." },
    POSITIVE_KEY(b, DIMENSION_LENGTH, "Its scale height."),
};

static const struct parameter logarithmic_rows[] = {
    POSITIVE_KEY(speed, DIMENSION_VELOCITY, "Speed of circular orbits far outside of the core."),
    POSITIVE_KEY(core_radius, DIMENSION_LENGTH,
                 "Radius of the core, within which the force is linear."),
    { BIND(REAL, struct field, flattening), BY_DEFAULT(REAL, 1.0), POSITIVE,
      .help = "Axis ratio q of its equipotentials, z to x; below 0.71 some density is negative." },
};

static const struct parameter harmonic_rows[] = {
    { BIND(REALS, struct field, frequencies), NOT_NEGATIVE, .length = 3, .dimension = { 0, 0, -1 },
      .help = "Angular frequencies of the oscillation along x, y and z; 0: free." },
};

static const struct parameter uniform_rows[] = {
    { BIND(REALS, struct field, acceleration), .length = 3, .dimension = DIMENSION_ACCELERATION,
      .help = "Acceleration of every body." },
};

#define ROW(name_, help_, rows_)                                                                   \
    .variant = {                                                                                   \
        .name = (name_), .help = (help_), .parameters = rows_, .parameter_count = COUNT_OF(rows_)  \
    }

/* Name and keys of each kind of field, and the functions that tell what it conserves. Beside the
 * centrifugal field of a turning frame acts its Coriolis force, which changes the momentum across
 * the z axis and all components of the angular momentum: so the last row conserves the momentum
 * along z alone. */
static const struct field_class classes[] = {
    [FIELD_POINT_MASS] = { ROW("point-mass", "Attraction of a mass at a point, without softening.",
                               point_rows),
                           never, always, false },
    [FIELD_PLUMMER] = { ROW("plummer", "Attraction of a Plummer sphere.", sphere_rows), never,
                        always, false },
    [FIELD_HERNQUIST] = { ROW("hernquist", "Attraction of a Hernquist sphere, a bulge or a halo.",
                              sphere_rows),
                          never, always, false },
    [FIELD_NFW] = { ROW("nfw", "Attraction of a halo of Navarro, Frenk and White.", nfw_rows),
                    never, always, false },
    [FIELD_MIYAMOTO_NAGAI] = { ROW("miyamoto-nagai",
                                   "Attraction of a disc of Miyamoto and Nagai, about the z axis.",
                                   disc_rows),
                               never, about_z, false },
    [FIELD_LOGARITHMIC] = { ROW("logarithmic", "Attraction of a halo whose rotation curve is flat.",
                                logarithmic_rows),
                            never, logarithmic_keeps, false },
    [FIELD_HARMONIC] = { ROW("harmonic", "Pull towards the centre in proportion to the distance.",
                             harmonic_rows),
                         harmonic_keeps_momentum, harmonic_keeps_angular_momentum, false },
    [FIELD_UNIFORM] = { ROW("uniform", "The same acceleration everywhere.", uniform_rows),
                        uniform_keeps_momentum, uniform_keeps_angular_momentum, true },
    [FIELD_CENTRIFUGAL] = { .variant = { .name = "centrifugal" },
                            .keeps_momentum = about_z,
                            .keeps_angular_momentum = never },
};

const struct field_class *field_class_of(enum field_kind kind)
{
    return &classes[kind];
}

const struct variant *field_variant(size_t kind)
{
    return kind < FIELD_CENTRIFUGAL ? &classes[kind].variant : NULL;
}

/* --- all fields of a run ---------------------------------------------------------------------- */

/* Component k of the angular momentum is conserved only if all fields conserve it about one common
 * axis along k, so their centres may differ only along k. */
void external_find_kept(struct external *external)
{
    const struct field *reference = NULL;
    for (size_t f = external->count; f-- > 0;)
        if (!classes[external->fields[f].kind].everywhere)
            reference = &external->fields[f];
    if (reference)
        memcpy(external->center, reference->center, sizeof external->center);
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        external->keeps_momentum[k] = external->keeps_angular_momentum[k] = true;
        for (size_t f = 0; f < external->count; f++) {
            const struct field *const field = &external->fields[f];
            const struct field_class *const class_ = &classes[field->kind];
            const bool same_axis = class_->everywhere || (field->center[p] == external->center[p] &&
                                                          field->center[q] == external->center[q]);
            external->keeps_momentum[k] &= class_->keeps_momentum(field, k);
            external->keeps_angular_momentum[k] &=
                same_axis && class_->keeps_angular_momentum(field, k);
        }
    }
}

static enum field_kind kind_of(const struct section *section)
{
    size_t kind = 0;
    while (field_variant(kind) != section_variant(section))
        kind++;
    return (enum field_kind)kind;
}

enum status external_allocate(size_t count, struct external **result, struct error *error)
{
    struct external *const external = calloc(1, sizeof *external);
    *result = NULL;
    if (external)
        external->fields = calloc(count, sizeof *external->fields);
    if (!external || !external->fields) {
        free(external);
        return error_memory(error);
    }
    external->count = count;
    *result = external;
    return STATUS_OK;
}

enum status external_create(const struct config *config, double gravitational_constant,
                            double rotation, struct external **result, struct error *error)
{
    const size_t listed = config_count(config, "external"), count = listed + (rotation != 0.0);
    *result = NULL;
    if (count == 0)
        return STATUS_OK;
    struct external *external;
    if (external_allocate(count, &external, error))
        return error->status;
    for (size_t f = 0; f < listed; f++) {
        const struct section *const section = config_item(config, "external", f);
        struct field *const field = &external->fields[f];
        size_t axes;
        section_read(section, field);
        memcpy(field->center, section_reals(section, "center", &axes), sizeof field->center);
        field->kind = kind_of(section);
        field->gravitational_constant = gravitational_constant;
    }
    if (listed < count)
        external->fields[listed] =
            (struct field){ .kind = FIELD_CENTRIFUGAL, .frequencies = { 0.0, 0.0, rotation } };
    external_find_kept(external);
    *result = external;
    return STATUS_OK;
}

void external_destroy(struct external *external)
{
    if (external)
        free(external->fields);
    free(external);
}

/* --- the fields at one position --------------------------------------------------------------- */

double external_potential(const struct external *external, const double x[3])
{
    return fields_potential(external->fields, external->count, x);
}

void external_acceleration(const struct external *external, const double x[3], double a[3])
{
    const struct field_motion sum = fields_motion(external->fields, external->count, x, NULL);
    memcpy(a, sum.a, sizeof sum.a);
}

struct field_motion external_motion(const struct external *external, const double x[3],
                                    const double v[3])
{
    return fields_motion(external->fields, external->count, x, v);
}

double external_pulls(const struct external *external, const double x[3])
{
    double sum = 0.0;
    for (size_t f = 0; f < external->count; f++)
        sum += vec3_length(fields_motion(&external->fields[f], 1, x, NULL).a);
    return sum;
}

double external_time(const struct external *external, const double x[3], const double v[3])
{
    static const double unit[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double most = 0.0;
    for (int k = 0; k < 3; k++) {
        const struct field_motion along = external_motion(external, x, unit[k]);
        most = fmax(most, vec3_length(along.jerk));
    }
    const struct field_motion motion = external_motion(external, x, v);
    const double rate = vec3_length(motion.jerk);
    const double change = rate > 0.0 ? vec3_length(motion.a) / rate : INFINITY;
    const double tide = most > 0.0 ? 1.0 / sqrt(most) : INFINITY;
    return change > 0.0 && change < tide ? change : tide;
}

/* --- ranges of bodies ------------------------------------------------------------------------- */

void external_accelerate(const struct external *external, const struct bodies *b, size_t first,
                         size_t last)
{
    for (size_t i = first; i < last; i++) {
        double a[3];
        external_acceleration(external, (const double[3]){ b->x[i], b->y[i], b->z[i] }, a);
        b->ax[i] += a[0];
        b->ay[i] += a[1];
        b->az[i] += a[2];
    }
}

void external_add_coriolis(double rotation, const struct bodies *b, size_t first, size_t last)
{
    for (size_t i = first; i < last && rotation != 0.0; i++) {
        b->ax[i] += 2.0 * rotation * b->vy[i];
        b->ay[i] -= 2.0 * rotation * b->vx[i];
    }
}

struct field_drift external_drift_of(double rotation, double h)
{
    const double rate = 2.0 * rotation, t = tan(0.5 * rate * h), s = sin(rate * h);
    return (struct field_drift){ .h = h, .t = t, .s = s, .along_x = s / rate, .along_y = t / rate };
}

void external_drift(double rotation, const struct bodies *b, double h, size_t first, size_t last)
{
    const struct field_drift by = external_drift_of(rotation, h);
    for (size_t i = first; i < last; i++) {
        double x[3] = { b->x[i], b->y[i], b->z[i] }, v[3] = { b->vx[i], b->vy[i], b->vz[i] };
        field_drift(&by, x, v);
        b->x[i] = x[0];
        b->y[i] = x[1];
        b->z[i] = x[2];
        b->vx[i] = v[0];
        b->vy[i] = v[1];
    }
}

void external_add_potentials(const struct external *external, const struct bodies *b, size_t first,
                             size_t last, double *phi, double *psi)
{
    for (size_t i = first; i < last; i++) {
        const double x[3] = { b->x[i], b->y[i], b->z[i] };
        double a[3], d[3];
        phi[i] += external_potential(external, x);
        if (!psi)
            continue;
        external_acceleration(external, x, a);
        field_from_center(external->center, x, d);
        psi[i] += vec3_dot(d, a);
    }
}

const char *external_frame_text(const struct physics *physics, char buffer[EXTERNAL_FRAME_SIZE])
{
    snprintf(buffer, EXTERNAL_FRAME_SIZE,
             "rotates by %g radians in a unit of time; energies are Jacobi's", physics->rotation);
    return physics->rotation != 0.0 ? buffer : NULL;
}

bool external_has_mass(const struct bodies *b, size_t system)
{
    bool any = false;
    for (size_t i = system * b->stride; i < system * b->stride + b->count; i++)
        any |= b->m[i] > 0.0;
    return any;
}

enum status external_masses(const struct bodies *b, double **masses, struct error *error)
{
    bool all = true;
    *masses = NULL;
    for (size_t s = 0; s < b->systems && all; s++)
        all = external_has_mass(b, s);
    if (all)
        return STATUS_OK;
    *masses = memory_array(bodies_length(b), sizeof **masses, error);
    for (size_t s = 0; s < b->systems && *masses; s++) {
        const bool own = external_has_mass(b, s);
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
            (*masses)[i] = own ? b->m[i] : 1.0;
    }
    return *masses ? STATUS_OK : error->status;
}

void external_refer(const struct external *external, struct conserved *conserved)
{
    double moved[3];
    vec3_cross(external->center, conserved->momentum, moved);
    for (int k = 0; k < 3; k++)
        conserved->angular_momentum[k] -= moved[k];
    conserved->internal = conserved->kinetic;
}

size_t external_find_singular(const struct external *external, const struct bodies *b, size_t first)
{
    size_t i = first;
    while (i < first + b->count &&
           isfinite(external_potential(external, (const double[3]){ b->x[i], b->y[i], b->z[i] })))
        i++;
    return i;
}
