#include "initial/masses.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"

const char *const masses_choices[] = { "equal", "salpeter", "kroupa", "two-components", NULL };
const char *const masses_help[] = {
    "The same for all.",
    "dN/dm ~ m^-2.35 (Salpeter 1955).",
    "dN/dm ~ m^-1.3 from 0.08 to 0.5 solar masses, m^-2.3 above, m^-0.3 below (Kroupa 2001).",
    "Light and heavy bodies.",
};

/* A broken power law: dN/dm ~ m^-slope from `from` to the next one's, continuous at the breaks. */
struct piece {
    double from, slope;
};

enum { PIECES_MOST = 3 };
static const struct piece mass_functions[][PIECES_MOST + 1] = {
    [IMF_SALPETER] = { { 0, 2.35 }, { INFINITY, 0 } },
    [IMF_KROUPA] = { { 0, 0.3 }, { 0.08, 1.3 }, { 0.5, 2.3 }, { INFINITY, 0 } },
};

static bool are_stellar(enum mass_function masses)
{
    return masses == IMF_SALPETER || masses == IMF_KROUPA;
}

bool masses_are_stellar(const struct section *section)
{
    return are_stellar((enum mass_function)section_choice(section, "masses"));
}

void masses_check(const struct section *section, struct error *error)
{
    static const struct {
        const char *key;
        const char *needs;
        bool stellar;
    } rows[] = { { "star_masses", "\"salpeter\" and \"kroupa\"", true },
                 { "heavy_ratio", "\"two-components\"", false },
                 { "heavy_fraction", "\"two-components\"", false } };
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        const bool used = rows[k].stellar ? masses_are_stellar(section)
                                          : section_choice(section, "masses") == IMF_TWO_COMPONENTS;
        if (section_given(section, rows[k].key) && !used)
            section_error(section, rows[k].key, error, "applies only to masses = %s",
                          rows[k].needs);
    }
    size_t two;
    const double *limits = section_reals(section, "star_masses", &two);
    if (!(limits[0] < limits[1]))
        section_error(section, "star_masses", error, "must be two masses, the smaller one first");
}

/* The integral of m^-slope from a to b. */
static double number(double slope, double a, double b)
{
    const double p = 1.0 - slope;
    return (pow(b, p) - pow(a, p)) / p;
}

/* One mass function between two limits, ready to draw from. */
struct sampler {
    size_t count;
    struct {
        double a, b, slope;
        double up_to; /* share of the stars up to b */
    } pieces[PIECES_MOST];
};

static struct sampler sampler_of(enum mass_function masses, const double limits[2])
{
    struct sampler s = { 0 };
    double total = 0, factor = 1;
    for (const struct piece *piece = mass_functions[masses]; isfinite(piece->from); piece++) {
        if (piece > mass_functions[masses]) /* continuous where two pieces meet */
            factor *= pow(piece->from, piece->slope - piece[-1].slope);
        const double a = fmax(piece->from, limits[0]), b = fmin(piece[1].from, limits[1]);
        if (!(a < b))
            continue;
        total += factor * number(piece->slope, a, b);
        s.pieces[s.count].a = a;
        s.pieces[s.count].b = b;
        s.pieces[s.count].slope = piece->slope;
        s.pieces[s.count++].up_to = total;
    }
    for (size_t k = 0; k < s.count; k++)
        s.pieces[k].up_to /= total;
    return s;
}

/* By the inverse of the cumulative number. */
static double draw_star(const struct sampler *s, gsl_rng *generator)
{
    const double u = random_uniform(generator, 0.0, 1.0);
    size_t k = 0;
    while (k + 1 < s->count && u > s->pieces[k].up_to)
        k++;
    const double before = k > 0 ? s->pieces[k - 1].up_to : 0.0;
    const double within = (u - before) / (s->pieces[k].up_to - before);
    const double p = 1.0 - s->pieces[k].slope;
    const double low = pow(s->pieces[k].a, p), high = pow(s->pieces[k].b, p);
    return pow(low + within * (high - low), 1.0 / p);
}

/* Every one of them in any order alike, so that the heavy ones stand anywhere. */
static void draw_components(const struct cluster_keys *keys, gsl_rng *generator, double *masses,
                            size_t count)
{
    double left = rint(keys->heavy_fraction * (double)count);
    for (size_t i = 0; i < count; i++) {
        const bool heavy = random_uniform(generator, 0.0, 1.0) * (double)(count - i) < left;
        masses[i] = heavy ? keys->heavy_ratio : 1.0;
        left -= heavy;
    }
}

double masses_solar(const struct section *section, const struct physics *physics)
{
    const struct dimension mass = DIMENSION_MASS;
    const bool wanted = masses_are_stellar(section) && !section_has(section, "mass");
    if (!wanted || !units_physical(physics->units))
        return 0;
    return units_factor(physics->units, units_unit(units_find("pc-msun-kms"), mass));
}

double masses_draw(const struct cluster_keys *keys, double solar_mass, gsl_rng *generator,
                   double *masses, size_t count)
{
    const double total = isnan(keys->mass) ? 1.0 : keys->mass;
    if (keys->masses == IMF_EQUAL) {
        for (size_t i = 0; i < count; i++)
            masses[i] = total / (double)count;
        return total;
    }
    if (are_stellar(keys->masses)) {
        const struct sampler sampler = sampler_of(keys->masses, keys->star_masses);
        for (size_t i = 0; i < count; i++)
            masses[i] = draw_star(&sampler, generator);
    } else {
        draw_components(keys, generator, masses, count);
    }
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += masses[i];
    const double factor = solar_mass > 0 ? solar_mass : total / sum;
    for (size_t i = 0; i < count; i++)
        masses[i] *= factor;
    return factor * sum;
}
