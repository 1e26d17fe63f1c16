#include "estimate/advice.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"
#include "estimate/probe.h"
#include "force/direct/reference.h"
#include "initial/energy.h"
#include "model/vec3.h"
#include "space/nearest.h"

/* The number of pairs, of all systems together, up to which the orbit of every pair is examined,
 * which takes a fraction of a second. In larger systems, clusters, encounters are estimated. */
static const double most_pairs = 1e7;
/* The work of examining the orbit of a pair, in pair interactions of a fast kernel, without that of
 * finding the tide of other bodies. */
static const double pair_work = 100;

enum {
    CLUSTER_COUNT = 10, /* the smallest number of bodies whose encounters are a matter of chance */
    PROBED_COUNT = 64 /* the largest number of bodies that are integrated to find close passages */
};
/* The work of all probes together (integrations of few bodies that look for close passages), over
 * that of the trial runs. */
static const double probe_part = 0.1;
/* The number of steps of a run beyond which no trial is made: nobody waits for so long a run. */
static const double most_steps = 1e10;
/* The part of the accuracy watch's limit that the error of a trial run may reach. The rest is a
 * reserve, since machines of other kinds round differently. */
static const double trusted_part = 0.5;

/* The integrator advised instead of one that keeps the energy with no step. */
static const char instead_of_drift[] = "velocity-verlet";

/* The virial ratio 2K/|U| below which a system collapses at once. */
static const double cold = 0.3;
/* The largest tidal force of another body, over the pair's own force at its apocentre, with which
 * the pair's orbit counts as undisturbed. */
static const double weak_tide = 0.1;

/* The energy error allowed in one passage, over the energy of the whole orbit: half of the default
 * limit of the accuracy watch, 0.005. */
static const double orbit_error = 0.0025;

/*
 * The chance that some passage comes closer than the one that gets
 * INTEGRATOR_LEAST_STEPS_PER_PERIOD (20) steps in its period. With velocity-verlet, a parabolic
 * passage of that many steps was measured to change the energy by 3e-7 of its depth (the potential
 * energy of the pair at the closest point), one of 8 steps by 5e-3.
 */
static const double unlucky_part = 0.1;

/* Returns the number of steps that the integrator needs in the period at the pericentre, if the
 * potential energy there is `depth` times the energy of the orbit. */
static double steps_wanted(const struct experiment *x, double depth)
{
    return fmax(integrator_advised_steps(x->simulation.integrator),
                integrator_steps_for(x->simulation.integrator, orbit_error / depth));
}

static double period_at(const struct physics *physics, double distance, double mass)
{
    const double s2 = distance * distance + physics->softening * physics->softening;
    return 2.0 * M_PI * sqrt(s2 * sqrt(s2) / (physics->gravitational_constant * mass));
}

static void keep_shorter(struct advice *best, const struct advice *other)
{
    const struct integrator *integrator = best->integrator;
    const double usual = best->usual;
    if (other->period / other->wanted >= best->period / best->wanted)
        return;
    *best = *other;
    best->integrator = integrator;
    best->usual = usual;
}

/* --- pairs now, and at their pericentres ------------------------------------------------------ */

/* Returns the strongest tidal force of any other body that pulls the bodies i and j apart when they
 * are at the distance `widest`, over the force between the two; or any that is above weak_tide. */
static double tide(const struct physics *physics, const struct bodies *b, size_t first, size_t i,
                   size_t j, double widest)
{
    const double mass = b->m[i] + b->m[j], widest3 = widest * widest * widest;
    double strongest = 0.0;
    for (size_t k = first; k < first + b->count && strongest <= weak_tide; k++) {
        double from_i[3], from_j[3];
        if (k == i || k == j || !(b->m[k] > 0.0))
            continue;
        pair_separation(physics, b, i, k, from_i);
        pair_separation(physics, b, j, k, from_j);
        const double r2 = fmin(vec3_dot(from_i, from_i), vec3_dot(from_j, from_j));
        strongest = fmax(strongest, b->m[k] * widest3 / (mass * r2 * sqrt(r2)));
    }
    return strongest;
}

/* Returns the time until the next pericentre of the osculating orbit without softening, which would
 * only delay it; rv = r.v. By Kepler's equation, e sin E = rv / sqrt(mu a), e cos E = 1 - r/a. */
static double time_to_pericenter(double mu, double energy, double r, double rv)
{
    const double a = -0.5 * mu / energy, e_sin = rv / sqrt(mu * a);
    const double mean = atan2(e_sin, 1.0 - r / a) - e_sin;
    return (mean > 0.0 ? 2.0 * M_PI - mean : -mean) * sqrt(a * a * a / mu);
}

/*
 * Makes the pair i, j the *best advice if its osculating orbit is bound and needs a shorter step.
 * With h = |r x v|, E = v^2/2 - mu/s and s^2 = r^2 + eps^2, e^2 = 1 + 2 E h^2 / mu^2 and the
 * pericentre is q = h^2 / (mu (1 + e)). A softened orbit has its pericentre no closer; where that
 * matters, q < eps, the period at q is that of eps. `scale` is the energy scale of the system.
 *
 * A tide adds some tide sqrt(mu widest) / 2 to h while the two fall from their widest separation: a
 * torque of (3/2 sin 2 theta) tide (mu / widest^3) <r^2> for a time of free fall. Otherwise two
 * bodies that begin at rest among others would meet head-on.
 */
static void look_at_pair(const struct experiment *x, size_t first, size_t i, size_t j, double scale,
                         struct advice *best)
{
    const struct physics *physics = &x->simulation.physics;
    const struct bodies *b = x->simulation.bodies;
    const double end = (double)x->steps * x->simulation.step;
    const double mass = b->m[i] + b->m[j], mu = physics->gravitational_constant * mass;
    if (!(mu > 0.0))
        return;
    double d[3], v[3];
    pair_separation(physics, b, i, j, d);
    pair_velocity(b, i, j, v);
    const double r2 = vec3_dot(d, d), eps = physics->softening;
    const double energy = 0.5 * vec3_dot(v, v) - mu / sqrt(r2 + eps * eps);
    if (!(energy < 0.0))
        return;
    const double rv = vec3_dot(d, v), h2 = fmax(0.0, r2 * vec3_dot(v, v) - rv * rv);
    const double e = sqrt(fmax(0.0, 1.0 + 2.0 * energy * h2 / (mu * mu)));
    const double widest = fmax(sqrt(r2), -0.5 * mu / energy * (1.0 + e));
    const double pull = tide(physics, b, first, i, j, widest);
    const double q = (h2 + 0.25 * pull * pull * mu * widest) / (mu * (1.0 + e));
    /* The energy error is relative to the energy of the whole system, `scale`; but to that of the
     * orbit if there are only the two bodies, or one of them has no mass. */
    const double reduced = b->m[i] * b->m[j] / mass;
    const double whole = b->count > 2 && reduced > 0.0 ? scale / reduced : -energy;
    const double depth = mu / hypot(q, eps) / whole;
    const struct advice pair = { .kind = q < 0.99 * sqrt(r2) ? ADVICE_PERICENTER : ADVICE_NOW,
                                 .id_i = b->id[i],
                                 .id_j = b->id[j],
                                 .distance = q,
                                 .eccentricity = e,
                                 .period = period_at(physics, q, mass),
                                 .wanted = steps_wanted(x, depth) };
    const bool matters = pair.kind == ADVICE_PERICENTER || pair.wanted > best->usual;
    const bool comes =
        pair.kind != ADVICE_PERICENTER || 0.9 * time_to_pericenter(mu, energy, sqrt(r2), rv) <= end;
    if (matters && comes && pull <= weak_tide)
        keep_shorter(best, &pair);
}

/* Returns the larger of |E| and |U|, to which the accuracy watch relates energy errors. */
static double energy_scale(const struct physics *physics, const struct bodies *b, size_t first)
{
    double V[3];
    const double kinetic = energy_internal(b, first, V);
    const double potential = energy_pairs(physics, b, first).potential;
    return fmax(-potential, fabs(kinetic + potential));
}

static void look_at_pairs(const struct experiment *x, size_t first, struct advice *best)
{
    const struct bodies *b = x->simulation.bodies;
    const double pairs = 0.5 * reference_pairs((double)b->systems, (double)b->count);
    if (pairs > most_pairs)
        return;
    const double scale = energy_scale(&x->simulation.physics, b, first);
    double done = 0;
    for (size_t i = first; i < first + b->count; i++) {
        if (interruption_after(x->simulation.physics.interruption, &done,
                               pair_work * (double)b->count))
            return;
        for (size_t j = i + 1; j < first + b->count; j++)
            look_at_pair(x, first, i, j, scale, best);
    }
}

/* --- clusters --------------------------------------------------------------------------------- */

/* The properties of a cluster that decide the chances of encounters. */
struct cluster {
    double count, mass, heaviest;
    double half_mass_radius; /* radius that holds half the number of bodies */
    double speed2;           /* mean square velocity relative to the mean */
    double virial;           /* 2K / |U|, with |U| = 0.4 G M^2 / half_mass_radius (Spitzer 1987) */
};

/* The sphere in which encounters are expected, the mean square velocity of the bodies there, and
 * for how long they are there. */
struct crowd {
    double radius, speed2, time;
};

static enum status describe(const struct experiment *x, size_t system, struct cluster *cluster,
                            struct error *error)
{
    const struct bodies *b = x->simulation.bodies;
    const size_t first = system * b->stride;
    double *r = memory_array(b->count, sizeof *r, error), sums[6] = { 0 };
    if (!r)
        return error->status;
    const double *const arrays[6] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    *cluster = (struct cluster){ .count = (double)b->count };
    for (size_t i = first; i < first + b->count; i++) {
        cluster->mass += b->m[i];
        cluster->heaviest = fmax(cluster->heaviest, b->m[i]);
        for (int k = 0; k < 6; k++)
            sums[k] += b->m[i] * arrays[k][i];
    }
    for (size_t i = first; i < first + b->count; i++) {
        double squares[2] = { 0 };
        for (int k = 0; k < 6; k++) {
            const double d = arrays[k][i] - sums[k] / cluster->mass;
            squares[k / 3] += d * d;
        }
        r[i - first] = sqrt(squares[0]);
        cluster->speed2 += b->m[i] * squares[1] / cluster->mass;
    }
    gsl_sort(r, 1, b->count);
    cluster->half_mass_radius = gsl_stats_median_from_sorted_data(r, 1, b->count);
    memory_free(r);
    const double G = x->simulation.physics.gravitational_constant;
    cluster->virial = cluster->speed2 * cluster->half_mass_radius / (0.4 * G * cluster->mass);
    return STATUS_OK;
}

/*
 * Returns the approach p that is reached `times` times, by expectation, among n bodies in a sphere
 * of radius R and volume V during the time t: n^2/2 pairs x pi (p^2 + 2 p b) v / V x t = times,
 * with gravitational focusing (Binney & Tremaine 2008, 7.5.8), b = G (m1 + m2) / v^2, and half of
 * the cluster's bodies in the sphere. The chance of an approach closer than p is 1 - exp(-times).
 */
static double closest_approach(const struct physics *physics, const struct cluster *c,
                               const struct crowd *crowd, double times)
{
    const double n = 0.5 * c->count, v = sqrt(2.0 * crowd->speed2), R = crowd->radius;
    const double b = 2.0 * physics->gravitational_constant * c->mass / c->count / (v * v);
    const double volume = 4.0 / 3.0 * M_PI * R * R * R;
    const double area = times * 2.0 * volume / (M_PI * n * n * v * crowd->time);
    return area / (b + sqrt(b * b + area));
}

/* Sets distance, period and number of steps for the closest encounter that is expected once. The
 * steps also suffice for an unlucky, closer passage, which comes with a chance of unlucky_part:
 * they follow it, and keep its error small beside the energy of the cluster, 0.4 G M^2 / r_h. */
static void want_for_encounters(const struct experiment *x, const struct cluster *c,
                                const struct crowd *crowd, struct advice *advice)
{
    const struct physics *physics = &x->simulation.physics;
    const double pair = 2.0 * c->mass / c->count, eps = physics->softening;
    const double unlucky = closest_approach(physics, c, crowd, unlucky_part);
    const double depth =
        pair * pair / 4.0 / hypot(unlucky, eps) / (0.4 * c->mass * c->mass / c->half_mass_radius);
    const double passage =
        fmax(INTEGRATOR_LEAST_STEPS_PER_PERIOD,
             integrator_steps_for(x->simulation.integrator, orbit_error / depth));
    advice->distance = closest_approach(physics, c, crowd, 1.0);
    advice->period = period_at(physics, advice->distance, pair);
    advice->wanted = fmax(integrator_advised_steps(x->simulation.integrator),
                          passage * advice->period / period_at(physics, unlucky, pair));
}

/*
 * Makes the encounters of a cluster, or those after the collapse of a cold one, the *best advice if
 * they need a shorter step. A cold sphere collapses within the free-fall time pi/2 sqrt(R^3 / 2GM)
 * to a fraction of its size, which either noise in its density, N^(-1/3) (Aarseth, Lin & Papaloizou
 * 1988), or the heat at the start determines; energy is conserved, so that v^2 is G M / R then.
 */
static enum status look_at_cluster(const struct experiment *x, size_t system, struct advice *best,
                                   struct error *error)
{
    const struct physics *physics = &x->simulation.physics;
    struct cluster c = { 0 };
    if (physics->boundary == BOUNDARY_PERIODIC || x->simulation.bodies->count < CLUSTER_COUNT)
        return STATUS_OK;
    if (describe(x, system, &c, error))
        return error->status;
    const double G = physics->gravitational_constant, end = x->simulation.step * (double)x->steps;
    const bool is_cold = c.virial < cold;
    /* In a system about one heavy body orbits decide, not chance. */
    if (c.heaviest > 0.5 * c.mass || !(c.half_mass_radius > 0.0))
        return STATUS_OK;
    const double R = c.half_mass_radius * (is_cold ? cbrt(2.0) : 1.0);
    const double free_fall = 0.5 * M_PI * sqrt(R * R * R / (2.0 * G * c.mass));
    struct advice advice = { .kind = is_cold ? ADVICE_COLLAPSE : ADVICE_ENCOUNTER,
                             .free_fall = free_fall };
    if (is_cold && end < 0.9 * free_fall)
        return STATUS_OK;
    const double shrunk = is_cold ? fmax(1.0 / cbrt(c.count), c.virial) : 1.0;
    /* Encounters after a collapse count for the time of one bounce: then many bodies fly apart, or
     * into a wider remnant. */
    const struct crowd crowd = {
        .radius = R * shrunk,
        .speed2 = is_cold ? G * c.mass / (R * shrunk) : c.speed2,
        .time = is_cold ? fmin(end, free_fall * shrunk * sqrt(shrunk)) : end,
    };
    want_for_encounters(x, &c, &crowd, &advice);
    keep_shorter(best, &advice);
    return STATUS_OK;
}

/* --- few bodies ------------------------------------------------------------------------------- */

struct passages {
    const struct experiment *experiment;
    size_t first;
    struct advice *best;
};

static void take_passage(void *context, const struct probe_sample *sample)
{
    const struct passages *passages = context;
    const int64_t *id = passages->experiment->simulation.bodies->id + passages->first;
    const struct advice passage = { .kind = sample->time > 0.0 ? ADVICE_PASSAGE : ADVICE_NOW,
                                    .id_i = id[sample->pair.i],
                                    .id_j = id[sample->pair.j],
                                    .distance = sample->pair.distance,
                                    .time = sample->time,
                                    .period = 2.0 * M_PI * sample->pair.time_scale,
                                    .wanted = steps_wanted(passages->experiment, sample->depth) };
    keep_shorter(passages->best, &passage);
}

/* Lets a probe follow a system of 3 to PROBED_COUNT bodies (the orbit of two is known) until the
 * end of the run, and takes the closest passages into *best. Sets *seen if the probe came to the
 * end. Subtracts the probe's work from *work. */
static enum status look_ahead(const struct experiment *x, size_t system, double *work,
                              struct advice *best, bool *seen, struct error *error)
{
    const size_t count = x->simulation.bodies->count;
    enum probe_end end = PROBE_TOO_LONG;
    *seen = false;
    if (count < 3 || count > PROBED_COUNT || *work <= 0.0 || !(best->period > 0.0))
        return STATUS_OK;
    struct advice found = *best;
    struct passages passages = { x, system * x->simulation.bodies->stride, &found };
    const struct probe_observer observer = { take_passage, &passages };
    if (probe_follow(x, system, &observer, work, &end, error))
        return error->status;
    if (end == PROBE_COLLIDED)
        found.period = 0.0;
    if (end != PROBE_LOST)
        *best = found;
    *seen = end == PROBE_FINISHED || end == PROBE_COLLIDED;
    return STATUS_OK;
}

static enum status look_at_system(const struct experiment *x, size_t system, double *work,
                                  struct advice *best, struct error *error)
{
    const struct bodies *b = x->simulation.bodies;
    const size_t first = system * b->stride;
    struct nearest_pair pair;
    if (nearest_pair(&x->simulation.physics, b, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    if (!pair.found)
        return STATUS_OK;
    const struct advice now = { .kind = ADVICE_NOW,
                                .id_i = b->id[first + pair.i],
                                .id_j = b->id[first + pair.j],
                                .distance = pair.distance,
                                .period = 2.0 * M_PI * pair.time_scale,
                                .wanted = best->usual };
    keep_shorter(best, &now);
    bool seen;
    if (look_ahead(x, system, work, best, &seen, error))
        return error->status;
    if (!seen)
        look_at_pairs(x, first, best);
    return look_at_cluster(x, system, best, error);
}

/* Returns the step to try after the trial run `tried`: that at which, by the order of the method,
 * error_in_limits would be half of what a trial may reach (trusted_part). It is at most half of the
 * step of `tried`, since the errors of encounters follow no order, and at least `least` times that
 * step; then it is rounded down. */
static double next_step(const struct experiment *x, const struct trial_run *tried, double least)
{
    const double wanted = 0.5 * trusted_part / tried->error_in_limits;
    const double factor = wanted > 0.0 ? pow(wanted, 1.0 / x->simulation.integrator->order) : 0.0;
    return text_round_down(fmin(0.5, fmax(least, factor)) * tried->step);
}

/* The least factor from a step that was tried to the next one: the error of a run that has gone
 * wrong does not tell by how much the step is too large. */
static const double least_part = 0.1;

/* Returns the step to try after the experiment has failed with its present step. If the error of
 * that run is small, however strict the bound, the order of the method alone decides. */
static double step_after_present(const struct experiment *x, const struct advice_wish *wish)
{
    static const double small = 0.05, usual_bound = 0.005, least = 1e-6;
    const struct trial_run present = { .step = x->simulation.step,
                                       .error_in_limits = wish->present };
    const bool follows = wish->present * fmin(wish->bound, usual_bound) < small;
    return next_step(x, &present, follows ? least : least_part);
}

/* Makes trial runs with smaller and smaller steps, from the advised one on, until the watch accepts
 * one with an error of at most trusted_part of the limit, or until the work allowed is done. */
static enum status try_steps(const struct experiment *x, const struct advice_wish *wish,
                             struct advice *advice, struct error *error)
{
    double left = wish->work, step = fmin(x->simulation.step, advice->step);
    if (!isnan(wish->present))
        advice->step = step = fmin(step, step_after_present(x, wish));
    for (bool spare = false; !spare && left >= trial_run_work(x, step, wish->bound);) {
        struct trial_run tried;
        left -= trial_run_work(x, step, wish->bound);
        if (trial_run_make(x, step, wish->bound, &tried, error))
            return error->status;
        if (tried.within || advice->trial != ADVICE_HOLDS) {
            advice->trial = tried.within ? ADVICE_HOLDS : ADVICE_FAILS;
            advice->step = tried.within ? step : 0.0;
            advice->last_trial = tried;
        }
        spare = tried.within && tried.error_in_limits <= trusted_part;
        step = next_step(x, &tried, least_part);
    }
    return STATUS_OK;
}

/* Finds the pair or encounter that limits the step, and the step for it, without a trial run. */
static enum status look_for_step(const struct experiment *x, double work, struct advice *advice,
                                 struct error *error)
{
    *advice = (struct advice){ .kind = ADVICE_NONE,
                               .integrator = x->simulation.integrator,
                               .period = INFINITY,
                               .usual = integrator_advised_steps(x->simulation.integrator),
                               .wanted = integrator_advised_steps(x->simulation.integrator) };
    for (size_t s = 0; s < x->simulation.bodies->systems; s++) {
        const double before = advice->period / advice->wanted;
        if (look_at_system(x, s, &work, advice, error) ||
            interruption_status(x->simulation.physics.interruption, error))
            return error->status;
        if (advice->period / advice->wanted < before)
            advice->system = s;
    }
    advice->steps = advice->period / x->simulation.step;
    advice->step = advice->period > 0.0 ? text_round_down(advice->period / advice->wanted) : 0.0;
    if (advice->step > 0.0 && experiment_step_count(x, advice->step) > most_steps)
        advice->trial = ADVICE_TOO_MANY;
    return STATUS_OK;
}

/* Makes a trial run with the experiment's own step, for a method of first order that is not
 * symplectic: such a method keeps the energy with no step, so no smaller one is sought. Sets *holds
 * if the watch accepts the trial. */
static enum status try_as_it_is(const struct experiment *x, const struct advice_wish *wish,
                                struct trial_run *tried, bool *holds, struct error *error)
{
    *tried = (struct trial_run){ .step = x->simulation.step };
    *holds = false;
    if (!isnan(wish->present) || trial_run_work(x, x->simulation.step, wish->bound) > wish->work)
        return STATUS_OK;
    const enum status status = trial_run_make(x, x->simulation.step, wish->bound, tried, error);
    *holds = tried->within;
    return status;
}

enum status advice_find(const struct experiment *x, const struct advice_wish *wish,
                        struct advice *advice, struct error *error)
{
    struct advice_wish remaining = *wish;
    struct experiment other = *x;
    struct trial_run tried;
    bool holds = false;
    *advice = (struct advice){ .kind = ADVICE_NONE, .integrator = x->simulation.integrator };
    if (integrator_chooses_steps(x->simulation.integrator))
        return STATUS_OK;
    const bool drifts = integrator_drifts(x->simulation.integrator);
    if (drifts) {
        other.simulation.integrator = integrator_find(instead_of_drift);
        remaining.present = NAN; /* it was measured with the replaced method */
    }
    if (look_for_step(&other, probe_part * wish->work, advice, error) ||
        advice->kind == ADVICE_NONE || (drifts && try_as_it_is(x, wish, &tried, &holds, error)))
        return error->status;
    if (holds) {
        advice->integrator = x->simulation.integrator;
        advice->trial = ADVICE_HOLDS;
        advice->step = x->simulation.step;
        advice->last_trial = tried;
    }
    if (holds || advice->trial == ADVICE_TOO_MANY || !(advice->step > 0.0))
        return STATUS_OK;
    return try_steps(&other, &remaining, advice, error);
}
