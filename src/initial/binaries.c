#include "initial/binaries.h"

#include <math.h>

#include <gsl/gsl_math.h>

#include "base/random.h"
#include "model/elements.h"

const char *const binaries_eccentricities[] = { "thermal", "circular", NULL };

void binaries_check(const struct section *section, struct error *error)
{
    const bool some = section_real(section, "binary_fraction") > 0;
    if (some && !section_has(section, "binary_axes"))
        section_error(section, "binary_axes", error, "must be given if there are binaries");
    if (some && section_has(section, "virial_ratio"))
        section_error(section, "virial_ratio", error,
                      "would change the velocities within the binaries too, and with them the "
                      "orbits that binary_axes and binary_eccentricities ask for");
    if (!section_has(section, "binary_axes"))
        return;
    size_t two;
    const double *axes = section_reals(section, "binary_axes", &two);
    if (axes[0] > axes[1])
        section_error(section, "binary_axes", error, "must be two lengths, the smaller one first");
}

size_t binaries_count(const struct cluster_keys *keys, size_t count)
{
    const double f = keys->binary_fraction;
    const double binaries = rint(f * (double)count / (1.0 + f));
    return binaries > (double)(count / 2) ? count / 2 : (size_t)binaries;
}

/* The true anomaly in degrees at a moment that is uniform in time: the eccentric anomaly has the
 * density (1 - e cos E) / 2 pi, since M = E - e sin E. */
static double draw_anomaly(gsl_rng *generator, double e)
{
    double E;
    do
        E = random_uniform(generator, -M_PI, M_PI);
    while (random_uniform(generator, 0.0, 1.0 + e) > 1.0 - e * cos(E));
    const double anomaly = 2.0 * atan2(sqrt(1.0 + e) * sin(0.5 * E), sqrt(1.0 - e) * cos(0.5 * E));
    return anomaly * (180.0 / M_PI);
}

static struct elements draw_elements(const struct cluster_keys *keys, gsl_rng *generator)
{
    const double *const axes = keys->binary_axes;
    struct elements drawn = { 0 };
    drawn.semi_major_axis = axes[0] * pow(axes[1] / axes[0], random_uniform(generator, 0.0, 1.0));
    if (keys->binary_eccentricities == ECCENTRICITIES_THERMAL)
        do
            drawn.eccentricity = sqrt(random_uniform(generator, 0.0, 1.0));
        while (drawn.eccentricity == 1);
    drawn.inclination = acos(random_uniform(generator, -1.0, 1.0)) * (180.0 / M_PI);
    drawn.ascending_node = random_uniform(generator, 0.0, 360.0);
    drawn.argument_of_pericenter = random_uniform(generator, 0.0, 360.0);
    drawn.true_anomaly = draw_anomaly(generator, drawn.eccentricity);
    return drawn;
}

void binaries_set(const struct cluster_keys *keys, double G, gsl_rng *generator,
                  const double masses[2], const double position[3], const double velocity[3],
                  struct bodies *bodies, size_t index)
{
    const struct elements elements = draw_elements(keys, generator);
    const double mass = masses[0] + masses[1];
    double x[3], v[3];
    elements_state(&elements, G * mass, 0.0, x, v);
    for (int k = 0; k < 2; k++) {
        const double share = k == 0 ? -masses[1] / mass : masses[0] / mass;
        double member_position[3], member_velocity[3];
        for (int axis = 0; axis < 3; axis++) {
            member_position[axis] = position[axis] + share * x[axis];
            member_velocity[axis] = velocity[axis] + share * v[axis];
        }
        initial_set(bodies, index + (size_t)k, masses[k], member_position, member_velocity);
    }
}
