#include "run/schema.h"

#include <stdlib.h>
#include <string.h>

#include "accuracy/energy-budget.h"
#include "accuracy/trust.h"
#include "accuracy/watch.h"
#include "backend/backend.h"
#include "base/build.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "estimate/accuracy-target.h"
#include "external/field.h"
#include "force/method.h"
#include "formats/output.h"
#include "initial/initial.h"
#include "integrator/stage-list.h"
#include "machine/cores.h"
#include "model/physics.h"
#include "model/units.h"
#include "observation/criteria.h"

/* --- rows that belong to no single table ------------------------------------------------------ */

static const struct parameter top_rows[] = {
    { KEY(STRING, name), OPTIONAL,
      .help = "Name of the experiment and of its output directory NAME.run; unset: that of the "
              "config file." },
};

#define CPU_KERNEL(id, name, help) #name,
#define GPU_KERNEL(id, name, help, ...) #name,
#define GPU_KERNEL_OF_BOTH(...)
const char *const schema_kernel_names[] = { FORCE_KERNEL_ROWS(CPU_KERNEL)
#include "gpu/kernels/catalog.inc"
                                                NULL };
#undef CPU_KERNEL
#define CPU_KERNEL(id, name, help) help,
#define GPU_KERNEL(id, name, help, ...) help,
#define GPU_KERNEL_OF_BOTH(...)
static const char *const kernel_help[] = { FORCE_KERNEL_ROWS(CPU_KERNEL)
#include "gpu/kernels/catalog.inc"
                                               NULL };

static const char *const boundary_names[] = { "open", "periodic", NULL };

static const struct parameter physics_rows[] = {
    { KEY(CHOICE, units), BY_DEFAULT(STRING, "nbody"), .choices = units_names,
      .choice_help = units_help, .help = "Units of all numbers." },
    { BIND(REAL, struct physics, gravitational_constant), OPTIONAL, POSITIVE,
      .dimension = DIMENSION_G, .help = "Newton's G; unset: that of the units." },
    { BIND(REAL, struct physics, softening), BY_DEFAULT(REAL, 0.0), NOT_NEGATIVE,
      .dimension = DIMENSION_LENGTH,
      .help = "Softening length eps of the Plummer form phi = -G m / sqrt(r^2 + eps^2)." },
    { BIND(CHOICE, struct physics, boundary), BY_DEFAULT(STRING, "open"), .choices = boundary_names,
      .help = "open: infinite space; periodic: a cube of side box_length, in which the nearest "
              "image of each body acts." },
    { BIND(REAL, struct physics, box_length), OPTIONAL, POSITIVE, .dimension = DIMENSION_LENGTH,
      .help = "Side of the periodic cube; required by boundary = \"periodic\", and only by it." },
    { BIND(REAL, struct physics, rotation), BY_DEFAULT(REAL, 0.0), .dimension = { 0, 0, -1 },
      .help = "Angular speed about the z axis, in radians, of the frame in which positions and "
              "velocities are and external fields rest; 0: an inertial frame." },
};

static const struct parameter time_rows[] = {
    { KEY(REAL, step), .instead = { "energy_error", "trust_until" },
      .instead_help = "give time.energy_error, the largest energy error that you accept, such as "
                      "1e-6: the program then chooses the step",
      POSITIVE, .dimension = DIMENSION_TIME,
      .help = "Time step; unset: chosen for energy_error or trust_until, and then `every` and "
              "checkpoints count "
              "thousandths of the run." },
    { KEY(REAL, end), POSITIVE, .dimension = DIMENSION_TIME,
      .help = "Time at which the run ends; it starts at 0." },
    { KEY(REAL, energy_error), OPTIONAL, BETWEEN(0, 1.0), .open = OPEN_MINIMUM | OPEN_MAXIMUM,
      .help = "Largest energy error |E - E0| over the larger of |E0| and |U0|, about the centre of "
              "mass, that the run may have at any row. To keep it, the program chooses those of "
              "integrator, step and accuracy that are left out." },
    { KEY(CHOICE, energy_error_of), OPTIONAL, .choices = accuracy_target_names,
      .choice_help = accuracy_target_help,
      .help = "System of an ensemble that energy_error is asked of; unset: the worst." },
    { KEY(REAL, trust_until), OPTIONAL, POSITIVE, .dimension = DIMENSION_TIME,
      .help = "Time until which the orbits are to be accurate, within trust.tolerance, or for nine "
              "tenths of the time that double precision carries them; needs trust = { shadow = "
              "true; half_step = true; }. What is left out of "
              "integrator, step and accuracy is chosen so that they are." },
    { KEY(REAL, work_limit), OPTIONAL, POSITIVE,
      .help = "A run whose steps were chosen stops with a checkpoint, and --restart continues it, "
              "once it has cost ten times what its pilots predicted and also this, in pairs of a "
              "direct sum; unset: 1e12, some five minutes." },
};

static const struct parameter compute_rows[] = {
    { KEY(CHOICE, method), BY_DEFAULT(STRING, "direct"), .choices = force_method_names,
      .choice_help = force_method_help, .help = "Method that finds the forces." },
    { BIND(REAL, struct force_options, accuracy), BY_DEFAULT(REAL, 1e-4), BETWEEN(1e-8, 1e-2),
      .help = "For method = \"fmm\": the error of the accelerations that you accept, its "
              "root mean square over that of the accelerations." },
    { BIND(CHOICE, struct force_options, precision), BY_DEFAULT(STRING, "double"),
      .choices = precision_names, .choice_help = precision_help,
      .help = "Arithmetic of the pair terms of the force. The state is always double." },
    { BIND(CHOICE, struct force_options, kernel), BY_DEFAULT(STRING, "auto"),
      .choices = schema_kernel_names, .choice_help = kernel_help, .help = "Force kernel." },
    { BIND(CHOICE, struct force_options, isa), BY_DEFAULT(STRING, "auto"),
      .choices = force_isa_names, .choice_help = force_isa_help,
      .help = "Instruction set of the force kernel on CPUs." },
    { BIND(INTEGER, struct force_options, threads), BY_DEFAULT(INTEGER, 0),
      BETWEEN(0, CORES_THREADS_MOST),
      .help = "CPU threads; 0: one for each core that this process may use." },
    { KEY(INTEGER, devices), BY_DEFAULT(INTEGER, 1), BETWEEN(0, 64),
      .help = "GPUs that share the systems, or the bodies of one system; 0: all visible "
              "ones. Under mpirun: the GPUs of each rank, in turn." },
    { KEY(FLAG, stream), BY_DEFAULT(FLAG, false),
      .help = "With backend = \"cuda\": bodies stay on the host, and systems pass through the "
              "GPU in batches, as they do if its memory is too small for all." },
};

static const struct parameter checkpoint_rows[] = {
    { KEY(INTEGER, every_steps), OPTIONAL, AT_LEAST(1),
      .help = "Steps between two checkpoints; unset: none at fixed steps." },
    { KEY(REAL, every_minutes), BY_DEFAULT(REAL, 10.0), POSITIVE,
      .help = "Minutes of wall time between two checkpoints. The end of a run always saves one." },
};

static const struct parameter expect_rows[] = {
    { BIND(STRING, struct criterion, quantity),
      .help = "Column of a diagnostic of this run (energy_error); diagnostic.column if "
              "several have one of that name, or if the diagnostic writes a table per event. "
              "Every row of such a table counts." },
    { KEY(REAL, at_most), OPTIONAL, .help = "Upper bound." },
    { KEY(REAL, at_least), OPTIONAL, .help = "Lower bound." },
    { KEY(REALS, between), OPTIONAL, .length = 2, .help = "Lower and upper bound, both allowed." },
    { BIND(REAL, struct criterion, after), OPTIONAL, .dimension = DIMENSION_TIME,
      .help = "Look only at rows from this time on." },
    { BIND(REAL, struct criterion, before), OPTIONAL, .dimension = DIMENSION_TIME,
      .help = "Look only at rows up to this time." },
};

static const struct parameter ensemble_rows[] = {
    { KEY(INTEGER, systems), BY_DEFAULT(INTEGER, 1), BETWEEN(1, 1e9),
      .help =
          "Independent systems that run side by side, with consecutive seeds; with bodies.files "
          "there are as many as files." },
    { KEY(REAL, energy_error_limit), OPTIONAL, POSITIVE,
      .help =
          "Leave systems whose energy error was ever larger out of the statistics over systems." },
};

static const struct parameter sweep_rows[] = {
    { KEY(STRING, key), .help = "Path of the key to vary: \"time.step\"." },
    { KEY(VALUES, values), .help = "Its values, one run each; several keys make a grid." },
};

/* --- checks of several keys together ---------------------------------------------------------- */

/* The most bytes of a `name` in the config. File systems take file names of 255 bytes, and endings
 * such as ".convergence" must fit too. A name that is cut off could be that of another run. */
enum { NAME_MOST = 200 };

/* Refuses a `name` that would not stay in its directory when it becomes the name of a file. */
static void check_name(const struct section *section, struct error *error)
{
    const char *name = section_string(section, "name");
    if (!name)
        return;
    if (strlen(name) > NAME_MOST)
        section_error(section, "name", error, "must have at most %d bytes", NAME_MOST);
    else if (!name_is_file(name))
        section_error(section, "name", error,
                      "must be a plain file name: not empty, no '/', not starting with '.' or '-', "
                      "no control characters");
}

static void check_time(const struct section *section, struct error *error)
{
    char end[TEXT_REAL_SIZE];
    accuracy_target_check(section, error);
    stage_list_read(section, error);
    if (section_has(section, "step") &&
        section_real(section, "step") > section_real(section, "end"))
        section_error(section, "step", error,
                      "is longer than the whole run: time.end = %s; a run has hundreds of steps "
                      "at least: write %g, and orrery check says which step the bodies need",
                      text_real(end, section_real(section, "end")),
                      section_real(section, "end") / 1000);
}

/* Refuses keys that the chosen force method does not use, with the line where they are given,
 * rather than ignoring them. */
static void check_compute(const struct section *section, struct error *error)
{
    const struct force_method *const method = force_method_find(section_string(section, "method"));
    const bool accurate = force_method_takes(method, "accuracy");
    for (size_t k = 0; k < COUNT_OF(compute_rows); k++) {
        const char *const key = compute_rows[k].key;
        if (force_method_takes(method, key) || !section_given(section, key))
            continue;
        struct text owners = { 0 };
        for (size_t m = 0; force_method_names[m]; m++)
            if (force_method_takes(force_method_find(force_method_names[m]), key))
                text_print(&owners, "%s%s", owners.length ? ", " : "", force_method_names[m]);
        section_error(section, key, error, "does not apply to method = \"%s\"%s; it belongs to %s",
                      method->name, accurate ? ", whose accuracy decides the arithmetic" : "",
                      owners.failed ? "another" : owners.bytes);
        text_free(&owners);
    }
}

static void check_physics(const struct section *section, struct error *error)
{
    const bool periodic = section_choice(section, "boundary") == BOUNDARY_PERIODIC;
    if (periodic && !section_has(section, "box_length"))
        section_error(section, "box_length", error,
                      "must be given if boundary = \"periodic\": a number greater than 0");
    if (!periodic && section_given(section, "box_length"))
        section_error(section, "box_length", error,
                      "does not apply to boundary = \"open\"; it belongs to periodic");
}

static void check_sweep(const struct section *section, struct error *error)
{
    size_t count;
    section_values(section, "values", &count);
    if (count == 0)
        section_error(section, "values", error, "must have at least one value");
}

/* --- the schema ------------------------------------------------------------------------------- */

#define ROWS(table) .parameters = table, .parameter_count = COUNT_OF(table)
#define ROWS_OF(module)                                                                            \
    .parameters = module##_parameters, .parameter_count = module##_parameter_count

const struct schema *schema_experiment(struct schema_room *room)
{
    const struct group groups[] = {
        { .name = "", ROWS(top_rows), .check = check_name },
        { .name = "bodies",
          .help = "The bodies and their start.",
          ROWS_OF(initial),
          .variant_key = "initial",
          .variant_help = "Initial conditions.",
          .variant = initial_variant,
          .check = initial_check_bodies },
        { .name = "models",
          .help = "The two models of bodies.initial = \"encounter\", each a start of its own.",
          .list = true,
          ROWS_OF(initial_model),
          .variant_key = "initial",
          .variant_help = "Initial conditions of the model, with their keys of `bodies`.",
          .variant = initial_model_variant,
          .variants_elsewhere = true,
          .check = initial_check_model },
        { .name = "physics",
          .help = "The law of motion: softened Newtonian gravity.",
          ROWS(physics_rows),
          .check = check_physics },
        { .name = "external",
          .help =
              "Fields at rest in which the bodies move: halos, discs, a uniform pull. Each acts "
              "on every body beside the attraction of the others.",
          .list = true,
          .parameters = field_parameters,
          .parameter_count = FIELD_PARAMETERS,
          .variant_key = "type",
          .variant_help = "The field.",
          .variant = field_variant },
        { .name = "time",
          .help = "How the bodies move, and for how long.",
          ROWS(time_rows),
          .variant_key = "integrator",
          .variant_default = "velocity-verlet",
          .variant_help = "Integration scheme.",
          .variant = integrator_variant,
          .check = check_time,
          .kept_size = sizeof(struct integrator) },
        { .name = "compute",
          .help = "How the forces are computed, and by which hardware.",
          ROWS(compute_rows),
          .variant_key = "backend",
          .variant_default = "auto",
          .variant_help = "The part of the program or machine that computes.",
          .variant = backend_variant,
          .check = check_compute },
        { .name = "diagnostics",
          .help = "The measurements; each writes one CSV file.",
          .list = true,
          ROWS_OF(diagnostic),
          .variant_key = "type",
          .variant_help = "The measurement.",
          .variant = diagnostic_variant,
          .check = diagnostic_check_name },
        { .name = "outputs",
          .help = "Files of the bodies themselves.",
          .list = true,
          ROWS_OF(output),
          .variant_key = "type",
          .variant_help = "Format.",
          .variant = output_variant },
        { .name = "checkpoint",
          .help = "When to save the state, so that a run can be continued.",
          ROWS(checkpoint_rows) },
        { .name = "expect",
          .help = "Acceptance criteria on the diagnostics: each names a quantity and one of "
                  "at_most, at_least, between. They decide the verdict and the exit status.",
          .list = true,
          ROWS(expect_rows) },
        { .name = "stop_when",
          .help = "Conditions on the diagnostics, written as in `expect`, that end the run: at "
                  "the first row within the bounds.",
          .list = true,
          ROWS(expect_rows) },
        { .name = "watch",
          .help = "The accuracy watch, at work in every run: jumps of the energy, and a step too "
                  "large for the fastest pair.",
          ROWS_OF(watch) },
        { .name = "trust",
          .help = "How long the orbits can be trusted: shadows of the run, displaced by a rounding "
                  "error and with half the step, show how errors grow.",
          ROWS_OF(trust) },
        { .name = "energy_budget",
          .help = "The causes of the energy error, by replays of the run in parts.",
          ROWS_OF(energy_budget) },
        { .name = "ensemble", .help = "Many independent systems at once.", ROWS(ensemble_rows) },
        { .name = "sweep",
          .help = "A grid of runs.",
          .list = true,
          ROWS(sweep_rows),
          .check = check_sweep },
    };
    _Static_assert(COUNT_OF(groups) == SCHEMA_GROUPS, "room for every group");
    memcpy(room->groups, groups, sizeof groups);
    room->schema = (struct schema){ room->groups, SCHEMA_GROUPS };
    return &room->schema;
}

static void append_program_config(struct text *path)
{
    char *program = build_path();
    const char *slash = program ? strrchr(program, '/') : NULL;
    if (slash)
        text_print(path, "%.*s/config", (int)(slash - program), program);
    free(program);
}

enum status schema_load(const char *path, const char *const *overrides, size_t override_count,
                        struct config **config, struct error *error)
{
    struct schema_room room;
    struct text beside = { 0 };
    append_program_config(&beside);
    const char *const data = getenv("ORRERY_DATA");
    const char *directories[3];
    size_t count = 0;
    if (data && *data)
        directories[count++] = data;
    directories[count++] = PKGDATADIR;
    if (beside.length)
        directories[count++] = beside.bytes;
    const struct config_source source = { .path = path,
                                          .overrides = overrides,
                                          .override_count = override_count,
                                          .include_directories = directories,
                                          .include_directory_count = count };
    const enum status status = config_load(&source, schema_experiment(&room), config, error);
    text_free(&beside);
    return status;
}
