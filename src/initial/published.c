/*
 * Starts of few bodies with published numbers.
 *
 * figure-eight: three equal masses (Moore 1993; Chenciner & Montgomery 2000, Ann. Math. 152, 881,
 * with the numbers of C. Simo): planar, L = 0. For G = m = length = 1 the period is 6.32591398 and
 * E = -1.287141992; because of the number of published digits the orbit closes only to about 1e-7.
 *
 * pythagorean: masses 3, 4, 5 at rest at the corners of a triangle, each opposite to the side whose
 * length has the same number (Burrau 1913; Szebehely & Peters 1967, AJ 72, 876). With G = 1 and in
 * units of the keys `mass` and `length`: E = -12.8166667, L = 0. After very close encounters one
 * body escapes.
 *
 * outer-solar-system: the Sun with the mass of the inner planets, Jupiter, Saturn, Uranus, Neptune
 * and a massless Pluto (Applegate, Douglas, Gursel, Sussman & Wisdom 1986, AJ 92, 176). The units
 * are solar masses, AU and days, with G = k^2, k = 0.01720209895; the coordinates are ecliptic and
 * barycentric.
 */
#include <math.h>

#include "base/memory.h"
#include "initial/initial.h"

/* Puts `count` published bodies at the indices `first` and following. `mass`, `length` and `speed`
 * are the units of the table, in the units of the run. */
static void set_published(struct bodies *bodies, size_t first, const struct initial_body *published,
                          size_t count, double mass, double length, double speed)
{
    for (size_t i = 0; i < count; i++) {
        double position[3], velocity[3];
        for (int k = 0; k < 3; k++) {
            position[k] = length * published[i].position[k];
            velocity[k] = speed * published[i].velocity[k];
        }
        initial_set(bodies, first + i, mass * published[i].m, position, velocity);
    }
}

/* --- three bodies of any size ----------------------------------------------------------------- */

enum { THREE = 3 };

static const struct initial_body figure_eight[THREE] = {
    { 1.0, { 0.97000436, -0.24308753, 0.0 }, { 0.466203685, 0.43236573, 0.0 } },
    { 1.0, { -0.97000436, 0.24308753, 0.0 }, { 0.466203685, 0.43236573, 0.0 } },
    { 1.0, { 0.0, 0.0, 0.0 }, { -0.93240737, -0.86473146, 0.0 } },
};

static const struct initial_body pythagorean[THREE] = {
    { 3.0, { 1.0, 3.0, 0.0 }, { 0.0, 0.0, 0.0 } },
    { 4.0, { -2.0, -1.0, 0.0 }, { 0.0, 0.0, 0.0 } },
    { 5.0, { 1.0, -1.0, 0.0 }, { 0.0, 0.0, 0.0 } },
};

struct keys {
    double mass, length;
};

static enum status fill_three(const struct section *section, const struct physics *physics,
                              unsigned long seed, struct bodies *bodies, size_t first,
                              struct error *error)
{
    (void)seed, (void)error;
    const bool eight = section_variant(section) == &initial_figure_eight.variant;
    struct keys keys;
    section_read(section, &keys);
    const double speed =
        eight ? sqrt(physics->gravitational_constant * keys.mass / keys.length) : 1.0;
    set_published(bodies, first, eight ? figure_eight : pythagorean, THREE, keys.mass, keys.length,
                  speed);
    return STATUS_OK;
}

static const char *const scales[] = { "mass", "length", NULL };

static const struct parameter figure_eight_parameters[] = {
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS, "Mass of each of the three bodies."),
    INITIAL_POSITIVE(length, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Unit of length of the published numbers."),
};

const struct initial_class initial_figure_eight = {
    .variant = { "figure-eight", "Three equal masses that follow each other on a figure eight.",
                 figure_eight_parameters, COUNT_OF(figure_eight_parameters) },
    .bodies = THREE,
    .fill = fill_three,
    .scales = scales,
};

static const struct parameter pythagorean_parameters[] = {
    INITIAL_POSITIVE(mass, DEFAULT_REAL(1.0), DIMENSION_MASS,
                     "Unit of mass: the bodies have 3, 4 and 5."),
    INITIAL_POSITIVE(length, DEFAULT_REAL(1.0), DIMENSION_LENGTH,
                     "Unit of length: the sides are 3, 4 and 5."),
};

const struct initial_class initial_pythagorean = {
    .variant = { "pythagorean", "Masses 3, 4, 5 at rest at the corners of a 3-4-5 triangle.",
                 pythagorean_parameters, COUNT_OF(pythagorean_parameters) },
    .bodies = THREE,
    .fill = fill_three,
    .scales = scales,
};

/* --- the outer solar system ------------------------------------------------------------------- */

static const struct initial_body planets[] = {
    /* the Sun and the inner planets */
    { 1.00000597682,
      { -4.06428567034226e-3, -6.08813756435987e-3, -1.66162304225834e-6 },
      { 6.69048890636161e-6, -6.33922479583593e-6, -3.13202145590767e-9 } },
    /* Jupiter */
    { 1.0 / 1047.355,
      { 3.40546614227466, 3.62978190075864, 3.42386261766577e-2 },
      { -5.59797969310664e-3, 5.51815399480116e-3, -2.66711392865591e-6 } },
    /* Saturn */
    { 1.0 / 3501.6,
      { 6.60801554403466, 6.38084674585064, -1.36145963724542e-1 },
      { -4.17354020307064e-3, 3.99723751748116e-3, 1.67206320571441e-5 } },
    /* Uranus */
    { 1.0 / 22869.0,
      { 11.1636331405597, 16.0373479057256, 3.61783279369958e-1 },
      { -3.25884806151064e-3, 2.06438412905916e-3, -2.17699042180559e-5 } },
    /* Neptune */
    { 1.0 / 19314.0,
      { -30.1777243405203, 1.91155314998064, -1.53887595621042e-1 },
      { -2.17471785045538e-4, -3.11361111025884e-3, 3.58344705491441e-5 } },
    /* Pluto */
    { 0.0,
      { -21.3858977531573, 32.0719104739886, 2.49245689556096 },
      { -1.76936577252484e-3, -2.06720938381724e-3, 6.58091931493844e-4 } },
};

static enum status fill_planets(const struct section *section, const struct physics *physics,
                                unsigned long seed, struct bodies *bodies, size_t first,
                                struct error *error)
{
    (void)seed;
    /* G counts as that of the table if it agrees with k^2 to a millionth. */
    const double k = 0.01720209895, tolerance = 1e-6, G = physics->gravitational_constant;
    if (!(fabs(G / (k * k) - 1.0) < tolerance))
        return section_error(section, NULL, error,
                             "\"outer-solar-system\" is in solar masses, AU and days, with G = "
                             "%.9g, not %.9g: set physics.units = \"astronomical\"",
                             k * k, G);
    static const char *const names[COUNT_OF(planets)] = { "Sun",    "Jupiter", "Saturn",
                                                          "Uranus", "Neptune", "Pluto" };
    bodies->species_count = 0; /* fill_planets() sets the same names for each system */
    for (size_t i = 0; i < COUNT_OF(names); i++)
        bodies_add_species(bodies, names[i], i + 1);
    set_published(bodies, first, planets, COUNT_OF(planets), 1.0, 1.0, 1.0);
    return STATUS_OK;
}

const struct initial_class initial_outer_solar_system = {
    .variant = { "outer-solar-system",
                 "Sun, Jupiter, Saturn, Uranus, Neptune, Pluto (Applegate et al. 1986).", NULL, 0 },
    .bodies = COUNT_OF(planets),
    .fill = fill_planets,
};
