#include "run/phases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/watch.h"
#include "base/document.h"
#include "base/memory.h"
#include "estimate/choice.h"
#include "force/method.h"
#include "output/run-fields.h"

/* Takes the choice of integrator and step from the run.json in the run's directory; returns false
 * if there is none. */
static bool take_recorded(struct run *run, const struct config *config)
{
    char buffer[EXPERIMENT_DIRECTORY_SIZE], path[EXPERIMENT_DIRECTORY_SIZE + 256];
    struct error unreadable = { 0 };
    json_t *before = NULL;
    experiment_name(config, run->experiment.name);
    snprintf(path, sizeof path, "%s/run.json",
             experiment_directory(&run->experiment, run->options.directory, buffer));
    const bool found = document_load(path, &before, &unreadable) == STATUS_OK &&
                       choice_of_json(before, &run->choice);
    json_decref(before);
    if (!found)
        choice_destroy(&run->choice);
    run->choice.target = accuracy_target(config);
    return found;
}

static void tell(struct run *run)
{
    const struct candidate *c = &run->choice.candidates[run->choice.chosen];
    const struct accuracy_target *const target = &run->choice.target;
    char text[SETTING_TEXT_SIZE], limit[CHOICE_CARRIED_SIZE];
    if (accuracy_target_of_orbits(target))
        run_notice(
            run,
            "time.trust_until = %g: %s, with orbits that are expected to be off by %.1e of their "
            "size%s",
            target->until, setting_text(&c->setting, text), c->error,
            choice_carried_text(&run->choice, limit));
    else
        run_notice(run, "time.energy_error = %g: %s, with an expected error of %.1e", target->error,
                   setting_text(&c->setting, text), c->error);
}

enum status attempt_choose(struct run *run, const struct config *config, struct error *error)
{
    struct setting setting;
    run->given = config;
    if (!accuracy_target_leaves_choice(config))
        return STATUS_OK;
    if (run->options.unchosen) {
        setting = setting_of(config, experiment_integrator(config), EXPERIMENT_DEFAULT_GRID);
        return setting_apply(config, &setting, &run->chosen, error);
    }
    if (run->choice.count == 0 && !(run->options.restart && take_recorded(run, config))) {
        if (choice_make(config, &choice_usual_limits, &run->interruption, &run->choice, error))
            return error->status;
        tell(run);
    }
    setting = run->choice.candidates[run->choice.chosen].setting;
    return setting_apply(config, &setting, &run->chosen, error);
}

static struct trust_outlook orbits_outlook(const struct run *run)
{
    const struct accuracy_target target = accuracy_target(run->experiment.config);
    return run->observers.trust ? trust_outlook(run->observers.trust, target.until)
                                : (struct trust_outlook){ .bound = target.until };
}

/* Returns the finding about the accuracy of the orbits. Its value is the time when their accuracy
 * has ended, or how long it has lasted so far. Its bound is time.trust_until or, as long as the
 * orbits are accurate, a shorter time if double precision carries them no further. */
static struct finding horizon_finding(const struct run *run)
{
    const struct trust_outlook outlook = orbits_outlook(run);
    const double bound =
        outlook.missed ? accuracy_target(run->experiment.config).until : outlook.bound;
    struct finding row = finding_row("time.trust_until", fmin(outlook.accurate, run_time(run)),
                                     bound, outlook.missed, outlook.accurate);
    row.subject = FINDING_OF_HORIZON;
    row.unit = run->time_unit;
    row.from_below = true;
    row.times = bound / outlook.accurate;
    row.system = run->simulation->bodies->systems > 1 ? outlook.system + 1 : 0;
    if (!outlook.missed && !outlook.whole)
        row.severity = FINDING_OPEN;
    return row;
}

/* Returns the largest energy error of a system, over 10 |U| if beside max(|E0|, |U0|) the error of
 * bound bodies would not show. */
static double error_of(const struct run *run, size_t system)
{
    const struct watch *const watch = run->observers.watch;
    return fabs(run->ensemble.largest_error[system]) *
           (watch ? watch_enlarged(watch, system) : 1.0);
}

/* Returns the index, from 0, of the first system whose largest energy error is `error`, which is
 * not finite if the numbers of that system have failed. */
static size_t system_of_error(const struct run *run, double error)
{
    for (size_t s = 0; s < run->simulation->bodies->systems; s++) {
        const double own = error_of(run, s);
        if (own == fabs(error) || (isnan(own) && !isfinite(error)))
            return s;
    }
    return 0;
}

struct finding attempt_finding(const struct run *run)
{
    const struct accuracy_target target = accuracy_target(run->experiment.config);
    const size_t systems = run->simulation->bodies->systems;
    struct error ignored = { 0 };
    double error = NAN;
    if (accuracy_target_of_orbits(&target))
        return horizon_finding(run);
    double *const errors = memory_array(systems, sizeof *errors, &ignored);
    for (size_t s = 0; errors && s < systems; s++)
        errors[s] = error_of(run, s);
    if (errors)
        accuracy_target_error(&target, errors, systems, &error, &ignored);
    memory_free(errors);
    struct finding row = finding_row("time.energy_error", error, target.error,
                                     !isnan(target.error) && !(error <= target.error), NAN);
    row.subject = FINDING_OF_TARGET;
    row.system = systems > 1 ? system_of_error(run, error) + 1 : 0;
    return row;
}

enum status attempt_judge(struct run *run, struct error *error)
{
    if (run->choice.count == 0 || run->exhausted ||
        attempt_finding(run).severity != FINDING_FAILURE)
        return STATUS_OK;
    run->missed = true;
    return error_set(error, STATUS_NUMERICAL, "the accuracy that was asked for is missed");
}

double attempt_work(const struct run *run)
{
    double work = simulation_time(run->simulation);
    for (size_t k = 0; k < json_array_size(run->choice.attempts); k++)
        work += run_field_real(json_array_get(run->choice.attempts, k), FIELD_ATTEMPT_COST);
    return work;
}

/* The cost of a run over the expected cost beyond which it may be too much. It is too much only
 * beyond time.work_limit, too: among 200 experiments (docs/theory.md, "Asking for the error") some
 * keep the error at fifty times the expected cost, but in less than a minute. */
static const double much_dearer = 10.0;

bool attempt_costs_too_much(const struct run *run)
{
    const struct choice *const choice = &run->choice;
    const double most = fmax(much_dearer * choice->expected, choice->target.work);
    return choice->count > 0 && choice->expected > 0.0 && run->work_before <= most &&
           attempt_work(run) > most;
}

const char *attempt_cost_text(const struct run *run, char buffer[CHOICE_DEARER_SIZE])
{
    const struct run_work own = run_work(run);
    const double times = attempt_work(run) / run->choice.expected;
    const size_t attempts = json_array_size(run->choice.attempts);
    char pair[BODIES_PAIR_SIZE];
    buffer[0] = '\0';
    if (!run->choice.count || !(run->choice.expected > 0.0) || !(times > much_dearer))
        return buffer;
    int length =
        snprintf(buffer, CHOICE_DEARER_SIZE, "it has cost %.3g times what was expected", times);
    if (attempts > 0)
        length += snprintf(buffer + length, CHOICE_DEARER_SIZE - (size_t)length,
                           ", attempts that missed the error included (%zu)", attempts);
    if (own.chosen)
        snprintf(buffer + length, CHOICE_DEARER_SIZE - (size_t)length,
                 "; %s came so close that steps of %.2g%s were taken, which %s, a larger error or "
                 "an earlier end would avoid",
                 bodies_pair(run->simulation->bodies, own.sums.pair[0], own.sums.pair[1], pair),
                 own.sums.smallest, run->time_unit,
                 choice_softer(run->simulation->physics.softening));
    return buffer;
}

const char *attempt_limit_text(const struct run *run, char buffer[ATTEMPT_LIMIT_SIZE])
{
    buffer[0] = '\0';
    if (!choice_is_limited(&run->choice, run->kernel_error.whole))
        return buffer;
    snprintf(buffer, ATTEMPT_LIMIT_SIZE,
             ", which shorter steps do not lower: the forces, with an error of %.1e, are not exact "
             "enough; %s",
             run->kernel_error.whole, choice_exacter(&run->simulation->description.force));
    return buffer;
}

bool attempt_again(struct run *run, enum status status)
{
    char before[SETTING_TEXT_SIZE], after[SETTING_TEXT_SIZE + 32];
    if (status != STATUS_NUMERICAL || run->choice.count == 0 || run->exhausted)
        return false;
    struct choice *const choice = &run->choice;
    const bool orbits = accuracy_target_of_orbits(&choice->target);
    const double error = !run->missed ? INFINITY
                         : orbits     ? orbits_outlook(run).error
                                      : attempt_finding(run).value;
    const double part = (double)run->schedule.step / (double)run->experiment.steps;
    const double work = simulation_time(run->simulation);
    char time[UNITS_TEXT_SIZE], limit[ATTEMPT_LIMIT_SIZE];
    setting_text(&choice->candidates[choice->chosen].setting, before);
    if (!choice_after_miss(run->given, part, error, work, run->kernel_error.whole, choice)) {
        run->exhausted = true;
        snprintf(after, sizeof after, "is made to its end");
    } else {
        snprintf(after, sizeof after, "begins anew with ");
        setting_text(&choice->candidates[choice->chosen].setting, after + strlen(after));
    }
    snprintf(run->why_again, sizeof run->why_again,
             "%s = %g: with %s the %s off by %.2e at t = %s%s; the run %s",
             accuracy_target_key(&choice->target),
             orbits ? choice->target.until : choice->target.error, before,
             orbits ? "orbits are no longer accurate, and would be" : "energy was", error,
             run_time_text(run, 6, time), attempt_limit_text(run, limit), after);
    return !run->exhausted || run->missed;
}
