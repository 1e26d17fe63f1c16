#include "run/verdict.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "run/attempt.h"
#include "run/remedy.h"

__attribute__((format(printf, 2, 3))) static void say(struct run *run, const char *format, ...)
{
    const size_t used = strlen(run->verdict);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->verdict + used, sizeof run->verdict - used, format, arguments);
    va_end(arguments);
}

/* --- what failed worst ------------------------------------------------------------------------ */

/* The bound that a value of a criterion is beyond. */
static double broken_bound(const struct criterion *c)
{
    return c->worst > c->highest ? c->highest : c->lowest;
}

/* Returns the distance of a value beyond its bound, over the bound; infinite if there is no
 * value. */
static double beyond(const struct criterion *c)
{
    const double bound = broken_bound(c), distance = fabs(c->worst - bound);
    return isnan(c->worst) ? INFINITY : distance / fabs(bound);
}

/* The criterion that failed worst of those on energies, or of the others; NULL. */
static const struct criterion *worst_criterion(const struct run *run, bool of_energy)
{
    const struct criterion *worst = NULL;
    for (size_t i = 0; i < run->criteria.expect.count; i++) {
        const struct criterion *c = &run->criteria.expect.criteria[i];
        if (!criterion_holds(c) && criterion_bounds_energy(c) == of_energy &&
            (!worst || beyond(c) > beyond(worst)))
            worst = c;
    }
    return worst;
}

static size_t count_failed(const struct run *run)
{
    size_t failed = 0;
    for (size_t i = 0; i < run->criteria.expect.count; i++)
        failed += !criterion_holds(&run->criteria.expect.criteria[i]);
    return failed;
}

/* --- telling ---------------------------------------------------------------------------------- */

static void say_times(struct run *run, double value, double bound, const char *unit)
{
    say(run, ", bound %g%s (%.3g times)", bound, unit, value / bound);
}

static void say_system(struct run *run, double system)
{
    char text[TEXT_SYSTEM_SIZE];
    const char *file =
        system > 0.0 ? body_files_name(&run->experiment.body_files, (size_t)system - 1) : "";
    say(run, "%s", text_system(text, system, file));
}

static void say_criterion(struct run *run, const struct criterion *c)
{
    const double bound = broken_bound(c);
    const size_t others = count_failed(run) - 1;
    say(run, "%.60s ", criterion_bounds_energy(c) ? "energy error" : c->quantity);
    if (c->rows == 0) {
        say(run, "has no row to judge by");
        return;
    }
    if (isnan(c->worst))
        say(run, "is undefined");
    else
        say(run, "%.3g%s", text_plain(c->worst), c->unit);
    say_system(run, c->worst_system);
    if (isnan(c->worst))
        say(run, "%s", criterion_why_undefined(c));
    else if (bound == c->highest && bound > 0.0)
        say_times(run, c->worst, bound, c->unit);
    else
        say(run, ", %s bound %g%s (beyond it by %.2g)", bound == c->highest ? "upper" : "lower",
            bound, c->unit, fabs(c->worst - bound));
    if (others > 0)
        say(run, ", and %zu other criteri%s", others, others == 1 ? "on" : "a");
}

static void say_watch(struct run *run, const struct watch_failure *failure)
{
    say(run, "%s %.3g%s", failure->what, failure->value, failure->whose);
    say_system(run, (double)failure->system);
    if (failure->systems > 1)
        say(run, ", the worst of %zu systems that fail", failure->systems);
    else if (failure->system > 0)
        say(run, ", the only one of %zu that fails", run->simulation->bodies->systems);
    if (failure->too_few)
        say(run, ", at least %g are wanted", failure->limit);
    else if (failure->of_force)
        say(run,
            ", asked %g (%.3g times): everything computed from these forces has that error; lower "
            "compute.accuracy, or take compute.method = \"direct\"",
            failure->limit, failure->value / failure->limit);
    else
        say_times(run, failure->value, failure->limit, "");
}

/* --- the cases -------------------------------------------------------------------------------- */

static void say_remedy_of_energy(struct run *run, double beyond_limit)
{
    char remedy[REMEDY_TEXT_SIZE];
    if (remedy_of_energy(run, beyond_limit, remedy)[0])
        say(run, ": %s", remedy);
}

/* By the watch or by a criterion on an energy error, whichever is broken worse; false where both
 * hold. */
static bool fails_by_energy(struct run *run)
{
    static const double at_least =
        2.0; /* of what is beyond a limit by a number that is not known */
    const struct watch *watch = run->observers.watch;
    const struct criterion *c = worst_criterion(run, true);
    struct watch_failure failure = { 0 };
    const bool watched = !watch_holds(watch, run->ensemble.left_out);
    if (!attempt_holds(run)) {
        const double asked = asked_of(run->experiment.config).error;
        say(run, "energy error %.3g, time.energy_error = %g (%.3g times)", attempt_error(run),
            asked, attempt_error(run) / asked);
        say_system(run,
                   run->ensemble.systems > 1 ? (double)ensemble_worst(&run->ensemble) + 1.0 : 0.0);
        return true;
    }
    const bool known = watched && watch_failure(watch, run->ensemble.left_out, &failure);
    if (!c && !watched)
        return false;
    const double by_watch = !known            ? 0.0
                            : failure.too_few ? failure.limit / failure.value
                                              : failure.value / failure.limit;
    const double by_rows = c ? 1.0 + beyond(c) : 0.0;
    char text[WATCH_TEXT_SIZE];
    if (c && (!watched || by_rows > by_watch))
        say_criterion(run, c);
    else if (known)
        say_watch(run, &failure);
    else
        say(run, "%s", watch_text(watch, run->ensemble.left_out, text));
    if (!failure.of_force || (c && by_rows > by_watch))
        say_remedy_of_energy(run, fmax(at_least, fmax(by_rows, watch_error_in_limits(watch))));
    return true;
}

static void fails_by_criterion(struct run *run)
{
    const struct criterion *c = worst_criterion(run, false);
    char remedy[REMEDY_TEXT_SIZE];
    if (!c)
        return;
    say_criterion(run, c);
    if (remedy_of_criterion(run, c, remedy)[0])
        say(run, ": %s", remedy);
}

/* Says by which energy the watch has ended the run; false where something else did. */
static bool stopped_by_watch(struct run *run)
{
    const struct section *watch = config_section(run->experiment.config, "watch");
    struct watch_failure failure;
    if (strcmp(section_string(watch, "on_jump"), "stop") != 0 ||
        !watch_failure(run->observers.watch, run->ensemble.left_out, &failure))
        return false;
    say_watch(run, &failure);
    return true;
}

/* The first line of what ended the run; the only system of a run needs no name. */
static void say_reason(struct run *run, const char *reason)
{
    enum { MOST = 200 };
    static const char only[] = "system 1: ", only_body[] = "system 1, ";
    const char *line = reason ? reason : "numbers are not finite";
    if (run->simulation->bodies->systems == 1 &&
        (strncmp(line, only, strlen(only)) == 0 || strncmp(line, only_body, strlen(only)) == 0))
        line += strlen(only);
    const size_t length = strcspn(line, "\n");
    say(run, "%.*s", (int)(length < MOST ? length : MOST), line);
}

void verdict_make(struct run *run, enum status status, const char *reason)
{
    run->verdict[0] = '\0';
    if (status == STATUS_EXPECT_FAILED) {
        say(run, "failed: ");
        if (!fails_by_energy(run))
            fails_by_criterion(run);
    }
    if (status == STATUS_NUMERICAL) {
        say(run, "failed: ");
        if (!stopped_by_watch(run))
            say_reason(run, reason);
        say_remedy_of_energy(run, INFINITY);
    }
}

void verdict_recall(struct run *run)
{
    const json_t *before = json_object_get(run->continuation.before, "verdict_text");
    const char *text = json_string_value(before);
    snprintf(run->verdict, sizeof run->verdict, "%s", text ? text : "");
}
