#include "initial/cluster.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "config/configuration.h"
#include "initial/energy.h"
#include "model/bodies.h"
#include "model/kepler.h"

/* --- binaries --------------------------------------------------------------------------------- */

/*
 * Primordial binaries: pairs of bodies on Kepler orbits from the start. Semi-major axes are uniform
 * in ln a; eccentricities thermal, f(e) = 2e (Heggie 1975, MNRAS 173, 729), or all 0; orientations
 * isotropic, phases uniform in time; masses pair up at random.
 */

const char *const binaries_eccentricities[] = { "thermal", "circular", NULL };

static void binaries_check(const struct section *section, struct error *error)
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

/* Returns the number B of binaries among `count` bodies: B = f (B + S), where f is the key
 * binary_fraction, S the number of single bodies and 2 B + S = count. */
static size_t binaries_count(const struct cluster_keys *keys, size_t count)
{
    const double f = keys->binary_fraction;
    const double binaries = rint(f * (double)count / (1.0 + f));
    return binaries > (double)(count / 2) ? count / 2 : (size_t)binaries;
}

/* Draws the true anomaly, in degrees, at a moment that is uniform in time: since M = E - e sin E,
 * the eccentric anomaly E has the density (1 - e cos E) / 2 pi. */
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

/* Draws an orbit and puts its two bodies, of masses[0] and masses[1], at `index` and `index` + 1,
 * so that their centre of mass has the given position and velocity. */
static void binaries_set(const struct cluster_keys *keys, double G, gsl_rng *generator,
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

/* --- masses ----------------------------------------------------------------------------------- */

/*
 * Masses of stars by the initial mass functions of the literature: Salpeter (1955, ApJ 121, 161),
 * dN/dm ~ m^-2.35; Kroupa (2001, MNRAS 322, 231), m^-0.3 below 0.08 solar masses, m^-1.3 to 0.5 and
 * m^-2.3 above; and two components, light and heavy bodies.
 */

const char *const masses_choices[] = { "equal", "salpeter", "kroupa", "two-components", NULL };
const char *const masses_help[] = {
    "The same for all.",
    "dN/dm ~ m^-2.35 (Salpeter 1955).",
    "dN/dm ~ m^-1.3 from 0.08 to 0.5 solar masses, m^-2.3 above, m^-0.3 below (Kroupa 2001).",
    "Light and heavy bodies.",
};

/* A piece of a broken power law: dN/dm ~ m^-slope from the mass `from`, in solar masses, to the
 * `from` of the next piece. The law is continuous. In a list of pieces the last has `from` =
 * infinity. */
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

static bool masses_are_stellar(const struct section *section)
{
    return are_stellar((enum mass_function)section_choice(section, "masses"));
}

static void masses_check(const struct section *section, struct error *error)
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

/* Returns the integral of m^-slope from a to b; slope is not 1. */
static double number(double slope, double a, double b)
{
    const double p = 1.0 - slope;
    return (pow(b, p) - pow(a, p)) / p;
}

/* A mass function between two limits, in pieces dN/dm ~ m^-slope from a to b (solar masses). */
struct sampler {
    size_t count;
    struct {
        double a, b, slope;
        double up_to; /* fraction of all stars whose mass is at most b */
    } pieces[PIECES_MOST];
};

static struct sampler sampler_of(enum mass_function masses, const double limits[2])
{
    struct sampler s = { 0 };
    double total = 0, factor = 1;
    for (const struct piece *piece = mass_functions[masses]; isfinite(piece->from); piece++) {
        if (piece > mass_functions[masses]) /* so that dN/dm is continuous there */
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

/* Draws the mass of a star, in solar masses, by the inverse of the cumulative distribution. */
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

/* Sets masses[] to 1 for light bodies and to heavy_ratio for heavy ones; all orders of the two
 * kinds are equally likely. */
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

/* Returns the solar mass in the units of the run if the bodies are to have the masses of real
 * stars, as drawn. This needs units with a value in SI, and the key `mass` must be unset; otherwise
 * returns 0. */
static double masses_solar(const struct section *section, const struct physics *physics)
{
    const struct dimension mass = DIMENSION_MASS;
    const bool wanted = masses_are_stellar(section) && !section_has(section, "mass");
    if (!wanted || !units_physical(physics->units))
        return 0;
    return units_factor(physics->units, units_unit(units_find("pc-msun-kms"), mass));
}

/*
 * Draws `count` masses, in the units of the run, and returns their sum. Masses of stars are drawn
 * in solar masses and multiplied by `solar_mass`; if that is 0, and for other kinds of masses, the
 * sum becomes keys->mass, or 1 if that is unset. Equal masses need no random numbers.
 */
static double masses_draw(const struct cluster_keys *keys, double solar_mass, gsl_rng *generator,
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

const char *const cluster_rescale_choices[] = { "auto", "pairs", "shells", "none", NULL };

enum {
    /* Most bodies for which rescale = "auto" sums over all pairs, which takes about a second. */
    PAIRS_AT_MOST = 32768,
    TRIES_AT_LEAST = 10,   /* samples that are drawn in any case to get a bound one */
    DRAWN_AT_MOST = 100000 /* most bodies in all samples together, if there are more samples */
};

void cluster_check(const struct section *section, struct error *error)
{
    masses_check(section, error);
    binaries_check(section, error);
}

bool cluster_uses_scale(const struct section *section, const struct physics *physics,
                        const char *key)
{
    (void)physics;
    return strcmp(key, "mass") != 0 || !masses_are_stellar(section);
}

/* The state of filling one system. `bodies`, from index `first` on, are the single bodies and, for
 * each binary, its centre of mass, which stand before the single bodies. */
struct drawing {
    const struct section *section;
    const struct cluster_keys *keys;
    const struct cluster *cluster;
    double G;
    struct interruption *interruption;
    double solar_mass; /* in the units of the run, if masses of real stars are drawn; else 0 */
    gsl_rng *generator;
    struct bodies *bodies;
    size_t first;
    double *masses; /* masses of the stars; those of the binaries come first, in pairs */
    size_t binaries;
};

/*
 * Finds the potential energy U, averaged over all positions that each body may have on its sphere
 * about the origin. The average for two such shells is as if the inner one were at the origin, so
 * U = -G sum m_i M(<r_i) / r_i. The origin must be the centre of the model, not the centre of mass,
 * which a few bodies far away may move.
 */
static enum status sum_over_shells(double G, const struct bodies *b, size_t first,
                                   double *potential, struct error *error)
{
    double *r = memory_array(b->count, sizeof *r, error);
    size_t *order = memory_array(b->count, sizeof *order, error);
    if (r && order) {
        for (size_t i = 0; i < b->count; i++) {
            const double x = b->x[first + i], y = b->y[first + i], z = b->z[first + i];
            r[i] = sqrt(x * x + y * y + z * z);
        }
        gsl_sort_index(order, r, 1, b->count);
        const double unit = b->m[first]; /* unit of mass in which sums of equal masses are exact */
        double sum = 0, enclosed = b->m[first + order[0]] / unit;
        for (size_t i = 1; i < b->count; i++) {
            const double m = b->m[first + order[i]] / unit;
            sum += m * enclosed / r[order[i]];
            enclosed += m;
        }
        *potential = -G * unit * unit * sum;
    }
    memory_free(r);
    memory_free(order);
    return error->status;
}

/* Finds the potential energy of the bodies, over pairs or shells as the key `rescale` says, without
 * softening and in open space, as the model has it, even if the run has softening or a periodic
 * box. */
static enum status find_potential(const struct drawing *d, double *potential, struct error *error)
{
    const struct bodies *const bodies = d->bodies;
    const enum rescale rescale = d->keys->rescale;
    const bool pairs =
        rescale == RESCALE_PAIRS || (rescale == RESCALE_AUTO && bodies->count <= PAIRS_AT_MOST);
    if (!pairs)
        return sum_over_shells(d->G, bodies, d->first, potential, error);
    const struct physics newton = { .gravitational_constant = d->G,
                                    .boundary = BOUNDARY_OPEN,
                                    .interruption = d->interruption };
    *potential = energy_pairs(&newton, bodies, d->first).potential;
    return STATUS_OK;
}

/* Rescales the bodies from `energy` to the energy `wanted` and keeps the virial ratio:
 * x -> lambda x, v -> v / sqrt(lambda) and E -> E / lambda. */
static void rescale_energy(struct bodies *bodies, size_t first, double energy, double wanted)
{
    const double lambda = energy / wanted;
    bodies_scale(bodies, first, lambda, 1.0 / sqrt(lambda));
}

/* Draws the bodies: positions and velocities in the units of the model, masses in those of the run.
 * The masses are drawn last, so that positions and velocities do not depend on them. Returns the
 * total mass. */
static double draw_bodies(struct drawing *d)
{
    struct bodies *const b = d->bodies;
    double done = 0;
    for (size_t i = d->first; i < d->first + b->count; i++) {
        double position[3], velocity[3];
        if (interruption_after(d->interruption, &done, INITIAL_DRAW_WORK))
            break;
        d->cluster->draw(d->cluster->model, d->generator, position, velocity);
        initial_set(b, i, 0.0, position, velocity);
    }
    const double M =
        masses_draw(d->keys, d->solar_mass, d->generator, d->masses, b->count + d->binaries);
    for (size_t i = 0; i < b->count; i++)
        b->m[d->first + i] =
            i < d->binaries ? d->masses[2 * i] + d->masses[2 * i + 1] : d->masses[d->binaries + i];
    return M;
}

/* Draws a sample of the model, in the units of the run. *wanted becomes the energy of the model
 * and, only if `rescaled`, *energy the energy of the sample. */
static enum status draw_sample(struct drawing *d, bool rescaled, double *energy, double *wanted,
                               struct error *error)
{
    const struct cluster *const cluster = d->cluster;
    const double M = draw_bodies(d);
    bodies_scale(d->bodies, d->first, cluster->length,
                 sqrt(d->G * M / (cluster->mass * cluster->length)));
    *wanted = cluster->number * d->G * M * M / cluster->extent;
    if (rescaled)
        find_potential(d, energy, error);
    if (section_flag(d->section, "center"))
        bodies_center(d->bodies, d->first);
    if (rescaled)
        *energy += energy_kinetic(d->bodies, d->first);
    return error->status;
}

/* Draws samples of the model until one is bound, and rescales that to the energy of the model. If
 * nothing is to be rescaled, the first sample is taken, bound or not. */
static enum status draw_cluster(struct drawing *d, struct error *error)
{
    const bool rescaled = d->keys->rescale != RESCALE_NONE && d->bodies->count > 1;
    double energy = 0, wanted = 0;
    for (size_t tries = 1;; tries++) {
        if (draw_sample(d, rescaled, &energy, &wanted, error) ||
            interruption_status(d->interruption, error) || !rescaled)
            return error->status;
        if (!isfinite(energy) || !isfinite(wanted) || wanted == 0)
            return section_error(d->section, "rescale", error,
                                 "the energy of the bodies is beyond the range of numbers; choose "
                                 "units in which masses and lengths are nearer to 1");
        if (energy < 0) /* a sample of few bodies may be unbound */
            break;
        if (tries >= TRIES_AT_LEAST && tries >= DRAWN_AT_MOST / d->bodies->count)
            return section_error(d->section, "rescale", error,
                                 "none of %zu samples was bound, so that none can have the energy "
                                 "of the model; center = true, masses that differ less, more "
                                 "bodies or rescale = \"none\" may help",
                                 tries);
    }
    rescale_energy(d->bodies, d->first, energy, wanted);
    return STATUS_OK;
}

/* Fills the system at index `first` of `bodies` from the drawn bodies: first the two members of
 * each binary, then the single bodies. */
static void split_binaries(const struct drawing *d, struct bodies *bodies, size_t first)
{
    for (size_t i = 0; i < d->bodies->count; i++) {
        const struct bodies *const c = d->bodies;
        const double position[3] = { c->x[i], c->y[i], c->z[i] };
        const double velocity[3] = { c->vx[i], c->vy[i], c->vz[i] };
        if (i < d->binaries)
            binaries_set(d->keys, d->G, d->generator, &d->masses[2 * i], position, velocity, bodies,
                         first + 2 * i);
        else
            initial_set(bodies, first + d->binaries + i, c->m[i], position, velocity);
    }
}

static enum status fill_system(const struct section *section, const struct physics *physics,
                               const struct cluster_keys *keys, const struct cluster *cluster,
                               unsigned long seed, struct bodies *bodies, size_t first,
                               struct error *error)
{
    struct drawing d = { .section = section,
                         .keys = keys,
                         .cluster = cluster,
                         .solar_mass = masses_solar(section, physics),
                         .G = physics->gravitational_constant,
                         .interruption = physics->interruption,
                         .bodies = bodies,
                         .first = first,
                         .binaries = binaries_count(keys, bodies->count) };
    struct bodies *centres = NULL;
    d.generator = random_create(seed, error);
    d.masses = d.generator ? memory_array(bodies->count, sizeof *d.masses, error) : NULL;
    if (d.binaries > 0 && d.masses &&
        !bodies_create(1, bodies->count - d.binaries, &centres, error)) {
        d.bodies = centres;
        d.first = 0;
    }
    if (!error->status && !draw_cluster(&d, error) && centres)
        split_binaries(&d, bodies, first);
    bodies_destroy(centres);
    memory_free(d.masses);
    random_destroy(d.generator);
    return error->status;
}

enum status cluster_fill(const struct section *section, const struct physics *physics,
                         const struct cluster_keys *keys, const struct cluster *cluster,
                         unsigned long seed, struct bodies *bodies, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && !status; s++) {
        status = fill_system(section, physics, keys, cluster, seed + s, bodies, s * bodies->stride,
                             error);
        if (!status && interruption_raised(physics->interruption))
            status = interruption_status(physics->interruption, error);
    }
    return status;
}
