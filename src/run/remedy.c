#include <float.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "estimate/advice.h"
#include "force/direct/reference.h"
#include "run/phases.h"

/* The search for a remedy may do as much work as the run to its end, or `least_work` (pair
 * interactions: a fifth of a second) if that is more. Work decides what is tried, so that no load
 * of the machine changes the result. The search also ends after the seconds that the run took, or
 * `least_seconds` if that is more. */
static const double least_work = 2e8, least_seconds = 5.0;
/* The softening length, over the size of the system, beyond which softening would make another
 * system. */
static const double most_softened = 0.1;

/* The integrators that a remedy tries if no step of the run's own was found to keep the energy. */
static const char higher_order[] = "yoshida6", own_steps[] = "gauss-radau";
enum { FEW_BODIES = 64 }; /* the most bodies, of all systems, for which gauss-radau is quick */

/* A failed run, its experiment at the start, and the limits of the search for a remedy. */
struct failed_run {
    const struct run *run;
    struct interruption interruption; /* interruption of all trials, by asked() */
    double deadline;                  /* clock_seconds() when the search ends */
    struct experiment start;
    struct advice_wish wish;
    const char *holds; /* words for a setting that was tried with success: "holds (tried)" */
    struct text *text; /* the remedy */
};

/* Adds a command to the text, such as "orrery check", with the config of the run as its argument,
 * and what it does (`does`). */
static void say_command(struct text *text, const char *command, const struct run *run,
                        const char *does)
{
    struct text config = { 0 };
    text_print(&config, "%s/run.cfg", directory_path(run->files.directory));
    text_print(text, "%s ", command);
    text_shell(text, config.bytes ? config.bytes : "");
    text_print(text, " %s", does);
    text_free(&config);
}

/* --- what helps ------------------------------------------------------------------------------- */

static double work_of(const struct failed_run *failed, const struct experiment *other)
{
    return trial_run_work(other, other->simulation.step, failed->wish.bound);
}

static bool holds(const struct failed_run *failed, const struct experiment *other,
                  struct error *error)
{
    struct trial_run tried;
    return trial_run_make(other, other->simulation.step, failed->wish.bound, &tried, error) ==
               STATUS_OK &&
           tried.within;
}

/* If the run's forces were not in double precision, makes a trial run with forces in double and the
 * present step. Returns whether it keeps the energy. */
static bool try_double(struct failed_run *failed, struct error *error)
{
    struct experiment other = failed->start;
    const enum precision precision = failed->run->simulation->description.precision;
    other.simulation.options.force.precision = PRECISION_DOUBLE;
    if (precision == PRECISION_DOUBLE || work_of(failed, &other) > failed->wish.work ||
        !holds(failed, &other, error))
        return false;
    text_print(failed->text,
               "forces in %s precision are not exact enough; compute.precision = \"double\" %s",
               precision_names[precision], failed->holds);
    return true;
}

/* Rounds up to one digit: 0.0237 becomes 0.03. */
static double round_up(double value)
{
    const double power = pow(10.0, floor(log10(value)));
    return ceil(value / power * (1.0 - 1e-12)) * power;
}

/* Returns the softening length eps with which two bodies as heavy as the heaviest, however near
 * they come, have as many of the present steps in a period as the integrator needs: a period is 2
 * pi (eps^3 / G m)^(1/2) or longer, with the mass m of both. */
static double softening_for(const struct experiment *x, const struct advice *advice)
{
    const struct bodies *b = x->simulation.bodies;
    const double heaviest = gsl_stats_max(b->m, 1, bodies_length(b));
    const double tau = advice->usual * x->simulation.step / (2.0 * M_PI);
    const double mu = x->simulation.physics.gravitational_constant * 2.0 * heaviest;
    return round_up(cbrt(mu * tau * tau));
}

static void say_softening(struct failed_run *failed, const struct advice *advice,
                          struct error *error)
{
    struct experiment other = failed->start;
    const double softening = softening_for(&other, advice);
    other.simulation.physics.softening = softening;
    if (softening > failed->start.simulation.physics.softening &&
        softening < most_softened * failed->run->scales.length &&
        work_of(failed, &other) <= failed->wish.work && holds(failed, &other, error))
        text_print(failed->text, "with this step physics.softening = %g %s", softening,
                   failed->holds);
    else
        text_print(failed->text, "physics.softening > %g may help (not tried)",
                   failed->start.simulation.physics.softening);
}

static void say_setting(struct failed_run *failed, const struct advice *advice, double step)
{
    if (advice->integrator != failed->start.simulation.integrator)
        text_print(failed->text, "time.integrator = \"%s\" with ",
                   advice->integrator->variant.name);
    text_print(failed->text, "time.step = %g", step);
}

static void say_advice(struct failed_run *failed, const struct advice *advice, struct error *error)
{
    const double step = failed->start.simulation.step;
    const bool other = advice->integrator != failed->start.simulation.integrator;
    const bool fails = advice->trial == ADVICE_FAILS;
    char factor[TEXT_REAL_SIZE];
    /* If there is no advice, or the advised step is no shorter than the one that has just failed,
     * only the command is suggested. */
    if (advice->kind == ADVICE_NONE || (!other && advice->step >= step && !fails)) {
        say_command(failed->text, "orrery check", failed->run, "tries other steps");
        return;
    }
    if (other)
        text_print(failed->text,
                   integrator_drifts(failed->start.simulation.integrator)
                       ? "%s does not keep the energy with any step; "
                       : "no step of %s was found to hold; ",
                   failed->start.simulation.integrator->variant.name);
    if (!(advice->period > 0.0)) {
        text_print(failed->text, "two bodies meet head-on, and no step is short enough; ");
        say_softening(failed, advice, error);
    } else if (advice->trial == ADVICE_TOO_MANY) {
        text_print(failed->text, "steps of %g are wanted, too many of them; ", advice->step);
        say_softening(failed, advice, error);
    } else if (fails) {
        text_print(failed->text, "the steps that were tried, down to ");
        say_setting(failed, advice, advice->last_trial.step);
        text_print(failed->text, ", fail as well; ");
        say_softening(failed, advice, error);
    } else {
        if (!other)
            text_print(failed->text, "the step is too long; ");
        say_setting(failed, advice, advice->step);
        if (!other)
            text_print(failed->text, ", %s times shorter,",
                       text_factor(factor, step / advice->step, 2));
        text_print(failed->text, " %s",
                   advice->trial == ADVICE_HOLDS ? failed->holds : "is an estimate (not tried)");
    }
}

/* Adds to the text the key by which an integrator that chooses its own steps takes shorter ones. */
static void say_own_steps(struct failed_run *failed)
{
    const struct variant *variant = &failed->start.simulation.integrator->variant;
    const char *key = variant->parameters[variant->parameter_count - 1].key;
    const struct section *time = config_section(failed->start.config, "time");
    text_print(failed->text, "a smaller time.%s than %g may help (not tried)", key,
               section_real(time, key));
}

/* Tries the integrator `higher_order` if no step was found with which the run's own integrator
 * keeps the energy. If the other one does not keep it either, *advice stays as it is. */
static enum status try_higher_order(const struct failed_run *failed, struct advice *advice,
                                    struct error *error)
{
    struct experiment other = failed->start;
    struct advice_wish wish = failed->wish;
    struct advice found;
    other.simulation.integrator = integrator_find(higher_order);
    wish.present = NAN;
    if (advice->trial == ADVICE_HOLDS || advice->kind == ADVICE_NONE || !(advice->period > 0.0) ||
        failed->start.simulation.integrator->order >= other.simulation.integrator->order)
        return STATUS_OK;
    if (advice_find(&other, &wish, &found, error))
        return error->status;
    if (found.trial == ADVICE_HOLDS)
        *advice = found;
    return STATUS_OK;
}

/* Tries gauss-radau with its default accuracy on a run of few bodies, if no fixed step was found
 * that keeps the energy. Returns whether gauss-radau keeps it. */
static bool try_own_steps(struct failed_run *failed, const struct advice *advice)
{
    struct experiment other = failed->start;
    struct error unable = { 0 };
    other.simulation.integrator = integrator_find(own_steps);
    other.simulation.options.time = NULL; /* the config's keys are those of another integrator */
    if (advice->kind == ADVICE_NONE || advice->trial == ADVICE_HOLDS ||
        other.simulation.bodies->systems * other.simulation.bodies->count > FEW_BODIES ||
        !holds(failed, &other, &unable))
        return false;
    text_print(failed->text, "no step of %s was found to hold; time.integrator = \"%s\" %s",
               failed->start.simulation.integrator->variant.name, own_steps, failed->holds);
    return true;
}

static void treat(struct failed_run *failed, struct error *error)
{
    struct advice advice;
    if (failed->wish.bound < DBL_EPSILON)
        text_print(failed->text, "that is less than the rounding of a number");
    else if (try_double(failed, error))
        return;
    else if (integrator_chooses_steps(failed->start.simulation.integrator))
        say_own_steps(failed);
    else if (advice_find(&failed->start, &failed->wish, &advice, error) ||
             try_higher_order(failed, &advice, error))
        say_command(failed->text, "orrery check", failed->run, "tries other steps");
    else if (!try_own_steps(failed, &advice))
        say_advice(failed, &advice, error);
}

/* --- what may be spent ------------------------------------------------------------------------ */

/* Tells whether trials must end: the run should end, or they have taken longer than the run itself
 * and `least_seconds`. */
static bool asked(void *context)
{
    const struct failed_run *failed = context;
    const struct run *run = failed->run;
    char reason[ENDING_REASON_SIZE] = "";
    return ending_wanted(run, 0.0, reason) || directory_has(run->files.directory, "stop") ||
           clock_seconds() > failed->deadline;
}

/* Tells whether a search for a remedy may begin: on one rank, and if drawing or reading the bodies
 * anew, which is taken for N^2 pairs of work, is no more than the search may do. Memory for a
 * second run beside the present one is asked for by experiment_create(). */
static bool can_afford(const struct failed_run *failed)
{
    const struct run *run = failed->run;
    const struct bodies *b = run->simulation->bodies;
    return run->simulation->description.ranks <= 1 &&
           reference_pairs((double)b->systems, (double)b->count) <= failed->wish.work;
}

void remedy_of_energy(const struct run *run, double beyond, struct text *text)
{
    struct error unable = { 0 };
    const bool ended = run->schedule.step == run->schedule.last;
    const double bound = criteria_energy_bound(&run->criteria, ended);
    const double work = trial_run_work(&run->experiment, run->simulation->step, bound);
    struct failed_run failed = {
        .run = run,
        .wish = { .bound = bound, .work = fmax(least_work, work), .present = beyond },
        /* Trial runs look at the energy only, not at other criteria. */
        .holds = criteria_fail_otherwise(&run->criteria, ended) ? "keeps the energy (tried)"
                                                                : "holds (tried)",
        .text = text,
    };
    if (run->proportions.masses) {
        text_print(text, "%s", run->proportions.text);
        return;
    }
    if (run->schedule.step == 0 && watch_within_limits(run->observers.watch, NULL)) {
        text_print(text,
                   "the start is beyond the range of numbers: look at its masses, positions and "
                   "velocities");
        return;
    }
    failed.deadline = clock_seconds() + fmax(least_seconds, clocks_wall(&run->clocks));
    failed.interruption = (struct interruption){ .asked = asked, .context = &failed };
    if (can_afford(&failed) && experiment_create(run->experiment.config, &failed.interruption,
                                                 &failed.start, &unable) == STATUS_OK)
        treat(&failed, &unable);
    else
        say_command(failed.text, "orrery check", failed.run, "tries other steps");
    experiment_destroy(&failed.start);
    if (run->proportions.text[0])
        text_print(text, "; %s", run->proportions.text);
}

/* --- other criteria --------------------------------------------------------------------------- */

/* Adds to the text why a criterion had no row to judge by, and what would give it one. */
static void say_unseen(struct text *text, const struct run *run, const struct finding *criterion)
{
    const double reached = (double)run->schedule.step * run->simulation->step;
    const char *const unit = run->time_unit;
    if (isinf(criterion->after) && isinf(criterion->before))
        text_print(text, "the run ended at t = %g%s, before it could be", reached, unit);
    else if (criterion->after <= reached)
        text_print(
            text,
            "none of its rows lies between its `after` and `before`, and the run ended at t = "
            "%g%s: choose other times, or a smaller `every` of the diagnostic",
            reached, unit);
    else if (run->criteria.ended_by[0])
        text_print(
            text,
            "stop_when ended the run at t = %g%s, and the expectation begins after t = %g%s: "
            "choose a smaller `after`, or another condition of stop_when",
            reached, unit, criterion->after, unit);
    else
        text_print(text,
                   "the run ended at t = %g%s, and the expectation begins after t = %g%s: choose a "
                   "smaller `after`, or a larger time.end",
                   reached, unit, criterion->after, unit);
}

void remedy_of_criterion(const struct run *run, const struct finding *criterion, struct text *text)
{
    const bool of_momentum = strstr(criterion->name, "momentum") != NULL;
    const enum precision precision = run->simulation->description.precision;
    if (criterion->unseen)
        say_unseen(text, run, criterion);
    else if (isnan(criterion->value))
        return; /* finding.why_undefined, in the verdict, says all that is known */
    else if (run->proportions.text[0])
        text_print(text, "%s", run->proportions.text);
    else if (of_momentum && precision != PRECISION_DOUBLE)
        text_print(text,
                   "forces in %s precision do not cancel; compute.precision = \"double\" may help "
                   "(not tried)",
                   precision_names[precision]);
    else if (of_momentum && !integrator_keeps_momentum(run->simulation->integrator))
        text_print(text,
                   "the block steps of %s do not keep it; another integrator may help (not tried)",
                   run->simulation->integrator->variant.name);
    else
        say_command(text, "orrery run --convergence", run, "tells how exact that number is");
}
