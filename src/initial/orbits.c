/*
 * Bodies on Kepler orbits, given by their osculating elements.
 *
 * two-body: two bodies, by the elements of their relative orbit r2 - r1.
 *
 * orbits: bodies about a central body, such as planets of a star or moons of a planet. The elements
 * of body i are those of its orbit relative to the central body 0, with G (m_0 + m_i) and without
 * the other bodies, as tables of osculating elements have them.
 */
#include <math.h>

#include <gsl/gsl_math.h>

#include "base/memory.h"
#include "initial/initial.h"
#include "model/kepler.h"

static const double origin[3] = { 0.0, 0.0, 0.0 };

/* --- two bodies ------------------------------------------------------------------------------- */

struct two_body_keys {
    struct elements elements; /* first, since rows below give offsets in struct elements */
    double masses[2];
};

/* clang-format off */
#define ANGLE(key_, help_)                                                                         \
    { BIND(REAL, struct elements, key_), BY_DEFAULT(REAL, 0.0), BETWEEN(-360, 360),                \
      .help = (help_) }
/* clang-format on */

static const struct parameter two_body_parameters[] = {
    INITIAL_CENTER(true),
    { BIND(REALS, struct two_body_keys, masses), BY_DEFAULT(REALS, 1.0, 1.0), NOT_NEGATIVE,
      .length = 2, .dimension = DIMENSION_MASS,
      .help =
          "Masses of body 1 and body 2; one of them may be 0. With center = false, body 1 rests at "
          "the origin." },
    { BIND(REAL, struct elements, semi_major_axis), BY_DEFAULT(REAL, 1.0), POSITIVE,
      .dimension = DIMENSION_LENGTH,
      .help = "Semi-major axis a of the relative orbit; of a hyperbola, its size |a|." },
    { BIND(REAL, struct elements, eccentricity), BY_DEFAULT(REAL, 0.0), NOT_NEGATIVE,
      .help = "0: circular, also with softening; above 1: hyperbola; 1 itself has no a." },
    ANGLE(inclination, "Degrees between the orbit and the xy plane."),
    ANGLE(ascending_node,
          "Degrees from x to the point at which body 2 rises through the xy plane."),
    ANGLE(argument_of_pericenter, "Degrees from the node to the pericentre, along the orbit."),
    ANGLE(true_anomaly, "Degrees from the pericentre to body 2; 0 starts at the pericentre, 180 "
                        "at the apocentre."),
};

static void two_body_check(const struct section *section, struct error *error)
{
    struct two_body_keys keys;
    section_read(section, &keys);
    if (!(keys.masses[0] + keys.masses[1] > 0))
        section_error(section, "masses", error, "at least one of them must be greater than 0");
    const double e = keys.elements.eccentricity;
    if (e == 1)
        section_error(section, "eccentricity", error,
                      "a parabola has no semi-major axis; take a value a little beside 1");
    double sine, cosine;
    elements_rotation(keys.elements.true_anomaly, &sine, &cosine);
    if (e > 1 && !(1 + e * cosine > 0))
        section_error(section, "true_anomaly", error,
                      "beyond the asymptote of the hyperbola, %.6g degrees from the pericentre",
                      acos(-1 / e) * (180.0 / M_PI));
}

static enum status two_body_fill(const struct section *section, const struct physics *physics,
                                 unsigned long seed, struct bodies *bodies, size_t first,
                                 struct error *error)
{
    (void)seed, (void)error;
    struct two_body_keys keys;
    section_read(section, &keys);
    const double *masses = keys.masses;
    const double mu = physics->gravitational_constant * (masses[0] + masses[1]);
    double position[3], velocity[3];
    elements_state(&keys.elements, mu, physics->softening, position, velocity);
    initial_set(bodies, first, masses[0], origin, origin);
    initial_set(bodies, first + 1, masses[1], position, velocity);
    return STATUS_OK;
}

static const char *const two_body_scales[] = { "masses", "semi_major_axis", NULL };

const struct initial_class initial_two_body = {
    .variant = { "two-body", "Two bodies on a Kepler orbit with given elements.",
                 two_body_parameters, COUNT_OF(two_body_parameters) },
    .check = two_body_check,
    .bodies = 2,
    .fill = two_body_fill,
    .scales = two_body_scales,
};

/* --- bodies about a central one --------------------------------------------------------------- */

/* clang-format off */
#define ANGLES(key_, help_)                                                                        \
    { KEY(REALS, key_), OPTIONAL, BETWEEN(-360, 360), .help = (help_) }
/* clang-format on */

struct keys {
    double central_mass;
};

static const struct parameter parameters[] = {
    INITIAL_CENTER(true),
    INITIAL_POSITIVE(central_mass, DEFAULT_REAL(1.0), DIMENSION_MASS,
                     "Mass of the central body, which comes first."),
    { KEY(REALS, masses), NOT_NEGATIVE, .dimension = DIMENSION_MASS,
      .help = "Masses of the other bodies; 0 is a test body." },
    { KEY(REALS, semi_major_axes), POSITIVE, .dimension = DIMENSION_LENGTH,
      .help = "Semi-major axes, one for each of `masses`; of a hyperbola, its size |a|." },
    { KEY(REALS, eccentricities), OPTIONAL, NOT_NEGATIVE,
      .help = "Eccentricities, one for each, not 1; unset: all 0." },
    ANGLES(inclinations, "Degrees between each orbit and the xy plane; unset: all 0."),
    ANGLES(ascending_nodes,
           "Degrees from x to the point at which each body rises through the xy plane; "
           "unset: all 0."),
    ANGLES(arguments_of_pericenter,
           "Degrees from the node to the pericentre, along each orbit; unset: all 0."),
    ANGLES(true_anomalies, "Degrees from the pericentre to each body; unset: all 0."),
};

/* The keys that have one value for each orbit; all but the first are optional. */
static const char *const lists[] = {
    "semi_major_axes", "eccentricities",          "inclinations",
    "ascending_nodes", "arguments_of_pericenter", "true_anomalies"
};

static double value(const struct section *section, const char *key, size_t index)
{
    size_t count;
    const double *values = section_reals(section, key, &count);
    return index < count ? values[index] : 0.0;
}

static struct elements elements_of(const struct section *section, size_t index)
{
    return (struct elements){
        .semi_major_axis = value(section, "semi_major_axes", index),
        .eccentricity = value(section, "eccentricities", index),
        .inclination = value(section, "inclinations", index),
        .ascending_node = value(section, "ascending_nodes", index),
        .argument_of_pericenter = value(section, "arguments_of_pericenter", index),
        .true_anomaly = value(section, "true_anomalies", index),
    };
}

static size_t orbit_count(const struct section *section)
{
    size_t count;
    section_reals(section, "masses", &count);
    return count;
}

static void check(const struct section *section, struct error *error)
{
    const size_t bodies = orbit_count(section);
    if (bodies == 0)
        section_error(section, "masses", error, "must name at least one body");
    for (size_t k = 0; k < COUNT_OF(lists); k++) {
        size_t count;
        section_reals(section, lists[k], &count);
        if (section_has(section, lists[k]) && count != bodies)
            section_error(section, lists[k], error, "has %zu values for %zu masses", count, bodies);
    }
    for (size_t i = 0; i < bodies; i++) {
        const struct elements e = elements_of(section, i);
        double sine, cosine;
        elements_rotation(e.true_anomaly, &sine, &cosine);
        if (e.eccentricity == 1)
            section_error(section, "eccentricities", error,
                          "body %zu has a parabola, which has no semi-major axis; take a value a "
                          "little beside 1",
                          i + 2);
        else if (!(1 + e.eccentricity * cosine > 0))
            section_error(section, "true_anomalies", error,
                          "body %zu is beyond the asymptote of its hyperbola", i + 2);
    }
}

static enum status count(const struct section *section, size_t *count, struct error *error)
{
    (void)error;
    *count = orbit_count(section) + 1;
    return STATUS_OK;
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)seed, (void)error;
    const double m0 = section_real(section, "central_mass");
    initial_set(bodies, first, m0, origin, origin);
    for (size_t i = 0; i + 1 < bodies->count; i++) {
        const double m = value(section, "masses", i);
        const struct elements elements = elements_of(section, i);
        double position[3], velocity[3];
        elements_state(&elements, physics->gravitational_constant * (m0 + m), physics->softening,
                       position, velocity);
        initial_set(bodies, first + 1 + i, m, position, velocity);
    }
    return STATUS_OK;
}

static const char *const scales[] = { "central_mass", NULL };

const struct initial_class initial_orbits = {
    .variant = { "orbits", "Bodies on Kepler orbits about a central one, by their elements.",
                 parameters, COUNT_OF(parameters) },
    .check = check,
    .count = count,
    .fill = fill,
    .scales = scales,
};
