#include "initial/initial.h"

#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "initial/adjust.h"
#include "initial/body-files.h"
#include "initial/check.h"
#include "initial/energy.h"
#include "initial/initial-table.h"

static const struct initial_class *const table[] = {
    &initial_cold_sphere, &initial_figure_eight,       &initial_file,    &initial_king,
    &initial_orbits,      &initial_outer_solar_system, &initial_plummer, &initial_pythagorean,
    &initial_two_body,    &initial_uniform_cube,
};

const struct parameter initial_parameters[] = {
    { .key = "seed",
      .type = PARAMETER_INTEGER,
      .default_value = DEFAULT_INTEGER(42),
      .minimum = 1,
      .maximum = RANDOM_SEED_MAX,
      .help = "Seed of the random numbers; decides every bit of the start; the systems of an "
              "ensemble take this seed and those after it." },
    INITIAL_CENTER(false),
    { .key = "virial_ratio",
      .type = PARAMETER_REAL,
      .default_value = DEFAULT_UNSET,
      .minimum = 0,
      .maximum = INFINITY,
      .help = "Rescale all velocities, about that of the centre of mass, so that 2K/|W| has this "
              "value (1 is equilibrium; K without the motion of the whole), with the softening and "
              "the boundary of the run; takes a sum over all pairs." },
};
const size_t initial_parameter_count = COUNT_OF(initial_parameters);

const struct variant *initial_variant(size_t index)
{
    return index < COUNT_OF(table) ? &table[index]->variant : NULL;
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

enum status initial_count_key(const struct section *section, size_t *count, struct error *error)
{
    (void)error;
    *count = (size_t)section_integer(section, "count");
    return STATUS_OK;
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

void initial_set_published(struct bodies *bodies, size_t first,
                           const struct initial_body *published, size_t count, double mass,
                           double length, double speed)
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

/* Checks that there are arrays and seeds for `systems` systems of `count` bodies. */
static enum status check_size(const struct section *section, size_t systems, size_t count,
                              struct error *error)
{
    const size_t body = 16 * sizeof(double); /* at least what a body takes in struct bodies */
    size_t bytes;
    if (count > SIZE_MAX - BODIES_PADDING ||
        __builtin_mul_overflow(systems, count + BODIES_PADDING, &bytes) ||
        __builtin_mul_overflow(bytes, body, &bytes) || bytes > PTRDIFF_MAX)
        return section_error(section, NULL, error,
                             "%zu systems of %zu bodies are more than memory can address", systems,
                             count);
    const int64_t seed = section_integer(section, "seed");
    if ((uint64_t)seed + systems - 1 > RANDOM_SEED_MAX)
        return section_error(section, "seed", error,
                             "%zu systems take as many seeds from here on; the last one is %u",
                             systems, RANDOM_SEED_MAX);
    return STATUS_OK;
}

static enum status fill(const struct section *section, const struct physics *physics,
                        struct bodies *bodies, struct initial_doubts *doubts, struct error *error)
{
    const struct initial_class *class_ = chosen(section);
    if (class_->fill_all)
        return class_->fill_all(section, physics, bodies, doubts, error);
    const unsigned long seed = (unsigned long)section_integer(section, "seed");
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && !status; s++) {
        status = class_->fill(section, physics, seed + s, bodies, s * bodies->stride, error);
        if (!status && interruption_raised(physics->interruption))
            status = interruption_status(physics->interruption, error);
    }
    return status;
}

/* v - V -> (v - V) sqrt(wanted / present), where the ratio is 2K'/|W| and V the velocity of the
 * centre of mass, which the system keeps. */
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
    adjust_velocities(bodies, first, V, factor);
    return STATUS_OK;
}

static enum status finish(const struct section *section, const struct physics *physics,
                          const struct force_options *forces, struct bodies *bodies,
                          struct initial_doubts *doubts, struct error *error)
{
    const struct body_files files = body_files_of(section);
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && !status; s++) {
        const size_t first = s * bodies->stride;
        const char *source = files.count == 0 ? section_variant(section)->name
                                              : files.paths[files.count > 1 ? s : 0];
        status = check_bodies(bodies, first, physics, source, &doubts->coincident, error);
        if (!status && section_flag(section, "center"))
            adjust_center(bodies, first);
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

enum status initial_create(const struct section *section, const struct physics *physics,
                           const struct force_options *forces, size_t systems, size_t count,
                           struct bodies **bodies, struct initial_doubts *doubts,
                           struct error *error)
{
    *bodies = NULL;
    *doubts = (struct initial_doubts){ 0 };
    enum status status = bodies_create(systems, count, bodies, error);
    if (!status)
        status = fill(section, physics, *bodies, doubts, error);
    if (!status)
        status = finish(section, physics, forces, *bodies, doubts, error);
    if (status) {
        bodies_destroy(*bodies);
        *bodies = NULL;
    }
    return status;
}
