#include "commands/display.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/copies.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/parameter-reference.h"
#include "estimate/accuracy-target.h"
#include "external/external.h"
#include "force/method.h"
#include "integrator/stage-list.h"

/* Prints a line "#   name           value", as a comment of the config that was printed before;
 * breaks a line that is too long. */
__attribute__((format(printf, 2, 3))) static void item(const char *name, const char *format, ...)
{
    struct text value = { 0 }, line = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_vprint(&value, format, arguments);
    va_end(arguments);
    text_print(&line, "#   %-15s", name);
    text_wrap(&line, "#                  ", REFERENCE_WIDTH, value.bytes ? value.bytes : "");
    text_print(&line, "\n");
    terminal_put(stdout, TERMINAL_PLAIN, &line);
    text_free(&value);
}

static void print_memory(const struct memory_need *need)
{
    const struct {
        const char *name;
        double bytes;
    } parts[] = {
        { "bodies", need->bodies },           { "forces", need->forces },
        { "diagnostics", need->diagnostics }, { "outputs", need->outputs },
        { "checkpoints", need->checkpoints }, { "the program", need->program },
    };
    char buffer[NEED_TEXT_SIZE];
    struct text line = { 0 };
    for (size_t k = 0; k < COUNT_OF(parts); k++)
        if (parts[k].bytes > 0.0)
            text_print(&line, "%s%s %s", line.length ? ", " : "", parts[k].name,
                       need_text(parts[k].bytes, buffer));
    item("memory", "%s at most: %s", need_text(need_bytes(need), buffer), line.bytes);
    text_free(&line);
}

static void print_time(const struct timing *t, bool chooses_steps)
{
    const struct {
        const char *name;
        const struct timing_item *part;
    } parts[] = {
        { chooses_steps ? "grid steps" : "steps", &t->forces },
        { "energies", &t->energies },
        { "diagnostics", &t->diagnostics },
        { "outputs", &t->outputs },
        { "checkpoints", &t->checkpoints },
    };
    char rate[NEED_TEXT_SIZE];
    item("time", "about %.3g s", t->seconds);
    for (size_t k = 0; k < COUNT_OF(parts); k++)
        if (parts[k].part->count > 0.0)
            item("", "%s %.3g s: %.0f of %.3g s", parts[k].name, timing_item_seconds(parts[k].part),
                 parts[k].part->count, parts[k].part->each);
    if (t->disk_error)
        item("",
             "the disk was not measured (%s): its part is guessed, with %.3g s to flush a file and "
             "%s/s",
             strerror(t->disk_error), t->disk.flush, need_text(t->disk.rate, rate));
}

/* Proposes the other force method for this number of bodies: direct sums if they are no slower,
 * fast multipoles if the run could use them and they are much faster. */
static void print_method(const struct run_record *run, const struct timing *t)
{
    static const double typical_accuracy = 1e-4, worth_saying = 2.0;
    const struct simulation *s = &run->experiment->simulation;
    const double systems = (double)s->bodies->systems, count = (double)s->bodies->count;
    struct force_options direct = run->backend->force, fmm = run->backend->force;
    const bool is_fmm = fmm.method != &force_direct;
    direct.method = &force_direct;
    fmm.method = &force_fmm;
    if (!is_fmm)
        fmm.accuracy = typical_accuracy;
    const double gain = force_work(&direct, systems, count) / force_work(&fmm, systems, count);
    if (is_fmm && gain <= 1.0)
        item("method", "compute.method = \"direct\" is exact and no slower for so few bodies");
    else if (!is_fmm && gain > worth_saying && strcmp(run->backend->backend, "openmp") == 0 &&
             s->physics.boundary == BOUNDARY_OPEN && !integrator_chooses_steps(s->integrator) &&
             !run->observers->trust)
        item("method",
             "with a force error of %g the steps would take about %.2g s: compute = { method = "
             "\"fmm\"; "
             "accuracy = %g; }",
             typical_accuracy, timing_item_seconds(&t->forces) / gain, typical_accuracy);
}

static void print_estimate(const struct run_record *run, const struct estimate *e)
{
    const struct experiment *x = run->experiment;
    const struct backend_description *d = run->backend;
    char disk[NEED_TEXT_SIZE], checkpoints[NEED_TEXT_SIZE], team[BACKEND_TEAM_SIZE],
        step[UNITS_TEXT_SIZE], end[UNITS_TEXT_SIZE], frame[EXTERNAL_FRAME_SIZE];
    printf("# estimate\n");
    item("bodies", "%zu x %zu systems", x->simulation.bodies->count, x->simulation.bodies->systems);
    const struct units *units = x->simulation.physics.units;
    item(integrator_chooses_steps(x->simulation.integrator) ? "grid steps" : "steps",
         "%" PRIu64 " of %s, to t = %s", x->steps, units_time(units, x->simulation.step, 6, step),
         units_time(units, (double)x->steps * x->simulation.step, 6, end));
    struct text stages = { 0 };
    if (stage_list_describe(x->simulation.integrator, &stages))
        item("stages", "%s", stages.bytes);
    text_free(&stages);
    item("backend", "%s (%s, %s, %s), %s%s%s", d->backend, d->kernel, d->isa,
         precision_names[d->precision], backend_team(d, team),
         d->choice && d->choice[0] ? "; " : "", d->choice ? d->choice : "");
    if (d->device && d->device[0])
        item("device", "%s", d->device);
    if (external_frame_text(&x->simulation.physics, frame))
        item("frame", "%s", frame);
    print_memory(&e->memory);
    item("disk", "%s, %.0f frames; %s of it for checkpoints", need_text(e->disk_bytes, disk),
         e->frames, need_text(e->checkpoint_bytes, checkpoints));
    if (integrator_chooses_steps(x->simulation.integrator))
        item("own steps", "%.3g if the motion goes on as it begins; they follow it",
             e->timing.own_steps);
    item("interactions", "%.3g at %.3g G/s", e->timing.interactions, 1e-9 * e->timing.rate);
    print_time(&e->timing, integrator_chooses_steps(x->simulation.integrator));
    print_method(run, &e->timing);
    char note[EXPERIMENT_NOTE_SIZE];
    if (experiment_end_note(x, note)[0])
        item("note", "%s", note);
    if (run->proportions[0])
        item("note", "%s", run->proportions);
    if (x->identical)
        item("warning", EXPERIMENT_IDENTICAL, x->simulation.bodies->systems,
             experiment_why_identical(x));
    if (x->warnings.coincident > 0)
        item("warning", "pairs of bodies at the same position: %zu", x->warnings.coincident);
    for (size_t k = 0; k < INITIAL_FILE_WARNINGS; k++)
        if (x->warnings.files[k].count > 0)
            item("warning", "%s", x->warnings.files[k].words);
}

/* Prints the integrator and step that were chosen to keep the accuracy that the config asks for,
 * and the other candidates. */
static void print_choice(const struct choice *choice, double softening)
{
    struct text table = { 0 };
    char limit[CHOICE_CARRIED_SIZE];
    if (accuracy_target_of_orbits(&choice->target))
        item("orbits",
             "accurate until t = %g are asked for, within %g of the size%s; of these settings the "
             "cheapest is taken that keeps them so. Error: of the orbits then, as expected from "
             "pilots and their shadows; cost: of the motion, as counted; least: the smallest that "
             "is expected of the integrator",
             choice->target.until, choice->target.asked, choice_carried_text(choice, limit));
    else
        item("energy error",
             "%g was asked for; of these settings the cheapest is taken that keeps it. Error: at "
             "the end, as expected from pilots; cost: of the motion, as counted; least: the "
             "smallest that is expected of the integrator",
             choice->target.error);
    choice_report_table(choice, "#   ", &table);
    terminal_put(stdout, TERMINAL_PLAIN, &table);
    if (choice->expected > choice->target.work)
        item(
            "warning",
            "the chosen setting is expected to cost %.2g pairs of bodies; a larger error, %s or an "
            "earlier end costs less. At ten times that the run stops with a checkpoint "
            "(time.work_limit)",
            choice->expected, choice_softer(softening));
}

static void print_resolution(const struct experiment *x, const struct backend_description *backend,
                             const struct resolution *worst)
{
    char text[RESOLUTION_TEXT_SIZE];
    if (resolution_text(worst, x->simulation.bodies, backend->precision, text)[0])
        item("warning", "%s", text);
}

/* Prints what limits the step: the pair that orbits fastest, now or when it passes, or the closest
 * encounter that is to be expected in a cluster. */
static void print_fastest(const struct experiment *x, const struct advice *a)
{
    const struct units *units = x->simulation.physics.units;
    char of[TEXT_SYSTEM_SIZE], pair[BODIES_PAIR_SIZE];
    bodies_pair(x->simulation.bodies, a->id_i, a->id_j, pair);
    text_system(of, x->simulation.bodies->systems > 1 ? (double)a->system + 1.0 : 0.0,
                body_files_name(&x->body_files, a->system));
    char period[UNITS_TEXT_SIZE], distance[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE],
        free_fall[UNITS_TEXT_SIZE];
    const int digits = a->kind == ADVICE_ENCOUNTER || a->kind == ADVICE_COLLAPSE ? 2 : 3;
    units_time(units, a->period, digits, period);
    units_length(units, a->distance, digits, distance);
    units_time(units, a->time, 4, time);
    units_time(units, a->free_fall, 3, free_fall);
    if (a->kind == ADVICE_NOW)
        item("fastest pair", "%s%s would orbit each other in %s: %.3g steps", pair, of, period,
             a->steps);
    if (a->kind == ADVICE_PERICENTER)
        item("fastest pair",
             "%s%s will pass at %s (e = %.4g), where they would "
             "orbit each other in %s: %.3g steps",
             pair, of, distance, a->eccentricity, period, a->steps);
    if (a->kind == ADVICE_PASSAGE)
        item("fastest pair",
             "%s%s will pass at %s by t = %s, where they would "
             "orbit each other in %s: %.3g steps",
             pair, of, distance, time, period, a->steps);
    if (a->kind == ADVICE_ENCOUNTER)
        item("encounters",
             "two bodies may pass at %s until the end, where they would orbit each other in "
             "%s: %.2g steps",
             distance, period, a->steps);
    if (a->kind == ADVICE_COLLAPSE)
        item("collapse",
             "the system is cold and falls in within %s; then two bodies may pass at %s, "
             "where they would orbit each other in %s: %.2g steps",
             free_fall, distance, period, a->steps);
}

static const char *reason_for_more(const struct advice *a)
{
    if (!(a->wanted > a->usual))
        return "";
    return a->kind == ADVICE_ENCOUNTER || a->kind == ADVICE_COLLAPSE
               ? ", so that the closest encounter is followed in nine of ten runs"
               : ", as many as so deep a passage wants";
}

/* Writes the setting that the advice proposes, "time.step = 0.01"; the integrator comes first if it
 * is not that of the config. */
enum { SETTING_SIZE = 128 };
static const char *setting(const struct experiment *x, const struct advice *a, double step,
                           char buffer[SETTING_SIZE])
{
    if (a->integrator == x->simulation.integrator)
        snprintf(buffer, SETTING_SIZE, "time.step = %g", step);
    else
        snprintf(buffer, SETTING_SIZE, "time.integrator = \"%s\" and time.step = %g",
                 a->integrator->variant.name, step);
    return buffer;
}

static void print_trial(const struct experiment *x, const struct advice *a,
                        const struct timing *timing)
{
    const struct trial_run *tried = &a->last_trial;
    char with[SETTING_SIZE], missed[80];
    snprintf(missed, sizeof missed,
             isfinite(tried->error_in_limits)
                 ? "the energy error is %.2g of its limit, more than the half that is safe"
                 : "the numbers are not finite",
             tried->error_in_limits);
    if (a->trial == ADVICE_FAILS)
        item(
            "",
            "no step that was tried suffices: with %s %s; smaller ones would take too long to try; "
            "physics.softening or another integrator may help",
            setting(x, a, tried->step, with), tried->text[0] ? tried->text : missed);
    if (a->trial == ADVICE_HOLDS)
        item("",
             "%s was tried to the end: the accuracy watch passes it, with an energy error of %.2g "
             "of "
             "the limit",
             setting(x, a, tried->step, with), tried->error_in_limits);
    const double forces = (double)integrator_forces_per_step(a->integrator) /
                          (double)integrator_forces_per_step(x->simulation.integrator);
    const double seconds = experiment_step_count(x, a->step) * timing->forces.each * forces;
    const bool differs = a->step < x->simulation.step || a->integrator != x->simulation.integrator;
    if (a->trial == ADVICE_UNTRIED && differs && !a->integrator->symplectic)
        item("",
             "no step is proposed: %s is not symplectic, and its error grows with the run; "
             "time.step = %g, short enough for them, was not tried: its steps would take "
             "about %.2g s",
             x->simulation.integrator->variant.name, a->step, seconds);
    else if (a->trial == ADVICE_UNTRIED && differs)
        item("", "not tried: the steps of such a run would take about %.2g s", seconds);
}

static void print_step(const struct experiment *x, const struct advice *a,
                       const struct timing *timing)
{
    char with[SETTING_SIZE];
    if (a->kind == ADVICE_NONE)
        return;
    print_fastest(x, a);
    if (a->integrator != x->simulation.integrator)
        item("", "with %s the energy grows or decays with any step; take another integrator",
             x->simulation.integrator->variant.name);
    if (!(a->period > 0.0)) {
        item("", "they meet head-on: no step is small enough; physics.softening > 0 helps");
        return;
    }
    if (a->trial == ADVICE_TOO_MANY) {
        item("",
             "no fixed step will do: %g would give it %.0f, and make %.2g steps of the run; "
             "physics.softening > 0 helps",
             a->step, a->wanted, experiment_step_count(x, a->step));
        return;
    }
    const bool proposed = a->trial != ADVICE_UNTRIED || a->integrator->symplectic;
    const bool differs = a->step < x->simulation.step || a->integrator != x->simulation.integrator;
    if (proposed && a->step > 0.0 && differs)
        item("", "%s would give it %.0f%s", setting(x, a, a->step, with),
             a->trial == ADVICE_HOLDS ? a->period / a->step : a->wanted, reason_for_more(a));
    print_trial(x, a, timing);
}

/* Proposes shadows (copies of the run, one displaced, one with half the step, which tell until when
 * positions are right): the energy does not show that, and for few bodies shadows cost little. */
static void print_trust(const struct experiment *x, const struct timing *timing)
{
    const double few = 64.0; /* the most bodies, in all systems, for the proposal */
    if (copies_shadowed(x->config) || x->simulation.bodies->count < 2 ||
        (double)x->simulation.bodies->systems * (double)x->simulation.bodies->count > few)
        return;
    double work = 0.0;
    for (int k = 0; k < TRUST_SHADOWS; k++)
        work += trust_steps[k];
    item("positions",
         "the watch judges energies; until when bodies are where they should be, trust = { shadow "
         "= true; } tells, for %.0f times the steps: about %.2g s more",
         work, work * timing_item_seconds(&timing->forces));
}

static void print_sweep(const struct sweep_estimate *sweep)
{
    char disk[NEED_TEXT_SIZE];
    if (sweep->runs > 0)
        item("sweep", "%zu runs, %s on the disk together", sweep->runs,
             need_text(sweep->disk_bytes, disk));
}

static const char *const part_names[CHECK_PARTS] = {
    [CHECK_BODIES] = "the bodies, which were not ready",
    [CHECK_ESTIMATE] = "disk and the time that the run will take",
    [CHECK_RESOLUTION] = "how precise positions are",
    [CHECK_ADVICE] = "which steps suffice",
};

/* Prints the need of memory, which follows from the config alone, for a run whose bodies were not
 * ready in time. */
static void print_bare_estimate(const struct config *config)
{
    struct memory_need need;
    struct error unknown = { 0 };
    printf("# estimate\n");
    if (!accuracy_target_leaves_choice(config) && !need_of_run(config, &need, &unknown))
        print_memory(&need);
}

void check_report(const struct check_results *check, int done, const struct sweep_estimate *sweep)
{
    const struct run_record *const record = &check->record;
    if (done > CHECK_ESTIMATE)
        print_estimate(record, &check->estimate);
    if (done > CHECK_ESTIMATE && record->choice)
        print_choice(record->choice, record->experiment->simulation.physics.softening);
    if (done > CHECK_ADVICE && !accuracy_target_key(&record->target))
        print_step(record->experiment, &check->advice, &check->estimate.timing);
    if (done > CHECK_ESTIMATE)
        print_trust(record->experiment, &check->estimate.timing);
    if (done > CHECK_RESOLUTION)
        print_resolution(record->experiment, record->backend, &check->resolution);
    if (done <= CHECK_ESTIMATE)
        print_bare_estimate(check->prepared.config);
    for (int part = done; part < CHECK_PARTS; part++)
        item(part == done ? "not tried" : "", "%s%s",
             part == CHECK_BODIES && accuracy_target_leaves_choice(check->prepared.config)
                 ? "which setting keeps what is asked for (a run tries it for a tenth of its work)"
                 : part_names[part],
             part == done ? ": the time that a check may take is over" : "");
    if (check->warnings.length > 0)
        item("warning", "%s", check->warnings.bytes);
    print_sweep(sweep);
}
