/* The verdict on a run: verdict_status() decides it, run_verdict() is its word, verdict_findings()
 * lists the quantities by which it was decided, and verdict_make() tells why a run has failed. */
#include "run/phases.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/run-fields.h"
#include "run/record.h"

/* --- the decision ----------------------------------------------------------------------------- */

enum status verdict_status(const struct run *run)
{
    const bool as_asked = attempt_finding(run).severity != FINDING_FAILURE;
    const bool as_expected = expectations_hold(&run->criteria.expect);
    const bool accurate = watch_holds(run->observers.watch, run->ensemble.left_out);
    return as_asked && as_expected && accurate ? STATUS_OK : STATUS_EXPECT_FAILED;
}

const char *run_verdict(const struct config *config, enum status status)
{
    const struct accuracy_target target = accuracy_target(config);
    const bool bounds = config_count(config, "expect") > 0 || accuracy_target_key(&target);
    switch (status) {
    case STATUS_OK:
        return bounds ? "held" : "none";
    case STATUS_EXPECT_FAILED:
        return "failed";
    case STATUS_STOPPED:
        return "stopped";
    default:
        return "error";
    }
}

struct finding verdict_findings(const struct run *run, bool ended, struct findings *findings)
{
    const struct finding asked = attempt_finding(run);
    if (!isnan(asked.bound))
        findings_add(findings, &asked, "");
    expectations_findings(&run->criteria.expect, ended, findings);
    const struct finding worst =
        watch_findings(run->observers.watch, run->ensemble.left_out, findings);
    /* At the start a quantity within its bound is open, since the run may still break the bound; a
     * quantity beyond its bound has failed already. An error of 0 is not known. */
    for (size_t i = 0; !ended && run->schedule.step == 0 && i < findings->count; i++)
        if (findings->rows[i].severity == FINDING_HELD) {
            findings->rows[i].severity = FINDING_OPEN;
            if (findings->rows[i].subject < FINDING_OF_ENERGY && findings->rows[i].value == 0.0)
                findings->rows[i].value = NAN;
        }
    return worst;
}

/* --- telling ---------------------------------------------------------------------------------- */

static void say_system(struct run *run, double system)
{
    char text[TEXT_SYSTEM_SIZE];
    const char *file =
        system > 0.0 ? body_files_name(&run->experiment.body_files, (size_t)system - 1) : "";
    text_print(&run->verdict, "%s", text_system(text, system, file));
}

static bool is_close(const struct finding *f)
{
    return fabs(f->value - f->bound) < 0.01 * fabs(f->bound);
}

/* Adds the advice to leave integrator and step (or the key of its accuracy) out of the config, so
 * that the program chooses them, unless it chose them. `before` precedes the keys. */
static void say_to_leave_out(struct run *run, const char *before)
{
    const struct integrator *const integrator = run->simulation->integrator;
    if (run->choice.count == 0)
        text_print(&run->verdict, "%stime.integrator and time.%s, and they are chosen", before,
                   integrator_has_stages(integrator) ? "step" : integrator_key(integrator)->key);
}

static void say_bound(struct run *run, const struct finding *f)
{
    const char *unit = f->unit ? f->unit : "";
    if (f->subject == FINDING_OF_STEPS)
        text_print(&run->verdict, ", at least %g are wanted", f->bound);
    else if (f->subject == FINDING_OF_FORCES)
        text_print(
            &run->verdict,
            " +- %.1g, asked %g (%.3g times): everything computed from these forces has that "
            "error; lower compute.accuracy, or take compute.method = \"direct\"",
            f->uncertainty, f->bound, f->value / f->bound);
    else if (f->subject == FINDING_OF_HORIZON) {
        text_print(&run->verdict, ", time.trust_until = %g%s: the steps are too long", f->bound,
                   f->unit);
        say_to_leave_out(run, "; leave out ");
    } else {
        char bound[TEXT_REAL_SIZE], factor[TEXT_REAL_SIZE];
        text_print(&run->verdict, ", %s %s%s%s (",
                   f->from_below    ? "lower bound"
                   : f->bound > 0.0 ? "bound"
                                    : "upper bound",
                   text_beside(bound, 6, f->bound, f->bound, f->bound), unit,
                   f->subject == FINDING_OF_TARGET ? " by time.energy_error" : "");
        if (!f->from_below && f->bound > 0.0 && !is_close(f))
            text_print(&run->verdict, "%s times)", text_factor(factor, f->value / f->bound, 3));
        else
            text_print(&run->verdict, "beyond it by %.2g)", fabs(f->value - f->bound));
        if (f->subject == FINDING_OF_TARGET) {
            char limit[ATTEMPT_LIMIT_SIZE];
            say_to_leave_out(run, ": leave out ");
            if (f->value < run->kernel_error.whole)
                text_print(&run->verdict, "%s", attempt_limit_text(run, limit));
        }
    }
}

/* Adds the value of a finding: "energy error 0.22", "5 steps per period of body 3 about body 1". */
static void say_value(struct run *run, const struct finding *f, const char *name)
{
    char whose[FINDING_WHOSE_SIZE], value[TEXT_REAL_SIZE];
    text_beside(value, is_close(f) ? 6 : 3, f->value, f->bound, f->bound);
    if (f->subject == FINDING_OF_STEPS)
        text_print(&run->verdict, "%s %s%s", value, name, finding_whose(f, whose));
    else
        text_print(&run->verdict, "%.60s %s%s%s", name, value, f->unit ? f->unit : "",
                   finding_whose(f, whose));
}

/* Adds a finding: "energy error 0.22 in system 3, the worst of 4 systems that fail, bound 0.0005
 * (447 times)". */
static void say_finding(struct run *run, const struct finding *f)
{
    const bool of_watch = f->subject < FINDING_OF_TARGET;
    const char *const name =
        f->subject == FINDING_OF_TARGET ||
                (f->subject == FINDING_OF_ENERGY && strcmp(f->name, "energy_error") == 0)
            ? "energy error"
        : f->subject == FINDING_OF_HORIZON ? "orbits accurate until t ="
                                           : f->name;
    if (f->unseen) {
        text_print(&run->verdict, "%.60s could not be judged", name);
        return;
    }
    if (isnan(f->value))
        text_print(&run->verdict, "%.60s is undefined", name);
    else
        say_value(run, f, name);
    say_system(run, (double)f->system);
    if (of_watch && f->systems > 1)
        text_print(&run->verdict, ", the worst of %zu systems that fail", f->systems);
    else if (of_watch && f->system > 0)
        text_print(&run->verdict, ", the only one of %zu that fails the watch",
                   run->simulation->bodies->systems);
    if (isnan(f->value))
        text_print(&run->verdict, "%s", f->why_undefined ? f->why_undefined : "");
    else
        say_bound(run, f);
}

/* Adds the finding `f` on a criterion. Names the other criteria that fail; if more than MOST_NAMED,
 * only tells how many. */
static void say_criterion(struct run *run, const struct findings *rows, const struct finding *f)
{
    enum { MOST_NAMED = 3 };
    const struct finding *others[MOST_NAMED];
    size_t count = 0;
    say_finding(run, f);
    for (size_t i = 0; i < rows->count && !f->unseen; i++) {
        const struct finding *const row = &rows->rows[i];
        if (row->subject < FINDING_OF_ENERGY || row == f || row->severity != FINDING_FAILURE)
            continue;
        if (count < MOST_NAMED)
            others[count] = row;
        count++;
    }
    if (count > MOST_NAMED)
        text_print(&run->verdict, ", and %zu other criteria fail", count);
    for (size_t k = 0; k < count && count <= MOST_NAMED; k++)
        text_print(&run->verdict, "%s%s%s",
                   k == 0          ? ", and "
                   : k + 1 < count ? ", "
                                   : " and ",
                   others[k]->sentence,
                   k + 1 < count ? ""
                   : count == 1  ? " fails"
                                 : " fail");
}

/* --- the cases -------------------------------------------------------------------------------- */

static void say_remedy(struct run *run, struct text *remedy)
{
    if (remedy->bytes)
        text_print(&run->verdict, ": %s", remedy->bytes);
    text_free(remedy);
}

static void say_remedy_of_energy(struct run *run, double beyond_limit)
{
    struct text remedy = { 0 };
    remedy_of_energy(run, beyond_limit, &remedy);
    say_remedy(run, &remedy);
}

/* Adds why a run failed by the accuracy that was asked for; otherwise by the watch or by a
 * criterion on an energy error, whichever is broken worse. Returns false if none of these is
 * broken. */
static bool fails_by_energy(struct run *run, const struct findings *rows,
                            const struct finding *watched)
{
    /* The least error over its limit: how far beyond the limit it is may not be known. */
    static const double at_least = 2.0;
    const struct watch *watch = run->observers.watch;
    const struct finding *c = findings_worst(rows, FINDING_OF_ENERGY);
    const bool known = watched->severity == FINDING_FAILURE;
    const bool by_rows = c && !(known && watched->times >= c->times);
    const struct finding *const orbits = findings_worst(rows, FINDING_OF_HORIZON);
    const struct finding *missed = orbits ? orbits : findings_worst(rows, FINDING_OF_TARGET);
    char text[WATCH_TEXT_SIZE];
    if (missed) {
        say_finding(run, missed);
        return true;
    }
    if (!c && watch_holds(watch, run->ensemble.left_out))
        return false;
    if (by_rows)
        say_criterion(run, rows, c);
    else if (known)
        say_finding(run, watched);
    else
        text_print(&run->verdict, "%s", watch_text(watch, run->ensemble.left_out, text));
    if (by_rows || watched->subject != FINDING_OF_FORCES)
        say_remedy_of_energy(
            run, fmax(at_least, fmax(c ? c->times : 0.0, watch_error_in_limits(watch))));
    return true;
}

static void fails_by_criterion(struct run *run, const struct findings *rows)
{
    const struct finding *c = findings_worst(rows, FINDING_OF_ROWS);
    struct text remedy = { 0 };
    if (!c)
        return;
    say_criterion(run, rows, c);
    remedy_of_criterion(run, c, &remedy);
    say_remedy(run, &remedy);
}

/* Adds the first line of `reason`, the message that ended the run, without "system 1" if the run
 * has one system. */
static void say_reason(struct run *run, const char *reason)
{
    enum { MOST = 200 };
    static const char only[] = "system 1: ", only_body[] = "system 1, ";
    const char *line = reason ? reason : "numbers are not finite";
    if (run->simulation->bodies->systems == 1 &&
        (strncmp(line, only, strlen(only)) == 0 || strncmp(line, only_body, strlen(only)) == 0))
        line += strlen(only);
    const size_t length = strcspn(line, "\n");
    text_print(&run->verdict, "%.*s", (int)(length < MOST ? length : MOST), line);
}

void verdict_make(struct run *run, enum status status, const char *reason)
{
    const struct section *watch = config_section(run->experiment.config, "watch");
    const bool stops = strcmp(section_string(watch, "on_jump"), "stop") == 0;
    struct findings rows = { 0 };
    text_free(&run->verdict);
    const struct finding watched = verdict_findings(run, true, &rows);
    if (rows.failed)
        status = STATUS_MEMORY; /* the table is incomplete: no sentence is made */
    if (status == STATUS_EXPECT_FAILED || status == STATUS_NUMERICAL)
        text_print(&run->verdict, "failed: ");
    if (status == STATUS_EXPECT_FAILED && !fails_by_energy(run, &rows, &watched))
        fails_by_criterion(run, &rows);
    if (status == STATUS_NUMERICAL) {
        if (stops && watched.severity == FINDING_FAILURE)
            say_finding(run, &watched);
        else
            say_reason(run, reason);
        if (!run_work(run).sums.stuck) /* shorter steps would be stuck as well */
            say_remedy_of_energy(run, INFINITY);
    }
    findings_free(&rows);
}

void verdict_recall(struct run *run)
{
    const json_t *before = run_field(run->continuation.before, FIELD_VERDICT_TEXT);
    const char *text = json_string_value(before);
    text_print(&run->verdict, "%s", text ? text : "");
}
