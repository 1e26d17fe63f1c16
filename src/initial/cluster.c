#include "initial/cluster.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_sort.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/binaries.h"
#include "initial/energy.h"
#include "initial/masses.h"
#include "model/bodies.h"

const char *const cluster_rescale_choices[] = { "auto", "pairs", "shells", "none", NULL };

enum {
    PAIRS_AT_MOST = 32768, /* bodies for which `auto` sums over pairs: about a second */
    TRIES_AT_LEAST = 10,   /* for a sample that is bound; more where few bodies make it quick: */
    DRAWN_AT_MOST = 100000,
    DRAW_WORK = 1000 /* of a body, in units of one pair interaction's time */
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

/* The state of a fill: the bodies that the model knows, of which some may be binaries. */
struct drawing {
    const struct section *section;
    const struct cluster_keys *keys;
    const struct cluster *cluster;
    double G;
    struct interruption *interruption;
    double solar_mass; /* in the units of the run, where M is what the stars weigh; else 0 */
    gsl_rng *generator;
    struct bodies *bodies; /* single bodies and centres of mass, from `first` on */
    size_t first;
    double *masses;  /* of all bodies; those of the binaries come first, in pairs */
    size_t binaries; /* among the bodies */
};

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
    size_t *order = memory_array(b->count, sizeof *order, error);
    if (r && order) {
        for (size_t i = 0; i < b->count; i++) {
            const double x = b->x[first + i], y = b->y[first + i], z = b->z[first + i];
            r[i] = sqrt(x * x + y * y + z * z);
        }
        gsl_sort_index(order, r, 1, b->count);
        const double unit = b->m[first]; /* so that equal masses are counted exactly */
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

/* The potential energy without softening and in open space: the sphere's own, whatever the run. */
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

/* A new unit of length, x -> lambda x, keeps the virial ratio: v -> v / sqrt(lambda) and
 * E -> E / lambda. */
static void rescale_energy(struct bodies *bodies, size_t first, double energy, double wanted)
{
    const double lambda = energy / wanted;
    bodies_scale(bodies, first, lambda, 1.0 / sqrt(lambda));
}

/* Masses come last, so that positions and velocities do not depend on them. The total mass. */
static double draw_bodies(struct drawing *d)
{
    struct bodies *const b = d->bodies;
    double done = 0;
    for (size_t i = d->first; i < d->first + b->count; i++) {
        double position[3], velocity[3];
        if (interruption_after(d->interruption, &done, DRAW_WORK))
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

/* A sample of the model, and where it is to be rescaled its energy and the one it should have. */
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

/* A sample of the model, moved and scaled to the energy that it should have. */
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
        if (energy < 0) /* a few bodies may happen to be unbound as a whole */
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

/* Every binary's two members in the place of its centre of mass, the single bodies behind. */
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

enum status cluster_fill(const struct section *section, const struct physics *physics,
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
