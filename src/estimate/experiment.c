#include "estimate/experiment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/ranks.h"
#include "base/memory.h"
#include "estimate/need.h"
#include "integrator/stage-list.h"
#include "machine/cores.h"

/* The largest number of steps that a double counts exactly; no real run is so long. */
static const double max_steps = 9007199254740992.0; /* 2^53 */

const struct integrator *experiment_integrator(const struct config *config)
{
    return stage_list_or_row(config_section(config, "time"));
}

void experiment_name(const struct config *config, char name[EXPERIMENT_NAME_SIZE])
{
    const char *given = section_string(config_section(config, ""), "name");
    if (given) {
        snprintf(name, EXPERIMENT_NAME_SIZE, "%s", given);
        return;
    }
    const char *path = config_path(config);
    const char *slash = strrchr(path, '/');
    snprintf(name, EXPERIMENT_NAME_SIZE, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    if (strcmp(name, "-") == 0)
        strcpy(name, "orrery");
}

const char *experiment_directory(const struct experiment *experiment, const char *given,
                                 char buffer[EXPERIMENT_DIRECTORY_SIZE])
{
    if (given)
        return given;
    snprintf(buffer, EXPERIMENT_DIRECTORY_SIZE, "%s.run", experiment->name);
    return buffer;
}

static void resolve_physics(struct experiment *experiment, struct error *error)
{
    const struct section *section = config_section(experiment->config, "physics");
    struct physics *physics = &experiment->simulation.physics;
    section_read(section, physics);
    physics->units = units_find(section_string(section, "units"));
    const double own = physics->units->gravitational_constant;
    if (isnan(physics->gravitational_constant))
        physics->gravitational_constant = own;
    if (units_physical(physics->units) && physics->gravitational_constant != own)
        section_error(section, "gravitational_constant", error,
                      "units = \"%s\" already set it to %.17g", physics->units->name, own);
    if (physics->boundary != BOUNDARY_PERIODIC)
        physics->box_length = 0.0;
    external_create(experiment->config, physics->gravitational_constant, physics->rotation,
                    &experiment->external, error);
    physics->external = experiment->external;
}

/* Diagnostics that are refused in a rotating frame, or (`by_fields`) in any external field, too. */
static const struct {
    const char *type;
    bool by_fields;
    const char *reason;
} unfit[] = {
    { "escapers", true, "is for a cluster alone; in a field, bound-mass counts what stays bound" },
    { "orbit", true, "compares with two bodies alone, and a field moves them otherwise" },
    { "binaries", false, "takes velocities as those of an inertial frame" },
    { "disc-profile", false, "takes velocities as those of an inertial frame" },
    { "virial", false, "leaves out the virial of the Coriolis force" },
};

static void check_diagnostics(const struct config *config, bool turns, struct error *error)
{
    for (size_t i = 0; i < config_count(config, "diagnostics"); i++) {
        const struct section *const section = config_item(config, "diagnostics", i);
        for (size_t k = 0; k < COUNT_OF(unfit); k++)
            if (strcmp(section_variant(section)->name, unfit[k].type) == 0 &&
                (unfit[k].by_fields || turns))
                section_error(section, "type", error, "%s%s",
                              unfit[k].by_fields ? "" : "physics.rotation != 0: it ",
                              unfit[k].reason);
    }
}

static void check_criteria(const struct config *config, const char *list, struct error *error)
{
    for (size_t i = 0; i < config_count(config, list); i++) {
        const struct section *const section = config_item(config, list, i);
        if (strstr(section_string(section, "quantity"), "virial_ratio"))
            section_error(section, "quantity", error,
                          "physics.rotation != 0: the virial ratio leaves out the Coriolis force, "
                          "and may have any value");
    }
}

/* Initial conditions whose velocities make orbits in an inertial frame only. */
static const char *const inertial[] = { "two-body",  "orbits", "figure-eight", "outer-solar-system",
                                        "encounter", "disc",   "galaxy" };

static void check_start(const struct section *bodies, struct error *error)
{
    const char *const name = section_variant(bodies)->name;
    for (size_t k = 0; k < COUNT_OF(inertial); k++)
        if (strcmp(name, inertial[k]) == 0)
            section_error(bodies, "initial", error,
                          "its velocities are those of an inertial frame, and physics.rotation "
                          "!= 0; write them into a file as they are in the frame");
}

/* Refuses diagnostics, initial conditions, boundaries and integrators that do not fit the external
 * fields of the config, or a frame that rotates. */
static void check_fields(const struct experiment *experiment, struct error *error)
{
    const struct config *const config = experiment->config;
    const struct simulation *const s = &experiment->simulation;
    const struct section *const bodies = config_section(config, "bodies");
    const bool turns = s->physics.rotation != 0.0;
    if (!experiment->external)
        return;
    const struct section *const asked =
        turns ? config_section(config, "physics") : config_item(config, "external", 0);
    const char *const key = turns ? "rotation" : NULL;
    check_diagnostics(config, turns, error);
    if (section_has(bodies, "virial_ratio"))
        section_error(bodies, "virial_ratio", error,
                      "counts the attraction of the bodies alone, and there are %s; leave it out",
                      turns ? "forces of a rotating frame" : "external fields");
    if (turns) {
        check_start(bodies, error);
        check_criteria(config, "expect", error);
        check_criteria(config, "stop_when", error);
    }
    if (s->physics.boundary == BOUNDARY_PERIODIC)
        section_error(asked, key, error, "%s",
                      turns ? "a periodic box cannot turn; use boundary = \"open\""
                            : "a periodic box has no place for fields; use physics.boundary = "
                              "\"open\"");
    if (turns && !integrator_takes_rotation(s->integrator))
        section_error(config_section(config, "time"), "integrator", error,
                      INTEGRATOR_TAKES_NO_ROTATION, s->integrator->variant.name);
}

/* Refuses a body at a place where an external field is infinite, and the shadows of trust if there
 * are fields and no body of a system has mass. */
static enum status check_places(const struct experiment *experiment, const struct bodies *b,
                                struct error *error)
{
    const struct section *const trust = config_section(experiment->config, "trust");
    char name[BODIES_NAME_SIZE];
    for (size_t s = 0; experiment->external && s < b->systems; s++) {
        if (section_flag(trust, "shadow") && !external_has_mass(b, s))
            return section_error(trust, "shadow", error,
                                 "measures by the extent of the masses, and no body has any");
        const size_t i = external_find_singular(experiment->external, b, s * b->stride);
        if (i < s * b->stride + b->count)
            return error_set(error, STATUS_DATA,
                             "%s is at (%.9g, %.9g, %.9g), where an external field is infinite",
                             bodies_name(b, b->id[i], name), b->x[i], b->y[i], b->z[i]);
    }
    return STATUS_OK;
}

/* Refuses time.energy_error if E0 and U0 are 0 in a system, so that its error is undefined whatever
 * the steps: no two of its bodies have mass, and there are no fields. With energy_error_of some
 * systems may have such an error. */
static enum status check_energy(const struct experiment *experiment, const struct bodies *b,
                                struct error *error)
{
    const struct section *const time = config_section(experiment->config, "time");
    if (!section_has(time, "energy_error") || section_has(time, "energy_error_of") ||
        experiment->external)
        return STATUS_OK;
    for (size_t s = 0; s < b->systems; s++) {
        size_t heavy = 0;
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
            heavy += b->m[i] > 0.0;
        if (heavy < 2)
            return section_error(time, "energy_error", error,
                                 "is undefined without two bodies that have mass, since E0 and U0 "
                                 "are 0; give time.integrator and time.step instead: the column "
                                 "test_energy_error of conservation is that of bodies without "
                                 "mass");
    }
    return STATUS_OK;
}

/* Tells whether `steps`, the end of the run over the step, is a whole number but for rounding; 0 is
 * none, since a run needs a step. */
static bool is_whole(double steps)
{
    return rint(steps) > 0.0 && fabs(steps - rint(steps)) < 1e-9 * fmax(steps, 1.0);
}

const char *experiment_end_note(const struct experiment *experiment,
                                char buffer[EXPERIMENT_NOTE_SIZE])
{
    const struct section *section = config_section(experiment->config, "time");
    const struct units *units = experiment->simulation.physics.units;
    const double end = section_real(section, "end");
    char time[UNITS_TEXT_SIZE];
    buffer[0] = '\0';
    if (integrator_chooses_steps(experiment->simulation.integrator) &&
        section_has(section, "step") && !is_whole(end / section_real(section, "step")))
        snprintf(buffer, EXPERIMENT_NOTE_SIZE,
                 "time.end = %.6g is no multiple of the grid: its steps are shorter, %s, and the "
                 "run ends at time.end",
                 end, units_time(units, experiment->simulation.step, 6, time));
    else if (!is_whole(end / experiment->simulation.step))
        snprintf(
            buffer, EXPERIMENT_NOTE_SIZE,
            "time.end = %.6g is no multiple of the step: the run ends at t = %s", end,
            units_time(units, (double)experiment->steps * experiment->simulation.step, 6, time));
    return buffer;
}

static double count_steps(double end, double step)
{
    const double steps = end / step;
    return is_whole(steps) ? rint(steps) : ceil(steps);
}

double experiment_grid(double end, double step)
{
    if (isnan(step))
        return end / EXPERIMENT_DEFAULT_GRID;
    return is_whole(end / step) ? step : end / count_steps(end, step);
}

double experiment_step_count(const struct experiment *experiment, double step)
{
    const struct section *section = config_section(experiment->config, "time");
    return count_steps(section_real(section, "end"), step);
}

static void resolve_time(struct experiment *experiment, struct error *error)
{
    const struct section *section = config_section(experiment->config, "time");
    struct simulation *const simulation = &experiment->simulation;
    simulation->integrator = experiment_integrator(experiment->config);
    simulation->options.time = section;
    if (!section_has(section, "step") && integrator_has_stages(simulation->integrator)) {
        section_error(section, "step", error, "must be given here, where none is chosen");
        return;
    }
    simulation->step = section_has(section, "step") ? section_real(section, "step") : NAN;
    /* The events of the run need a grid, though such an integrator does not. */
    if (integrator_chooses_steps(simulation->integrator))
        simulation->step = experiment_grid(section_real(section, "end"), simulation->step);
    const double steps = experiment_step_count(experiment, simulation->step);
    if (steps > max_steps)
        section_error(section, "step", error, "would need %g steps to reach time.end", steps);
    else
        experiment->steps = (uint64_t)steps;
}

static void resolve_backend(struct experiment *experiment, struct error *error)
{
    const struct section *section = config_section(experiment->config, "compute");
    experiment->simulation.class_ = backend_find(section_variant(section)->name);
    experiment->simulation.options.force = force_options_of(section);
    experiment->simulation.options.devices = (int)section_integer(section, "devices");
    experiment->simulation.options.stream = section_flag(section, "stream");
    if (experiment->simulation.options.stream && experiment->simulation.class_ != &backend_cuda)
        section_error(section, "stream", error,
                      "bodies pass through a GPU only under compute.backend = \"cuda\", and it is "
                      "\"%s\"",
                      experiment->simulation.class_->variant.name);
}

/* Refuses the shadows of trust (copies of the run that show its errors) with a force method that
 * leaves out a part of the forces, an error that shadows share and do not show; and trust_until
 * without both shadows or without double precision. */
static void check_trust(const struct experiment *experiment, struct error *error)
{
    const struct section *section = config_section(experiment->config, "trust");
    const struct section *const time = config_section(experiment->config, "time");
    const struct force_options *const force = &experiment->simulation.options.force;
    if (section_flag(section, "shadow") && force_traits(force).truncation > 0)
        section_error(section, "shadow", error,
                      "compute.method = \"%s\" leaves errors in its forces that shadows do not "
                      "show; use \"direct\"",
                      force_method_of(force)->name);
    if (!section_has(time, "trust_until"))
        return;
    if (!section_flag(section, "shadow") || !section_flag(section, "half_step"))
        section_error(time, "trust_until", error,
                      "needs the shadows that show how accurate orbits are: trust = { shadow = "
                      "true; half_step = true; }");
    if (force->precision != PRECISION_DOUBLE)
        section_error(
            time, "trust_until", error,
            "needs compute.precision = \"double\", whose roundings end the accuracy last");
}

/* Refuses ensemble.systems other than the number of bodies.files. The default, 1, is allowed even
 * if it is written down. */
static void check_systems(const struct config *config, struct error *error)
{
    const struct section *section = config_section(config, "ensemble");
    const size_t systems = need_systems(config);
    if (section_given(section, "systems") && (size_t)section_integer(section, "systems") != systems)
        section_error(section, "systems", error,
                      "bodies.files names %zu files, each of them a system; leave this out",
                      systems);
}

/* Tells whether all systems of an ensemble are the same, as when no random numbers are drawn. */
static bool are_copies(const struct bodies *b)
{
    const double *const arrays[] = { b->m, b->x, b->y, b->z, b->vx, b->vy, b->vz };
    bool same = b->systems > 1;
    for (size_t s = 1; s < b->systems; s++)
        for (size_t k = 0; k < COUNT_OF(arrays) && same; k++)
            same = memcmp(arrays[k], arrays[k] + s * b->stride, b->count * sizeof(double)) == 0;
    return same;
}

const char *experiment_why_identical(const struct experiment *x)
{
    return body_files_systems(&x->body_files) > 0 ? "their files hold the same bodies"
                                                  : "this start draws nothing from the seed";
}

enum status experiment_create(const struct config *config, struct interruption *interruption,
                              struct experiment *experiment, struct error *error)
{
    *experiment =
        (struct experiment){ .config = config, .simulation.physics.interruption = interruption };
    experiment->body_files = body_files_of(config_section(config, "bodies"));
    experiment_name(config, experiment->name);
    resolve_physics(experiment, error);
    resolve_time(experiment, error);
    resolve_backend(experiment, error);
    check_fields(experiment, error);
    check_trust(experiment, error);
    check_systems(config, error);
    initial_check_use(config, error);
    if (initial_check_units(config_section(config, "bodies"), &experiment->simulation.physics,
                            error))
        return error->status;
    struct memory_need need;
    if (need_of_run(config, &need, error) || need_check(config, &need, 1, error) ||
        need_check_ranks(config, &need, error))
        return error->status;
    struct error absent = { 0 };
    if (experiment->simulation.class_->probe && experiment->simulation.class_->probe(&absent))
        return section_refuse(config_section(config, "compute"), "backend", absent.status, error,
                              absent.text);
    ranks_share(&experiment->simulation.class_, &experiment->simulation.options);
    const int before = cores_limit_threads(experiment->simulation.options.force.threads);
    struct bodies *bodies;
    const enum status made =
        initial_create(config_section(config, "bodies"), &experiment->simulation.physics,
                       &experiment->simulation.options.force, need.systems, need.count, &bodies,
                       &experiment->warnings, error);
    cores_limit_threads(before);
    if (made || simulation_take(&experiment->simulation, bodies, error) ||
        check_places(experiment, bodies, error) || check_energy(experiment, bodies, error))
        return error->status;
    experiment->identical = are_copies(experiment->simulation.bodies);
    return STATUS_OK;
}

void experiment_destroy(struct experiment *experiment)
{
    simulation_destroy(&experiment->simulation);
    external_destroy(experiment->external);
    experiment->external = NULL;
}

double experiment_interactions(const struct experiment *experiment, uint64_t steps)
{
    const struct bodies *const b = experiment->simulation.bodies;
    const double work =
        force_work(&experiment->simulation.options.force, (double)b->systems, (double)b->count);
    const double forces = (double)integrator_forces_per_step(experiment->simulation.integrator);
    return work * forces * (double)steps;
}
