/* The list of the integrators that are tried for a run whose config asks for an accuracy, in the
 * order in which choice.c tries them by pilot runs (estimate/pilot.h). */
#include "estimate/choice.h"

#include <math.h>
#include <string.h>

#include "accuracy/resolution.h"
#include "base/memory.h"
#include "estimate/experiment.h"

/* The number of bodies up to which one step for all bodies is cheaper than block steps, and the
 * number up to which bodies do not meet by chance. */
enum { FEW = 32, FEW_WITHOUT_CHANCE = 3 };

/* Returns the number of force evaluations in the period of a close passage that changes the energy
 * by `error`, as the table of integrators has it. The energy error of the passing pair may be
 * of_pair times that of all bodies. */
static double passage_cost(const struct integrator *integrator, double error)
{
    static const double of_pair = 5.0;
    return integrator_steps_for(integrator, of_pair * error) *
           (double)integrator_forces_per_step(integrator);
}

static void add_candidate(struct choice *choice, const struct integrator *integrator)
{
    if (choice->count < CHOICE_CANDIDATES)
        choice->candidates[choice->count++] =
            (struct candidate){ .setting = { .integrator = integrator, .key = NAN },
                                .error = INFINITY,
                                .cost = INFINITY,
                                .carried = INFINITY,
                                .least = INFINITY };
}

/* Lists the integrator that the config names. If it names none, lists the symplectic integrator
 * that follows a passage at the least cost, the next cheapest if its cost is at most `much` times
 * that, and the integrators that choose their own steps by the motion. If the frame `turns`, only
 * those of the latter that work in such a frame are listed. */
static void list_candidates(const struct config *config, bool turns, struct choice *choice)
{
    static const double much = 1.3;
    const struct integrator *best[2] = { NULL, NULL }, *row;
    double costs[2] = { INFINITY, INFINITY };
    if (!choice->target.integrator) {
        add_candidate(choice, experiment_integrator(config));
        return;
    }
    for (size_t k = 0; (row = integrator_at(k)); k++) {
        if (!integrator_has_stages(row) || !row->symplectic || !row->reversible)
            continue;
        const double cost = passage_cost(row, choice_usual_error(&choice->target));
        const size_t place = cost < costs[0] ? 0 : 1;
        if (cost >= costs[place])
            continue;
        if (place == 0) {
            best[1] = best[0];
            costs[1] = costs[0];
        }
        best[place] = row;
        costs[place] = cost;
    }
    for (size_t k = 0; k < COUNT_OF(best); k++)
        if (best[k] && costs[k] <= much * costs[0])
            add_candidate(choice, best[k]);
    for (size_t k = 0; (row = integrator_at(k)); k++)
        if (integrator_chooses_steps(row) && !row->by_softening &&
            (!turns || integrator_takes_rotation(row)))
            add_candidate(choice, row);
}

/* Returns the time within which a uniform sphere of the same mass and potential energy, |U| = 3/5 G
 * M^2 / R, collapses from rest: pi/2 sqrt(R^3 / 2GM) (Binney & Tremaine 2008). */
static double free_fall(const struct physics *physics, const struct conserved *c)
{
    const double GM = physics->gravitational_constant * c->mass;
    const double R = 0.6 * GM * c->mass / fabs(c->potential);
    return 0.5 * M_PI * sqrt(R * R * R / (2.0 * GM));
}

/*
 * Finds whether a cold system collapses before `end`, and whether close encounters do not decide
 * the steps (start->hidden): bodies are few, or softening is longer than the distance at which two
 * bodies turn each other by a right angle, about R / N with R = G M^2 / 2|U|; with a collapse,
 * in_collapse times as long as that. Measures the relative error of the forces; 0: they are exact.
 */
static enum status describe(const struct experiment *experiment, double end,
                            struct choice_start *start, double *force_error, struct error *error)
{
    static const double cold = 0.3, beyond = 1.1, in_collapse = 8.0;
    struct simulation s = { 0 };
    struct kernel_error forces = { 0 };
    const size_t count = experiment->simulation.bodies->count;
    double softest = INFINITY;
    if (!simulation_copy(&s, &experiment->simulation, &(struct simulation_changes){ 0 }, error) &&
        !simulation_begin(&s, error))
        for (size_t k = 0; k < s.bodies->systems; k++) {
            const struct conserved *const c = &s.first[k];
            const double fall = beyond * free_fall(&s.physics, c);
            const double R =
                0.5 * s.physics.gravitational_constant * c->mass * c->mass / fabs(c->potential);
            softest = fmin(softest, s.physics.softening * (double)s.bodies->count / R);
            if (s.bodies->count > 2 && 2.0 * c->internal < cold * fabs(c->potential) && fall < end)
                start->collapse = fmax(start->collapse, fall / end);
        }
    start->hidden = softest > (start->collapse > 0.0 ? in_collapse : 1.0);
    start->hidden = start->hidden || count <= FEW_WITHOUT_CHANCE;
    if (!error->status && kernel_error_counts(&s))
        kernel_error_measure(&s, &forces, error);
    *force_error = forces.whole;
    simulation_destroy(&s);
    return error->status;
}

/* Puts the integrator first that is usually the cheapest, so that little work is done with others:
 * where encounters decide, or orbits must be accurate, one that chooses its own steps, for a `few`
 * bodies gauss-radau, for many one with block steps. */
static void put_first(const struct choice_start *start, bool few, struct choice *choice)
{
    const bool wanted = !start->hidden || accuracy_target_of_orbits(&choice->target);
    for (size_t k = 1; k < choice->count && wanted; k++) {
        const struct candidate c = choice->candidates[k];
        const struct integrator *const integrator = c.setting.integrator;
        if (!integrator->adaptive || integrator->block_steps == few)
            continue;
        memmove(&choice->candidates[1], &choice->candidates[0], k * sizeof c);
        choice->candidates[0] = c;
        return;
    }
}

const char *choice_exacter(const struct force_options *force)
{
    return force_traits(force).truncation > 0.0
               ? "lower compute.accuracy, or take compute.method = \"direct\""
               : "take compute.precision = \"double\"";
}

/* Refuses what is known before any pilot run: an integrator whose energy drifts with any step, and
 * an error that is out of the reach of the forces. */
static enum status refuse_at_once(const struct config *config, const struct experiment *x,
                                  const struct choice *choice, double force_error,
                                  struct error *error)
{
    /* The least energy error over that of the forces. It was 1e-4 to 3e-3 for 3000 bodies by fmm
     * with accuracies of 1e-2 to 1e-4, and is more in single precision. */
    static const double least = 1e-5;
    const struct section *const time = config_section(config, "time");
    const struct integrator *const only = choice->candidates[0].setting.integrator;
    if (accuracy_target_of_orbits(&choice->target))
        return STATUS_OK;
    if (integrator_drifts(only))
        return section_error(time, "energy_error", error,
                             "%s does not keep the energy with any step; leave out "
                             "time.integrator, or take \"velocity-verlet\"",
                             only->variant.name);
    if (choice->target.asked < least * force_error)
        return section_error(time, "energy_error", error,
                             "no step keeps it: the forces, with an error of %.1e, are not exact "
                             "enough; %s",
                             force_error, choice_exacter(&x->simulation.options.force));
    return STATUS_OK;
}

enum status choice_list_candidates(const struct experiment *experiment, const struct config *config,
                                   struct choice *choice, struct choice_start *start,
                                   struct error *error)
{
    const double end = section_real(config_section(config, "time"), "end");
    *start = (struct choice_start){ 0 };
    list_candidates(config, experiment->simulation.physics.rotation != 0.0, choice);
    double force_error;
    if (!describe(experiment, end, start, &force_error, error) &&
        !refuse_at_once(config, experiment, choice, force_error, error))
        put_first(start, experiment->simulation.bodies->count <= FEW, choice);
    return error->status;
}
