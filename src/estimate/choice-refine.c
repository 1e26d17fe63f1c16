#include "estimate/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "output/run-fields.h"

/* The part of the error asked for that a pilot run (a try of a setting on a copy of the bodies) may
 * have for its setting to be chosen: sure_part if it saw the whole run, since a run then moves as
 * it did, to the bit; chance_part if it saw a part. */
static const double sure_part = 0.95, chance_part = 0.4;
/* The exponents of the least growth of errors with the time. The energy error of a symplectic
 * method is bounded except for chance encounters; that of other methods adds up. */
static const double growth_of_symplectic = 0.3, growth_of_others = 0.75;
/* The largest factor by which the number of steps is changed after a run that missed the error. */
static const double most_change = 8.0;
/* The largest cost of a candidate chosen after a miss, over that of the run that missed. */
static const double most_dearer = 100.0;

double choice_usual_error(const struct accuracy_target *target)
{
    static const double of_orbits = 1e-10;
    return accuracy_target_of_orbits(target) ? of_orbits : target->error;
}

double choice_error_growth(const struct integrator *integrator)
{
    return integrator->symplectic ? growth_of_symplectic : growth_of_others;
}

double choice_error_aim(const struct accuracy_target *target, bool whole)
{
    return target->asked * (whole && !accuracy_target_of_orbits(target) ? sure_part : chance_part);
}

double choice_steps_factor(const struct integrator *integrator, double factor)
{
    return pow(factor, 1.0 / integrator->order);
}

void choice_refine(const struct config *config, double part, double error, double work,
                   struct choice *choice)
{
    static const double change_of_failure = 2.0, steep = 6.0;
    const double attempts = (double)json_array_size(choice->attempts);
    struct candidate *const c = &choice->candidates[choice->chosen];
    const double least_change = pow((1.25 + 0.5 * part) * pow(1.3, attempts),
                                    fmin(1.0, steep / c->setting.integrator->order));
    const double before = c->error;
    const double dearer = fmax(1.0, work / part / c->cost);
    const double most = most_dearer * fmax(c->cost, work / part);
    const double now = accuracy_target_of_orbits(&choice->target)
                           ? error
                           : error * pow(part, -choice_error_growth(c->setting.integrator));
    const double wanted = choice_error_aim(&choice->target, false);
    const double surprise = fmax(now / fmax(before, 1e-300), 1.0);
    for (size_t k = 0; k < choice->count; k++) {
        struct candidate *const other = &choice->candidates[k];
        const struct integrator *const integrator = other->setting.integrator;
        if (!other->keeps || (other != c && other->part >= 1.0))
            continue;
        if (integrator->adaptive)
            other->cost *= dearer; /* it will meet the same close pairs as the run */
        if (other != c && integrator->adaptive)
            continue;
        const double beyond = other == c ? now : other->error * surprise;
        const double change =
            isfinite(beyond) ? choice_steps_factor(integrator, beyond / wanted) : change_of_failure;
        if (other != c && change <= 1.0)
            continue;
        const double refinement =
            other->setting.refinement * fmin(most_change, fmax(least_change, change));
        const struct setting finer = setting_of(config, integrator, refinement);
        other->cost *= finer.refinement / other->setting.refinement;
        other->keeps = finer.refinement > other->setting.refinement && other->cost < most;
        other->error = fmin(wanted, beyond);
        other->setting = finer;
        other->part = 0.0;
    }
}

void choice_destroy(struct choice *choice)
{
    json_decref(choice->attempts);
    *choice = (struct choice){ 0 };
}

static const char *error_name(const struct choice *choice)
{
    return accuracy_target_of_orbits(&choice->target) ? "orbit_error" : "energy_error";
}

const char *choice_carried_text(const struct choice *choice, char buffer[CHOICE_CARRIED_SIZE])
{
    const struct candidate *const c = &choice->candidates[choice->chosen];
    buffer[0] = '\0';
    if (accuracy_target_of_orbits(&choice->target) && c->carried < choice->target.until)
        snprintf(buffer, CHOICE_CARRIED_SIZE,
                 "; double precision carries them until about t = %.3g, and no setting further",
                 c->carried);
    return buffer;
}

/* --- again ------------------------------------------------------------------------------------ */

bool choice_is_limited(const struct choice *choice, double force_error)
{
    /* Errors, and parts of the run, count as alike within these factors; choice_refine() shortens
     * steps so much that the error should fall by a factor of 1.5 or more. */
    static const double alike_error = 0.8, alike_part = 1.2;
    /* An energy error can be due to the forces only if it is less than this part of their relative
     * error: in clusters in single precision it was 1 to 3 % of that. */
    static const double part_of_forces = 0.02;
    const size_t count = json_array_size(choice->attempts);
    const json_t *const last = count > 0 ? json_array_get(choice->attempts, count - 1) : NULL;
    const double error = run_field_real(last, FIELD_ATTEMPT_ENERGY_ERROR);
    for (size_t k = 0; k + 1 < count && error < part_of_forces * force_error; k++) {
        const json_t *const before = json_array_get(choice->attempts, k);
        const double error_before = run_field_real(before, FIELD_ATTEMPT_ENERGY_ERROR);
        const double part_before = run_field_real(before, FIELD_ATTEMPT_PART);
        if (strcmp(run_field_string(before, FIELD_SETTING_INTEGRATOR),
                   run_field_string(last, FIELD_SETTING_INTEGRATOR)) == 0 &&
            error >= alike_error * error_before &&
            run_field_real(last, FIELD_ATTEMPT_PART) <= alike_part * part_before)
            return true;
    }
    return false;
}

bool choice_after_miss(const struct config *config, double part, double error, double work,
                       double force_error, struct choice *choice)
{
    struct candidate *const c = &choice->candidates[choice->chosen];
    json_t *const attempt =
        DOCUMENT({ "setting", setting_json(&c->setting) }, { "part", document_number(part) },
                 { error_name(choice), document_number(error) }, { "cost", document_number(work) });
    if (!choice->attempts)
        choice->attempts = json_array();
    document_append(&choice->attempts, attempt);
    if (json_array_size(choice->attempts) >= CHOICE_ATTEMPTS ||
        choice_is_limited(choice, force_error))
        return false;
    choice_refine(config, fmax(part, 1e-3), isnan(error) ? INFINITY : error, work, choice);
    return choice_take_cheapest(choice);
}

/* --- run.json --------------------------------------------------------------------------------- */

static double real_or_infinite(const json_t *json, enum run_field field)
{
    const double value = run_field_real(json, field);
    return isnan(value) ? INFINITY : value;
}

json_t *choice_json(const struct choice *choice)
{
    json_t *candidates = json_array();
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *c = &choice->candidates[k];
        document_append(&candidates, DOCUMENT({ "setting", setting_json(&c->setting) },
                                              { error_name(choice), document_number(c->error) },
                                              { "cost", document_number(c->cost) },
                                              { "least", document_number(c->least) },
                                              { "part", document_number(c->part) },
                                              { "carried_until", document_number(c->carried) },
                                              { "tried", json_boolean(c->tried) },
                                              { "keeps", json_boolean(c->keeps) },
                                              { "why", json_string(c->why) }));
    }
    const bool orbits = accuracy_target_of_orbits(&choice->target);
    return DOCUMENT(
        { "asked", document_number(choice->target.asked) },
        { "trust_until", orbits ? document_number(choice->target.until) : json_null() },
        { "of", json_string(accuracy_target_names[choice->target.of]) },
        { "chosen", json_integer((json_int_t)choice->chosen) },
        { "pilots", document_number(choice->pilots) },
        { "expected", document_number(choice->expected) }, { "candidates", candidates },
        { "attempts", choice->attempts ? json_incref(choice->attempts) : json_array() });
}

bool choice_of_json(const json_t *json, struct choice *choice)
{
    const json_t *const candidates = run_field(json, FIELD_CHOICE_CANDIDATES);
    *choice = (struct choice){ .target.asked = run_field_real(json, FIELD_CHOICE_ASKED),
                               .target.until = run_field_real(json, FIELD_CHOICE_TRUST_UNTIL),
                               .pilots = run_field_real(json, FIELD_CHOICE_PILOTS),
                               .expected = run_field_real(json, FIELD_CHOICE_EXPECTED) };
    const bool orbits = accuracy_target_of_orbits(&choice->target);
    choice->target.error = orbits ? NAN : choice->target.asked;
    const json_int_t chosen = json_integer_value(run_field(json, FIELD_CHOICE_CHOSEN));
    bool known = true;
    for (size_t k = 0; k < json_array_size(candidates) && k < CHOICE_CANDIDATES; k++) {
        const json_t *const from = json_array_get(candidates, k);
        struct candidate *const c = &choice->candidates[choice->count++];
        *c = (struct candidate){ .setting = setting_of_json(from),
                                 .error =
                                     real_or_infinite(from, orbits ? FIELD_CANDIDATE_ORBIT_ERROR
                                                                   : FIELD_CANDIDATE_ENERGY_ERROR),
                                 .cost = real_or_infinite(from, FIELD_CANDIDATE_COST),
                                 .least = real_or_infinite(from, FIELD_CANDIDATE_LEAST),
                                 .part = run_field_real(from, FIELD_CANDIDATE_PART),
                                 .carried = real_or_infinite(from, FIELD_CANDIDATE_CARRIED_UNTIL),
                                 .tried = run_field_flag(from, FIELD_CANDIDATE_TRIED),
                                 .keeps = run_field_flag(from, FIELD_CANDIDATE_KEEPS) };
        snprintf(c->why, sizeof c->why, "%s", run_field_string(from, FIELD_CANDIDATE_WHY));
        known = known && c->setting.integrator;
    }
    choice->chosen = (size_t)chosen;
    json_t *attempts = run_field(json, FIELD_CHOICE_ATTEMPTS);
    choice->attempts = json_is_array(attempts) ? json_deep_copy(attempts) : NULL;
    return known && chosen >= 0 && choice->chosen < choice->count &&
           choice->candidates[choice->chosen].setting.step > 0.0;
}

enum status choice_recall(const json_t *json, const struct config *config, struct config **recalled,
                          struct error *error)
{
    struct choice choice;
    *recalled = NULL;
    if (!accuracy_target_leaves_choice(config))
        return STATUS_OK;
    if (choice_of_json(json, &choice))
        setting_apply(config, &choice.candidates[choice.chosen].setting, recalled, error);
    choice_destroy(&choice);
    return error->status;
}
