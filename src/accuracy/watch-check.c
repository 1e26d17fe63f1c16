/* The checks of the watch at a moment. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/watch-bound.h"
#include "diagnostics/force-audit.h"

static enum status check_state(const struct moment *now, size_t system, struct error *error)
{
    const size_t first = system * now->bodies->stride, last = first + now->bodies->count;
    const size_t bad = bodies_not_finite(now->bodies, first, last);
    if (bad == last)
        return STATUS_OK;
    char time[UNITS_TEXT_SIZE], when[64 + UNITS_TEXT_SIZE];
    snprintf(when, sizeof when, " at step %" PRIu64 " (t = %s)", now->step,
             units_time(now->physics->units, now->time, 6, time));
    return bodies_report(now->bodies, bad, when, error);
}

static enum status check_energy(const struct moment *now, size_t system, struct error *error)
{
    char time[UNITS_TEXT_SIZE];
    if (isfinite(conserved_energy(&now->conserved[system])))
        return STATUS_OK;
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu: the energy is not finite at step %" PRIu64 " (t = %s)",
                     system + 1, now->step, units_time(now->physics->units, now->time, 6, time));
}

bool watch_audits(const struct watch *watch, uint64_t step, bool last)
{
    return watch_asks(watch) && (step == 0 || last);
}

static enum status check_forces(struct watch *watch, const struct moment *now, size_t system,
                                struct error *error)
{
    enum { AUDITED = 256 };
    struct record *const record = &watch->records[system];
    struct force_audit audit;
    if (force_audit(now, system, AUDITED, &audit, error))
        return error->status;
    if (audit.error > record->force_error) {
        record->force_error = audit.error;
        record->force_time = now->time;
    }
    return STATUS_OK;
}

struct finding watch_row_of_forces(const struct watch *watch, const struct record *record)
{
    const double asked = watch_asks(watch) ? watch->force.accuracy : INFINITY;
    struct finding row = finding_row("force error", record->force_error, asked,
                                     record->force_error > asked, record->force_time);
    row.subject = FINDING_OF_FORCES;
    return row;
}

struct finding watch_row_of_pair(const struct watch *watch, const struct record *record)
{
    const struct close_pair *pair = &record->fastest;
    const bool beyond = pair->steps < watch->least_steps;
    struct finding row =
        finding_row("steps per time scale", pair->steps, watch->least_steps, beyond, pair->time);
    row.subject = FINDING_OF_PAIR;
    row.severity = beyond ? FINDING_WARNING : FINDING_HELD;
    row.from_below = true;
    row.times = watch->least_steps / pair->steps;
    memcpy(row.bodies, pair->ids, sizeof row.bodies);
    return row;
}

static bool was_warned(const struct watch *watch)
{
    for (size_t s = 0; s < watch->systems; s++)
        if (watch->records[s].warned > 0.0)
            return true;
    return false;
}

static enum status check_step(struct watch *watch, const struct check *check, size_t system,
                              struct error *error)
{
    const struct moment *now = check->now;
    struct record *record = &watch->records[system];
    if (now->bodies->count > FEW_BODIES && (double)now->step < record->next_search)
        return STATUS_OK;
    record->next_search = (double)(now->step + watch->every);
    if (close_pair_find(now, system, &record->last, error))
        return error->status;
    if (watch->chooses_steps)
        return STATUS_OK;
    if (record->last.steps < record->fastest.steps)
        record->fastest = record->last;
    if (record->fastest.steps >= watch->least_steps || was_warned(watch))
        return STATUS_OK;
    record->warned = 1.0;
    char text[WATCH_TEXT_SIZE], line[2 * WATCH_TEXT_SIZE];
    snprintf(line, sizeof line, "WARNING: system %zu: the step is too large for %s", system + 1,
             close_pair_text(watch->units, &record->fastest, watch->advised_steps, text));
    if (check->tell)
        check->tell(check->context, line);
    return STATUS_OK;
}

enum status watch_check(struct watch *watch, const struct moment *now, unsigned valid, bool last,
                        void (*tell)(void *context, const char *line), void *context,
                        struct error *error)
{
    const struct check check = { now, valid, tell, context };
    const bool summed = (valid & NEED_CONSERVED) && (double)now->step != watch->history->judged;
    const bool due = summed && now->step % watch_stride(watch, now->step) == 0;
    const bool look = summed && !due && (double)now->step == watch->history->look;
    const double steps = (double)now->step - watch->history->seen;
    if (due) {
        watch_extend_history(watch, now->step);
        watch->history->judged = (double)now->step;
    }
    for (size_t s = 0; s < watch->systems; s++) {
        if ((valid & NEED_STATE) && check_state(now, s, error))
            return error->status;
        if ((valid & NEED_CONSERVED) && check_energy(now, s, error))
            return error->status;
        if (due || look || (summed && last)) {
            const struct watch_deviation deviation = watch_observe(watch, now, s, steps);
            if (watch_judge(watch, &check, s, &deviation, error))
                return error->status;
            if (due)
                watch_add_to_history(watch, now->step, s, &deviation);
        }
        if ((due || (summed && last)) && (valid & NEED_STATE) &&
            watch_bound_check(watch, &check, s, last, error))
            return error->status;
        if ((valid & NEED_STATE) && check_step(watch, &check, s, error))
            return error->status;
        if ((valid & NEED_ACCELERATIONS) && watch_audits(watch, now->step, last) &&
            check_forces(watch, now, s, error))
            return error->status;
    }
    if (due || look) {
        watch->history->seen = (double)now->step;
        watch->history->looks += look;
    }
    return (due || look) && (valid & NEED_STATE) ? watch_look_ahead(watch, now, error) : STATUS_OK;
}
