#include "external/field.h"

#include "base/memory.h"

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
