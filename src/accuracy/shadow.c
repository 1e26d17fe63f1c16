#include "accuracy/shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy/copies.h"
#include "base/memory.h"
#include "base/random.h"
#include "force/accuracy.h"
#include "output/saved.h"

struct shadow {
    struct simulation simulation; /* copies of the systems that still have this shadow, in the run's
                                     order; all zero if none has */
    /* [systems of the run]: the index of each in `simulation`, or TRUST_NOT_CARRIED */
    int64_t *slots;
};

struct shadows {
    const struct section *section; /* the group `trust` of the config */
    struct simulation *original;   /* the simulation of the run, which shadows copy; borrowed */
    struct diagnostic *trust; /* the diagnostic that compares shadows with `original`; borrowed */
    /* The checkpoint from which shadows are restored; NULL at the start of a run, and for all after
     * shadow_create(). */
    const struct checkpoint *checkpoint;
    struct shadow of[TRUST_SHADOWS];
};

/* The names of the shadows in sections of a checkpoint. */
static const char *const names[TRUST_SHADOWS] = { [TRUST_TWIN] = "twin", [TRUST_FINE] = "fine" };

/* --- creating --------------------------------------------------------------------------------- */

/* Measures the size of the run's forces and the rounding error of its backend's sums, by comparison
 * with sums in long double on a sample of bodies. If the force method leaves out a part of the
 * forces, the measured error would be mostly that part, which is the same on every machine: then
 * the rounding error is taken from force_traits(). */
static enum status measure_force(struct simulation *original, struct trust_force *force,
                                 struct error *error)
{
    const struct bodies *bodies = original->bodies;
    struct accuracy *accuracy;
    if (accuracy_create(&original->physics, bodies, ACCURACY_SAMPLE, &accuracy, error))
        return error->status;
    const enum status status = simulation_accelerations(original, error);
    const struct force_traits traits = force_traits(&original->description.force);
    const double error_of_sums =
        traits.truncation > 0.0 ? traits.rounding : accuracy_error(accuracy, bodies);
    if (!status)
        *force = (struct trust_force){ accuracy_scale(accuracy), error_of_sums };
    accuracy_destroy(accuracy);
    return status;
}

enum status shadow_diagnostic(const struct section *section, struct simulation *original,
                              uint64_t step, bool measure, struct diagnostic **diagnostic,
                              struct error *error)
{
    struct trust_force force = { 0 };
    const struct moment start = { .step = step,
                                  .dt = original->step,
                                  .physics = &original->physics,
                                  .bodies = original->bodies };
    if (measure && measure_force(original, &force, error))
        return error->status;
    return trust_create(section, &start, original->integrator, &force, diagnostic, error);
}

/* Displaces every body of a system's twin (the copy that shows how a small displacement grows) by
 * the same length, each in a direction of its own. */
static enum status displace(const struct shadows *shadows, size_t system, struct error *error)
{
    const struct shadow *shadow = &shadows->of[TRUST_TWIN];
    struct bodies *twin = shadow->simulation.bodies;
    const uint64_t seed = (uint64_t)section_integer(shadows->section, "seed") - 1 + system;
    gsl_rng *generator = random_create(seed % RANDOM_SEED_MAX + 1, error);
    if (!generator)
        return error->status;
    const double length = trust_displacement(shadows->trust, system);
    const size_t first = (size_t)shadow->slots[system] * twin->stride;
    for (size_t i = first; i < first + twin->count; i++) {
        double shift[3];
        random_on_sphere(generator, length, shift);
        twin->x[i] += shift[0];
        twin->y[i] += shift[1];
        twin->z[i] += shift[2];
    }
    random_destroy(generator);
    return STATUS_OK;
}

static const char *section_name(enum trust_shadow kind, const char *array,
                                char buffer[CHECKPOINT_NAME_SIZE])
{
    snprintf(buffer, CHECKPOINT_NAME_SIZE, "%s:%s", names[kind], array);
    return buffer;
}

/* Tells whether checkpoints save this array of a shadow: masses and ids are those of the run. */
static bool is_state(const char *array)
{
    return strcmp(array, "mass") != 0 && strcmp(array, "id") != 0;
}

static enum status load(const struct shadows *shadows, enum trust_shadow kind,
                        struct bodies *bodies, struct error *error)
{
    struct saved_array arrays[SAVED_ARRAYS];
    char name[CHECKPOINT_NAME_SIZE];
    saved_arrays(bodies, arrays);
    for (size_t k = 0; k < SAVED_ARRAYS; k++)
        if (is_state(arrays[k].name))
            checkpoint_get_words(shadows->checkpoint, section_name(kind, arrays[k].name, name),
                                 arrays[k].values, bodies->systems, bodies->count, bodies->stride,
                                 error);
    return error->status;
}

static void end_shadow(struct shadows *shadows, enum trust_shadow kind)
{
    struct shadow *shadow = &shadows->of[kind];
    simulation_destroy(&shadow->simulation);
    free(shadow->slots);
    *shadow = (struct shadow){ 0 };
    trust_show(shadows->trust, kind, NULL, NULL);
}

/* Chooses the systems that have this shadow, all or those of the checkpoint: puts their number into
 * *carried, their indices into `which`, and their places in the copy into shadow->slots. */
static enum status choose_systems(struct shadows *shadows, enum trust_shadow kind, size_t *which,
                                  size_t *carried, struct error *error)
{
    struct shadow *shadow = &shadows->of[kind];
    const size_t systems = shadows->original->bodies->systems;
    char name[CHECKPOINT_NAME_SIZE];
    shadow->slots = calloc(systems, sizeof *shadow->slots);
    if (!shadow->slots)
        return error_memory(error);
    if (shadows->checkpoint &&
        checkpoint_get_words(shadows->checkpoint, section_name(kind, "slots", name), shadow->slots,
                             1, systems, 0, error))
        return error->status;
    for (size_t s = 0; s < systems; s++)
        if (shadow->slots[s] != TRUST_NOT_CARRIED) {
            which[*carried] = s;
            shadow->slots[s] = (int64_t)(*carried)++;
        }
    return STATUS_OK;
}

/* Moves the bodies of a new copy to where the shadow begins: as in the checkpoint; else a twin is
 * displaced, and the shadow with half the step begins where the run does. */
static enum status place_bodies(const struct shadows *shadows, enum trust_shadow kind,
                                struct error *error)
{
    const struct shadow *shadow = &shadows->of[kind];
    if (shadows->checkpoint)
        return load(shadows, kind, shadow->simulation.bodies, error);
    for (size_t s = 0; s < shadows->original->bodies->systems && kind == TRUST_TWIN; s++)
        if (displace(shadows, s, error))
            return error->status;
    return STATUS_OK;
}

static enum status load_integrator(const struct shadows *shadows, enum trust_shadow kind,
                                   struct error *error)
{
    char prefix[CHECKPOINT_NAME_SIZE];
    return shadows->checkpoint
               ? saved_get_adaptive(shadows->checkpoint, section_name(kind, "", prefix),
                                    shadows->of[kind].simulation.backend, error)
               : STATUS_OK;
}

static enum status begin_shadow(struct shadows *shadows, enum trust_shadow kind,
                                struct error *error)
{
    struct shadow *shadow = &shadows->of[kind];
    struct simulation_changes changes = { .refinement = (double)trust_steps[kind], .later = true };
    size_t *const which = calloc(shadows->original->bodies->systems, sizeof *which);
    changes.which = which;
    if (!which)
        error_memory(error);
    else if (!choose_systems(shadows, kind, which, &changes.systems, error) &&
             changes.systems > 0 &&
             !simulation_copy(&shadow->simulation, shadows->original, &changes, error) &&
             !place_bodies(shadows, kind, error) && !simulation_start(&shadow->simulation, error) &&
             !load_integrator(shadows, kind, error))
        trust_show(shadows->trust, kind, shadow->simulation.bodies, shadow->slots);
    free(which);
    if (!error->status && changes.systems == 0)
        end_shadow(shadows, kind);
    return error->status;
}

static bool was_there(const struct shadows *shadows, enum trust_shadow kind)
{
    char name[CHECKPOINT_NAME_SIZE];
    return checkpoint_has(shadows->checkpoint, section_name(kind, "x", name));
}

enum status shadow_create(const struct config *config, struct simulation *original,
                          struct diagnostic *trust, const struct checkpoint *checkpoint,
                          struct shadows **result, struct error *error)
{
    struct shadows *const shadows = *result = calloc(1, sizeof *shadows);
    if (!shadows)
        return error_memory(error);
    shadows->section = config_section(config, "trust");
    shadows->original = original;
    shadows->trust = trust;
    shadows->checkpoint = checkpoint;
    for (int k = 0; k < TRUST_SHADOWS; k++) {
        const enum trust_shadow kind = (enum trust_shadow)k;
        const bool there = checkpoint ? was_there(shadows, kind) : copies_shadow(config, kind);
        if (there && begin_shadow(shadows, kind, error))
            return error->status;
    }
    shadows->checkpoint = NULL;
    return STATUS_OK;
}

void shadow_destroy(struct shadows *shadows)
{
    for (int k = 0; shadows && k < TRUST_SHADOWS; k++)
        end_shadow(shadows, (enum trust_shadow)k);
    free(shadows);
}

/* --- moving ----------------------------------------------------------------------------------- */

/* Brings the twin of a system (a copy that began displaced) nearer to the run: multiplies its
 * distance from the run, in positions and velocities, by `nearing`. */
static void bring_nearer(const struct shadows *shadows, const struct shadow *shadow, size_t system,
                         double nearing)
{
    const struct bodies *bodies = shadows->original->bodies, *twin = shadow->simulation.bodies;
    const double *const from[] = { bodies->x,  bodies->y,  bodies->z,
                                   bodies->vx, bodies->vy, bodies->vz };
    double *const to[] = { twin->x, twin->y, twin->z, twin->vx, twin->vy, twin->vz };
    const size_t first = system * bodies->stride;
    const size_t other = (size_t)shadow->slots[system] * twin->stride;
    for (size_t k = 0; k < COUNT_OF(to); k++)
        for (size_t i = 0; i < bodies->count; i++)
            to[k][other + i] =
                from[k][first + i] + nearing * (to[k][other + i] - from[k][first + i]);
}

/* Returns a flag for each system of the shadow, false: its bodies are not replaced. NULL with an
 * error. The caller frees them. */
static bool *no_flags(const struct shadow *shadow, struct error *error)
{
    bool *const flags = calloc(shadow->simulation.bodies->systems, sizeof *flags);
    if (!flags)
        error_memory(error);
    return flags;
}

static enum status adjust_twin(struct shadows *shadows, struct error *error)
{
    struct shadow *twin = &shadows->of[TRUST_TWIN];
    bool moved = false;
    bool *const anew = no_flags(twin, error);
    for (size_t s = 0; s < shadows->original->bodies->systems && !error->status; s++) {
        const double nearing = trust_take_nearing(shadows->trust, s);
        if (nearing == 1.0 || twin->slots[s] == TRUST_NOT_CARRIED)
            continue;
        if (!moved && (simulation_fetch(shadows->original, error) ||
                       simulation_fetch(&twin->simulation, error)))
            break;
        moved = true;
        anew[twin->slots[s]] = true;
        bring_nearer(shadows, twin, s, nearing);
    }
    if (moved && !error->status)
        simulation_renew(&twin->simulation, anew, error);
    free(anew);
    return error->status;
}

static size_t count_needed(const struct shadows *shadows, enum trust_shadow kind)
{
    const struct shadow *shadow = &shadows->of[kind];
    size_t needed = 0;
    for (size_t s = 0; s < shadows->original->bodies->systems; s++)
        needed += shadow->slots[s] != TRUST_NOT_CARRIED && !trust_is_done(shadows->trust, kind, s);
    return needed;
}

/* Keeps the `needed` systems that count_needed() has counted, and drops the others. */
static enum status drop_systems(struct shadows *shadows, enum trust_shadow kind, size_t needed,
                                struct error *error)
{
    struct shadow *shadow = &shadows->of[kind];
    size_t *const which = calloc(needed, sizeof *which), next = 0;
    if (!which)
        return error_memory(error);
    for (size_t s = 0; s < shadows->original->bodies->systems; s++) {
        int64_t *slot = &shadow->slots[s];
        const bool done = trust_is_done(shadows->trust, kind, s);
        if (*slot != TRUST_NOT_CARRIED && !done)
            which[next] = (size_t)*slot;
        if (*slot != TRUST_NOT_CARRIED)
            *slot = done ? TRUST_NOT_CARRIED : (int64_t)next++;
    }
    if (!simulation_fetch(&shadow->simulation, error))
        simulation_keep(&shadow->simulation, which, needed, error);
    free(which);
    trust_show(shadows->trust, kind, shadow->simulation.bodies, shadow->slots);
    return error->status;
}

enum status shadow_adjust(struct shadows *shadows, struct error *error)
{
    enum status status = STATUS_OK;
    for (int k = 0; shadows && k < TRUST_SHADOWS && !status; k++) {
        const enum trust_shadow kind = (enum trust_shadow)k;
        const struct shadow *shadow = &shadows->of[kind];
        const size_t needed = shadow->simulation.backend ? count_needed(shadows, kind) : 0;
        if (needed == 0)
            end_shadow(shadows, kind);
        else if (needed < shadow->simulation.bodies->systems)
            status = drop_systems(shadows, kind, needed, error);
    }
    return !status && shadows && shadows->of[TRUST_TWIN].simulation.backend
               ? adjust_twin(shadows, error)
               : status;
}

static size_t system_at(const struct shadows *shadows, const struct shadow *shadow, size_t slot)
{
    size_t s = 0;
    while (s + 1 < shadows->original->bodies->systems && shadow->slots[s] != (int64_t)slot)
        s++;
    return s;
}

static bool is_lost(const struct simulation *simulation, size_t system)
{
    const struct bodies *const bodies = simulation->bodies;
    const size_t first = system * bodies->stride, last = first + bodies->stride;
    return bodies_not_finite(bodies, first, last) < last ||
           simulation_work_done(simulation, system).stuck;
}

/* Lets the systems of a shadow that are lost begin again as copies of the run's
 * systems, and notes with trust_lose() that they were lost. */
static enum status give_up_lost(struct shadows *shadows, enum trust_shadow kind,
                                struct error *error)
{
    struct shadow *shadow = &shadows->of[kind];
    struct bodies *bodies = shadow->simulation.bodies;
    if (simulation_fetch(&shadow->simulation, error) || simulation_fetch(shadows->original, error))
        return error->status;
    bool *const anew = no_flags(shadow, error);
    for (size_t k = 0; anew && k < bodies->systems; k++) {
        if (!is_lost(&shadow->simulation, k))
            continue;
        const size_t system = system_at(shadows, shadow, k);
        bodies_copy_system(bodies, k, shadows->original->bodies, system);
        trust_lose(shadows->trust, system, kind);
        anew[k] = true;
    }
    if (anew)
        simulation_renew(&shadow->simulation, anew, error);
    free(anew);
    return error->status;
}

static enum status advance_one(struct shadows *shadows, enum trust_shadow kind, uint64_t steps,
                               struct error *error)
{
    struct error lost = { 0 };
    const enum status status =
        simulation_advance(&shadows->of[kind].simulation, steps * trust_steps[kind], &lost);
    return status == STATUS_NUMERICAL ? give_up_lost(shadows, kind, error)
                                      : error_pass(error, &lost);
}

enum status shadow_advance(struct shadows *shadows, uint64_t steps, struct error *error)
{
    enum status status = STATUS_OK;
    for (int k = 0; shadows && k < TRUST_SHADOWS && !status; k++)
        if (shadows->of[k].simulation.backend)
            status = advance_one(shadows, (enum trust_shadow)k, steps, error);
    return status;
}

enum status shadow_fetch(struct shadows *shadows, struct error *error)
{
    enum status status = STATUS_OK;
    for (int k = 0; shadows && k < TRUST_SHADOWS && !status; k++) {
        struct simulation *shadow = &shadows->of[k].simulation;
        if (shadow->backend)
            status = simulation_fetch(shadow, error);
    }
    return status;
}

/* --- saving ----------------------------------------------------------------------------------- */

void shadow_put(struct checkpoint_writer *writer, const struct shadows *shadows)
{
    for (int k = 0; shadows && k < TRUST_SHADOWS; k++) {
        const struct bodies *bodies = shadows->of[k].simulation.bodies;
        struct saved_array arrays[SAVED_ARRAYS];
        char name[CHECKPOINT_NAME_SIZE];
        if (!bodies)
            continue;
        checkpoint_put_words(writer, section_name((enum trust_shadow)k, "slots", name),
                             shadows->of[k].slots, 1, shadows->original->bodies->systems, 0);
        saved_put_adaptive(writer, section_name((enum trust_shadow)k, "", name),
                           shadows->of[k].simulation.backend);
        saved_arrays(bodies, arrays);
        for (size_t a = 0; a < SAVED_ARRAYS; a++)
            if (is_state(arrays[a].name))
                checkpoint_put_words(
                    writer, section_name((enum trust_shadow)k, arrays[a].name, name),
                    arrays[a].values, bodies->systems, bodies->count, bodies->stride);
    }
}
