/*
 * The outer solar system: the Sun with the mass of the inner planets, Jupiter, Saturn, Uranus,
 * Neptune and a massless Pluto (Applegate, Douglas, Gursel, Sussman & Wisdom 1986, AJ 92, 176). The
 * units are solar masses, AU and days, with G = k^2, k = 0.01720209895; the coordinates are
 * ecliptic and barycentric.
 */
#include <math.h>

#include "base/memory.h"
#include "initial/initial-table.h"
#include "initial/initial.h"

static const struct initial_body published[] = {
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

static enum status fill(const struct section *section, const struct physics *physics,
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
    static const char *const names[COUNT_OF(published)] = { "Sun",    "Jupiter", "Saturn",
                                                            "Uranus", "Neptune", "Pluto" };
    bodies->species_count = 0; /* fill() sets the same names for each system */
    for (size_t i = 0; i < COUNT_OF(names); i++)
        bodies_add_species(bodies, names[i], i + 1);
    initial_set_published(bodies, first, published, COUNT_OF(published), 1.0, 1.0, 1.0);
    return STATUS_OK;
}

const struct initial_class initial_outer_solar_system = {
    .variant = { "outer-solar-system",
                 "Sun, Jupiter, Saturn, Uranus, Neptune, Pluto (Applegate et al. 1986).", NULL, 0 },
    .bodies = COUNT_OF(published),
    .fill = fill,
};
