#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy/energy-budget.h"
#include "accuracy/trust.h"
#include "base/build.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/memory.h"
#include "external/external.h"
#include "output/run-fields.h"
#include "run/phases.h"
#include "run/record.h"

static json_t *vector(const double value[3])
{
    return json_pack("[o, o, o]", document_number(value[0]), document_number(value[1]),
                     document_number(value[2]));
}

static json_t *conserved_json(const struct conserved *c)
{
    return DOCUMENT(
        { "mass", document_number(c->mass) }, { "kinetic", document_number(c->kinetic) },
        { "internal_kinetic", document_number(c->internal) },
        { "potential", document_number(c->potential) },
        { "energy", document_number(conserved_energy(c)) },
        { "internal_energy", document_number(conserved_internal_energy(c)) },
        { "virial", document_number(c->virial) }, { "momentum", vector(c->momentum) },
        { "angular_momentum", vector(c->angular_momentum) }, { "center", vector(c->center) });
}

static json_t *scales_json(const struct scales *s)
{
    return DOCUMENT({ "length", document_number(s->length) },
                    { "velocity", document_number(s->velocity) },
                    { "momentum", document_number(s->momentum) },
                    { "angular_momentum", document_number(s->angular_momentum) });
}

/* Returns the names of the axes whose flag is true, "xz"; "none" if none is. */
static json_t *axes_json(const bool axes[3])
{
    char letters[4];
    size_t count = 0;
    for (int k = 0; k < 3; k++)
        if (axes[k])
            letters[count++] = "xyz"[k];
    letters[count] = '\0';
    return json_string(count > 0 ? letters : "none");
}

static json_t *external_json(const struct external *external)
{
    return DOCUMENT({ "center", vector(external->center) },
                    { "kept_momentum", axes_json(external->keeps_momentum) },
                    { "kept_angular_momentum", axes_json(external->keeps_angular_momentum) });
}

static json_t *time_scales_json(const struct run *run)
{
    const struct time_scales scales =
        time_scales(&run->simulation->physics, &run->structure, run->simulation->first);
    return DOCUMENT({ "crossing", document_number(scales.crossing) },
                    { "half_mass_relaxation", document_number(scales.relaxation) });
}

static json_t *program_json(void)
{
    return DOCUMENT({ "name", json_string("orrery") }, { "version", json_string(build_version()) },
                    { "commit", json_string(build_commit()) },
                    { "compiler", json_string(build_compiler()) },
                    { "options", json_string(build_options()) });
}

static json_t *compute_json(const struct backend_description *d)
{
    /* The relative error of the forces that the method was asked to keep to; 0 for direct sums,
     * which leave nothing out. */
    const double asked = force_traits(&d->force).truncation;
    return DOCUMENT(
        { "backend", json_string(d->backend) }, { "method", json_string(d->force.method->name) },
        { "accuracy", json_real(asked) }, { "kernel", json_string(d->kernel) },
        { "isa", json_string(d->isa) }, { "device", json_string(d->device ? d->device : "") },
        { "choice", json_string(d->choice ? d->choice : "") },
        { "precision", json_string(precision_names[d->precision]) },
        { "threads", json_integer(d->threads) },
        { "ranks", json_integer(d->ranks > 1 ? d->ranks : 1) });
}

/* Returns an object on the steps of an integrator that chooses its own, in all systems; `system` is
 * the one with the smallest step. */
static json_t *own_steps_json(const struct work_done *own, size_t system)
{
    return DOCUMENT(
        { "steps", document_number(own->steps) },
        { "rejections", document_number(own->rejections) },
        { "smallest", document_number(own->smallest) },
        { "system", json_integer((json_int_t)system + 1) },
        { "pair", json_pack("[I, I]", (json_int_t)own->pair[0], (json_int_t)own->pair[1]) },
        { "stuck_at", document_number(own->stuck ? own->time : NAN) });
}

static json_t *row_json(const struct diagnostic *diagnostic, const double *values)
{
    json_t *row = json_object();
    for (size_t k = 0; k < diagnostic->column_count; k++)
        document_set(&row, diagnostic->columns[k].name, document_number(values[k]));
    return row;
}

/* Returns an object with the last row of every diagnostic that has one row per event, and of its
 * statistics over systems. */
static json_t *last_rows_json(const struct run *run)
{
    json_t *all = json_object();
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        const struct observed_diagnostic *observed = &run->observers.diagnostics[i];
        if (observed->diagnostic->class_->table)
            continue;
        document_set(&all, observed->diagnostic->name,
                     row_json(observed->diagnostic, observed->last_row));
        if (!observed->aggregate)
            continue;
        const struct diagnostic *aggregate = aggregate_diagnostic(observed->aggregate);
        document_set(&all, aggregate->name,
                     row_json(aggregate, aggregate_last_row(observed->aggregate)));
    }
    return all;
}

/* Adds a file name to the list: a JSON object whose keys are the names, in order, so that no name
 * is there twice. */
static void list_file(json_t **files, const char *name)
{
    if (name)
        document_set(files, name, json_true());
}

static void list_series(json_t **files, const struct diagnostic *diagnostic)
{
    char name[OUTPUT_NAME_SIZE];
    snprintf(name, sizeof name, "%s.csv", diagnostic->name);
    list_file(files, name);
}

/* Adds the file of an output to the list under its present name, or under the name that it will
 * have when the run has finished; under both if both may exist. */
static void list_growing(json_t **files, const struct run *run, size_t index)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    const struct output_class *class_ = output_find(section);
    const char *file = run->observers.outputs[index].file;
    char finished[OUTPUT_NAME_SIZE];
    const bool renamed = class_->finished_file && class_->finished_file(section, finished);
    if (!renamed || !run->files.manifest_written ||
        !directory_has(run->files.directory, finished) || directory_has(run->files.directory, file))
        list_file(files, file);
    if (renamed)
        list_file(files, finished);
}

/* Adds the file of an output to the list or, if it writes a file at each event, those of all
 * events, past and to come. */
static void list_output(json_t **files, const struct run *run, size_t index)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    const struct output_class *class_ = output_find(section);
    if (!class_->event_file)
        list_growing(files, run, index);
    for (uint64_t event = 0; class_->event_file && event < run->observers.outputs[index].events;
         event++) {
        char name[OUTPUT_NAME_SIZE];
        class_->event_file(section, event, name);
        list_file(files, name);
    }
}

/* Adds the files that the run.json of the continued run lists, such as a report, if they still
 * exist. */
static void list_before(json_t **files, const struct run *run)
{
    size_t index;
    json_t *file;
    json_array_foreach(run_field(run->continuation.before, FIELD_FILES), index, file)
    {
        const char *name = json_string_value(file);
        if (name && strcmp(name, failure_name) != 0 && directory_has(run->files.directory, name))
            list_file(files, name);
    }
}

/* Returns a list of the names of all files that the run writes; --force removes only these. */
static json_t *files_json(const struct run *run)
{
    static const char *const always[] = { "run.json", "run.cfg", "run.log", checkpoint_name,
                                          checkpoint_previous };
    json_t *files = json_object(), *names = json_array(), *unused;
    const char *name;
    for (size_t i = 0; i < COUNT_OF(always); i++)
        list_file(&files, always[i]);
    for (size_t i = 0; i < run->observers.diagnostic_count; i++) {
        list_series(&files, run->observers.diagnostics[i].diagnostic);
        if (run->observers.diagnostics[i].aggregate)
            list_series(&files, aggregate_diagnostic(run->observers.diagnostics[i].aggregate));
    }
    for (size_t i = 0; i < run->observers.output_count; i++)
        list_output(&files, run, i);
    if (run->files.failed)
        list_file(&files, failure_name);
    list_before(&files, run);
    if (!files)
        document_append(&names, NULL);
    json_object_foreach(files, name, unused)
    {
        document_append(&names, json_string(name));
    }
    json_decref(files);
    return names;
}

static json_t *errors_json(const char *line)
{
    json_t *errors = json_array();
    while (line && *line) {
        const size_t length = strcspn(line, "\n");
        document_append(&errors, json_stringn(line, length));
        line += length + (line[length] == '\n');
    }
    return errors;
}

/* Returns a list of all restarts, each with step, checkpoint, time, machine, and whether the bits
 * of results are those of an uninterrupted run. */
static json_t *restarts_json(const struct run *run)
{
    const json_t *before = run_field(run->continuation.before, FIELD_RESTARTS);
    json_t *restarts = json_is_array(before) ? json_deep_copy(before) : json_array();
    char host[RUN_HOST_SIZE];
    if (!run->continuation.from)
        return restarts;
    document_append(&restarts,
                    DOCUMENT({ "step", json_integer((json_int_t)run->schedule.first_step) },
                             { "checkpoint", json_string(run->continuation.from) },
                             { "started", json_string(run->clocks.stamp) },
                             { "host", json_string(run_host(host)) },
                             { "bitwise", json_boolean(!run->continuation.other_bits) }));
    return restarts;
}

enum status provenance_claim(const struct run *run, struct error *error)
{
    json_t *files = files_json(run);
    const size_t count = json_array_size(files);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = json_string_value(json_array_get(files, i));
    if (names)
        names[count] = failure_name; /* left by an earlier run; files_json() has it only once this
                                        run writes one */
    const enum status status = names && files
                                   ? directory_claim(run->files.directory, names, count + 1, error)
                                   : error_memory(error);
    free(names);
    json_decref(files);
    return status;
}

static json_t *judged_json(const struct run *run)
{
    char text[WATCH_JUDGED_SIZE];
    return json_string(watch_judged(run->observers.watch, run->ensemble.left_out,
                                    run->observers.trust != NULL, text));
}

static json_t *force_error_json(const struct run *run)
{
    if (!kernel_error_counts(run->simulation))
        return json_null();
    return DOCUMENT({ "whole", document_number(run->kernel_error.whole) },
                    { "bias", document_number(run->kernel_error.bias) });
}

static json_t *run_findings_json(const struct run *run, bool ended)
{
    struct findings findings = { 0 };
    verdict_findings(run, ended, &findings);
    json_t *json = findings_json(&findings);
    findings_free(&findings);
    return json;
}

static json_t *asked_json(const struct config *config)
{
    size_t count;
    const char *const *typed = config_typed(config, &count);
    json_t *changes = json_array();
    for (size_t i = 0; i < count; i++)
        document_append(&changes, document_words(typed[i]));
    return DOCUMENT({ "file", document_words(config_path(config)) }, { "changes", changes });
}

/* Returns an object with the members that every run.json has, in their order. */
static json_t *run_json(const struct run *run, const struct provenance_end *end)
{
    const struct experiment *x = &run->experiment;
    const struct schedule *schedule = &run->schedule;
    const double error = simulation_energy_error(run->simulation, ensemble_worst(&run->ensemble));
    const double largest = ensemble_largest_error(&run->ensemble);
    /* The errors of the start are 0 by definition, and say nothing. */
    const bool measured = run->ensemble.time > 0.0;
    const char *verdict = end ? run_verdict(run->experiment.config, end->status) : "running";
    const bool judged = end && (end->status == STATUS_OK || end->status == STATUS_EXPECT_FAILED);
    char host[RUN_HOST_SIZE], stamp[CLOCK_STAMP_SIZE];
    json_t *legs = legs_json(run);
    const struct legs_sum sum = legs_sum(run, legs);
    return DOCUMENT(
        { "program", program_json() }, { "format", json_string(directory_run.format) },
        { "name", json_string(x->name) }, { "state", json_string(end ? "ended" : "running") },
        { "verdict", json_string(verdict) },
        { "verdict_text", json_string(run->verdict.bytes ? run->verdict.bytes : "") },
        { "exit_status", json_integer(end ? (json_int_t)end->status : -1) },
        { "asked", asked_json(run->given) }, { "host", json_string(run_host(host)) },
        { "started", json_string(run->clocks.stamp) },
        { "written", json_string(clock_stamp(stamp)) },
        { "compute", compute_json(&run->simulation->description) },
        { "force_error", force_error_json(run) },
        { "systems", json_integer((json_int_t)x->simulation.bodies->systems) },
        { "bodies", json_integer((json_int_t)x->simulation.bodies->count) },
        { "step", json_integer((json_int_t)schedule->step) },
        { "steps", json_integer((json_int_t)schedule->last) }, { "time", json_real(run_time(run)) },
        { "wall_seconds", document_number(sum.wall) },
        { "advance_seconds", document_number(sum.advance) },
        { "cpu_seconds", document_number(sum.cpu) },
        { "interactions", document_number(sum.interactions) },
        { "interactions_per_second", document_number(legs_rate(&sum)) }, { "legs", legs },
        { "initial", conserved_json(run->simulation->first) },
        { "final", conserved_json(run->simulation->now) },
        { "final_time", document_number(run->ensemble.time) },
        { "relative_energy_error", document_number(measured ? error : NAN) },
        { "largest_energy_error", document_number(measured ? largest : NAN) },
        { "diagnostics", last_rows_json(run) },
        { "expect", expectations_json(&run->criteria.expect, judged) },
        { "findings", run_findings_json(run, judged) }, { "files", files_json(run) },
        { "config", config_json(x->config) },
        { "watch", watch_json(run->observers.watch, run->ensemble.left_out) },
        { "judged", judged ? judged_json(run) : json_null() },
        { "ended_by", json_string(run->criteria.ended_by) },
        { "checkpointed", json_boolean(run->autosave.any) },
        { "bitwise", json_boolean(!run->continuation.other_bits) },
        { "first_step", json_integer((json_int_t)schedule->first_step) },
        { "restarts", restarts_json(run) }, { "errors", errors_json(end ? end->errors : NULL) });
}

enum status provenance_resume(struct run *run, struct error *error)
{
    struct error unreadable = { 0 };
    size_t length;
    bool no_memory = false;
    char *text = directory_read_file(run->files.directory, "run.json", &length, &unreadable);
    run->continuation.before = text ? document_parse(text, length, &no_memory) : NULL;
    free(text);
    if (no_memory || unreadable.status == STATUS_MEMORY)
        return error_memory(error);
    /* If run.json cannot be read, a checkpoint may still be there. */
    if (!run->continuation.before)
        run_warning(run, "WARNING: %s/run.json cannot be read; what it said is lost",
                    directory_path(run->files.directory));
    run->autosave.any = !json_is_false(run_field(run->continuation.before, FIELD_CHECKPOINTED));
    return STATUS_OK;
}

enum status provenance_add(struct run *run, const char *key, struct json_t *value,
                           struct error *error)
{
    if (!json_is_object(run->continuation.before)) {
        json_decref(value);
        return error_set(error, STATUS_DATA, "%s/run.json: is not a JSON object",
                         directory_path(run->files.directory));
    }
    if (!value || json_object_set_new(run->continuation.before, key, value) != 0)
        return error_memory(error);
    return manifest_write(run->files.directory, run->continuation.before, error);
}

enum status provenance_break_off(const struct run *run, struct error *error)
{
    char stamp[CLOCK_STAMP_SIZE];
    struct error writing = { 0 };
    json_t *document = directory_manifest(run->files.directory, &writing);
    if (document) {
        document_set(&document, "state", json_string("ended"));
        document_set(&document, "verdict", json_string(run_verdict(run->given, error->status)));
        document_set(&document, "exit_status", json_integer((json_int_t)error->status));
        document_set(&document, "written", json_string(clock_stamp(stamp)));
        document_set(&document, "errors", errors_json(error->text));
        manifest_write(run->files.directory, document, &writing);
    }
    json_decref(document);
    error_pass(error, &writing);
    return error->status;
}

enum status provenance_write(const struct run *run, const struct provenance_end *end,
                             struct error *error)
{
    json_t *document = run_json(run, end);
    const struct run_work own = run_work(run);
    if (own.chosen)
        document_set(&document, "own_steps", own_steps_json(&own.sums, own.system));
    if (run->observers.energy_budget)
        document_set(&document, "energy_budget", energy_budget_json(run->observers.energy_budget));
    if (run->observers.trust)
        document_set(&document, "trust", trust_json(run->observers.trust, run_time(run)));
    if (run->simulation->bodies->systems > 1) {
        document_set(&document, "left_out",
                     json_integer((json_int_t)ensemble_left_out(&run->ensemble)));
        document_set(&document, "relative_energy_error_system",
                     json_integer((json_int_t)ensemble_worst(&run->ensemble) + 1));
    }
    if (run->choice.count > 0) {
        char dearer[CHOICE_DEARER_SIZE];
        json_t *choice = choice_json(&run->choice);
        if (attempt_cost_text(run, dearer)[0])
            document_set(&choice, "dearer", json_string(dearer));
        document_set(&document, "choice", choice);
    }
    document_set(&document, "scales", scales_json(&run->scales));
    document_set(&document, "time_scales", time_scales_json(run));
    if (run->experiment.external)
        document_set(&document, "external", external_json(run->experiment.external));
    if (run->files.bodies_hash[0])
        document_set(&document, "bodies_hash", json_string(run->files.bodies_hash));
    if (run->files.members)
        document_set(&document, "members", json_incref(run->files.members));
    /* A verification from before this restart stays true for its steps, so it is kept. */
    json_t *verified = run_field(run->continuation.before, FIELD_VERIFIED);
    if (verified)
        document_set(&document, "verified", json_incref(verified));
    const enum status written = manifest_write(run->files.directory, document, error);
    json_decref(document);
    return written;
}
