#include "estimate/selection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "estimate/experiment.h"
#include "estimate/pilot.h"
#include "space/nearest.h"

/* The part of the error that is asked for which a pilot of the whole run may reach, whose motion is
 * that of the run to the bit; and what is left to chance where a part was seen. */
static const double sure_part = 0.95, chance_part = 0.4;
/* Growth of the error with the time t: t^growth at least. It is bounded for a symplectic method but
 * for the chance of encounters, and adds up for others. */
static const double growth_of_symplectic = 0.3, growth_of_others = 1.0, most_growth = 1.5;
/* Work of all pilots beside that of the run. */
static const double work_part = 0.1;
/* A pilot of another integrator does as much work as the cheapest so far would cost. */
static const double worth_trying = 1.2;
/* Once the pilots have cost as many runs with the best setting so far, no better one is sought. */
static const double enough = 5.0;
/* An energy that is so far off says nothing of the order. */
static const double hopeless = 0.02;
/* A better setting than by this factor in the number of steps is not sought. */
static const double near = 1.12;
/* The most that the number of steps is changed from one pilot to the next. */
static const double most_change = 8.0;
/* A number of steps that is farther from one that was tried is not judged by the order. */
static const double most_extrapolated = 32.0;
/* A candidate that costs more by this factor is not chosen because another one missed the error. */
static const double most_dearer = 100.0;
/* The most work of the last pilots, however long the run is: ten seconds. */
static const double most_work = 1e10;
enum { MOST_PILOTS = 12, MOST_ATTEMPTS = 8 };

struct search {
    const struct config *config;
    const struct experiment *experiment; /* of any setting */
    struct selection *choice;
    double left; /* work that pilots may still do */
    double best; /* cost of the cheapest candidate so far that keeps the error */
};

/* --- what a pilot lets expect ----------------------------------------------------------------- */

static double growth(const struct integrator *integrator)
{
    return integrator->symplectic ? growth_of_symplectic : growth_of_others;
}

/* The error at the end after one of a part of the run. */
static double expected_error(const struct pilot *pilot)
{
    const double least = growth(pilot->setting.integrator);
    double seen = 0.0;
    if (pilot->part >= 1.0 || !isfinite(pilot->error))
        return pilot->error;
    if (pilot->early > 0.0 && pilot->error > pilot->early)
        seen = fmin(most_growth, log(pilot->error / pilot->early) / log(4.0));
    return pilot->error * pow(pilot->part, -fmax(least, 0.5 * (least + seen)));
}

static double target(const struct asked *asked, bool whole)
{
    return asked->error * (whole ? sure_part : chance_part);
}

/* The factor in the number of steps that changes the error by `factor`. */
static double finer_by(const struct integrator *integrator, double factor)
{
    return pow(factor, 1.0 / integrator->order);
}

/* --- one integrator --------------------------------------------------------------------------- */

/* The steps of the run, by the fastest pair at the start, that are tried first: few, since they
 * cost little. Of an integrator that chooses its own, by what those of default were seen to keep.
 */
static enum status first_fineness(const struct search *search, const struct integrator *integrator,
                                  double *fineness, struct error *error)
{
    static const double of_period = 12.0, few = 50.0, usual_hermite = 1e-6, usual_radau = 1e-13;
    const struct simulation *s = &search->experiment->simulation;
    const double end = section_real(config_section(search->config, "time"), "end");
    double shortest = INFINITY;
    if (integrator_chooses_steps(integrator)) {
        const double usual = integrator->block_steps ? usual_hermite : usual_radau;
        *fineness = finer_by(integrator, usual / search->choice->asked.error);
        return STATUS_OK;
    }
    for (size_t k = 0; k < s->bodies->systems; k++) {
        struct nearest_pair pair;
        if (nearest_pair(&s->physics, s->bodies, k, NEAREST_IN_TIME, &pair, error))
            return error->status;
        if (pair.found)
            shortest = fmin(shortest, 2.0 * M_PI * pair.time_scale);
    }
    *fineness = fmax(few, of_period * end / shortest);
    return STATUS_OK;
}

/* The range of the number of steps in which the best setting lies. */
struct range {
    double good, bad; /* the least that keeps the error, the most that does not */
    double next;      /* to be tried */
};

/* Narrows the range by a pilot; false where it is narrow enough. */
static bool narrow(const struct pilot *pilot, double expected, double wanted, bool keeps,
                   struct range *range)
{
    const struct integrator *const integrator = pilot->setting.integrator;
    const double here = pilot->setting.fineness;
    if (keeps) {
        const double spare = finer_by(integrator, wanted / fmax(expected, 1e-3 * wanted));
        range->good = here;
        range->next = here / fmin(spare, most_change) * 1.02;
        if (range->bad > 0.0)
            range->next = fmax(range->next, sqrt(range->good * range->bad));
        return spare > near && range->next * near < here;
    }
    const bool lost = !(expected < hopeless);
    const double change = lost ? 4.0 : 1.05 * finer_by(integrator, expected / wanted);
    range->bad = here;
    range->next = here * fmin(most_change, fmax(near, change));
    if (isinf(range->good))
        return true;
    range->next = sqrt(range->good * range->bad);
    return range->good > near * near * range->bad;
}

/* Takes over what a pilot tells of the candidate. */
static void note(const struct pilot *pilot, double expected, bool keeps,
                 struct candidate *candidate)
{
    candidate->least = fmin(candidate->least, expected);
    if (!keeps && (candidate->keeps || expected > candidate->least))
        return;
    candidate->setting = pilot->setting;
    candidate->error = expected;
    candidate->cost = pilot->part > 0.0 ? pilot->work / pilot->part : INFINITY;
    candidate->part = pilot->part;
    candidate->keeps = keeps;
}

/* Judges by the order what was not tried, since it costs more than may be tried or than another
 * integrator does. */
static void extrapolate(const struct search *search, const struct pilot *last, double next,
                        struct candidate *candidate)
{
    if (candidate->keeps || !(last->part > 0.0))
        return;
    const struct setting setting = setting_of(search->config, candidate->setting.integrator, next);
    const double times = setting.fineness / last->setting.fineness;
    const double error = expected_error(last) * pow(times, -(double)setting.integrator->order);
    if (!(expected_error(last) < hopeless) || times < 1.0 || times > most_extrapolated ||
        error > 2.0 * search->choice->asked.error)
        return;
    candidate->setting = setting;
    candidate->cost = last->work / last->part * times;
    candidate->error = error;
    candidate->least = fmin(candidate->least, error);
    candidate->part = 0.0;
    candidate->keeps = true;
}

/* Pilots of one integrator, with the work that it may take. */
static enum status try_integrator(struct search *search, double work, struct candidate *candidate,
                                  struct error *error)
{
    const struct integrator *const integrator = candidate->setting.integrator;
    const struct asked *const asked = &search->choice->asked;
    struct range range = { INFINITY, 0.0, 0.0 };
    struct pilot pilot = { 0 };
    bool more = !first_fineness(search, integrator, &range.next, error);
    for (int k = 0; more && k < MOST_PILOTS && work > 0.0; k++) {
        const struct setting setting = setting_of(search->config, integrator, range.next);
        const struct pilot_limits limits = { fmin(0.5 * work, worth_trying * search->best),
                                             hopeless };
        const double times = setting.fineness / pilot.setting.fineness;
        if (k > 0 && search->choice->pilots > enough * search->best)
            break;
        if (setting.fineness >= range.good || setting.fineness <= range.bad ||
            (pilot.part > 0.0 && times * pilot.work / pilot.part > search->best))
            break;
        if (pilot_run(search->experiment, search->config, &setting, &limits, &pilot, error))
            return error->status;
        const double expected = expected_error(&pilot), wanted = target(asked, pilot.whole);
        const bool keeps = expected <= wanted && (pilot.within || asked->of != ASKED_OF_WORST);
        work -= pilot.spent;
        search->left -= pilot.spent;
        search->choice->pilots += pilot.spent;
        candidate->tried = candidate->tried || pilot.part > 0.0 || isinf(pilot.error);
        note(&pilot, expected, keeps, candidate);
        more = narrow(&pilot, fmax(expected, 0.0), wanted, keeps, &range) && pilot.part > 0.0;
        if (candidate->keeps)
            search->best = fmin(search->best, candidate->cost);
    }
    extrapolate(search, &pilot, range.next, candidate);
    if (candidate->keeps)
        search->best = fmin(search->best, candidate->cost);
    return error->status;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The time of a passage with an error, by the table of integrators. */
static double passage_cost(const struct integrator *integrator, double error)
{
    return integrator_steps_for(integrator, error) * (double)integrator_forces_per_step(integrator);
}

static void add_candidate(struct selection *choice, const struct integrator *integrator)
{
    if (choice->count < SELECTION_CANDIDATES)
        choice->candidates[choice->count++] =
            (struct candidate){ .setting = { .integrator = integrator, .key = NAN },
                                .error = INFINITY,
                                .cost = INFINITY,
                                .least = INFINITY };
}

/* The given integrator; or of the symplectic ones the two that follow a passage at the least cost,
 * and those that choose their own steps. */
static void list_candidates(const struct config *config, struct selection *choice)
{
    const struct integrator *best[2] = { NULL, NULL }, *row;
    if (!choice->asked.integrator) {
        add_candidate(choice,
                      integrator_find(section_variant(config_section(config, "time"))->name));
        return;
    }
    for (size_t k = 0; (row = integrator_at(k)); k++) {
        if (!integrator_has_stages(row) || !row->symplectic || !row->reversible)
            continue;
        const double cost = passage_cost(row, choice->asked.error);
        if (!best[0] || cost < passage_cost(best[0], choice->asked.error)) {
            best[1] = best[0];
            best[0] = row;
        } else if (!best[1] || cost < passage_cost(best[1], choice->asked.error)) {
            best[1] = row;
        }
    }
    for (size_t k = 0; k < COUNT_OF(best); k++)
        if (best[k])
            add_candidate(choice, best[k]);
    for (size_t k = 0; (row = integrator_at(k)); k++)
        if (integrator_chooses_steps(row))
            add_candidate(choice, row);
}

/* Puts the integrator first that is most often the cheapest, so that little is tried with others:
 * for few bodies and for close encounters one that chooses its own steps. */
static void put_first(const struct experiment *x, struct selection *choice)
{
    enum { FEW = 32 };
    const struct simulation *const s = &x->simulation;
    const bool few = s->bodies->count <= FEW;
    for (size_t k = 1; k < choice->count; k++) {
        const struct candidate c = choice->candidates[k];
        const struct integrator *const integrator = c.setting.integrator;
        if (!integrator->adaptive || integrator->block_steps == few ||
            (!few && s->physics.softening > 0.0))
            continue;
        memmove(&choice->candidates[1], &choice->candidates[0], k * sizeof c);
        choice->candidates[0] = c;
        return;
    }
}

/* The cheapest that keeps the error; false where none does. */
static bool choose(struct selection *choice)
{
    bool any = false;
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *c = &choice->candidates[k];
        if (c->keeps && (!any || c->cost < choice->candidates[choice->chosen].cost)) {
            choice->chosen = k;
            any = true;
        }
    }
    return any;
}

/* Makes a candidate finer after it was off by `error` at a part of the run, and had done that work.
 */
static void refine(const struct config *config, double part, double error, double work,
                   struct selection *choice)
{
    static const double change_of_failure = 2.0;
    const double attempts = (double)json_array_size(choice->attempts);
    const double least_change = (1.25 + 0.5 * part) * pow(1.3, attempts);
    struct candidate *const c = &choice->candidates[choice->chosen];
    const double before = c->error;
    const double dearer = fmax(1.0, work / part / c->cost);
    const double most = most_dearer * fmax(c->cost, work / part);
    const double now = error * pow(part, -growth(c->setting.integrator));
    const double wanted = target(&choice->asked, false);
    const double surprise = fmax(now / fmax(before, 1e-300), 1.0);
    for (size_t k = 0; k < choice->count; k++) {
        struct candidate *const other = &choice->candidates[k];
        const struct integrator *const integrator = other->setting.integrator;
        if (!other->keeps || (other != c && other->part >= 1.0))
            continue;
        if (integrator->adaptive)
            other->cost *= dearer; /* by the same pairs that came closer than was seen */
        if (other != c && integrator->adaptive)
            continue;
        const double beyond = other == c ? now : other->error * surprise;
        const double change =
            isfinite(beyond) ? finer_by(integrator, beyond / wanted) : change_of_failure;
        if (other != c && change <= 1.0)
            continue;
        const double fineness =
            other->setting.fineness * fmin(most_change, fmax(least_change, change));
        const struct setting finer = setting_of(config, integrator, fineness);
        other->cost *= finer.fineness / other->setting.fineness;
        other->keeps = finer.fineness > other->setting.fineness && other->cost < most;
        other->error = fmin(wanted, beyond);
        other->setting = finer;
        other->part = 0.0;
    }
}

/* A pilot of what was chosen by less than the whole run, for as much as a tenth of the run. */
static enum status confirm(struct search *search, struct error *error)
{
    struct selection *const choice = search->choice;
    for (int k = 0; k < MOST_ATTEMPTS && choose(choice); k++) {
        struct candidate *const c = &choice->candidates[choice->chosen];
        const double work = fmin(most_work, work_part * c->cost) - choice->pilots;
        const struct pilot_limits limits = { 0.5 * work, choice->asked.error };
        struct pilot pilot;
        if (c->part >= 1.0 || work < 0.02 * c->cost)
            break;
        if (pilot_run(search->experiment, search->config, &c->setting, &limits, &pilot, error))
            return error->status;
        choice->pilots += pilot.spent;
        const double expected = expected_error(&pilot);
        if (expected <= 0.8 * choice->asked.error) {
            c->error = expected;
            c->part = pilot.part;
            c->cost = pilot.work / pilot.part;
            break;
        }
        refine(search->config, fmax(pilot.part, 1e-3), pilot.error, pilot.work, choice);
    }
    return STATUS_OK;
}

/* --- nothing keeps it ------------------------------------------------------------------------- */

static enum status refuse(const struct config *config, const struct experiment *x,
                          const struct selection *choice, struct error *error)
{
    char reached[512] = "", setting[SETTING_TEXT_SIZE];
    double least = INFINITY;
    size_t length = 0;
    bool tried = false;
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *c = &choice->candidates[k];
        const char *const name = c->setting.integrator->variant.name;
        least = fmin(least, c->least);
        tried = tried || c->tried;
        if (length + SETTING_TEXT_SIZE + sizeof c->why >= sizeof reached)
            break;
        length += (size_t)snprintf(
            reached + length, sizeof reached - length, "%s%s %s", k ? "; " : "",
            c->why[0] || isinf(c->least) ? name : setting_text(&c->setting, setting),
            c->why[0]         ? c->why
            : !c->tried       ? "was not tried, for its pilots would take too long"
            : isinf(c->least) ? "loses the energy"
                              : "");
        if (!c->why[0] && isfinite(c->least))
            length += (size_t)snprintf(reached + length, sizeof reached - length, "reaches %.1e",
                                       c->least);
    }
    if (!tried)
        return section_error(config_section(config, "time"), "energy_error", error,
                             "nothing can be chosen for it: %s; give time.integrator and time.step",
                             reached);
    return section_error(config_section(config, "time"), "energy_error", error,
                         "nothing that was tried keeps it: %s; %s%s%s", reached,
                         isfinite(least) ? "a larger error, " : "",
                         x->simulation.physics.softening > 0.0 ? "a larger physics.softening"
                                                               : "physics.softening > 0",
                         " or an earlier time.end would be needed");
}

enum status selection_find(const struct config *config, double work,
                           struct interruption *interruption, struct selection *choice,
                           struct error *error)
{
    const struct integrator *given =
        integrator_find(section_variant(config_section(config, "time"))->name);
    const struct setting any = setting_of(config, given, EXPERIMENT_DEFAULT_GRID);
    struct config *applied = NULL;
    struct experiment x = { 0 };
    struct search search = { config, &x, choice, work, INFINITY };
    *choice = (struct selection){ .asked = asked_of(config) };
    list_candidates(config, choice);
    if (!setting_apply(config, &any, &applied, error))
        experiment_create(applied, interruption, &x, error);
    if (!error->status)
        put_first(&x, choice);
    for (size_t k = 0; k < choice->count && !error->status; k++) {
        struct error refused = { 0 };
        struct candidate *const c = &choice->candidates[k];
        const double share = fmax(0.0, search.left) / (double)(choice->count - k);
        if (try_integrator(&search, share, c, &refused) == STATUS_CONFIG && choice->count > 1)
            snprintf(c->why, sizeof c->why, "%.80s", refused.text);
        else
            error_pass(error, &refused);
    }
    if (!error->status && !choose(choice))
        refuse(config, &x, choice, error);
    if (!error->status)
        confirm(&search, error);
    experiment_destroy(&x);
    config_free(applied);
    return error->status;
}

void selection_destroy(struct selection *choice)
{
    json_decref(choice->attempts);
    *choice = (struct selection){ 0 };
}

/* --- again ------------------------------------------------------------------------------------ */

bool selection_again(const struct config *config, double part, double error, double work,
                     struct selection *choice)
{
    struct candidate *const c = &choice->candidates[choice->chosen];
    json_t *const attempt = json_pack("{s:o, s:o, s:o, s:o}", "setting", setting_json(&c->setting),
                                      "part", document_number(part), "energy_error",
                                      document_number(error), "cost", document_number(work));
    if (!choice->attempts)
        choice->attempts = json_array();
    document_append(&choice->attempts, attempt);
    if (json_array_size(choice->attempts) >= MOST_ATTEMPTS)
        return false;
    refine(config, fmax(part, 1e-3), isnan(error) ? INFINITY : error, work, choice);
    return choose(choice);
}

/* --- run.json --------------------------------------------------------------------------------- */

json_t *selection_json(const struct selection *choice)
{
    json_t *candidates = json_array();
    for (size_t k = 0; k < choice->count; k++) {
        const struct candidate *c = &choice->candidates[k];
        document_append(&candidates,
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:s}", "setting",
                                  setting_json(&c->setting), "energy_error",
                                  document_number(c->error), "cost", document_number(c->cost),
                                  "least", document_number(c->least), "part",
                                  document_number(c->part), "tried", c->tried, "keeps", c->keeps,
                                  "why", c->why));
    }
    return json_pack("{s:o, s:s, s:I, s:o, s:o, s:o}", "asked",
                     document_number(choice->asked.error), "of", asked_of_names[choice->asked.of],
                     "chosen", (json_int_t)choice->chosen, "pilots",
                     document_number(choice->pilots), "candidates", candidates, "attempts",
                     choice->attempts ? json_incref(choice->attempts) : json_array());
}

static double real_or_infinite(const json_t *json, const char *key)
{
    const double value = document_real(json, key);
    return isnan(value) ? INFINITY : value;
}

bool selection_of_json(const json_t *json, struct selection *choice)
{
    const json_t *const candidates = json_object_get(json, "candidates");
    *choice = (struct selection){ .asked.error = document_real(json, "asked"),
                                  .pilots = document_real(json, "pilots") };
    const json_int_t chosen = json_integer_value(json_object_get(json, "chosen"));
    bool known = true; /* all their integrators are */
    for (size_t k = 0; k < json_array_size(candidates) && k < SELECTION_CANDIDATES; k++) {
        const json_t *const from = json_array_get(candidates, k);
        struct candidate *const c = &choice->candidates[choice->count++];
        *c = (struct candidate){ .setting = setting_of_json(json_object_get(from, "setting")),
                                 .error = real_or_infinite(from, "energy_error"),
                                 .cost = real_or_infinite(from, "cost"),
                                 .least = real_or_infinite(from, "least"),
                                 .part = document_real(from, "part"),
                                 .tried = json_is_true(json_object_get(from, "tried")),
                                 .keeps = json_is_true(json_object_get(from, "keeps")) };
        snprintf(c->why, sizeof c->why, "%s", document_string(from, "why"));
        known = known && c->setting.integrator;
    }
    choice->chosen = (size_t)chosen;
    json_t *attempts = json_object_get(json, "attempts");
    choice->attempts = json_is_array(attempts) ? json_deep_copy(attempts) : NULL;
    return known && chosen >= 0 && choice->chosen < choice->count &&
           choice->candidates[choice->chosen].setting.step > 0.0;
}

enum status selection_recall(const json_t *json, const struct config *config,
                             struct config **recalled, struct error *error)
{
    struct selection choice;
    *recalled = NULL;
    if (!asked_to_choose(config))
        return STATUS_OK;
    if (selection_of_json(json, &choice))
        setting_apply(config, &choice.candidates[choice.chosen].setting, recalled, error);
    selection_destroy(&choice);
    return error->status;
}
