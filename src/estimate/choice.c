#include "estimate/choice.h"

#include <math.h>
#include <stdio.h>

#include "accuracy/copies.h"
#include "backend/backend.h"
#include "estimate/experiment.h"
#include "estimate/pilot.h"
#include "space/nearest.h"

const struct choice_limits choice_usual_limits = { 2e9, 0.1 };

const char *choice_softer(double softening)
{
    return softening > 0.0 ? "a larger physics.softening" : "physics.softening > 0";
}

/* The part of the run that a pilot run (a try of a setting on a copy of the bodies) sees, at first
 * and to confirm a choice; and the work, in pair interactions, up to which it sees more. */
static const double scout_part = 0.03, confirm_part = 0.06, little_work = 2e6;
/* The work of all pilot runs before the choice is confirmed, over that of the run as the cheapest
 * candidate would make it. */
static const double scouts_part = 0.15;
/* The exponents of the growth of errors with the time: the largest, and after a collapse. */
static const double most_growth = 1.5, growth_after_collapse = 0.3;
/* The largest work of a pilot run, over that of one with the cheapest candidate so far. */
static const double worth_trying = 1.2;
/* The energy error beyond which the order of a method does not tell how the error depends on the
 * step. Orbits need no such limit: they are judged only until a time at which their errors are
 * still small. */
static const double energy_lost = 0.02;
/* The factor in the number of steps within which no better setting is sought: after pilot runs of
 * the whole run; and after those of a part, where the order of the method has to tell the rest. */
static const double near = 1.12, by_order = 2.5;
/* The error asked for below which the order does not tell how errors depend on the step, since
 * rounding errors are not far. Then pilot runs see as much of the run as the work allows. */
static const double near_rounding = 1e-12;
/* The largest factor by which the number of steps changes from one pilot run to the next. */
static const double most_change = 8.0;
/* The largest factor between a number of steps that a pilot run tried and one that is chosen
 * without a pilot run, by the order alone. */
static const double most_extrapolated = 32.0;
enum { MOST_PILOTS = 12, MOST_SCOUTS = 3, MOST_CONFIRMED = 4 };

struct search {
    const struct config *config;
    const struct experiment *experiment; /* created with any setting of `config` */
    const struct choice_limits *limits;
    struct choice *choice;
    double fastest; /* period of the fastest pair at the start; INFINITY: no pair */
    double run;     /* work of the run, in pair interactions, as estimated without pilot runs */
    double best;    /* cost of the cheapest candidate that keeps the error; INFINITY: none yet */
    double aim;     /* part of the run that pilot runs must see to go beyond a collapse; or 0 */
    double copies;  /* work of a pilot run over that of its motion: more than 1 with shadows, copies
                       that show how accurate orbits are */
    bool cold;      /* a cold system collapses during the run; never set for orbits */
    bool hidden;    /* close encounters do not decide the steps */
};

/* --- what is expected after a pilot ----------------------------------------------------------- */

static bool of_orbits(const struct search *search)
{
    return accuracy_target_of_orbits(&search->choice->target);
}

static double hopeless(const struct search *search)
{
    return of_orbits(search) ? INFINITY : energy_lost;
}

/* Returns the error that is expected at the end of the run, from that of a pilot run of a part of
 * it. For orbits a pilot run itself gives the expected error; NaN if it saw nothing. */
static double expected_error(const struct search *search, const struct pilot *pilot)
{
    const double least = choice_error_growth(pilot->setting.integrator);
    double seen = 0.0;
    if (of_orbits(search))
        return pilot->part > 0.0 ? pilot->error : NAN;
    if (pilot->part >= 1.0 || !isfinite(pilot->error))
        return pilot->error;
    if (search->cold)
        return pilot->error * pow(pilot->part, -growth_after_collapse);
    if (pilot->early > 0.0 && pilot->error > pilot->early)
        seen = fmin(most_growth, log(pilot->error / pilot->early) / log(4.0));
    return pilot->error * pow(pilot->part, -fmax(least, 0.5 * (least + seen)));
}

/* --- one integrator --------------------------------------------------------------------------- */

/* Returns the refinement (the number of steps, or a multiple of the default's, see setting.h) that
 * is tried first: for fixed steps, of_period steps in the period of the fastest pair at the start,
 * few since they cost little; for an integrator that chooses its own steps, by the errors that it
 * was seen to keep with its default key. */
static double first_refinement(const struct search *search, const struct integrator *integrator)
{
    static const double of_period = 12.0, few = 50.0, usual_hermite = 1e-6, usual_radau = 1e-15;
    const double end = section_real(config_section(search->config, "time"), "end");
    if (!integrator_chooses_steps(integrator))
        return fmax(few, of_period * end / search->fastest);
    return choice_steps_factor(integrator, (integrator->block_steps ? usual_hermite : usual_radau) /
                                               choice_usual_error(&search->choice->target));
}

static enum status find_fastest(struct search *search, struct error *error)
{
    const struct simulation *s = &search->experiment->simulation;
    search->fastest = INFINITY;
    for (size_t k = 0; k < s->bodies->systems; k++) {
        struct nearest_pair pair;
        if (nearest_pair(&s->physics, s->bodies, k, NEAREST_IN_TIME, &pair, error))
            return error->status;
        if (pair.found)
            search->fastest = fmin(search->fastest, 2.0 * M_PI * pair.time_scale);
    }
    const struct integrator *const stages = search->choice->candidates[0].setting.integrator;
    const double forces = fmax(1.0, (double)integrator_forces_per_step(stages));
    search->run = forces * force_work(&s->options.force, (double)s->bodies->systems,
                                      (double)s->bodies->count);
    search->run *= integrator_chooses_steps(stages) ? EXPERIMENT_DEFAULT_GRID
                                                    : first_refinement(search, stages);
    return STATUS_OK;
}

static double work_left(const struct search *search)
{
    const double run = isfinite(search->best) ? search->best : search->run;
    return fmax(search->limits->work, search->limits->part * run) - search->choice->pilots;
}

/* Returns the work of a pilot run of the part `part` of the run, as the cheapest candidate so far
 * would do it; or of the whole run if that is little work. */
static double worth_of(const struct search *search, double part)
{
    const double seen = fmax(part, search->aim) * search->best;
    return search->copies * fmax(seen, fmin(little_work, search->best));
}

/* The range of refinements (numbers of steps) between which the best one lies. */
struct range {
    double good, bad;             /* least refinement that keeps the error, largest that does not */
    double good_error, bad_error; /* errors expected with `good` and with `bad` */
    double next;                  /* refinement to be tried next */
};

/* Narrows the range by a pilot run whose expected error at the end of the run, `expected`, is to be
 * at most `wanted`. `keeps` tells whether its setting is accepted; from the error `lost_at` on the
 * order of the method tells nothing. Returns false once the range is narrow enough. */
static bool narrow(const struct pilot *pilot, double expected, double wanted, double lost_at,
                   bool keeps, struct range *range)
{
    const struct integrator *const integrator = pilot->setting.integrator;
    const double here = pilot->setting.refinement;
    const double close = pilot->whole ? near : by_order;
    if (keeps) {
        const double spare =
            choice_steps_factor(integrator, wanted / fmax(expected, 1e-6 * wanted)) / 1.02;
        range->good = here;
        range->good_error = expected;
        range->next = here / fmin(spare, most_change);
    } else {
        const bool lost = !(expected < lost_at);
        const double change =
            lost ? 4.0 : 1.05 * choice_steps_factor(integrator, expected / wanted);
        range->bad = here;
        range->bad_error = expected;
        range->next = here * fmin(most_change, fmax(near, change));
        if (lost)
            return isinf(range->good) || range->good > 1.5 * range->bad;
    }
    if (range->bad > 0.0 && isfinite(range->good)) {
        const bool known = range->bad_error < lost_at && range->good_error > 0.0;
        const double of =
            known ? log(range->bad_error / wanted) / log(range->bad_error / range->good_error)
                  : 0.5;
        range->next = range->bad * pow(range->good / range->bad, fmin(0.95, fmax(0.3, of)));
        return range->good > close * range->bad;
    }
    return fmax(range->next / here, here / range->next) > close;
}

/* Takes setting, expected error and cost of the pilot run into the candidate if they are better: if
 * the setting keeps the error with fewer steps or, as long as none does, if the error is less. */
static void note(const struct pilot *pilot, double expected, bool keeps,
                 struct candidate *candidate)
{
    candidate->least = fmin(candidate->least, expected);
    if (!keeps && (candidate->keeps || expected > candidate->least))
        return;
    if (keeps && candidate->keeps && pilot->setting.refinement > candidate->setting.refinement)
        return;
    candidate->setting = pilot->setting;
    candidate->error = expected;
    candidate->cost = pilot->part > 0.0 ? pilot->work / pilot->part : INFINITY;
    candidate->part = pilot->whole ? 1.0 : pilot->part;
    candidate->carried = pilot->carried;
    candidate->keeps = keeps;
}

/* Gives the candidate the refinement `next`, with error and cost by the order of the method,
 * without a pilot run: it is near one that was tried, or would cost too much. Does nothing if the
 * order tells nothing, or the candidate would not become better. */
static void extrapolate(const struct search *search, const struct pilot *last, double next,
                        struct candidate *candidate)
{
    if (!(last->part > 0.0) || !(expected_error(search, last) < hopeless(search)) ||
        search->choice->target.asked < near_rounding)
        return;
    const struct setting setting = setting_of(search->config, candidate->setting.integrator, next);
    const double times = setting.refinement / last->setting.refinement;
    const double error =
        expected_error(search, last) * pow(times, -(double)setting.integrator->order);
    if ((candidate->keeps && setting.refinement >= candidate->setting.refinement) ||
        fmax(times, 1.0 / times) > most_extrapolated || error > search->choice->target.asked)
        return;
    candidate->setting = setting;
    candidate->cost = last->work / last->part * times;
    candidate->error = error;
    candidate->least = fmin(candidate->least, error);
    candidate->part = 0.0;
    candidate->keeps = true;
}

/* Returns the least refinement to be tried after a pilot run of a part of the run: for an
 * integrator that chooses its own steps little less than the first, since a part without the
 * decisive encounter would let too coarse ones pass; for others 0. */
static double least_refinement(const struct search *search, const struct integrator *integrator)
{
    static const double of_first = 0.7;
    return integrator_chooses_steps(integrator) ? of_first * first_refinement(search, integrator)
                                                : 0.0;
}

/* Returns the refinement of the first pilot run: coarser than first_refinement() before a collapse,
 * since pilot runs that go beyond it are dear and the order tells the rest. */
static double scout_refinement(const struct search *search, const struct integrator *integrator)
{
    static const double above = 30.0;
    return first_refinement(search, integrator) /
           (search->cold && integrator_chooses_steps(integrator)
                ? choice_steps_factor(integrator, above)
                : 1.0);
}

/* Tells whether a setting is not worth a pilot run: by the pilot run `last`, the run would cost
 * more than worth_trying times the cheapest so far, or a pilot run would not get beyond the
 * collapse. */
static bool too_dear(const struct search *search, const struct setting *setting,
                     const struct pilot *last, const struct pilot_limits *limits)
{
    if (!(last->part > 0.0))
        return false;
    const double cost = setting->refinement / last->setting.refinement * last->work / last->part;
    return cost > worth_trying * search->best ||
           (search->cold && search->aim * cost > limits->work);
}

/* Puts into the candidate the best setting of one integrator: by pilot runs of the part `part` of
 * the run or more, as far as the work allows, or from the last by the order of the method. */
static enum status try_integrator(struct search *search, double part, struct candidate *candidate,
                                  struct error *error)
{
    static const double hardly = 0.01;
    const struct integrator *const integrator = candidate->setting.integrator;
    const struct accuracy_target *const target = &search->choice->target;
    struct range range = { INFINITY, 0.0, 0.0, 0.0, scout_refinement(search, integrator) };
    struct pilot pilot = { 0 };
    /* Largest parts of the run that a pilot run saw, and at which one lost the energy. */
    double seen = 0.0, lost = 0.0;
    const int most = part < 1.0 ? MOST_SCOUTS : MOST_PILOTS;
    bool more = true;
    for (int k = 0; more && k < most && work_left(search) > 0.0; k++) {
        const struct setting setting = setting_of(search->config, integrator, range.next);
        const struct pilot_limits limits = {
            .work = fmin(0.5 * work_left(search), worth_trying * worth_of(search, part)),
            .part = fmax(part, search->aim),
            .little = little_work,
            .error = hopeless(search),
        };
        if ((!of_orbits(search) &&
             search->choice->pilots > fmax(5.0 * little_work, scouts_part * search->best)) ||
            setting.refinement >= range.good || setting.refinement <= range.bad ||
            too_dear(search, &setting, &pilot, &limits))
            break;
        const struct pilot before = pilot;
        if (pilot_run(search->experiment, search->config, &setting, &limits, &pilot, error))
            return error->status;
        const double expected = expected_error(search, &pilot),
                     wanted = choice_error_aim(target, pilot.whole);
        const bool keeps = expected <= wanted && pilot.part > 0.0 &&
                           (pilot.within || target->of != TARGET_OF_WORST);
        search->choice->pilots += pilot.spent;
        candidate->tried = candidate->tried || pilot.part > 0.0 || isinf(pilot.error);
        /* A pilot run that did not see the collapse, or the encounter in which a coarser one lost
         * the energy, or hardly anything of what others saw, tells nothing. */
        if ((keeps && pilot.part < (search->cold ? search->aim : lost)) ||
            pilot.part < hardly * seen) {
            pilot = before;
            break;
        }
        seen = fmax(seen, pilot.part);
        if (!(pilot.error <= limits.error))
            lost = fmax(lost, pilot.part);
        note(&pilot, expected, keeps, candidate);
        more = narrow(&pilot, fmax(expected, 0.0), wanted, hopeless(search), keeps, &range) &&
               pilot.part > 0.0;
        if (!pilot.whole)
            range.next = fmax(range.next, least_refinement(search, integrator));
        if (candidate->keeps)
            search->best = fmin(search->best, candidate->cost);
    }
    extrapolate(search, &pilot, range.next, candidate);
    if (candidate->keeps)
        search->best = fmin(search->best, candidate->cost);
    return error->status;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Tells whether the candidate chooses its own steps and has its forces on a GPU, where the number
 * of pairs does not tell the time, while there are other candidates. */
static bool is_untimed(const struct search *search, const struct candidate *candidate)
{
    return search->choice->count > 1 && search->experiment->simulation.class_ == &backend_cuda &&
           integrator_chooses_steps(candidate->setting.integrator);
}

/* Makes pilot runs of all candidates, in their order: the first is usually the cheapest. */
static enum status try_all(struct search *search, double part, struct error *error)
{
    struct choice *const choice = search->choice;
    for (size_t k = 0; k < choice->count && !error->status; k++) {
        struct error refused = { 0 };
        struct candidate *const c = &choice->candidates[k];
        /* Once a candidate keeps the error, another one is left out if its pilot runs must go
         * beyond a collapse, which is dear, or if it has fixed steps that encounters decide. */
        const bool guess =
            search->cold || (!search->hidden && !integrator_chooses_steps(c->setting.integrator));
        if (guess && isfinite(search->best))
            continue;
        if (is_untimed(search, c)) {
            snprintf(c->why, sizeof c->why, "not yet timed on a GPU");
            continue;
        }
        if (try_integrator(search, part, c, &refused) == STATUS_CONFIG && choice->count > 1)
            snprintf(c->why, sizeof c->why, "%.80s", refused.text);
        else
            error_pass(error, &refused);
    }
    return error->status;
}

/* Confirms the chosen candidate by a longer pilot run. If that misses the error, refines the
 * candidate and goes on with the one that is then cheapest, up to MOST_CONFIRMED times. */
static enum status confirm(struct search *search, struct error *error)
{
    struct choice *const choice = search->choice;
    for (int k = 0; k < MOST_CONFIRMED && choice_take_cheapest(choice); k++) {
        struct candidate *const c = &choice->candidates[choice->chosen];
        const double part = of_orbits(search) ? 1.0 : fmax(confirm_part, search->aim);
        const double most = search->cold        ? scouts_part
                            : of_orbits(search) ? worth_trying * search->copies
                                                : 2.0 * confirm_part;
        const double work = fmin(work_left(search), fmax(little_work, most * c->cost));
        const struct pilot_limits limits = { work, choice->target.asked, part, little_work };
        struct pilot pilot;
        if (c->part >= part || work < 0.02 * c->cost || (search->cold && work < part * c->cost))
            break;
        if (pilot_run(search->experiment, search->config, &c->setting, &limits, &pilot, error))
            return error->status;
        choice->pilots += pilot.spent;
        const double expected = expected_error(search, &pilot);
        const bool sure = pilot.whole && !of_orbits(search);
        if (expected <= (sure ? 1.0 : 0.8) * choice->target.asked && pilot.part > 0.0) {
            /* A first longer pilot run of a part may see a smaller error by chance. */
            c->error = pilot.whole || k > 0 ? expected : fmax(c->error, expected);
            c->part = pilot.whole ? 1.0 : pilot.part;
            c->carried = pilot.carried;
            c->cost = pilot.work / pilot.part;
            break;
        }
        choice_refine(search->config, fmax(pilot.part, 1e-3), pilot.error, pilot.work, choice);
    }
    return STATUS_OK;
}

/* --- nothing keeps it ------------------------------------------------------------------------- */

static enum status refuse(const struct config *config, const struct experiment *x,
                          const struct choice *choice, struct error *error)
{
    char reached[512] = "", setting[SETTING_TEXT_SIZE];
    double least = INFINITY;
    size_t length = 0;
    bool tried = false;
    const bool orbits = accuracy_target_of_orbits(&choice->target);
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
            : isinf(c->least) ? (orbits ? "loses the orbits" : "loses the energy")
                              : "");
        if (!c->why[0] && isfinite(c->least))
            length += (size_t)snprintf(reached + length, sizeof reached - length, "reaches %.1e",
                                       c->least);
    }
    const char *const key = orbits ? "trust_until" : "energy_error";
    if (!tried)
        return section_error(config_section(config, "time"), key, error,
                             "nothing can be chosen for it: %s; give time.integrator and time.step",
                             reached);
    if (orbits)
        return section_error(config_section(config, "time"), key, error,
                             "no setting that was tried keeps the orbits within trust.tolerance = "
                             "%g: %s at that time; an earlier time, or a larger physics.softening, "
                             "would be needed",
                             choice->target.asked, reached);
    return section_error(config_section(config, "time"), key, error,
                         "nothing that was tried keeps it: %s; %s%s or an earlier time.end would "
                         "be needed",
                         reached, isfinite(least) ? "a larger error, " : "",
                         choice_softer(x->simulation.physics.softening));
}

/* --- the choice ------------------------------------------------------------------------------- */

bool choice_take_cheapest(struct choice *choice)
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

enum status choice_make(const struct config *config, const struct choice_limits *limits,
                        struct interruption *interruption, struct choice *choice,
                        struct error *error)
{
    const struct setting any =
        setting_of(config, experiment_integrator(config), EXPERIMENT_DEFAULT_GRID);
    struct config *applied = NULL;
    struct experiment x = { 0 };
    struct search search = { config, &x, limits, choice, .best = INFINITY };
    struct choice_start start = { 0 };
    *choice = (struct choice){ .target = accuracy_target(config) };
    if (!setting_apply(config, &any, &applied, error) &&
        !experiment_create(applied, interruption, &x, error) &&
        !choice_list_candidates(&x, config, choice, &start, error))
        find_fastest(&search, error);
    /* Pilot runs of orbits see as much of the run as the work allows. */
    const bool orbits = of_orbits(&search);
    search.cold = start.collapse > 0.0 && !orbits;
    search.aim = orbits ? 0.0 : start.collapse;
    search.copies = orbits ? 1.0 + copies_work(config) : 1.0;
    search.hidden = start.hidden;
    if (!error->status && choice->target.asked >= near_rounding && !orbits)
        try_all(&search, scout_part, error);
    if (!error->status && !choice_take_cheapest(choice))
        try_all(&search, 1.0, error);
    if (!error->status && !choice_take_cheapest(choice))
        refuse(config, &x, choice, error);
    if (!error->status)
        confirm(&search, error);
    choice->expected = choice->candidates[choice->chosen].cost;
    experiment_destroy(&x);
    config_free(applied);
    return error->status;
}
