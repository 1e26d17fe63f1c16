#include "initial/initial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "config/configuration.h"
#include "initial/body-files.h"
#include "initial/energy.h"

#define CLASS_OF(name) &initial_##name,
static const struct initial_class *const table[] = { INITIAL_ROWS(CLASS_OF) };

const struct parameter initial_parameters[] = {
    { KEY(INTEGER, seed), BY_DEFAULT(INTEGER, 42), BETWEEN(1, RANDOM_SEED_MAX),
      .help = "Seed of the random numbers; decides every bit of the start; the systems of an "
              "ensemble take this seed and those after it." },
    INITIAL_CENTER(false),
    INITIAL_VIRIAL_RATIO,
    { KEY(REALS, origin), OPTIONAL, .length = 3, .dimension = DIMENSION_LENGTH,
      .help = "Position to which the start is moved as a whole, at the last: that of its origin, "
              "where `center` puts the centre of mass. Unset: it stays." },
    { KEY(REALS, origin_velocity), OPTIONAL, .length = 3, .dimension = DIMENSION_VELOCITY,
      .help = "Velocity that all bodies get beside their own, at the last: that with which the "
              "start moves as a whole. Unset: none." },
    { KEY(VALUES, names), OPTIONAL,
      .help = "Names of the first bodies of each system: at most 64 words, all different. They are "
              "the column species of trajectories, and reports use them." },
};
const size_t initial_parameter_count = COUNT_OF(initial_parameters);

const struct variant *initial_variant(size_t index)
{
    return index < COUNT_OF(table) ? &table[index]->variant : NULL;
}

const struct variant *initial_model_variant(size_t index)
{
    return index < COUNT_OF(table) - 1 ? &table[index]->variant : NULL;
}

static const struct initial_class *chosen(const struct section *section)
{
    size_t i = 0;
    while (&table[i]->variant != section_variant(section))
        i++;
    return table[i];
}

void initial_check(const struct section *section, struct error *error)
{
    const struct initial_class *class_ = chosen(section);
    if (class_->check)
        class_->check(section, error);
}

enum status initial_check_use(const struct config *config, struct error *error)
{
    const struct section *const bodies = config_section(config, "bodies");
    if (config_count(config, "models") > 0 && chosen(bodies) != &initial_encounter)
        section_error(config_item(config, "models", 0), NULL, error,
                      "belongs to bodies.initial = \"encounter\", and it is \"%s\"",
                      section_variant(bodies)->name);
    return error->status;
}

enum status initial_count_key(const struct section *section, size_t *count, struct error *error)
{
    (void)error;
    *count = (size_t)section_integer(section, "count");
    return STATUS_OK;
}

enum status initial_check_times(const struct section *section, const char *key, double times,
                                const char *unit, double least, double greatest,
                                struct error *error)
{
    if (!(times >= least && times <= greatest))
        section_error(section, key, error, "is %g times %s; must be from %g to %g times", times,
                      unit, least, greatest);
    return error->status;
}

void initial_set(struct bodies *bodies, size_t index, double m, const double position[3],
                 const double velocity[3])
{
    bodies->m[index] = m;
    bodies->x[index] = position[0];
    bodies->y[index] = position[1];
    bodies->z[index] = position[2];
    bodies->vx[index] = velocity[0];
    bodies->vy[index] = velocity[1];
    bodies->vz[index] = velocity[2];
}

enum status initial_draw_systems(void (*draw)(const void *model, gsl_rng *generator, size_t number,
                                              struct initial_body *body),
                                 const void *model, struct interruption *interruption,
                                 unsigned long seed, struct bodies *bodies, struct error *error)
{
    double done = 0;
    for (size_t s = 0; s < bodies->systems && !error->status; s++) {
        gsl_rng *generator = random_create(seed + s, error);
        for (size_t k = 0; generator && k < bodies->count; k++) {
            struct initial_body body;
            if (interruption_after(interruption, &done, INITIAL_DRAW_WORK))
                break;
            draw(model, generator, k, &body);
            initial_set(bodies, s * bodies->stride + k, body.m, body.position, body.velocity);
        }
        random_destroy(generator);
        if (!error->status)
            interruption_status(interruption, error);
    }
    return error->status;
}

/* --- names of bodies -------------------------------------------------------------------------- */

/* Copies the word within the quotation marks of `value` to `name`. Returns false if the word cannot
 * be a name. */
static bool read_name(const char *value, char name[SPECIES_NAME_SIZE])
{
    const size_t length = strlen(value);
    if (length < 2 || value[0] != '"' || length - 2 >= SPECIES_NAME_SIZE)
        return false;
    snprintf(name, SPECIES_NAME_SIZE, "%.*s", (int)(length - 2), value + 1);
    return bodies_is_species(name) && strcmp(name, "X") != 0;
}

/* Names the first bodies of each system as the key `names` asks: each name becomes a species of one
 * body (model/bodies.h), in place of all species that the bodies have. If `bodies` is NULL, only
 * checks the names. */
static void take_names(const struct section *section, struct bodies *bodies, struct error *error)
{
    size_t count = 0;
    if (!section_has(section, "names"))
        return;
    const char *const *values = section_values(section, "names", &count);
    if (count > SPECIES_MOST || (bodies && count > bodies->count))
        section_error(section, "names", error, "%zu names; there may be %zu", count,
                      bodies && bodies->count < SPECIES_MOST ? bodies->count
                                                             : (size_t)SPECIES_MOST);
    if (bodies)
        bodies->species_count = 0;
    for (size_t i = 0; i < count && !error->status; i++) {
        char name[SPECIES_NAME_SIZE];
        size_t same = 0;
        while (same < i && strcmp(values[same], values[i]) != 0)
            same++;
        if (!read_name(values[i], name))
            section_error(section, "names", error,
                          "%.40s is no name: a word of at most %d bytes, without blanks and the "
                          "signs \" \\ = , and not X, which stands for none",
                          values[i], SPECIES_NAME_SIZE - 1);
        else if (same < i)
            section_error(section, "names", error, "%.40s is there twice", values[i]);
        else if (bodies)
            bodies_add_species(bodies, name, i + 1);
    }
}

void initial_check_bodies(const struct section *section, struct error *error)
{
    take_names(section, NULL, error);
    initial_check(section, error);
}

/* --- making bodies ---------------------------------------------------------------------------- */

/* Checks that a system may have `count` bodies, that memory could address `systems` such systems,
 * and that their seeds, from the key `seed` on, are within the range of seeds. STATUS_CONFIG. */
static enum status check_size(const struct section *section, size_t systems, size_t count,
                              struct error *error)
{
    const size_t each = chosen(section)->seeds > 0 ? chosen(section)->seeds : 1;
    const size_t body = 16 * sizeof(double); /* no less than a body takes in struct bodies */
    size_t bytes;
    if (count > INITIAL_COUNT_MAX)
        return section_error(section, NULL, error, "%zu bodies are more than %d, the most", count,
                             INITIAL_COUNT_MAX);
    if (__builtin_mul_overflow(systems, count + BODIES_PADDING, &bytes) ||
        __builtin_mul_overflow(bytes, body, &bytes) || bytes > PTRDIFF_MAX)
        return section_error(section, NULL, error,
                             "%zu systems of %zu bodies are more than memory can address", systems,
                             count);
    /* A model of an encounter without the key takes seeds of the section `bodies`, which are
     * checked with that section. */
    if (!section_has(section, "seed"))
        return STATUS_OK;
    const int64_t seed = section_integer(section, "seed");
    const uint64_t seeds = (uint64_t)systems * each;
    if ((uint64_t)seed + seeds - 1 > RANDOM_SEED_MAX)
        return section_error(section, "seed", error,
                             "%" PRIu64 " seeds are taken from here on; the last one is %u", seeds,
                             RANDOM_SEED_MAX);
    return STATUS_OK;
}

static enum status fill(const struct section *section, const struct physics *physics,
                        unsigned long seed, struct bodies *bodies,
                        struct initial_warnings *warnings, struct error *error)
{
    const struct initial_class *class_ = chosen(section);
    if (class_->fill_all)
        return class_->fill_all(section, physics, seed, bodies, warnings, error);
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && !status; s++) {
        status = class_->fill(section, physics, seed + s, bodies, s * bodies->stride, error);
        if (!status && interruption_raised(physics->interruption))
            status = interruption_status(physics->interruption, error);
    }
    return status;
}

/* Rescales the velocities of a system so that 2K'/|W| becomes the key virial_ratio, where K' is the
 * kinetic energy of the velocities v - V, and V, the velocity of the centre of mass, stays. */
static enum status scale_to_virial_ratio(const struct section *section,
                                         const struct physics *physics,
                                         const struct force_options *forces, struct bodies *bodies,
                                         size_t first, struct error *error)
{
    struct pair_sums sums;
    if (energy_of_run(forces, physics, bodies, first, &sums, error))
        return error->status;
    const double wanted = section_real(section, "virial_ratio");
    double V[3];
    const double kinetic = energy_internal(bodies, first, V);
    const double virial = sums.virial;
    if (!(virial < 0))
        return section_error(section, "virial_ratio", error,
                             "undefined: no two bodies with mass attract each other");
    if (wanted > 0 && !(kinetic > 0))
        return section_error(
            section, "virial_ratio", error,
            "all bodies are at rest or move alike: there are no velocities to rescale");
    const double factor = wanted > 0 ? sqrt(wanted * -virial / (2.0 * kinetic)) : 0.0;
    bodies_scale_velocities(bodies, first, V, factor);
    return STATUS_OK;
}

/* Tells whether the key `center` asks to move the centre of mass. A start that leaves it unset is
 * moved unless external fields hold it in its place. */
static bool is_centered(const struct section *section, const struct physics *physics)
{
    return section_has(section, "center") ? section_flag(section, "center") : !physics->external;
}

static enum status finish(const struct section *section, const struct physics *physics,
                          const struct force_options *forces, struct bodies *bodies,
                          struct initial_warnings *warnings, struct error *error)
{
    const struct body_files files = body_files_of(section);
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && !status; s++) {
        const size_t first = s * bodies->stride;
        const char *source = files.count == 0 ? section_variant(section)->name
                                              : files.paths[files.count > 1 ? s : 0];
        status = check_bodies(bodies, first, physics, source, &warnings->coincident, error);
        if (!status && is_centered(section, physics))
            bodies_center(bodies, first);
        if (!status && section_has(section, "virial_ratio"))
            status = scale_to_virial_ratio(section, physics, forces, bodies, first, error);
        if (!status)
            status = interruption_status(physics->interruption, error);
    }
    return status;
}

enum status initial_check_units(const struct section *section, const struct physics *physics,
                                struct error *error)
{
    const struct initial_class *class_ = chosen(section);
    if (class_->check_units)
        return class_->check_units(section, physics, error);
    if (!class_->scales || !units_physical(physics->units))
        return error->status;
    for (const char *const *key = class_->scales; *key; key++)
        if (!section_written(section, *key) &&
            (!class_->uses_scale || class_->uses_scale(section, physics, *key)))
            section_error(section, *key, error,
                          "must be given in units = \"%s\"; its default is meant for N-body units",
                          physics->units->name);
    return error->status;
}

enum status initial_count(const struct section *section, size_t systems, size_t *count,
                          struct error *error)
{
    const struct initial_class *class_ = chosen(section);
    *count = class_->bodies;
    const enum status status = class_->count ? class_->count(section, count, error) : STATUS_OK;
    return status ? status : check_size(section, systems, *count, error);
}

const char *initial_count_name(const struct section *section)
{
    if (chosen(section) == &initial_file)
        return body_files_of(section).key;
    return chosen(section)->count == initial_count_key ? "count" : NULL;
}

double initial_bytes(const struct section *section, size_t systems)
{
    return chosen(section)->bytes ? chosen(section)->bytes(section, systems) : 0.0;
}

static enum status create(const struct section *section, const struct physics *physics,
                          const struct force_options *forces, unsigned long seed, size_t systems,
                          size_t count, struct bodies **bodies, struct initial_warnings *warnings,
                          struct error *error)
{
    *bodies = NULL;
    *warnings = (struct initial_warnings){ 0 };
    if (!bodies_create(systems, count, bodies, error) &&
        !fill(section, physics, seed, *bodies, warnings, error) &&
        !finish(section, physics, forces, *bodies, warnings, error))
        return STATUS_OK;
    bodies_destroy(*bodies);
    *bodies = NULL;
    return error->status;
}

static void add_to_all(const struct section *section, const char *key, double *const components[3],
                       const struct bodies *bodies)
{
    size_t length;
    const double *const shift =
        section_has(section, key) ? section_reals(section, key, &length) : NULL;
    for (size_t s = 0; shift && s < bodies->systems; s++)
        for (size_t i = s * bodies->stride; i < s * bodies->stride + bodies->count; i++)
            for (int k = 0; k < 3; k++)
                components[k][i] += shift[k];
}

enum status initial_create(const struct section *section, const struct physics *physics,
                           const struct force_options *forces, size_t systems, size_t count,
                           struct bodies **bodies, struct initial_warnings *warnings,
                           struct error *error)
{
    const unsigned long seed = (unsigned long)section_integer(section, "seed");
    if (create(section, physics, forces, seed, systems, count, bodies, warnings, error))
        return error->status;
    struct bodies *const b = *bodies;
    add_to_all(section, "origin", (double *const[3]){ b->x, b->y, b->z }, b);
    add_to_all(section, "origin_velocity", (double *const[3]){ b->vx, b->vy, b->vz }, b);
    take_names(section, *bodies, error);
    if (error->status) {
        bodies_destroy(*bodies);
        *bodies = NULL;
    }
    return error->status;
}

enum status initial_create_model(const struct section *model, const struct physics *physics,
                                 unsigned long seed, size_t systems, size_t count,
                                 struct bodies **bodies, struct initial_warnings *warnings,
                                 struct error *error)
{
    if (section_has(model, "seed"))
        seed = (unsigned long)section_integer(model, "seed");
    return create(model, physics, NULL, seed, systems, count, bodies, warnings, error);
}
