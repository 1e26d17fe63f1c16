#include "commands/display.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/energy-budget.h"
#include "accuracy/trust.h"
#include "base/text.h"
#include "config/parameter-reference.h"
#include "external/external.h"
#include "integrator/stage-list.h"

enum { VALUE_COLUMN = 17 };

/* Prints a line "  name           value" in `colour` (TERMINAL_PLAIN: without); a long value is
 * broken into several lines. */
static void say(enum terminal_colour colour, const char *name, const char *value)
{
    struct text line = { 0 };
    reference_item("  ", name, VALUE_COLUMN, value, &line);
    terminal_put(stdout, colour, &line);
}

__attribute__((format(printf, 2, 3))) static void item(const char *name, const char *format, ...)
{
    struct text value = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_vprint(&value, format, arguments);
    va_end(arguments);
    say(0, name, value.bytes ? value.bytes : "");
    text_free(&value);
}

/* --- accuracy and verdict --------------------------------------------------------------------- */

/* Returns the name of the file that `system`, counted from 1, was read from; "" for 0, which stands
 * for no system, and for a system without a file of its own. */
static const char *file_of(const struct run_record *record, double system)
{
    return system > 0.0 ? body_files_name(&record->experiment->body_files, (size_t)system - 1) : "";
}

enum { WHEN_SIZE = UNITS_TEXT_SIZE + 32 };

static bool has_ended(enum status status)
{
    return status == STATUS_OK || status == STATUS_EXPECT_FAILED;
}

/* Tells whether the last measurement was made where the run ended. If not, since the run ended in
 * an error, `when` says at which time it was made; otherwise `when` is "". */
static bool when_measured(const struct run_record *record, enum status status, char when[WHEN_SIZE])
{
    const bool whole = has_ended(status) || status == STATUS_STOPPED;
    char time[UNITS_TEXT_SIZE];
    when[0] = '\0';
    if (!whole)
        snprintf(when, WHEN_SIZE, " at t = %s, the last measurement",
                 units_time(record->experiment->simulation.physics.units, record->ensemble->time, 6,
                            time));
    return whole;
}

static void say_energy_error(const struct run_record *record, enum status status)
{
    const struct ensemble *ensemble = record->ensemble;
    const size_t systems = record->experiment->simulation.bodies->systems;
    const size_t system = ensemble_worst(ensemble);
    const double worst = simulation_energy_error(ensemble->simulation, system);
    char when[WHEN_SIZE], of[TEXT_SYSTEM_SIZE], others[96] = "";
    const bool whole = when_measured(record, status, when);
    const double number = systems > 1 ? (double)system + 1.0 : 0.0;
    size_t other = system; /* the worst of the systems whose errors are defined */
    for (size_t s = 0; s < systems && isnan(worst); s++)
        if (!isnan(simulation_energy_error(ensemble->simulation, s)) &&
            !(fabs(simulation_energy_error(ensemble->simulation, s)) <=
              fabs(simulation_energy_error(ensemble->simulation, other))))
            other = s;
    text_system(of, number, file_of(record, number));
    if (other != system)
        snprintf(others, sizeof others, "; |dE| = %.3g of max(|E0|, |U0|) in system %zu",
                 text_plain(fabs(simulation_energy_error(ensemble->simulation, other))), other + 1);
    if (conserved_energy_scale(&ensemble->simulation->first[system]) == 0.0)
        item("energy error", "undefined%s, since E0 and U0 are 0%s", of, others);
    else if (isnan(worst))
        item("energy error", "undefined%s%s%s", when, of, others);
    else if (systems > 1)
        item("energy error", "|dE| = %.3g of max(|E0|, |U0|)%s,%s, the worst of %zu",
             text_plain(fabs(worst)), whole ? " at the last measurement" : when, of, systems);
    else if (isfinite(ensemble->largest_error[system]))
        item("energy error", "dE = %.3g (largest %.3g) of max(|E0|, |U0|)%s", text_plain(worst),
             ensemble->largest_error[system], when);
    else
        item("energy error", "dE = %.3g of max(|E0|, |U0|)%s", text_plain(worst), when);
}

/* Writes a ratio with four decimals, or with four significant digits if it is large; returns
 * "undefined" if it is not finite. */
static const char *ratio(double value, char buffer[32])
{
    if (!isfinite(value)) /* the denominator, the virial W or the potential energy U, is 0 */
        return "undefined";
    snprintf(buffer, 32, fabs(value) < 1e5 ? "%.4f" : "%.4g", value);
    return buffer;
}

/* Prints the virial ratio of all systems together, from the sums of their energies: 2K/|W| with the
 * Clausius virial W, and -2K/U with the potential energy U. */
static void say_virial_ratio(const struct run_record *record, enum status status)
{
    double kinetic = 0.0, virial = 0.0, potential = 0.0;
    for (size_t s = 0; s < record->experiment->simulation.bodies->systems; s++) {
        kinetic += record->experiment->simulation.now[s].internal;
        virial += record->experiment->simulation.now[s].virial;
        potential += record->experiment->simulation.now[s].potential;
    }
    char clausius[32], by_potential[32], when[WHEN_SIZE];
    if (record->experiment->simulation.physics.rotation != 0.0)
        return; /* the ratio means nothing: W leaves out the Coriolis force */
    when_measured(record, status, when);
    item("virial ratio", "2K/|W| = %s, -2K/U = %s%s%s",
         ratio(2.0 * kinetic / fabs(virial), clausius),
         ratio(-2.0 * kinetic / potential, by_potential), when,
         record->experiment->simulation.bodies->systems > 1 ? ", of all systems together" : "");
}

/* Prints how many systems the statistics, and so the verdict, leave out because their energy error
 * is too large or undefined. */
static void say_left_out(const struct run_record *record)
{
    const struct ensemble *ensemble = record->ensemble;
    const size_t count = ensemble_left_out(ensemble);
    const size_t systems = ensemble->simulation->bodies->systems;
    bool undefined = false;
    char value[160];
    for (size_t s = 0; s < systems; s++)
        undefined |= ensemble->left_out[s] && isnan(ensemble->largest_error[s]);
    if (count == 0)
        return;
    snprintf(value, sizeof value,
             "%zu of %zu %s left out of the statistics: %s energy error is %sabove %g", count,
             systems, count == 1 ? "is" : "are", count == 1 ? "its" : "their",
             undefined ? "undefined or " : "", ensemble->error_limit);
    say(TERMINAL_YELLOW, "systems", value);
}

/* Prints the crossing time and the half-mass relaxation time of the bodies at the start; nothing
 * for bodies for which they have no meaning. */
static void say_time_scales(const struct run_record *record)
{
    const struct units *units = record->experiment->simulation.physics.units;
    const struct time_scales *scales = &record->time_scales;
    char crossing[UNITS_TEXT_SIZE], relaxation[UNITS_TEXT_SIZE];
    const char *of = record->experiment->simulation.bodies->systems > 1 ? ", of system 1" : "";
    if (isnan(scales->crossing))
        return;
    units_time(units, scales->crossing, 3, crossing);
    units_time(units, scales->relaxation, 3, relaxation);
    if (isnan(scales->relaxation))
        item("time scales", "crossing %s at the start%s", crossing, of);
    else
        item("time scales",
             "crossing %s, half-mass relaxation %s (as for equal masses and no softening), at the "
             "start%s",
             crossing, relaxation, of);
}

static void say_criterion(const struct run_record *record, const struct criterion *c,
                          enum status status)
{
    const bool ended = has_ended(status);
    struct text value = { 0 };
    char text[CRITERION_TEXT_SIZE], time[UNITS_TEXT_SIZE], system[TEXT_SYSTEM_SIZE];
    char worst[TEXT_REAL_SIZE];
    const bool holds = criterion_holds(c);
    if (!ended && !criterion_is_judged(c)) {
        item("expect", "%s: not judged", criterion_text(c, text));
        return;
    }
    text_print(&value, "%s: %s", criterion_text(c, text),
               !holds                     ? "FAILED"
               : ended                    ? "held"
               : status == STATUS_STOPPED ? "held so far"
                                          : "held until it broke off");
    if (c->rows == 0 && c->after > record->time)
        text_print(&value, ", not judged: the run ended before it begins");
    else if (c->rows == 0)
        text_print(&value, ", not judged: no row lies between its times");
    else if (isnan(c->worst))
        text_print(&value, ", undefined%s", criterion_why_undefined(c));
    else
        text_print(&value, ", %s %s%s", holds ? "closest to the bound:" : "farthest beyond it:",
                   text_beside(worst, 4, c->worst + 0.0, c->lowest, c->highest), /* 0, not -0 */
                   c->unit);
    text_print(&value, "%s",
               text_system(system, c->worst_system, file_of(record, c->worst_system)));
    if (c->failures > 0) {
        text_print(
            &value, "; failed first at t = %s%s",
            units_time(record->experiment->simulation.physics.units, c->first_failure, 4, time),
            text_system(system, c->failed_system, file_of(record, c->failed_system)));
    }
    say(holds ? 0 : TERMINAL_RED, "expect", value.bytes ? value.bytes : "");
    text_free(&value);
}

/* Prints the accuracy that the config asks for, whether the run has kept it, and the setting that
 * was chosen for it; nothing if the config asks for none. */
static void say_asked(const struct run_record *record, enum status status)
{
    struct text words = { 0 }, attempts = { 0 };
    const bool judged = has_ended(status);
    const struct finding *const asked = &record->asked;
    const bool kept = asked->severity != FINDING_FAILURE;
    const size_t system = asked->system > 0 ? asked->system - 1 : 0;
    char value[192], limit[96] = "";
    if (!accuracy_target_key(&record->target))
        return;
    if (asked->bound < record->target.until)
        snprintf(limit, sizeof limit, "; required in double precision until t = %.4g%s",
                 asked->bound, asked->unit);
    if (accuracy_target_of_orbits(&record->target))
        snprintf(value, sizeof value, "orbits accurate until t = %g%s%s: %st = %.4g%s",
                 record->target.until, asked->unit, limit,
                 !judged ? "so far "
                 : kept  ? "kept until "
                         : "MISSED at ",
                 asked->value, asked->unit);
    else
        snprintf(value, sizeof value, "energy error %g%s: %s%.2g%s", record->target.error,
                 record->target.of == TARGET_OF_Q90 ? " in nine of ten systems" : "",
                 !judged ? "so far "
                 : kept  ? "kept, with "
                         : "MISSED, with ",
                 asked->value,
                 watch_enlarged(record->observers->watch, system) > 1.0 ? " of 10 |U|" : "");
    say(judged && !kept ? TERMINAL_RED : 0, "asked", value);
    if (!record->choice)
        return;
    choice_report_words(record->choice, &words);
    choice_report_attempts(record->choice, &attempts);
    item("chosen", "%s", words.bytes ? words.bytes : "");
    if (attempts.length > 0)
        item("attempts", "%s", attempts.bytes);
    if (record->dearer[0])
        item("cost", "%s", record->dearer);
    text_free(&words);
    text_free(&attempts);
}

static void say_watch(const struct run_record *record)
{
    char text[WATCH_TEXT_SIZE], value[WATCH_TEXT_SIZE + 16];
    const bool holds = record->holds;
    if (record->criteria->ended_by[0])
        item("stop_when", "%s", record->criteria->ended_by);
    if (!watch_text(record->observers->watch, record->ensemble->left_out, text)[0])
        return;
    snprintf(value, sizeof value, "%s%s", holds ? "" : "FAILED: ", text);
    say(holds ? TERMINAL_YELLOW : TERMINAL_RED, "watch", value);
}

/* Prints until when the orbits of single bodies can be trusted; statistics can be trusted as long
 * as the accuracy watch accepts the run. */
static void say_trust(const struct run_record *record, enum status status)
{
    char text[TRUST_TEXT_SIZE];
    if (record->observers->trust)
        item("orbits", "%s; statistics: %s",
             trust_text(record->observers->trust, record->time, text),
             !record->holds             ? "none, see the watch"
             : has_ended(status)        ? "the whole run"
             : status == STATUS_STOPPED ? "the run so far"
                                        : "until it broke off");
}

static void say_judged(const struct run_record *record, enum status status)
{
    char text[WATCH_JUDGED_SIZE];
    if (has_ended(status))
        item("judged", "%s",
             watch_judged(record->observers->watch, record->ensemble->left_out,
                          record->observers->trust != NULL, text));
}

static void say_energy_budget(const struct run_record *record)
{
    char text[ENERGY_BUDGET_TEXT_SIZE];
    if (record->observers->energy_budget)
        item("energy budget", "%s", energy_budget_text(record->observers->energy_budget, text));
}

static void say_verdict(const struct run_record *record, enum status status)
{
    const bool good = status == STATUS_OK, stopped = status == STATUS_STOPPED;
    say(good      ? TERMINAL_GREEN
        : stopped ? TERMINAL_YELLOW
                  : TERMINAL_RED,
        "verdict", run_verdict(record->experiment->config, status));
}

/* --- files and work --------------------------------------------------------------------------- */

/* Appends the name of the file of an output; for an output with a file at each event, the name of
 * the first file and "...". */
static void add_output(const struct run_record *record, size_t index, struct text *names)
{
    const struct section *section = config_item(record->experiment->config, "outputs", index);
    const struct output_class *class_ = output_find(section);
    char name[OUTPUT_NAME_SIZE];
    if (class_->event_file) {
        class_->event_file(section, 0, name);
        text_print(names, " %s ...", name);
        return;
    }
    const bool renamed = class_->finished_file && class_->finished_file(section, name) &&
                         !directory_has(record->directory, record->observers->outputs[index].file);
    text_print(names, " %s", renamed ? name : record->observers->outputs[index].file);
}

static void say_files(const struct run_record *record)
{
    struct text names = { 0 };
    text_print(&names, "%s/: run.cfg run.json run.log", directory_path(record->directory));
    for (size_t i = 0; i < record->observers->diagnostic_count; i++) {
        const struct observed_diagnostic *observed = &record->observers->diagnostics[i];
        text_print(&names, " %s.csv", observed->diagnostic->name);
        if (observed->aggregate)
            text_print(&names, " %s.csv", aggregate_diagnostic(observed->aggregate)->name);
    }
    for (size_t i = 0; i < record->observers->output_count; i++)
        add_output(record, i, &names);
    say(0, "files", names.bytes ? names.bytes : "");
    text_free(&names);
    struct text command = { 0 };
    /* Not broken, so that it can be copied. */
    text_print(&command, "  %-15sorrery report ", "figures");
    text_shell(&command, directory_path(record->directory));
    text_print(&command, "\n");
    terminal_put(stdout, TERMINAL_PLAIN, &command);
}

/* Prints how many steps an integrator that chooses its own steps has made: "5376, and 2 rejected;
 * the smallest was 2.8e-07, for bodies 2 and 3". If one body alone limited the smallest step, only
 * that body is named; a method that never rejects steps has no number of rejections. */
static void say_own_steps(const struct run_record *record)
{
    const struct work_done *own = &record->own_steps;
    const struct bodies *const b = record->experiment->simulation.bodies;
    char smallest[UNITS_TEXT_SIZE], names[BODIES_PAIR_SIZE], where[32] = "", rejected[48] = "";
    if (record->chooses_steps && own->steps == 0)
        item("own steps", "none yet");
    if (!record->chooses_steps || own->steps == 0)
        return;
    if (b->systems > 1)
        snprintf(where, sizeof where, " of system %zu", record->smallest_system + 1);
    if (own->pair[0] == own->pair[1])
        bodies_name(b, own->pair[0], names);
    else
        bodies_pair(b, own->pair[0], own->pair[1], names);
    if (!isnan(own->rejections))
        snprintf(rejected, sizeof rejected, ", and %.0f rejected", own->rejections);
    item("own steps", "%.0f%s; the smallest was %s, for %s%s", own->steps, rejected,
         units_time(record->experiment->simulation.physics.units, own->smallest, 3, smallest),
         names, where);
}

static void say_what(const struct run_record *record)
{
    const struct experiment *experiment = record->experiment;
    const struct backend_description *d = record->backend;
    char team[BACKEND_TEAM_SIZE], time[UNITS_TEXT_SIZE], frame[EXTERNAL_FRAME_SIZE];
    struct text title = { 0 }, line = { 0 };
    text_print(&title, "%s: %zu %s", experiment->name, experiment->simulation.bodies->count,
               experiment->simulation.bodies->count == 1 ? "body" : "bodies");
    if (experiment->simulation.bodies->systems > 1)
        text_print(&title, " x %zu systems", experiment->simulation.bodies->systems);
    text_print(
        &title, ", %s, %s %s", experiment->simulation.integrator->variant.name,
        integrator_chooses_steps(experiment->simulation.integrator) ? "grid" : "step",
        units_time(experiment->simulation.physics.units, experiment->simulation.step, 6, time));
    text_wrap(&line, "  ", REFERENCE_WIDTH, title.bytes ? title.bytes : "");
    text_print(&line, "\n");
    terminal_put(stdout, TERMINAL_PLAIN, &line);
    text_free(&title);
    struct text stages = { 0 };
    if (stage_list_describe(experiment->simulation.integrator, &stages))
        item("stages", "%s", stages.bytes);
    text_free(&stages);
    item("computed on", "%s (%s, %s, %s), %s", d->backend, d->kernel, d->isa,
         precision_names[d->precision], backend_team(d, team));
    if (d->device && d->device[0])
        item("device", "%s", d->device);
    if (external_frame_text(&experiment->simulation.physics, frame))
        item("frame", "%s", frame);
    const bool stuck = record->own_steps.stuck;
    item(stuck ? "stuck at" : "reached", "t = %s, %sstep %" PRIu64 " of %" PRIu64,
         units_time(experiment->simulation.physics.units,
                    stuck ? record->own_steps.time : record->time, 6, time),
         stuck ? "after " : "", record->step, record->last);
    say_own_steps(record);
    char note[EXPERIMENT_NOTE_SIZE];
    if (experiment_end_note(experiment, note)[0])
        item("note", "%s", note);
    if (record->proportions[0])
        item("note", "%s", record->proportions);
}

/* Prints the wall time of this start of the program, unless the run was complete before, and, if
 * the run was continued, that of all starts together. */
static void say_time(const struct run_record *record)
{
    const struct legs_sum *sum = &record->legs;
    const char *own = record->chooses_steps ? "own " : "";
    if (!record->done_before)
        item("wall time", "%.2f s; %.3g %ssteps/s and %.3g G interactions/s while it advanced",
             record->wall, record->steps_per_second, own, 1e-9 * record->rate);
    if (sum->count > 1 || record->done_before)
        item(record->done_before ? "wall time" : "in all",
             "%.2f s in %zu %s; %.3g %ssteps/s and %.3g G interactions/s while it advanced",
             sum->wall, sum->count, sum->count == 1 ? "leg" : "legs",
             sum->steps / fmax(sum->advance, 1e-9), own, 1e-9 * legs_rate(sum));
}

static void say_sentence(const struct run_record *record)
{
    struct text line = { 0 };
    if (!record->verdict[0])
        return;
    text_wrap(&line, "  ", REFERENCE_WIDTH, record->verdict);
    text_print(&line, "\n\n");
    terminal_put(stdout, TERMINAL_RED, &line);
}

void summary_print(const struct run_record *record, enum status status)
{
    say_sentence(record);
    say_what(record);
    say_time(record);
    say_energy_error(record, status);
    say_asked(record, status);
    say_left_out(record);
    say_virial_ratio(record, status);
    say_time_scales(record);
    for (size_t i = 0; i < record->criteria->expect.count; i++)
        say_criterion(record, &record->criteria->expect.criteria[i], status);
    say_watch(record);
    say_energy_budget(record);
    say_trust(record, status);
    say_judged(record, status);
    say_files(record);
    say_verdict(record, status);
}
