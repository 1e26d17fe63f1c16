/*
 * The Plummer sphere, sampled as Aarseth, Henon & Wielen (1974, A&A 37, 183) do: density
 * 3M/(4 pi a^3) (1 + r^2/a^2)^(-5/2), isotropic velocities of the distribution function
 * f(E) ~ (-E)^(7/2); truncated, moved to the centre of mass and rescaled to the energy of the
 * model, E = -3 pi G M^2 / (64 a), which is -1/4 in Henon units (G = M = 1, a = 3 pi/16).
 */
#include <math.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/adjust.h"
#include "initial/energy.h"
#include "initial/table.h"

enum rescale { RESCALE_AUTO, RESCALE_PAIRS, RESCALE_SHELLS, RESCALE_NONE };
static const char *const rescale_choices[] = { "auto", "pairs", "shells", "none", NULL };

enum { PAIRS_AT_MOST = 32768 }; /* bodies for which `auto` sums over pairs: about a second */

static const struct parameter parameters[] = {
    INITIAL_COUNT(NULL, "Number of bodies, of equal masses."),
    INITIAL_CENTER("true"),
    INITIAL_POSITIVE("mass", "1.0", DIMENSION_MASS, "Total mass M."),
    INITIAL_POSITIVE("scale_radius", "0.58904862254808621", DIMENSION_LENGTH,
                     "Scale radius a; the default is 3 pi/16, Henon units if G = M = 1."),
    { .key = "cutoff",
      .type = PARAMETER_REAL,
      .standard = "0.999",
      .minimum = 0,
      .maximum = 1,
      .open = OPEN_MINIMUM,
      .help =
          "Leave out what lies beyond the radius that holds this fraction of the model's mass." },
    INITIAL_POSITIVE("cutoff_radius", "", DIMENSION_LENGTH,
                     "Leave out what lies beyond this radius, instead of `cutoff`."),
    { .key = "rescale",
      .type = PARAMETER_CHOICE,
      .standard = "auto",
      .choices = rescale_choices,
      .help = "Change the unit of length so that E = -3 pi G M^2/(64 a) without softening; E from "
              "all pairs (exact), from shells (fast, to about 2/count), or none; auto: pairs up to "
              "32768 bodies, else shells." },
};

static void check(const struct section *section, struct error *error)
{
    if (section_has(section, "cutoff_radius") && section_given(section, "cutoff"))
        section_error(section, "cutoff_radius", error, "give this or cutoff, not both");
}

/* The largest fraction of the mass that a body may enclose. */
static double enclosed_limit(const struct section *section)
{
    if (!section_has(section, "cutoff_radius"))
        return section_real(section, "cutoff");
    /* M(r)/M = (1 + a^2/r^2)^(-3/2) */
    const double ratio =
        section_real(section, "scale_radius") / section_real(section, "cutoff_radius");
    return pow(1.0 + ratio * ratio, -1.5);
}

/* q = v / v_escape by rejection: its density is q^2 (1 - q^2)^(7/2), which is less than 0.1. */
static double draw_speed(gsl_rng *generator)
{
    double q, g;
    do {
        q = random_uniform(generator, 0.0, 1.0);
        const double u = 1.0 - q * q;
        g = q * q * u * u * u * sqrt(u);
    } while (random_uniform(generator, 0.0, 0.1) > g);
    return q;
}

/* A body of the model with G = M = a = 1. */
static void draw_body(gsl_rng *generator, double limit, double position[3], double velocity[3])
{
    double enclosed;
    do
        enclosed = random_uniform(generator, 0.0, limit);
    while (!(enclosed > 0.0 && enclosed < 1.0));
    const double r = 1.0 / sqrt(pow(enclosed, -2.0 / 3.0) - 1.0);
    const double v_escape = M_SQRT2 / sqrt(sqrt(1.0 + r * r));
    random_on_sphere(generator, r, position);
    random_on_sphere(generator, draw_speed(generator) * v_escape, velocity);
}

static void draw_system(const struct section *section, double G, gsl_rng *generator,
                        struct bodies *bodies, size_t first)
{
    const double M = section_real(section, "mass"), a = section_real(section, "scale_radius");
    const double limit = enclosed_limit(section);
    for (size_t i = first; i < first + bodies->count; i++) {
        double position[3], velocity[3];
        draw_body(generator, limit, position, velocity);
        initial_set(bodies, i, M / (double)bodies->count, position, velocity);
    }
    adjust_scale(bodies, first, a, sqrt(G * M / a));
}

/*
 * U of the system with every body turned about the origin at random: of two shells, the inner one
 * acts as if it were at the origin, so U = -G sum m_i M(<r_i) / r_i. The mean of the sum over pairs
 * given all radii; the origin must be the centre of the model, not the centre of mass, which a few
 * far bodies decide.
 */
static enum status sum_over_shells(double G, const struct bodies *b, size_t first,
                                   double *potential, struct error *error)
{
    double *r = memory_array(b->count, sizeof *r, error);
    if (!r)
        return error->status;
    for (size_t i = 0; i < b->count; i++) {
        const double x = b->x[first + i], y = b->y[first + i], z = b->z[first + i];
        r[i] = sqrt(x * x + y * y + z * z);
    }
    gsl_sort(r, 1, b->count);
    double sum = 0;
    for (size_t i = 1; i < b->count; i++)
        sum += (double)i / r[i];
    *potential = -G * b->m[first] * b->m[first] * sum;
    memory_free(r);
    return STATUS_OK;
}

/* The potential energy without softening and in open space: the sphere's own, whatever the run. */
static enum status find_potential(enum rescale rescale, double G, const struct bodies *bodies,
                                  size_t first, double *potential, struct error *error)
{
    const bool pairs =
        rescale == RESCALE_PAIRS || (rescale == RESCALE_AUTO && bodies->count <= PAIRS_AT_MOST);
    if (!pairs)
        return sum_over_shells(G, bodies, first, potential, error);
    const struct physics newton = { .gravitational_constant = G, .boundary = BOUNDARY_OPEN };
    *potential = energy_pairs(&newton, bodies, first).potential;
    return STATUS_OK;
}

/* A new unit of length, x -> lambda x, keeps the virial ratio: v -> v / sqrt(lambda) and
 * E -> E / lambda. */
static void rescale_energy(struct bodies *bodies, size_t first, double energy, double wanted)
{
    const double lambda = energy / wanted;
    adjust_scale(bodies, first, lambda, 1.0 / sqrt(lambda));
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies, size_t first,
                        struct error *error)
{
    const double G = physics->gravitational_constant, M = section_real(section, "mass");
    const double wanted = -3.0 * M_PI * G * M * M / (64.0 * section_real(section, "scale_radius"));
    const enum rescale rescale = (enum rescale)section_choice(section, "rescale");
    const bool rescaled = rescale != RESCALE_NONE && bodies->count > 1;
    gsl_rng *generator = random_create(seed, error);
    if (!generator)
        return error->status;
    enum status status = STATUS_OK;
    double energy = wanted;
    do { /* a few bodies may happen to be unbound as a whole; then others are drawn */
        draw_system(section, G, generator, bodies, first);
        if (rescaled)
            status = find_potential(rescale, G, bodies, first, &energy, error);
        if (section_flag(section, "center"))
            adjust_center(bodies, first);
        if (rescaled && !status)
            energy += energy_kinetic(bodies, first);
    } while (!status && !(energy < 0));
    if (rescaled && !status)
        rescale_energy(bodies, first, energy, wanted);
    random_destroy(generator);
    return status;
}

static const char *const scales[] = { "mass", "scale_radius", NULL };

const struct initial_class initial_plummer = {
    .variant = { "plummer", "A Plummer sphere in equilibrium (Aarseth, Henon & Wielen 1974).",
                 parameters, COUNT_OF(parameters) },
    .check = check,
    .count = initial_count_key,
    .fill = fill,
    .scales = scales,
};
