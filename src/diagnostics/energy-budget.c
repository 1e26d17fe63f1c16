#include "diagnostics/energy-budget.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/document.h"
#include "base/memory.h"
#include "diagnostics/nearest.h"
#include "diagnostics/table.h"

const struct parameter energy_budget_parameters[] = {
    { .key = "measure",
      .type = PARAMETER_FLAG,
      .standard = "false",
      .help = "Replay the run in parts with half the step, and say where the energy error comes "
              "from (energy-budget.csv)." },
    { .key = "every",
      .type = PARAMETER_INTEGER,
      .standard = "100",
      .minimum = 1,
      .maximum = INFINITY,
      .help = "Steps in one part of it." },
    { .key = "angle",
      .type = PARAMETER_REAL,
      .standard = "0.3",
      .maximum = INFINITY,
      .open = OPEN_MINIMUM,
      .help =
          "Angle in radians. Where the fastest pair turns by more than that per step, the error of "
          "a part of the run counts as that of an encounter." },
};
const size_t energy_budget_parameter_count = COUNT_OF(energy_budget_parameters);

enum { ENERGY_CHANGE, TRUNCATION, ENCOUNTERS, FORCE, ROUNDING, REST, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "energy_change", DIMENSION_NONE, "(E - E0) / |E0|" },
    { "truncation", DIMENSION_NONE,
      "the part of it that comes from the step, encounters left out" },
    { "encounters", DIMENSION_NONE,
      "the part that comes from encounters: what the energy did in parts of the run whose fastest "
      "pair turned by more than energy_budget.angle per step" },
    { "force_precision", DIMENSION_NONE, "the part that comes from forces that are not in double" },
    { "rounding", DIMENSION_NONE,
      "what rounding errors may come to, from the precision and the number of steps; one standard "
      "deviation" },
    { "rest", DIMENSION_NONE, "what the other parts leave: rounding, or not explained" },
};

/* The memory of one system, all numbers; energies as they are. */
struct memory {
    double first, last;                     /* energies at the start and at the last look */
    double step;                            /* of the last look, which began an interval */
    double replayed[ENERGY_BUDGET_REPLAYS]; /* energies at its end */
    double angle, fastest[2];               /* largest turn in a step in it, and the pair's ids */
    double truncation, encounters, force;   /* sums over the intervals so far */
    double rounding2;                       /* variance */
    double largest, ids[2];                 /* the worst encounter so far, and who met */
    double worst[COLUMNS], worst_step;      /* the row of the largest error */
};

enum { MEMORY_LENGTH = sizeof(struct memory) / sizeof(double) };

struct budget {
    struct diagnostic diagnostic;
    uint64_t every;
    double angle;
    double richardson; /* error of the step over its difference to half the step */
    double kicks, drifts;
    size_t systems;
    bool exact;
};

static struct memory *memory_of(const struct budget *budget, size_t system)
{
    return (struct memory *)budget->diagnostic.memory + system;
}

static double energy_of(const struct moment *now, size_t system)
{
    return now->conserved[system].kinetic + now->conserved[system].potential;
}

/*
 * The variance that rounding adds to the energy in one step: each kick rounds v and each drift x,
 * by some 0.2 eps (diagnostics/trust.c), component by component: dE = m v dv, and m a dx, where a x
 * is taken to be v^2 |W| / 2K.
 */
static double rounding_of(const struct budget *budget, const struct moment *now, size_t system)
{
    const struct bodies *b = now->bodies;
    const struct conserved *sums = &now->conserved[system];
    const size_t first = system * b->stride;
    const double unit = 0.2 * DBL_EPSILON;
    const double force = sums->kinetic > 0.0 ? 0.5 * sums->virial / sums->kinetic : 0.0;
    double sum = 0.0;
    for (size_t i = first; i < first + b->count; i++) {
        const double v[] = { b->vx[i], b->vy[i], b->vz[i] };
        for (int k = 0; k < 3; k++)
            sum += b->m[i] * b->m[i] * v[k] * v[k] * v[k] * v[k];
    }
    return unit * unit * (budget->kicks + budget->drifts * force * force) * sum;
}

enum status energy_budget_look(struct diagnostic *diagnostic, const struct moment *now,
                               size_t system, struct error *error)
{
    struct memory *memory = memory_of((struct budget *)diagnostic, system);
    struct nearest_pair pair;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    const double angle = pair.found ? now->dt / pair.time_scale : 0.0;
    if (angle <= memory->angle)
        return STATUS_OK;
    const int64_t *id = now->bodies->id + system * now->bodies->stride;
    memory->angle = angle;
    memory->fastest[0] = (double)id[pair.i];
    memory->fastest[1] = (double)id[pair.j];
    return STATUS_OK;
}

/*
 * The interval that ends now goes to the accounts. In an encounter half the step may be as wrong as
 * the whole one, and nothing follows from their difference. But the exact motion keeps the energy:
 * all that it did is the error.
 */
static void book(const struct budget *budget, struct memory *memory, double energy)
{
    const double exact =
        budget->exact ? energy : memory->replayed[REPLAY_EXACT_FORCE]; /* with such forces */
    const double change = exact - memory->last;
    memory->force += energy - exact;
    if (memory->angle <= budget->angle) {
        memory->truncation += budget->richardson * (exact - memory->replayed[REPLAY_HALF_STEP]);
        return;
    }
    memory->encounters += change;
    if (fabs(change) > memory->largest) {
        memory->largest = fabs(change);
        memory->ids[0] = memory->fastest[0];
        memory->ids[1] = memory->fastest[1];
    }
}

static void fill_row(const struct memory *memory, double row[COLUMNS])
{
    const double scale = fabs(memory->first), change = memory->last - memory->first;
    row[ENERGY_CHANGE] = change / scale;
    row[TRUNCATION] = memory->truncation / scale;
    row[ENCOUNTERS] = memory->encounters / scale;
    row[FORCE] = memory->force / scale;
    row[ROUNDING] = sqrt(memory->rounding2) / scale;
    row[REST] = (change - memory->truncation - memory->encounters - memory->force) / scale;
}

/* What is told in the end: the budget at the largest error. An end by chance near E0 is no merit.
 */
static void keep_worst(struct memory *memory, const double row[COLUMNS])
{
    if (fabs(row[ENERGY_CHANGE]) < fabs(memory->worst[ENERGY_CHANGE]))
        return;
    for (int k = 0; k < COLUMNS; k++)
        memory->worst[k] = row[k];
    memory->worst_step = memory->step;
}

/* Only whole intervals count: a run that ends within one may go further. */
static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, const struct row_sink *sink, struct error *error)
{
    struct budget *budget = (struct budget *)diagnostic;
    struct memory *memory = memory_of(budget, system);
    double row[COLUMNS];
    const bool whole = now->step % budget->every == 0;
    if (whole && now->step > 0) {
        const double energy = energy_of(now, system), steps = (double)now->step - memory->step;
        book(budget, memory, energy);
        memory->rounding2 += steps * rounding_of(budget, now, system);
        memory->last = energy;
        memory->step = (double)now->step;
    }
    fill_row(memory, row);
    if (whole) {
        keep_worst(memory, row);
        memory->angle = 0.0;
        if (energy_budget_look(diagnostic, now, system, error))
            return error->status;
    }
    return sink->row(sink->context, system, row, error);
}

const struct diagnostic_class diagnostic_energy_budget = {
    .variant = { .name = "energy-budget", .help = "Where the energy error comes from." },
    .measure_system = measure_system,
    .destroy = diagnostic_free,
    .columns = columns,
    .column_count = COLUMNS,
    .rows_per_event = 1,
};

enum status energy_budget_create(const struct section *section, const struct moment *start,
                                 const struct integrator *integrator, bool exact,
                                 struct diagnostic **result, struct error *error)
{
    const size_t systems = start->bodies->systems;
    struct budget *budget = (struct budget *)diagnostic_allocate(
        &diagnostic_energy_budget, sizeof *budget, systems * MEMORY_LENGTH, error);
    *result = (struct diagnostic *)budget;
    if (!budget)
        return error->status;
    budget->diagnostic.needs = NEED_STATE | NEED_CONSERVED;
    budget->every = (uint64_t)section_integer(section, "every");
    budget->angle = section_real(section, "angle");
    budget->richardson = 1.0 / (1.0 - exp2(-integrator->order));
    budget->systems = systems;
    budget->exact = exact;
    for (size_t k = 0; k < integrator->stage_count; k++) {
        budget->kicks += integrator->stages[k].verb == VERB_KICK;
        budget->drifts += integrator->stages[k].verb == VERB_DRIFT;
    }
    for (size_t s = 0; s < systems; s++)
        memory_of(budget, s)->first = memory_of(budget, s)->last = energy_of(start, s);
    return STATUS_OK;
}

void energy_budget_replayed(struct diagnostic *diagnostic, size_t system,
                            enum energy_budget_replay replay, double energy)
{
    memory_of((struct budget *)diagnostic, system)->replayed[replay] = energy;
}

/* --- telling ------------------------------------------------------------------------------------
 */

static const struct memory *worst_system(const struct budget *budget)
{
    const struct memory *worst = memory_of(budget, 0);
    for (size_t s = 1; s < budget->systems; s++)
        if (!(fabs(memory_of(budget, s)->worst[ENERGY_CHANGE]) <=
              fabs(worst->worst[ENERGY_CHANGE])))
            worst = memory_of(budget, s);
    return worst;
}

/* Counted from 1, as in tables and trajectories. */
static size_t number_of(const struct budget *budget, const struct memory *memory)
{
    return (size_t)(memory - memory_of(budget, 0)) + 1;
}

/* The budget of the largest error. Differences of replays are rounded too: a part within that is
 * none. */
static void tell_row(const struct memory *memory, double row[COLUMNS])
{
    for (int k = 0; k < COLUMNS; k++)
        row[k] = memory->worst[k];
    for (int k = TRUNCATION; k <= FORCE; k++)
        if (fabs(row[k]) <= 3.0 * row[ROUNDING]) {
            row[REST] += row[k];
            row[k] = 0.0;
        }
}

/* The rest is what rounding may come to, or at most half of the error. */
static bool adds_up(const double row[COLUMNS])
{
    return fabs(row[REST]) <= fmax(3.0 * row[ROUNDING], 0.5 * fabs(row[ENERGY_CHANGE]));
}

const char *energy_budget_text(const struct diagnostic *diagnostic,
                               char buffer[ENERGY_BUDGET_TEXT_SIZE])
{
    const struct budget *budget = (const struct budget *)diagnostic;
    const struct memory *memory = worst_system(budget);
    double row[COLUMNS];
    char pair[64] = "", rest[64] = "", system[40] = "";
    tell_row(memory, row);
    if (memory->first == 0.0) {
        snprintf(buffer, ENERGY_BUDGET_TEXT_SIZE, "undefined, since E0 = 0");
        return buffer;
    }
    if (row[ENCOUNTERS] != 0.0)
        snprintf(pair, sizeof pair, " (most of bodies %.0f and %.0f)", memory->ids[0],
                 memory->ids[1]);
    if (budget->systems > 1)
        snprintf(system, sizeof system, " in system %zu", number_of(budget, memory));
    if (!adds_up(row))
        snprintf(rest, sizeof rest, "; NOT EXPLAINED: %.2g", row[REST]);
    snprintf(
        buffer, ENERGY_BUDGET_TEXT_SIZE,
        "of %.2g at its largest%s: step %.2g, encounters %.2g%s, precision of the forces %.2g, "
        "rounding about %.2g%s",
        row[ENERGY_CHANGE], system, row[TRUNCATION], row[ENCOUNTERS], pair, row[FORCE],
        row[ROUNDING], rest);
    return buffer;
}

json_t *energy_budget_json(const struct diagnostic *diagnostic)
{
    const struct budget *budget = (const struct budget *)diagnostic;
    const struct memory *memory = worst_system(budget);
    double row[COLUMNS];
    char text[ENERGY_BUDGET_TEXT_SIZE];
    tell_row(memory, row);
    json_t *json =
        json_pack("{s:s, s:b, s:I, s:I}", "text", energy_budget_text(diagnostic, text), "adds_up",
                  adds_up(row), "system", (json_int_t)number_of(budget, memory), "step",
                  (json_int_t)memory->worst_step);
    for (size_t k = 0; k < COLUMNS; k++)
        document_set(&json, columns[k].name, document_number(row[k]));
    document_set(&json, "worst_encounter",
                 memory->largest > 0.0
                     ? json_pack("[I, I]", (json_int_t)memory->ids[0], (json_int_t)memory->ids[1])
                     : json_null());
    return json;
}
