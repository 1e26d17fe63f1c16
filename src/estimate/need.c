#include "estimate/need.h"

#include <math.h>
#include <stdio.h>

#include "accuracy/bound-orbits.h"
#include "accuracy/copies.h"
#include "accuracy/watch.h"
#include "backend/host.h"
#include "backend/ranks.h"
#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "force/method.h"
#include "formats/output.h"
#include "initial/body-files.h"
#include "initial/initial.h"
#include "integrator/stage-list.h"
#include "machine/cores.h"
#include "machine/room.h"
#include "model/bodies.h"
#include "model/conserved.h"
#include "space/time-scales.h"

/* The bytes of the program with all its libraries, and of each thread's stack, as runs were seen to
 * use them: 12 MB without CUDA, 14 MB with it, more if the system maps more of a file at once. */
static const double program_bytes = 16e6, thread_bytes = 2e5;

static struct force_options force_options(const struct config *config, size_t systems)
{
    const struct section *section = config_section(config, "compute");
    struct force_options options = force_options_of(section);
    if (options.threads == 0)
        options.threads = cores_available();
    options.share.parts = ranks_dividing(systems);
    return options;
}

const struct diagnostic_class *need_diagnostic(const struct section *section)
{
    size_t index = 0;
    while (&diagnostic_at(index)->variant != section_variant(section))
        index++;
    return diagnostic_at(index);
}

const struct diagnostic_class *need_measured(const struct config *config, size_t index,
                                             const struct section **section)
{
    const struct {
        const char *name;
        bool asks;
        const struct diagnostic_class *class_;
    } groups[] = { { "energy_budget", copies_replayed(config), &diagnostic_energy_budget },
                   { "trust", copies_shadowed(config), &diagnostic_trust } };
    size_t before = config_count(config, "diagnostics");
    if (index < before) {
        *section = config_item(config, "diagnostics", index);
        return need_diagnostic(*section);
    }
    for (size_t k = 0; k < COUNT_OF(groups); k++)
        if (groups[k].asks && index == before++) {
            *section = config_section(config, groups[k].name);
            return groups[k].class_;
        }
    return NULL;
}

static double state_bytes(const struct diagnostic_class *class_, const struct section *section,
                          double systems)
{
    const double times = class_->system_reals_key
                             ? fmax(1.0, (double)section_integer(section, class_->system_reals_key))
                             : 1.0;
    return systems * ((double)class_->state_reals + times * (double)class_->system_reals) *
           sizeof(double);
}

static double rows_of(const struct diagnostic_class *class_, const struct section *section)
{
    return class_->rows_key ? (double)section_integer(section, class_->rows_key) : 1.0;
}

static double borrowed_by(const struct diagnostic_class *class_, const struct section *section,
                          double count, int threads)
{
    const double rows = rows_of(class_, section);
    return count * (double)class_->body_bytes +
           threads * (rows + 1.0) * (double)class_->thread_reals * sizeof(double);
}

/* Returns the bytes of the rows of one event that are kept until the statistics over systems are
 * made; 0 for a single system, which has none. */
static double aggregated(const struct diagnostic_class *class_, const struct section *section,
                         double systems)
{
    const double rows = rows_of(class_, section);
    const double bins = (double)class_->bin_columns;
    if (systems == 1.0)
        return 0.0;
    return sizeof(double) *
           (systems + rows * (bins + 1.0 + systems * ((double)class_->column_count - bins)));
}

/* The bytes that are kept for each system: its conserved sums now and at the start, its largest
 * error, and a flag. */
static const double sums_bytes = 2 * sizeof(struct conserved) + sizeof(double) + 1;

static void add_diagnostics(const struct config *config, struct memory_need *need)
{
    const double systems = (double)need->systems, count = (double)need->count;
    /* for each body its potential and its share of the virial */
    const double potentials = 2.0 * bodies_length_of(systems, count) * sizeof(double);
    double borrowed = fmax(
        potentials, count * fmax((double)TIME_SCALES_BODY_BYTES, (double)BOUND_ORBITS_BODY_BYTES));
    const double record = systems * (double)(watch_system_reals() + 1) * sizeof(double);
    const int threads = force_options(config, need->systems).threads;
    need->diagnostics = systems * sums_bytes + record;
    need->checkpoints = record;
    borrowed = fmax(borrowed, initial_bytes(config_section(config, "bodies"), need->systems));
    const struct diagnostic_class *class_;
    const struct section *section;
    for (size_t i = 0; (class_ = need_measured(config, i, &section)); i++) {
        const double state = state_bytes(class_, section, systems);
        borrowed = fmax(borrowed, borrowed_by(class_, section, count, threads));
        need->diagnostics += state + aggregated(class_, section, systems);
        need->checkpoints += state;
    }
    need->checkpoints *= 2.0; /* the state before and that after the events of the last step */
    need->diagnostics += borrowed;
}

static void add_outputs(const struct config *config, struct memory_need *need)
{
    const double bodies = (double)need->systems * (double)need->count;
    const double length = bodies_length_of((double)need->systems, (double)need->count);
    for (size_t i = 0; i < config_count(config, "outputs"); i++) {
        const struct section *section = config_item(config, "outputs", i);
        const struct output_class *class_ = output_find(section);
        if (class_->memory_bytes)
            need->outputs =
                fmax(need->outputs, class_->memory_bytes(section, need->systems, bodies, length));
    }
}

static double integrator_bytes(const struct config *config, const struct force_options *force,
                               double systems, double count)
{
    const struct integrator *integrator = stage_list_or_row(config_section(config, "time"));
    if (integrator_chooses_steps(integrator))
        return integrator->adaptive->bytes(force, systems, count) +
               systems * sizeof(struct work_done);
    const double registers = integrator_has_registers(integrator) ? 3.0 * STAGE_REGISTERS : 0.0;
    return registers * sizeof(double) * bodies_length_of(systems, count) +
           host_before_bytes(force, systems, count);
}

static double forces_bytes(const struct config *config, const struct force_options *force,
                           double systems, double count)
{
    const struct backend_class *const class_ =
        backend_find(section_variant(config_section(config, "compute"))->name);
    return (class_->force_bytes ? class_->force_bytes : force_bytes)(force, systems, count);
}

struct memory_need need_of_bodies(const struct config *config, size_t systems, size_t count)
{
    struct memory_need need = { .systems = systems, .count = count };
    const struct force_options force = force_options(config, systems);
    /* The run and each copy of its bodies have a backend of their own. */
    const double copies = 1.0 + (double)copies_count(config);
    need.bodies = copies * (bodies_bytes((double)systems, (double)count) +
                            integrator_bytes(config, &force, (double)systems, (double)count));
    need.forces = copies * forces_bytes(config, &force, (double)systems, (double)count);
    need.program = program_bytes + thread_bytes * force.threads;
    add_diagnostics(config, &need);
    add_outputs(config, &need);
    return need;
}

size_t need_systems(const struct config *config)
{
    const struct body_files files = body_files_of(config_section(config, "bodies"));
    const size_t own = body_files_systems(&files);
    return own > 0 ? own : (size_t)section_integer(config_section(config, "ensemble"), "systems");
}

enum status need_of_run(const struct config *config, struct memory_need *need, struct error *error)
{
    size_t count;
    const size_t systems = need_systems(config);
    *need = (struct memory_need){ 0 };
    if (initial_count(config_section(config, "bodies"), systems, &count, error))
        return error->status;
    *need = need_of_bodies(config, systems, count);
    return STATUS_OK;
}

double need_bytes(const struct memory_need *need)
{
    return need->bodies + need->forces + need->diagnostics + need->outputs + need->checkpoints +
           need->program;
}

const char *need_text(double bytes, char buffer[NEED_TEXT_SIZE])
{
    static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
    size_t k = 0;
    while (bytes >= 999.5 && k + 1 < COUNT_OF(prefixes)) {
        bytes /= 1000.0;
        k++;
    }
    snprintf(buffer, NEED_TEXT_SIZE, "%.3g %sB", bytes, prefixes[k]);
    return buffer;
}

/* Tells whether the number of systems is to blame: one alone would fit. */
static bool blame_systems(const struct config *config, const struct memory_need *need, double room)
{
    const struct memory_need one = need_of_bodies(config, 1, need->count);
    return need->systems > 1 && need_bytes(&one) <= room;
}

/* Reports `reason` at the key that asks for too much memory: by `systems`, the number of systems or
 * that of bodies. */
static enum status refuse(const struct config *config, bool systems, struct error *error,
                          const char *reason)
{
    const struct body_files files = body_files_of(config_section(config, "bodies"));
    const bool asked = systems && body_files_systems(&files) == 0;
    const struct section *section = config_section(config, asked ? "ensemble" : "bodies");
    const char *const key = asked ? "systems" : initial_count_name(section);
    return section_refuse(section, key, STATUS_MEMORY, error, reason);
}

enum status need_compare(const struct config *config, const struct memory_need *need, size_t runs,
                         const struct room *room, struct error *error)
{
    const double bytes = (double)runs * need_bytes(need);
    if (bytes <= room->bytes)
        return STATUS_OK;
    char runs_text[48] = "", reason[256], wanted[NEED_TEXT_SIZE], there[NEED_TEXT_SIZE];
    if (runs > 1)
        snprintf(runs_text, sizeof runs_text, "%zu runs at a time of ", runs);
    snprintf(reason, sizeof reason, "%s%zu x %zu bodies need %s of memory; %s has %s left",
             runs_text, need->systems, need->count, need_text(bytes, wanted), room->limit,
             need_text(room->bytes, there));
    return refuse(config, blame_systems(config, need, room->bytes), error, reason);
}

enum status need_check(const struct config *config, const struct memory_need *need, size_t runs,
                       struct error *error)
{
    const struct room machine = room_of_machine(""), process = room_of_process();
    /* The tighter limit is compared, so that the message names it. */
    if (process.bytes < machine.bytes / (double)runs)
        return need_compare(config, need, 1, &process, error);
    return need_compare(config, need, runs, &machine, error);
}

/* Adds up the memory of all ranks. Rank 0, which alone measures and writes, has the bodies of all
 * systems; another rank has those of its share of the systems, or of all if ranks divide each
 * system. Each rank has for its bodies two arrays of potentials and one for what ranks exchange. */
enum status need_check_ranks(const struct config *config, const struct memory_need *need,
                             struct error *error)
{
    enum { EXCHANGED_ARRAYS = 3 };
    const size_t ranks = (size_t)ranks_count(), systems = need->systems;
    if (ranks == 1)
        return STATUS_OK;
    const size_t share = ranks_dividing(systems) == 1 ? (systems + ranks - 1) / ranks : systems;
    const struct memory_need own = need_of_bodies(config, share, need->count);
    const double array = sizeof(double) * bodies_length_of(1.0, (double)need->count);
    /* Rank 0 keeps the integrator's state of all systems beside that for its own share. */
    const struct force_options force = force_options(config, share);
    const double moves = (1.0 + (double)copies_count(config)) *
                         integrator_bytes(config, &force, (double)share, (double)need->count);
    const bool keeps = integrator_chooses_steps(stage_list_or_row(config_section(config, "time")));
    const double first =
        need_bytes(need) + EXCHANGED_ARRAYS * array * (double)systems + (keeps ? moves : 0.0);
    const double each =
        own.bodies + own.forces + own.program + EXCHANGED_ARRAYS * array * (double)share;
    struct error missing = { 0 };
    char reason[512];
    const enum status status = ranks_check_room(first, each, &missing);
    if (status != STATUS_MEMORY)
        return error_pass(error, &missing);
    snprintf(reason, sizeof reason, "%zu x %zu bodies: %.400s", systems, need->count, missing.text);
    return refuse(config, systems >= ranks && systems > need->count, error, reason);
}
