/* The initial condition "two-body": two bodies, given by the osculating elements of their relative
 * orbit r2 - r1. */
#include <math.h>

#include <gsl/gsl_math.h>

#include "base/memory.h"
#include "initial/initial-table.h"
#include "initial/initial.h"
#include "model/elements.h"

struct keys {
    struct elements elements; /* first, since rows below give offsets in struct elements */
    double masses[2];
};

/* clang-format off */
#define ANGLE(key_, help_)                                                                         \
    { BIND(REAL, struct elements, key_), BY_DEFAULT(REAL, 0.0), BETWEEN(-360, 360),                \
      .help = (help_) }
/* clang-format on */

static const struct parameter parameters[] = {
    INITIAL_CENTER(true),
    { BIND(REALS, struct keys, masses), BY_DEFAULT(REALS, 1.0, 1.0), NOT_NEGATIVE, .length = 2,
      .dimension = DIMENSION_MASS,
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

static void check(const struct section *section, struct error *error)
{
    struct keys keys;
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

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    (void)seed, (void)error;
    static const double origin[3] = { 0.0, 0.0, 0.0 };
    struct keys keys;
    section_read(section, &keys);
    const double *masses = keys.masses;
    const double mu = physics->gravitational_constant * (masses[0] + masses[1]);
    double position[3], velocity[3];
    elements_state(&keys.elements, mu, physics->softening, position, velocity);
    initial_set(bodies, first, masses[0], origin, origin);
    initial_set(bodies, first + 1, masses[1], position, velocity);
    return STATUS_OK;
}

static const char *const scales[] = { "masses", "semi_major_axis", NULL };

const struct initial_class initial_two_body = {
    .variant = { "two-body", "Two bodies on a Kepler orbit with given elements.", parameters,
                 COUNT_OF(parameters) },
    .check = check,
    .bodies = 2,
    .fill = fill,
    .scales = scales,
};
