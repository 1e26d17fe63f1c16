#include "accuracy/energy-budget.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/text.h"
#include "diagnostics/diagnostic.h"
#include "space/nearest.h"

enum { ENERGY_CHANGE, TRUNCATION, ENCOUNTERS, FORCE, ROUNDING, REST, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "energy_change", DIMENSION_NONE,
      "relative_energy_error of conservation: (E' - E0') / max(|E0'|, |U0|)" },
    { "truncation", DIMENSION_NONE,
      "the part of it that comes from the step, encounters left out; in a periodic "
      "box with the effect of image changes" },
    { "encounters", DIMENSION_NONE,
      "the part that comes from encounters: the change of the energy in parts of the "
      "run whose fastest pair turned by more than energy_budget.angle per step; 0 "
      "with an integrator that chooses its own steps, since these follow encounters" },
    { "force_precision", DIMENSION_NONE,
      "the part that comes from forces and energies that are not direct sums in double" },
    { "rounding", DIMENSION_NONE,
      "expected size of rounding errors, from the precision and the number of steps; "
      "one standard deviation" },
    { "rest", DIMENSION_NONE, "the remainder: rounding, or not explained" },
};

/* The state of one system; all members are doubles, as checkpoints save them. "The interval" is the
 * one that began last. Energies are in the unit of energy, not relative. */
struct state {
    double last; /* energy at the beginning of the interval */
    double step; /* step at which the interval began */
    double end;  /* the last step reached: that of a row, or the end of the run */
    double replayed[ENERGY_BUDGET_REPLAYS]; /* energies of its replays (energy-budget.h) */
    double angle, fastest[2]; /* largest angle by which a pair turned in a step of the interval,
                                 radians; ids of the pair */
    /* Parts of the energy error, summed over the intervals so far. */
    double truncation, encounters, force;
    double rounding2; /* variance of the energy by the roundings so far */
    /* The worst interval with an encounter: |energy change|, ids of its fastest pair. */
    double largest, ids[2];
    /* The row with the largest energy error so far, and its step. */
    double worst[COLUMNS], worst_step;
};

enum { STATE_LENGTH = sizeof(struct state) / sizeof(double) };

struct budget {
    struct diagnostic diagnostic;
    uint64_t every;
    double angle;
    /* Error of the step over the difference that half the step makes: 1 / (1 - 2^-order). */
    double richardson;
    double kicks, drifts; /* number of roundings of each velocity and of each position in a step */
    size_t systems;
    bool exact;                  /* the run's forces are direct sums in double */
    bool chooses_steps;          /* the integrator chooses its own steps */
    bool periodic;               /* the box is periodic */
    const struct bodies *bodies; /* of the run, borrowed, for their names */
};

const struct parameter energy_budget_parameters[] = {
    { KEY(FLAG, measure), BY_DEFAULT(FLAG, false),
      .help = "Replay the run in parts with half the step, to find the causes of the energy "
              "error (energy-budget.csv)." },
    { BIND(INTEGER, struct budget, every), BY_DEFAULT(INTEGER, 100), AT_LEAST(1),
      .help = "Steps in one part of it." },
    { BIND(REAL, struct budget, angle), BY_DEFAULT(REAL, 0.3), POSITIVE,
      .help = "Angle in radians. If the fastest pair turns by more than this per step, the "
              "error of a part of the run counts as that of an encounter." },
};
const size_t energy_budget_parameter_count = COUNT_OF(energy_budget_parameters);

static struct state *state_of(const struct budget *budget, size_t system)
{
    return (struct state *)budget->diagnostic.state + system;
}

/* Finds by how much the squares of coordinates exceed the system's own size, since the system may
 * be far from the origin: ratio[k] = 3 <x_k^2> / <r^2>, but at least 1, with means weighted by mass
 * and r measured from the center of mass. */
static void compare_with_size(const struct bodies *b, size_t first, const double center[3],
                              double ratio[3])
{
    const double *const x[] = { b->x, b->y, b->z };
    double all[3] = { 0 }, own = 0.0;
    for (int k = 0; k < 3; k++)
        for (size_t i = first; i < first + b->count; i++) {
            const double from_center = x[k][i] - center[k];
            all[k] += b->m[i] * x[k][i] * x[k][i];
            own += b->m[i] * from_center * from_center / 3.0;
        }
    for (int k = 0; k < 3; k++)
        ratio[k] = own > 0.0 ? fmax(1.0, all[k] / own) : 1.0;
}

/*
 * Returns the variance that rounding adds to the energy of a system in one step. Each kick rounds a
 * velocity v and each drift a position x, component by component, by some 0.2 eps of it (see
 * noise_of() in trust-measure.c). The energy changes by m u dv, where u is the velocity relative to
 * the center of mass, and by m a dx, where a x is taken to be u^2 |W| / 2K' (virial W, kinetic
 * energy K' about the center of mass) with x from the center of mass.
 */
static double rounding_of(const struct budget *budget, const struct moment *now, size_t system)
{
    const struct bodies *b = now->bodies;
    const struct conserved *sums = &now->conserved[system];
    const size_t first = system * b->stride;
    const double unit = 0.2 * DBL_EPSILON;
    const double force = sums->internal > 0.0 ? 0.5 * sums->virial / sums->internal : 0.0;
    double ratio[3], V[3] = { 0 }, sum = 0.0;
    compare_with_size(b, first, sums->center, ratio);
    if (!now->physics->external) /* without a field, energies are about the center of mass */
        conserved_velocity(sums->mass, sums->kinetic, sums->momentum, V);
    for (size_t i = first; i < first + b->count; i++) {
        const double v[] = { b->vx[i], b->vy[i], b->vz[i] };
        for (int k = 0; k < 3; k++) {
            const double own2 = (v[k] - V[k]) * (v[k] - V[k]);
            sum +=
                (budget->kicks * v[k] * v[k] + budget->drifts * force * force * ratio[k] * own2) *
                b->m[i] * b->m[i] * own2;
        }
    }
    return unit * unit * sum;
}

enum status energy_budget_sample(struct diagnostic *diagnostic, const struct moment *now,
                                 size_t system, struct error *error)
{
    const struct budget *budget = (const struct budget *)diagnostic;
    struct state *state = state_of(budget, system);
    struct nearest_pair pair;
    if (budget->chooses_steps) /* pairs are not followed with steps of dt */
        return STATUS_OK;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    const double angle = pair.found ? now->dt / pair.time_scale : 0.0;
    if (angle <= state->angle)
        return STATUS_OK;
    const int64_t *id = now->bodies->id + system * now->bodies->stride;
    state->angle = angle;
    state->fastest[0] = (double)id[pair.i];
    state->fastest[1] = (double)id[pair.j];
    return STATUS_OK;
}

/*
 * Adds the errors of the interval that ends now, with the energy `energy`, to the sums. If the
 * interval has an encounter (a pair turned by more than budget->angle in a step), half the step may
 * be as wrong as the whole one, and nothing follows from their difference. But the exact motion
 * keeps the energy: all of its change is the error. What the run's energy is off by already when
 * the interval begins (energies by fast multipoles are no exact sums) is no error of the interval.
 */
static void book(const struct budget *budget, struct state *state, double energy)
{
    /* the energies with exact forces, at the beginning and at the end */
    const double start = budget->exact ? state->last : state->replayed[REPLAY_START];
    const double exact = budget->exact ? energy : state->replayed[REPLAY_EXACT_FORCE];
    const double change = exact - start;
    state->force += (energy - exact) - (state->last - start);
    if (state->angle <= budget->angle) {
        state->truncation += budget->richardson * (exact - state->replayed[REPLAY_HALF_STEP]);
        return;
    }
    state->encounters += change;
    if (fabs(change) > state->largest) {
        state->largest = fabs(change);
        state->ids[0] = state->fastest[0];
        state->ids[1] = state->fastest[1];
    }
}

static void fill_row(const struct state *state, const struct conserved *first, double row[COLUMNS])
{
    const double scale = conserved_energy_scale(first);
    const double change = state->last - conserved_internal_energy(first);
    row[ENERGY_CHANGE] = change / scale;
    row[TRUNCATION] = state->truncation / scale;
    row[ENCOUNTERS] = state->encounters / scale;
    row[FORCE] = state->force / scale;
    row[ROUNDING] = sqrt(state->rounding2) / scale;
    row[REST] = (change - state->truncation - state->encounters - state->force) / scale;
}

/* Keeps the row with the largest energy error for the report, since at the end of the run the
 * energy may be near E0 by chance. */
static void keep_worst(struct state *state, const double row[COLUMNS])
{
    if (fabs(row[ENERGY_CHANGE]) < fabs(state->worst[ENERGY_CHANGE]))
        return;
    for (int k = 0; k < COLUMNS; k++)
        state->worst[k] = row[k];
    state->worst_step = state->step;
}

/* Adds a row at step 0 and at the end of each interval of budget->every steps, and begins the next
 * interval. The last step of a run that ends within an interval has no row: the run may be
 * continued. */
static enum status measure_rows(struct diagnostic *diagnostic, const struct moment *now,
                                size_t system, const struct row_sink *sink, struct error *error)
{
    struct budget *budget = (struct budget *)diagnostic;
    struct state *state = state_of(budget, system);
    double row[COLUMNS];
    state->end = (double)now->step;
    if (now->step % budget->every != 0)
        return STATUS_OK;
    if (now->step > 0) {
        const double energy = conserved_internal_energy(&now->conserved[system]),
                     steps = (double)now->step - state->step;
        book(budget, state, energy);
        state->rounding2 += steps * rounding_of(budget, now, system);
        state->last = energy;
        state->step = (double)now->step;
    }
    fill_row(state, &now->first[system], row);
    keep_worst(state, row);
    state->angle = 0.0;
    if (energy_budget_sample(diagnostic, now, system, error))
        return error->status;
    return sink->row(sink->context, system, row, error);
}

static const struct drawing drawings[] = {
    { .name = "energy-budget",
      .title = "Causes of the energy error",
      .y_label = "part of |ΔE|/max(|E₀|, |U₀|)",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "energy_change", "all of it", CURVE_DASHED, DRAWN_MAGNITUDE },
                  { "truncation", "step", .value = DRAWN_MAGNITUDE },
                  { "encounters", "step, in encounters", .value = DRAWN_MAGNITUDE },
                  { "force_precision", "precision of the forces", .value = DRAWN_MAGNITUDE } },
      .caption =
          "From replays of the run in parts, with half the step and with direct sums in double." },
};

const struct diagnostic_class diagnostic_energy_budget = {
    .variant = { .name = "energy-budget", .help = "Causes of the energy error." },
    .size = sizeof(struct budget),
    .needs = NEED_STATE | NEED_CONSERVED,
    .state_reals = STATE_LENGTH,
    .measure_rows = measure_rows,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .asked_by = "energy_budget.measure",
};

enum status energy_budget_create(const struct section *section, const struct moment *start,
                                 const struct integrator *integrator, bool exact,
                                 struct diagnostic **result, struct error *error)
{
    const size_t systems = start->bodies->systems;
    if (diagnostic_create_as(&diagnostic_energy_budget, section, start, result, error))
        return error->status;
    struct budget *const budget = (struct budget *)*result;
    budget->richardson = 1.0 / (1.0 - exp2(-integrator->order));
    budget->systems = systems;
    budget->bodies = start->bodies;
    budget->periodic = start->physics->boundary == BOUNDARY_PERIODIC;
    budget->exact = exact;
    budget->chooses_steps = integrator_chooses_steps(integrator);
    budget->kicks = (double)integrator_roundings(integrator, VECTOR_V);
    budget->drifts = (double)integrator_roundings(integrator, VECTOR_X);
    if (budget->chooses_steps) /* its number of steps is not known; sums are exact */
        budget->kicks = budget->drifts = 1.0;
    for (size_t s = 0; s < systems; s++)
        state_of(budget, s)->last = conserved_internal_energy(&start->first[s]);
    return STATUS_OK;
}

void energy_budget_replayed(struct diagnostic *diagnostic, size_t system,
                            enum energy_budget_replay replay, double energy)
{
    state_of((struct budget *)diagnostic, system)->replayed[replay] = energy;
}

/* Marks the interval by an infinite energy, which no replay has and which checkpoints save. */
void energy_budget_postpone(struct diagnostic *diagnostic)
{
    const struct budget *const budget = (const struct budget *)diagnostic;
    for (size_t s = 0; s < budget->systems; s++)
        state_of(budget, s)->replayed[REPLAY_HALF_STEP] = INFINITY;
}

bool energy_budget_postponed(const struct diagnostic *diagnostic)
{
    const struct budget *const budget = (const struct budget *)diagnostic;
    return isinf(state_of(budget, 0)->replayed[REPLAY_HALF_STEP]);
}

/* --- telling ---------------------------------------------------------------------------------- */

static const struct state *worst_system(const struct budget *budget)
{
    const struct state *worst = state_of(budget, 0);
    for (size_t s = 1; s < budget->systems; s++)
        if (!(fabs(state_of(budget, s)->worst[ENERGY_CHANGE]) <= fabs(worst->worst[ENERGY_CHANGE])))
            worst = state_of(budget, s);
    return worst;
}

static size_t number_of(const struct budget *budget, const struct state *state)
{
    return (size_t)(state - state_of(budget, 0)) + 1;
}

static bool is_whole(const struct state *state)
{
    return state->step > 0.0;
}

/* Returns three standard errors of rounding in a part of the budget. A part is `richardson` times
 * the difference of two energies: that of the run, and that of a replay with twice the steps and so
 * with twice the variance. Together they have three times the variance of the run. */
static double noise_of(const struct budget *budget, const double row[COLUMNS])
{
    return 3.0 * sqrt(3.0) * budget->richardson * row[ROUNDING];
}

/* Fills the row with the budget of a system when its error was largest, NaN if no interval is over.
 * A part that is within its noise is added to the rest. */
static void tell_row(const struct budget *budget, const struct state *state, double row[COLUMNS])
{
    for (int k = 0; k < COLUMNS; k++)
        row[k] = is_whole(state) ? state->worst[k] : NAN;
    for (int k = TRUNCATION; k <= FORCE; k++)
        if (fabs(row[k]) <= noise_of(budget, row)) {
            row[REST] += row[k];
            row[k] = 0.0;
        }
}

static bool adds_up(const struct budget *budget, const double row[COLUMNS])
{
    return fabs(row[REST]) <= fmax(noise_of(budget, row), 0.5 * fabs(row[ENERGY_CHANGE]));
}

/* Returns the name of the part that comes from the step. In a periodic box the force of a pair
 * jumps when the nearest image of a body changes, and a step during which this happens errs by the
 * jump: replays find both errors together. */
static const char *name_of_steps(const struct budget *budget)
{
    if (budget->periodic)
        return budget->chooses_steps ? "own steps and image changes" : "step and image changes";
    return budget->chooses_steps ? "own steps" : "step";
}

const char *energy_budget_text(const struct diagnostic *diagnostic,
                               char buffer[ENERGY_BUDGET_TEXT_SIZE])
{
    const struct budget *budget = (const struct budget *)diagnostic;
    const struct state *state = worst_system(budget);
    double row[COLUMNS];
    char pair[128] = "", names[BODIES_PAIR_SIZE], rest[64] = "", until[32] = "",
         system[TEXT_SYSTEM_SIZE];
    tell_row(budget, state, row);
    if (!is_whole(state)) {
        snprintf(buffer, ENERGY_BUDGET_TEXT_SIZE,
                 "not known: the run has not come through one part of %" PRIu64
                 " steps (energy_budget.every)",
                 budget->every);
        return buffer;
    }
    if (!isfinite(row[ENERGY_CHANGE])) {
        snprintf(buffer, ENERGY_BUDGET_TEXT_SIZE, "undefined, since E0 and U0 are 0");
        return buffer;
    }
    if (!budget->chooses_steps)
        snprintf(pair, sizeof pair, ", encounters %.2g", row[ENCOUNTERS]);
    if (row[ENCOUNTERS] != 0.0)
        snprintf(
            pair + strlen(pair), sizeof pair - strlen(pair), " (most of %s)",
            bodies_pair(budget->bodies, (int64_t)state->ids[0], (int64_t)state->ids[1], names));
    if (state->end > state->step)
        snprintf(until, sizeof until, " until step %.0f", state->step);
    text_system(system, budget->systems > 1 ? (double)number_of(budget, state) : 0.0, NULL);
    if (!adds_up(budget, row))
        snprintf(rest, sizeof rest, "; NOT EXPLAINED: %.2g", row[REST]);
    snprintf(buffer, ENERGY_BUDGET_TEXT_SIZE,
             "of %.2g, the largest of its rows (every %" PRIu64
             " steps)%s%s: %s %.2g%s, precision of the forces %.2g, rounding about "
             "%.2g%s",
             row[ENERGY_CHANGE], budget->every, until, system, name_of_steps(budget),
             row[TRUNCATION], pair, row[FORCE], row[ROUNDING], rest);
    return buffer;
}

json_t *energy_budget_json(const struct diagnostic *diagnostic)
{
    const struct budget *budget = (const struct budget *)diagnostic;
    const struct state *state = worst_system(budget);
    double row[COLUMNS];
    char text[ENERGY_BUDGET_TEXT_SIZE];
    tell_row(budget, state, row);
    json_t *json =
        DOCUMENT({ "text", json_string(energy_budget_text(diagnostic, text)) },
                 { "adds_up", json_boolean(!isfinite(row[ENERGY_CHANGE]) || adds_up(budget, row)) },
                 { "system", json_integer((json_int_t)number_of(budget, state)) },
                 { "step", json_integer((json_int_t)state->worst_step) });
    for (size_t k = 0; k < COLUMNS; k++)
        document_set(&json, columns[k].name, document_number(row[k]));
    document_set(&json, "worst_encounter",
                 state->largest > 0.0
                     ? json_pack("[I, I]", (json_int_t)state->ids[0], (json_int_t)state->ids[1])
                     : json_null());
    return json;
}
