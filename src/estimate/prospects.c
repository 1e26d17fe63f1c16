#include "estimate/prospects.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/advice.h"
#include "estimate/need.h"
#include "estimate/trial-run.h"

/* The state of the criteria after the rows of step 0. */
struct start {
    const struct criteria *criteria;
    struct expectations expect; /* a copy of the criteria, judged by the rows of step 0 alone */
    bool ends;                  /* a condition of stop_when ends the run at step 0 */
    size_t diagnostic;          /* the index of the diagnostic that is being measured */
};

/* --- the rows of step 0 ----------------------------------------------------------------------- */

static enum status take_row(void *context, size_t system, const double *values, struct error *error)
{
    (void)error;
    struct start *const start = context;
    expectations_row(&start->expect, start->diagnostic, system, 0.0, values, 0.0);
    start->ends |=
        expectations_met(&start->criteria->stop_when, start->diagnostic, 0.0, values, 0.0) != NULL;
    return STATUS_OK;
}

static bool judges(const struct expectations *expectations, size_t diagnostic)
{
    for (size_t i = 0; i < expectations->count; i++)
        if (expectations->criteria[i].diagnostic == diagnostic)
            return true;
    return false;
}

/* Measures the diagnostics that criteria judge, except those that need more than energies. */
static enum status measure_rows(const struct config *config, const struct moment *now,
                                struct start *start, struct error *error)
{
    const struct row_sink sink = { take_row, start };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < config_count(config, "diagnostics") && !status; i++) {
        const struct section *const section = config_item(config, "diagnostics", i);
        struct diagnostic *diagnostic = NULL;
        if ((need_diagnostic(section)->needs & ~(unsigned)(NEED_STATE | NEED_CONSERVED)) ||
            !(judges(&start->criteria->expect, i) || judges(&start->criteria->stop_when, i)))
            continue;
        start->diagnostic = i;
        status = diagnostic_create(section, now, &diagnostic, error);
        if (!status)
            status = diagnostic_measure(diagnostic, now, &sink, error);
        diagnostic_destroy(diagnostic);
    }
    return status;
}

/* Judges a copy of the criteria by the rows of step 0, measured on a copy of the simulation; does
 * nothing if the forces are more work than ADVICE_USUAL_WORK. */
static enum status see_start(const struct experiment *x, struct start *start, struct error *error)
{
    struct simulation simulation = { 0 };
    if (trial_run_pairs(x) > ADVICE_USUAL_WORK)
        return STATUS_OK;
    if (!simulation_copy(&simulation, &x->simulation, &(struct simulation_changes){ 0 }, error) &&
        !simulation_begin(&simulation, error)) {
        const struct moment now = { .dt = simulation.step,
                                    .threads = simulation.description.threads,
                                    .physics = &simulation.physics,
                                    .bodies = simulation.bodies,
                                    .conserved = simulation.now,
                                    .first = simulation.first,
                                    .simulation = &simulation };
        measure_rows(x->config, &now, start, error);
    }
    simulation_destroy(&simulation);
    return error->status;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* Tells whether a row lies between the times of the criterion: at a multiple of `every` steps, or
 * at step `last`. */
static bool has_row(const struct criterion *c, double every, double last, double dt)
{
    const double before = fmax(0.0, floor(c->after / (every * dt)));
    for (double k = before; k <= before + 1.0; k++)
        if (k * every <= last && criterion_counts(c, k * every * dt))
            return true;
    return criterion_counts(c, last * dt);
}

/* Returns the steps from row to row of a diagnostic, by its index as a criterion has it
 * (struct criterion). */
static double cadence_of(const struct config *config, size_t diagnostic)
{
    const struct section *section;
    size_t all = 0;
    while (need_measured(config, all, &section))
        all++;
    need_measured(config, diagnostic % all, &section); /* statistics have the rows of theirs */
    return (double)section_integer(section, "every");
}

static void judge(const struct experiment *x, const struct start *start, size_t i,
                  struct text *warnings, struct error *error)
{
    const struct criterion *const c = &start->criteria->expect.criteria[i];
    const struct criterion *const seen = &start->expect.criteria[i];
    const double last = (double)x->steps, dt = x->simulation.step;
    const double every = cadence_of(x->config, c->diagnostic);
    const bool late = c->after > last * dt && !criterion_counts(c, last * dt);
    const char *const unit = c->time_unit;
    if (seen->failures > 0 && isnan(seen->worst))
        section_error(c->section, "quantity", error,
                      "the run would fail: the quantity is undefined at t = 0%s",
                      criterion_why_undefined(seen));
    else if (late)
        section_error(c->section, "after", error,
                      "the run would fail: it ends at t = %g%s; choose a smaller `after`, or a "
                      "larger time.end",
                      last * dt, unit);
    else if (start->ends && !criterion_counts(c, 0.0))
        section_error(c->section, NULL, error,
                      "the run would fail: stop_when ends it at t = 0, before `after`");
    else if (!has_row(c, every, last, dt) && start->criteria->stop_when.count == 0)
        section_error(c->section, NULL, error,
                      "the run would fail: the quantity has no row between `after` and `before`; "
                      "choose other times, or a smaller `every` of the diagnostic");
    else if (!has_row(c, every, last, dt)) {
        char text[CRITERION_TEXT_SIZE];
        text_print(warnings,
                   "%s%s: no row lies between these times, and the run fails unless stop_when "
                   "ends it there",
                   warnings->length ? "; " : "", criterion_text(c, text));
    }
}

/* --- rows too rare ---------------------------------------------------------------------------- */

static enum status warn_of_rows(const struct experiment *x, struct text *warnings,
                                struct error *error)
{
    const struct moment start = { .dt = x->simulation.step,
                                  .threads = 1,
                                  .physics = &x->simulation.physics,
                                  .bodies = x->simulation.bodies };
    for (size_t i = 0; i < config_count(x->config, "diagnostics") && !error->status; i++) {
        const struct section *const section = config_item(x->config, "diagnostics", i);
        const struct diagnostic_class *const class_ = need_diagnostic(section);
        const uint64_t every = (uint64_t)section_integer(section, "every");
        struct diagnostic *diagnostic = NULL;
        if (class_->warn && !diagnostic_create(section, &start, &diagnostic, error))
            class_->warn(diagnostic, &start, every < x->steps ? every : x->steps, warnings, error);
        diagnostic_destroy(diagnostic);
    }
    return error->status;
}

enum status prospects_check(const struct experiment *x, const struct criteria *criteria,
                            struct text *warnings, struct error *error)
{
    const size_t count = criteria->expect.count;
    struct start start = { .criteria = criteria, .expect.count = count };
    if (warn_of_rows(x, warnings, error) || count == 0)
        return error->status;
    start.expect.criteria = memory_array(count, sizeof *start.expect.criteria, error);
    if (!start.expect.criteria)
        return error->status;
    memcpy(start.expect.criteria, criteria->expect.criteria, count * sizeof *start.expect.criteria);
    /* An energy error that is undefined at step 0 stays so: it counts, whatever `after` is. */
    for (size_t i = 0; i < count; i++)
        if (quantity_of_energy(start.expect.criteria[i].quantity))
            start.expect.criteria[i].after = -INFINITY;
    if (!see_start(x, &start, error))
        for (size_t i = 0; i < count; i++)
            judge(x, &start, i, warnings, error);
    memory_free(start.expect.criteria);
    return warnings->failed ? error_memory(error) : error->status;
}
