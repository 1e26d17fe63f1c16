/* The checks of the accuracy watch at a moment of the run. */
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy/watch-bound.h"
#include "accuracy/watch-energy.h"
#include "diagnostics/force-error.h"
#include "model/kepler.h"
#include "space/bound-pairs.h"

/* --- looks between two checks ----------------------------------------------------------------- */

/*
 * A look is a check of the energy of many bodies between two regular checks. It is taken when a
 * bound pair passes its pericentre, the pair whose energy errs most in a step: there the error of
 * the energy swings, within few steps, and comes back.
 */

/* One look, which takes as long as two to four steps, is allowed in STEPS_FOR_A_LOOK steps, and
 * LOOKS_IN_ADVANCE looks before that; none in more than MOST_SYSTEMS systems. */
enum { STEPS_FOR_A_LOOK = 100, LOOKS_IN_ADVANCE = 10, MOST_SYSTEMS = 64 };
/* The steps before and after a pericentre within which the energy is looked at: its error may swing
 * back in some steps. */
static const double near = 1.5;

/* The passage of a pair at its pericentre: the steps until then (negative, if it was less than
 * `near` steps ago), the pair's period in steps, and the swing of the energy there, over the
 * system's scale of energies, by a second-order method: (dt / tau)^2 G m1 m2 / s, with the softened
 * distance s, mu = G (m1 + m2) and tau = (s^3 / mu)^(1/2). */
struct passage {
    double steps, period, swing;
};

/* Finds the passage of the bodies at indices i and j by Kepler's equation, from r = a (1 - e cos E)
 * and r.v = sqrt(mu a) e sin E. */
static struct passage passage_of(const struct moment *now, size_t i, size_t j, double scale)
{
    const struct bodies *b = now->bodies;
    const struct kepler_interaction pull = kepler_interaction_of(now->physics, b, i, j);
    const struct kepler_state state = kepler_state_of(now->physics, b, i, j);
    const double *const x = state.x, *const v = state.v;
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    const double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double rv = x[0] * v[0] + x[1] * v[1] + x[2] * v[2], eps2 = pull.eps * pull.eps;
    const double energy = 0.5 * v2 - pull.mu / sqrt(r2 + eps2);
    const double a = -0.5 * pull.mu / energy, motion = sqrt(pull.mu / (a * a * a));
    const double c = 1.0 - sqrt(r2) / a, s = rv / sqrt(pull.mu * a), e = hypot(c, s);
    const double anomaly = atan2(s, c) - s; /* mean anomaly since the pericentre */
    const double step = motion * now->dt, since = anomaly / step + 1.0;
    const double left = anomaly > 0.0 && since > near ? 2.0 * M_PI - anomaly : -anomaly;
    const double rp = a * fmax(1.0 - e, 0.0), sp2 = rp * rp + eps2, sp = sqrt(sp2);
    const double turn2 = now->dt * now->dt * pull.mu / (sp2 * sp);
    return (struct passage){ left / step, 2.0 * M_PI / step,
                             turn2 * now->physics->gravitational_constant * b->m[i] * b->m[j] /
                                 (sp * scale) };
}

/* Puts the pericentre passage with the largest swing of the energy, among the bound pairs of a
 * system, into *worst if its swing is larger than that of *worst. */
static enum status find_passage(const struct watch *watch, const struct moment *now, size_t system,
                                struct passage *worst, struct error *error)
{
    const size_t first = system * now->bodies->stride;
    struct bound_pairs found;
    if (bound_pairs_create(now->physics, now->bodies, system, now->threads, &found, error))
        return error->status;
    for (size_t k = 0; k < found.count; k++) {
        const struct passage one =
            passage_of(now, first + found.pairs[k].i, first + found.pairs[k].j,
                       watch->records[system].level.scale);
        if (isfinite(one.steps) && isfinite(one.swing) && one.swing > worst->swing)
            *worst = one;
    }
    bound_pairs_destroy(&found);
    return STATUS_OK;
}

/* Tells whether the energy of any pair of a system may swing by more than `swing`. With softening
 * none swings more than two bodies as heavy as the heaviest would at the same place. */
static bool may_swing(const struct watch *watch, const struct moment *now, size_t system,
                      double swing)
{
    const struct bodies *b = now->bodies;
    const double G = now->physics->gravitational_constant, eps = now->physics->softening;
    const double m = gsl_stats_max(b->m + system * b->stride, 1, b->count);
    const double turn2 = now->dt * now->dt * G * 2.0 * m / (eps * eps * eps);
    return !(turn2 * G * m * m / (eps * watch->records[system].level.scale) <= swing);
}

/* Finds the next step between two regular checks at which the energy is worth a look, since the
 * largest swing is expected there, and puts it into history->look; -1 if there is none.
 * STATUS_MEMORY; STATUS_NUMERICAL if a position is not finite. */
static enum status watch_look_ahead(struct watch *watch, const struct moment *now,
                                    struct error *error)
{
    static const double part = 0.1; /* part of the limit that a swing may reach unseen */
    struct history *const history = watch->history;
    const double step = (double)now->step;
    struct passage worst = { .swing = part * watch->energy_error };
    history->look = -1.0;
    if (!watch->looks || now->physics->boundary == BOUNDARY_PERIODIC ||
        watch->systems > MOST_SYSTEMS)
        return STATUS_OK;
    for (size_t s = 0; s < watch->systems; s++)
        if (watch->records[s].level.scale > 0.0 && may_swing(watch, now, s, worst.swing) &&
            find_passage(watch, now, s, &worst, error))
            return error->status;
    if (!(worst.period > 0.0))
        return STATUS_OK;
    const double allowed = (history->looks - LOOKS_IN_ADVANCE) * STEPS_FOR_A_LOOK;
    const double least = fmax(allowed, step + 1.0) - step;
    const double turns = ceil(fmax(least - near - worst.steps, 0.0) / worst.period);
    history->look = step + fmax(ceil(worst.steps + turns * worst.period - near), least);
    return STATUS_OK;
}

uint64_t watch_next(const struct watch *watch, uint64_t step)
{
    const uint64_t stride = watch_stride(watch, step), due = (step / stride + 1) * stride;
    const double look = watch->history->look;
    return look > (double)step && look < (double)due ? (uint64_t)look : due;
}

/* --- a check ---------------------------------------------------------------------------------- */

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

/* Tells whether an error that was measured on a sample is surely beyond its bound: by more than
 * three standard errors. */
static bool is_beyond(double error, double uncertainty, double bound)
{
    return error - 3.0 * uncertainty > bound;
}

static enum status check_forces(struct watch *watch, const struct moment *now, size_t system,
                                struct error *error)
{
    enum { AUDITED = 256, IN_DOUBT = 4096 };
    struct record *const record = &watch->records[system];
    const double asked = watch->force.accuracy;
    struct force_audit audit;
    if (force_audit(now, system, AUDITED, &audit, error) ||
        (audit.error > asked && !is_beyond(audit.error, audit.uncertainty, asked) &&
         force_audit(now, system, IN_DOUBT, &audit, error)))
        return error->status;
    const bool beyond = is_beyond(audit.error, audit.uncertainty, asked);
    const bool before = is_beyond(record->force_error, record->force_uncertainty, asked);
    if (beyond != before ? beyond : audit.error > record->force_error) {
        record->force_error = audit.error;
        record->force_uncertainty = audit.uncertainty;
        record->force_time = now->time;
    }
    return STATUS_OK;
}

struct finding watch_row_of_forces(const struct watch *watch, const struct record *record)
{
    const double asked = watch_asks(watch) ? watch->force.accuracy : INFINITY;
    const bool beyond = is_beyond(record->force_error, record->force_uncertainty, asked);
    struct finding row =
        finding_row("force error", record->force_error, asked, beyond, record->force_time);
    row.subject = FINDING_OF_FORCES;
    row.uncertainty = record->force_uncertainty;
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
    row.named = watch->bodies;
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
             close_pair_text(watch, &record->fastest, text));
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

enum status watch_look(struct watch *watch, struct simulation *simulation, const struct moment *now,
                       bool last, struct error *error)
{
    if (simulation_fetch(simulation, error) || simulation_measure(simulation, error))
        return error->status;
    return watch_check(watch, now, NEED_STATE | NEED_CONSERVED, last, NULL, NULL, error);
}
