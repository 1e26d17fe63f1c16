/*
 * Two models, the list `models` of the config, on a Kepler orbit about each other: galaxies that
 * meet (Toomre & Toomre 1972, ApJ 178, 623). Each model is an initial condition of its own. The
 * orbit is that of two points with the models' masses, in the xy plane, counter-clockwise; seen
 * from the first model, the second has its pericentre on the x axis. With p = q (1 + e), where q is
 * the distance at pericentre, and mu = G (m1 + m2)
 *
 *     r = p / (1 + e cos f),   v_r = sqrt(mu/p) e sin f,   v_t = sqrt(mu/p) (1 + e cos f)
 *
 * where the true anomaly f < 0, before the pericentre, follows from the separation r.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/body-files.h"
#include "initial/initial.h"
#include "model/kepler.h"

enum { MODELS = 2 };

struct keys {
    double pericenter, eccentricity, separation;
};

static const struct parameter parameters[] = {
    INITIAL_CENTER(true),
    { KEY(REAL, virial_ratio), OPTIONAL, NOT_NEGATIVE,
      .help = "Refused here, since it would change the orbit; a key of each of the models." },
    INITIAL_POSITIVE(pericenter, DEFAULT_NONE, DIMENSION_LENGTH,
                     "Least distance q of the models' centres on the Kepler orbit of two points."),
    { BIND(REAL, struct keys, eccentricity), BY_DEFAULT(REAL, 1.0), NOT_NEGATIVE,
      .help = "0: circle; below 1: ellipse; 1: parabola; above: hyperbola." },
    INITIAL_POSITIVE(separation, DEFAULT_NONE, DIMENSION_LENGTH,
                     "Distance of the models' centres at the start, before the pericentre."),
};

const struct parameter initial_model_parameters[] = {
    { KEY(INTEGER, seed), OPTIONAL, BETWEEN(1, RANDOM_SEED_MAX),
      .help = "Seed of the first system's random numbers; unset: bodies.seed for the first model, "
              "and the seeds behind those of the first for the second." },
    { KEY(FLAG, center), BY_DEFAULT(FLAG, true),
      .help = "Move the centre of mass to the origin and to rest. The default is that of the start "
              "where it has one of its own (false for spheres with a cusp), else true." },
    INITIAL_VIRIAL_RATIO,
    { KEY(STRING, species), OPTIONAL,
      .help = "Name of its bodies in the column species of trajectories, a word; unset: A for the "
              "first model, B for the second." },
    { KEY(REAL, disc_inclination), BY_DEFAULT(REAL, 0.0), BETWEEN(0, 180),
      .help = "Degrees between the model's z axis and that of the orbit: 0 for a disc in the plane "
              "of the orbit that turns as the other model moves, 180 for one that turns against "
              "it." },
    { KEY(REAL, disc_argument), BY_DEFAULT(REAL, 0.0), BETWEEN(-360, 360),
      .help = "Degrees along the orbit of the other model from where it rises through the disc to "
              "its pericentre (omega of Toomre & Toomre 1972)." },
};
const size_t initial_model_parameter_count = COUNT_OF(initial_model_parameters);

/* --- its keys --------------------------------------------------------------------------------- */

static void check(const struct section *section, struct error *error)
{
    struct keys keys;
    section_read(section, &keys);
    const double q = keys.pericenter, e = keys.eccentricity;
    if (keys.separation < q)
        section_error(section, "separation", error, "is less than the pericenter, %g", q);
    if (e < 1 && keys.separation > q * (1 + e) / (1 - e))
        section_error(section, "separation", error,
                      "is beyond the apocentre of this ellipse, %g; start nearer, or take a "
                      "larger eccentricity",
                      q * (1 + e) / (1 - e));
    if (section_has(section, "virial_ratio"))
        section_error(section, "virial_ratio", error,
                      "would change the orbit too; it is a key of each of the models");
}

void initial_check_model(const struct section *section, struct error *error)
{
    const char *const species = section_string(section, "species");
    if (species && (!bodies_is_species(species) || strlen(species) > INITIAL_SPECIES_LENGTH))
        section_error(section, "species", error,
                      "must be a word of at most %d bytes, without blanks and the signs \" \\ = ,",
                      INITIAL_SPECIES_LENGTH);
    const struct body_files files = body_files_of(section);
    if (body_files_systems(&files) > 0)
        section_error(section, "files", error,
                      "a model comes from one file, which every system takes: file = \"...\"");
    initial_check(section, error);
}

static const struct section *model_of(const struct section *section, size_t k)
{
    return config_item(section_config(section), "models", k);
}

static enum status check_models(const struct section *section, struct error *error)
{
    const struct config *config = section_config(section);
    const size_t models = config_count(config, "models");
    if (models != MODELS)
        return section_error(models > MODELS ? model_of(section, MODELS) : section, NULL, error,
                             "an encounter is one of two models, models = ( { initial = ...; }, { "
                             "initial = ...; } ), but there are %zu",
                             models);
    return STATUS_OK;
}

static enum status check_units(const struct section *section, const struct physics *physics,
                               struct error *error)
{
    struct keys keys;
    section_read(section, &keys);
    if (keys.pericenter <= physics->softening)
        section_error(section, "pericenter", error,
                      "is within physics.softening = %g, where the force is far from Kepler's",
                      physics->softening);
    if (!check_models(section, error))
        for (size_t k = 0; k < MODELS; k++)
            initial_check_units(model_of(section, k), physics, error);
    return error->status;
}

static enum status count(const struct section *section, size_t *count, struct error *error)
{
    *count = 0;
    const enum status status = check_models(section, error);
    for (size_t k = 0; k < MODELS && !status; k++) {
        size_t own;
        if (initial_count(model_of(section, k), 1, &own, error))
            return error->status;
        *count += own;
    }
    return status;
}

/* Returns the bytes of the larger model, since each is made by itself and then copied. */
static double bytes(const struct section *section, size_t systems)
{
    double most = 0;
    struct error ignored = { 0 };
    for (size_t k = 0; k < config_count(section_config(section), "models"); k++) {
        size_t own = 0;
        initial_count(model_of(section, k), systems, &own, &ignored);
        most = fmax(most, bodies_bytes((double)systems, (double)own));
    }
    return most;
}

/* --- its bodies ------------------------------------------------------------------------------- */

static void turn(const double axis[2], double *a, double *b)
{
    const double rotated = axis[0] * *a - axis[1] * *b;
    *b = axis[1] * *a + axis[0] * *b;
    *a = rotated;
}

/*
 * Turns model k (0 or 1), the bodies from index `first` on, out of its xy plane: by -i
 * (disc_inclination) about x, and then about z until x points to the node, where the other model
 * rises through the disc. The node is the angle omega (disc_argument) before the other model's
 * pericentre, as seen from model k: at -omega for k = 0, at 180 degrees - omega for k = 1.
 */
static void incline(const struct section *model, size_t k, struct bodies *b, size_t first)
{
    double tilt[2], node[2];
    elements_rotation(-section_real(model, "disc_inclination"), &tilt[1], &tilt[0]);
    elements_rotation(180.0 * (double)k - section_real(model, "disc_argument"), &node[1], &node[0]);
    for (size_t i = first; i < first + b->count; i++) {
        turn(tilt, &b->y[i], &b->z[i]);
        turn(tilt, &b->vy[i], &b->vz[i]);
        turn(node, &b->x[i], &b->y[i]);
        turn(node, &b->vx[i], &b->vy[i]);
    }
}

/* Appends the species of model `number` to those of `bodies`, with the model's name in front of
 * each ("A-disc"); one species with the model's name for the bodies that have none, or if there are
 * too many. `part` has the bodies of the model, which stand behind `first` others in a system. */
static void name_species(const struct section *model, size_t number, const struct bodies *part,
                         size_t first, struct bodies *bodies)
{
    static const char *const usual[MODELS] = { "A", "B" };
    const char *const given = section_string(model, "species");
    const char *const name = given ? given : usual[number];
    const size_t parts = part->species_count < SPECIES_MOST / MODELS ? part->species_count : 0;
    for (size_t k = 0; k < (parts > 0 ? parts : 1); k++) {
        char both[SPECIES_NAME_SIZE];
        snprintf(both, sizeof both, "%.*s%s%.15s", INITIAL_SPECIES_LENGTH, name,
                 parts > 0 ? "-" : "", parts > 0 ? part->species[k].name : "");
        bodies_add_species(bodies, both, first + (parts > 0 ? part->species[k].end : part->count));
    }
    if (parts > 0 && part->species[parts - 1].end < part->count)
        bodies_add_species(bodies, name, first + part->count);
}

/* Makes model k about its own origin and copies it into each system, behind `first` bodies of an
 * earlier model. *count becomes its number of bodies. */
static enum status fill_model(const struct section *section, size_t k,
                              const struct physics *physics, unsigned long seed, size_t first,
                              struct bodies *bodies, size_t *count,
                              struct initial_warnings *warnings, struct error *error)
{
    const struct section *const model = model_of(section, k);
    const size_t systems = bodies->systems;
    struct physics alone = *physics; /* external fields are not about the model's origin */
    alone.external = NULL;
    struct bodies *part = NULL;
    struct initial_warnings own;
    if (initial_count(model, systems, count, error) ||
        initial_create_model(model, &alone, seed, systems, *count, &part, &own, error))
        return error->status;
    for (size_t s = 0; s < systems; s++) {
        const size_t from = s * part->stride, to = s * bodies->stride + first;
        incline(model, k, part, from);
        bodies_copy_part(bodies, to, part, from, part->count);
    }
    name_species(model, k, part, first, bodies);
    for (size_t w = 0; w < INITIAL_FILE_WARNINGS; w++)
        if (warnings->files[w].count == 0)
            warnings->files[w] = own.files[w];
    bodies_destroy(part);
    return STATUS_OK;
}

static void move(struct bodies *b, size_t first, size_t last, double share, const double x[2],
                 const double v[2])
{
    for (size_t i = first; i < last; i++) {
        b->x[i] += share * x[0];
        b->y[i] += share * x[1];
        b->vx[i] += share * v[0];
        b->vy[i] += share * v[1];
    }
}

/* Puts the two models of a system on their orbit about the origin; the second model begins behind
 * `boundary` bodies. */
static enum status place(const struct section *section, const struct physics *physics, size_t first,
                         size_t boundary, struct bodies *b, struct error *error)
{
    struct keys keys;
    section_read(section, &keys);
    double masses[MODELS] = { 0 };
    for (size_t i = 0; i < b->count; i++)
        masses[i >= boundary] += b->m[first + i];
    const double mass = masses[0] + masses[1];
    if (!(mass > 0))
        return section_error(section, NULL, error, "neither of the models has any mass");
    const double e = keys.eccentricity, r = keys.separation, p = keys.pericenter * (1 + e);
    const double cosine = e > 0 ? fmin(fmax((p / r - 1) / e, -1), 1) : 1;
    const double sine = -sqrt((1 - cosine) * (1 + cosine));
    const double speed = sqrt(physics->gravitational_constant * mass / p);
    const double x[2] = { r * cosine, r * sine };
    const double v[2] = { -speed * sine, speed * (e + cosine) };
    move(b, first, first + boundary, -masses[1] / mass, x, v);
    move(b, first + boundary, first + b->count, masses[0] / mass, x, v);
    return STATUS_OK;
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    size_t counts[MODELS] = { 0 }, first = 0;
    for (size_t k = 0; k < MODELS; first += counts[k++])
        if (fill_model(section, k, physics, seed + k * bodies->systems, first, bodies, &counts[k],
                       warnings, error))
            return error->status;
    for (size_t s = 0; s < bodies->systems; s++)
        if (place(section, physics, s * bodies->stride, counts[0], bodies, error))
            break;
    return error->status;
}

const struct initial_class initial_encounter = {
    .variant = { "encounter", "Two models on a Kepler orbit about each other: galaxies that meet.",
                 parameters, COUNT_OF(parameters) },
    .check = check,
    .count = count,
    .seeds = MODELS,
    .bytes = bytes,
    .check_units = check_units,
    .fill_all = fill,
};
