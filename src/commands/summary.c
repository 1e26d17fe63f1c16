#include "commands/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "config/reference.h"
#include "diagnostics/energy-budget.h"
#include "diagnostics/trust.h"
#include "run/legs.h"
#include "run/provenance.h"

enum { VALUE_COLUMN = 17 };

/* A line "  name           value", in its colour if it has one; long values are broken. */
static void say(enum terminal_colour colour, const char *name, const char *value)
{
    struct text line = { 0 };
    reference_item("  ", name, VALUE_COLUMN, value, &line);
    const char *bytes = line.bytes ? line.bytes : "";
    if (colour)
        terminal_print(stdout, colour, bytes);
    else
        fputs(bytes, stdout);
    text_free(&line);
}

__attribute__((format(printf, 2, 3))) static void item(const char *name, const char *format, ...)
{
    char value[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    say(0, name, value);
}

/* --- how well ----------------------------------------------------------------------------------
 */

/* The last value of a column of the diagnostic `conservation`, or NaN. */
static double last_conservation(const struct run *run, const char *column)
{
    for (size_t i = 0; i < run->diagnostic_count; i++) {
        const struct diagnostic *diagnostic = run->diagnostics[i].diagnostic;
        if (strcmp(diagnostic->class_->variant.name, "conservation") != 0)
            continue;
        for (size_t k = 0; k < diagnostic->column_count; k++)
            if (strcmp(diagnostic->columns[k].name, column) == 0)
                return run->diagnostics[i].last_row[k];
    }
    return NAN;
}

static void say_energy_error(const struct run *run)
{
    const size_t systems = run->experiment.bodies->systems;
    const double largest = last_conservation(run, "energy_error");
    const size_t system = run_worst_system(run);
    const double worst = run_energy_error(run, system);
    if (systems > 1)
        item("energy error",
             "|dE/E0| = %.3g at the last measurement, in system %zu, the worst of %zu",
             text_plain(fabs(worst)), system + 1, systems);
    else if (isfinite(largest))
        item("energy error", "dE/E0 = %.3g (largest %.3g)", text_plain(worst), largest);
    else
        item("energy error", "dE/E0 = %.3g", text_plain(worst));
}

/* With four decimals, as long as these say something. */
static const char *ratio(double value, char buffer[32])
{
    if (isnan(value))
        return "undefined";
    snprintf(buffer, 32, fabs(value) < 1e5 ? "%.4f" : "%.4g", value);
    return buffer;
}

/* Of all systems taken together. */
static void say_virial_ratio(const struct run *run)
{
    double kinetic = 0.0, virial = 0.0, potential = 0.0;
    for (size_t s = 0; s < run->experiment.bodies->systems; s++) {
        kinetic += run->conserved[s].kinetic;
        virial += run->conserved[s].virial;
        potential += run->conserved[s].potential;
    }
    char clausius[32], by_potential[32];
    item("virial ratio", "2K/|W| = %s, -2K/U = %s%s", ratio(2.0 * kinetic / fabs(virial), clausius),
         ratio(-2.0 * kinetic / potential, by_potential),
         run->experiment.bodies->systems > 1 ? ", of all systems together" : "");
}

/* Of an ensemble, whose value it is. */
static void say_system(struct text *value, double system)
{
    if (system > 0.0)
        text_print(value, " in system %.0f", system);
}

static void say_criterion(const struct run *run, const struct criterion *c)
{
    struct text value = { 0 };
    char text[CRITERION_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    const bool holds = criterion_holds(c);
    text_print(&value, "%s: %s", criterion_text(c, text), holds ? "held" : "FAILED");
    if (c->rows == 0)
        text_print(&value, ", no row to judge by");
    else
        text_print(&value, ", %s %.4g%s",
                   holds ? "closest to the bound:" : "farthest beyond it:", text_plain(c->worst),
                   c->unit);
    say_system(&value, c->worst_system);
    if (c->failures > 0) {
        text_print(&value, ", first at t = %s",
                   units_time(run->experiment.physics.units, c->first_failure, 4, time));
        say_system(&value, c->failed_system);
    }
    say(holds ? 0 : TERMINAL_RED, "expect", value.bytes ? value.bytes : "");
    text_free(&value);
}

static void say_watch(const struct run *run)
{
    char text[WATCH_TEXT_SIZE], value[WATCH_TEXT_SIZE + 16];
    const bool holds = watch_holds(run->watch, run->left_out);
    if (run->ended_by[0])
        item("stop_when", "%s", run->ended_by);
    if (!watch_text(run->watch, text)[0])
        return;
    snprintf(value, sizeof value, "%s%s", holds ? "" : "FAILED: ", text);
    say(holds ? TERMINAL_YELLOW : TERMINAL_RED, "watch", value);
}

/* How long single orbits mean something; statistics do for as long as the watch holds. */
static void say_trust(const struct run *run)
{
    char text[TRUST_TEXT_SIZE];
    if (run->trust)
        item("orbits", "%s; statistics: %s", trust_text(run->trust, run_time(run), text),
             watch_holds(run->watch, run->left_out) ? "the whole run" : "none, see the watch");
}

static void say_energy_budget(const struct run *run)
{
    char text[ENERGY_BUDGET_TEXT_SIZE];
    if (run->energy_budget)
        item("energy budget", "%s", energy_budget_text(run->energy_budget, text));
}

static void say_verdict(const struct run *run, enum status status)
{
    const bool good = status == STATUS_OK, stopped = status == STATUS_STOPPED;
    say(good      ? TERMINAL_GREEN
        : stopped ? TERMINAL_YELLOW
                  : TERMINAL_RED,
        "verdict", provenance_verdict(run, status));
}

/* --- what there is now -------------------------------------------------------------------------
 */

/* The name of its file, or that of the first and "..." */
static void add_output(const struct run *run, size_t index, struct text *names)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    const struct output_class *class_ = output_find(section);
    char name[OUTPUT_NAME_SIZE];
    if (class_->event_file) {
        class_->event_file(section, 0, name);
        text_print(names, " %s ...", name);
        return;
    }
    const bool renamed = class_->finished_file && class_->finished_file(section, name) &&
                         !directory_has(run->directory, run->output_files[index]);
    text_print(names, " %s", renamed ? name : run->output_files[index]);
}

static void say_files(const struct run *run)
{
    struct text names = { 0 };
    text_print(&names, "%s/: run.cfg run.json run.log", directory_path(run->directory));
    for (size_t i = 0; i < run->diagnostic_count; i++) {
        const struct run_diagnostic *slot = &run->diagnostics[i];
        text_print(&names, " %s.csv", slot->diagnostic->name);
        if (slot->aggregate)
            text_print(&names, " %s.csv", aggregate_diagnostic(slot->aggregate)->name);
    }
    for (size_t i = 0; i < run->output_count; i++)
        add_output(run, i, &names);
    say(0, "files", names.bytes ? names.bytes : "");
    text_free(&names);
    item("figures", "orrery report %s", directory_path(run->directory));
}

static void say_what(const struct run *run)
{
    const struct experiment *experiment = &run->experiment;
    const struct backend_description *d = &run->description;
    char team[BACKEND_TEAM_SIZE], time[UNITS_TEXT_SIZE];
    struct text title = { 0 }, line = { 0 };
    text_print(&title, "%s: %zu bodies", experiment->name, experiment->bodies->count);
    if (experiment->bodies->systems > 1)
        text_print(&title, " x %zu systems", experiment->bodies->systems);
    text_print(&title, ", %s, step %s", experiment->integrator->variant.name,
               units_time(experiment->physics.units, experiment->step, 6, time));
    text_wrap(&line, "  ", REFERENCE_WIDTH, title.bytes ? title.bytes : "");
    printf("%s\n", line.bytes ? line.bytes : "");
    text_free(&title);
    text_free(&line);
    item("computed on", "%s (%s, %s, %s), %s", d->backend, d->kernel, d->isa,
         precision_names[d->precision], backend_team(d, team));
    item("reached", "t = %s, step %" PRIu64 " of %" PRIu64, run_time_text(run, 6, time), run->step,
         experiment->steps);
    char note[EXPERIMENT_NOTE_SIZE];
    if (experiment_end_note(experiment, note)[0])
        item("note", "%s", note);
}

/* Of this start of the program, and of all where a run was continued; of a run that was done before
 * only these are of interest. */
static void say_time(const struct run *run)
{
    json_t *legs = legs_json(run);
    const struct legs_sum sum = legs_sum(run, legs);
    json_decref(legs);
    if (!run->done_before)
        item("wall time", "%.2f s, %.3g steps/s, %.3g G interactions/s", legs_wall(run),
             (double)(run->step - run->first_step) / fmax(run->advance_seconds, 1e-9),
             1e-9 * run_rate(run));
    if (sum.count > 1 || run->done_before)
        item(run->done_before ? "wall time" : "in all",
             "%.2f s in %zu %s, %.3g steps/s, %.3g G interactions/s", sum.wall, sum.count,
             sum.count == 1 ? "leg" : "legs", sum.steps / fmax(sum.advance, 1e-9),
             1e-9 * legs_rate(&sum));
}

void summary_print(const struct run *run, enum status status)
{
    say_what(run);
    say_time(run);
    say_energy_error(run);
    say_virial_ratio(run);
    for (size_t i = 0; i < run->expectations.count; i++)
        say_criterion(run, &run->expectations.criteria[i]);
    say_watch(run);
    say_energy_budget(run);
    say_trust(run);
    say_files(run);
    say_verdict(run, status);
}
