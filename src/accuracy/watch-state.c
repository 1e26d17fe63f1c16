#include "accuracy/watch-state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "external/external.h"
#include "model/conserved.h"
#include "model/vec3.h"
#include "space/nearest.h"

static const char *const on_jump_names[] = { "warn", "fail", "stop", NULL };

const struct parameter watch_parameters[] = {
    { BIND(INTEGER, struct watch, every), BY_DEFAULT(INTEGER, 1000), AT_LEAST(1),
      .help = "Largest number of steps between two checks of the fastest pair and of numbers "
              "that are not finite; the watch judges the energy at steps of its own." },
    { BIND(REAL, struct watch, energy_error), BY_DEFAULT(REAL, 0.005), NOT_NEGATIVE,
      .help = "Largest energy error |E - E0| since the start, over the larger of |E0| and "
              "|U0| and about the centre of mass, with which a result is trusted; 0: no limit." },
    { BIND(REAL, struct watch, energy_drift), OPTIONAL, NOT_NEGATIVE,
      .help = "Largest steady change of the energy over the whole run, in the same measure; "
              "unset: 0.001, and the noise of the precision for explicit Euler, whose whole "
              "error is drift; 0: no limit." },
    { BIND(REAL, struct watch, energy_jump), BY_DEFAULT(REAL, 0.1), NOT_NEGATIVE,
      .help = "Largest change of the energy within 1000 steps, sudden or steady, in the same "
              "measure; 0: no limit." },
    { BIND(REAL, struct watch, orbit_error), OPTIONAL, NOT_NEGATIVE,
      .help =
          "Largest error of the method in the orbit of a bound body, over its potential energy; an "
          "orbit of fewer than 6 fixed steps per period also counts as beyond it (fewer than 3 "
          "with a method of an order above 2); unset: ten times energy_error; 0: no limit." },
    { BIND(CHOICE, struct watch, on_jump), BY_DEFAULT(STRING, "fail"), .choices = on_jump_names,
      .help = "Consequence of an energy beyond one of these limits: warn (a warning), fail "
              "(the verdict is failed) or stop (beyond energy_error, energy_jump or "
              "orbit_error the run ends as a numerical failure)." },
    { BIND(REAL, struct watch, least_steps), BY_DEFAULT(REAL, 2.0), NOT_NEGATIVE,
      .help = "Least number of steps in the orbital period over 2 pi of the fastest pair; "
              "fewer cause a warning, once. 2 are 12.6 steps per period; orrery check "
              "advises 200." },
};
const size_t watch_parameter_count = COUNT_OF(watch_parameters);

enum {
    HISTORY_LENGTH = sizeof(struct history) / sizeof(double),
    RECORD_LENGTH = sizeof(struct record) / sizeof(double),
    LEVEL_LENGTH = sizeof(struct level) / sizeof(double)
};

/* The default of watch.orbit_error over watch.energy_error: if a pair has a tenth of the system's
 * energy and its orbit is off by this limit, the system's energy is off by its own. Orbits of pairs
 * with less energy are judged on their own (watch-bound.c). */
static const double orbits_over_whole = 10.0;

/* The default limit of the drift, for a method whose whole error is not drift. */
static const double steady_drift = 1e-3;

/* --- when ------------------------------------------------------------------------------------- */

static const struct pace few = { 100, 6, { 1, 2, 5, 10, 20, 50 } };
static const struct pace many = { 20, 5, { 50, 100, 200, 500, 1000 } };

uint64_t watch_stride(const struct watch *watch, uint64_t step)
{
    const struct pace *pace = watch->pace;
    size_t k = 0;
    while (k + 1 < pace->count && pace->checks * pace->strides[k + 1] <= step)
        k++;
    return pace->strides[k];
}

/* Returns a limit as it counts, from that of the config: 0 there means that there is none, and no
 * limit is below the noise. */
static double limit_of(double limit, double noise)
{
    return limit == 0.0 ? INFINITY : fmax(limit, noise);
}

static void read_limits(struct watch *watch, const struct section *section)
{
    const double noise = watch->noise;
    section_read(section, watch);
    if (isnan(watch->energy_drift))
        watch->energy_drift = watch->method_drifts ? noise : steady_drift;
    if (isnan(watch->orbit_error))
        watch->orbit_error = orbits_over_whole * watch->energy_error;
    watch->energy_error = limit_of(watch->energy_error, noise);
    watch->energy_drift = limit_of(watch->energy_drift, noise);
    watch->energy_jump = limit_of(watch->energy_jump, noise);
    watch->orbit_error = limit_of(watch->orbit_error, noise);
}

/* Returns a level at the start of the run; a scale of 0 means that there is nothing to judge. */
static struct level level_of(double energy, double potential, double scale)
{
    return (
        struct level){ scale, energy, energy, energy, NAN, fabs(potential), NAN, fabs(potential) };
}

static void begin_levels(struct watch *watch, const struct moment *start, size_t system,
                         size_t center)
{
    const struct bodies *b = start->bodies;
    const size_t first = system * b->stride;
    struct level *levels = watch->levels + system * watch->test_count;
    for (size_t i = 0; i < b->count; i++) {
        const struct test_motion motion = test_energy_motion(start->physics, b, center, first + i);
        const double energy = motion.kinetic + motion.potential;
        const double scale = fmax(fabs(energy), fabs(motion.potential));
        levels[i] = level_of(energy, motion.potential, first + i == center ? 0.0 : scale);
    }
}

/* Puts the acceleration at x by the external fields and by the body `heavy`, if there is one, into
 * a. */
static void pull_at(const struct physics *physics, const struct bodies *b, size_t heavy,
                    const double x[3], double a[3])
{
    a[0] = a[1] = a[2] = 0.0;
    if (physics->external)
        external_acceleration(physics->external, x, a);
    if (heavy >= b->systems * b->stride)
        return;
    const double d[] = { x[0] - b->x[heavy], x[1] - b->y[heavy], x[2] - b->z[heavy] };
    const double s2 = vec3_dot(d, d) + physics->softening * physics->softening;
    for (int k = 0; k < 3 && s2 > 0.0; k++)
        a[k] -= physics->gravitational_constant * b->m[heavy] * d[k] / (s2 * sqrt(s2));
}

/* The least number of bodies with mass in a cluster. Orbits of fewer are judged alone. */
enum { LEAST_CLUSTER = 10 };

/* Returns |U| of the bodies of a system but one, `heavy` (b->systems * b->stride: all of them), if
 * they are a cluster: bound to one another, with tides of the fields and of the heavy body that are
 * weak beside their own attraction; else INFINITY. `potential` is that of all pairs. */
static double potential_of_cluster(const struct moment *start, size_t system, size_t heavy,
                                   double potential)
{
    /* The most of the tides over |U|, and the least |U| over that of all: less may be rounding. */
    static const double weak = 0.5, rounding = 1e-11;
    const struct bodies *const b = start->bodies;
    const struct physics *const physics = start->physics;
    const size_t first = system * b->stride, last = first + b->count;
    size_t massive = 0;
    double mass = 0.0, kinetic = 0.0, tides = 0.0, X[3] = { 0 }, V[3] = { 0 }, A[3];
    for (size_t i = first; i < last; i++) {
        if (i == heavy)
            continue;
        const double x[] = { b->x[i], b->y[i], b->z[i] }, v[] = { b->vx[i], b->vy[i], b->vz[i] };
        mass += b->m[i];
        massive += b->m[i] > 0.0;
        for (int k = 0; k < 3; k++) {
            X[k] += b->m[i] * x[k];
            V[k] += b->m[i] * v[k];
        }
    }
    if (massive < LEAST_CLUSTER)
        return INFINITY;
    for (int k = 0; k < 3; k++) {
        X[k] /= mass;
        V[k] /= mass;
    }
    pull_at(physics, b, heavy, X, A);
    for (size_t i = first; i < last; i++) {
        if (i == heavy)
            continue;
        const double x[] = { b->x[i], b->y[i], b->z[i] }, v[] = { b->vx[i], b->vy[i], b->vz[i] };
        double r2 = 0.0, v2 = 0.0, a2 = 0.0, a[3];
        pull_at(physics, b, heavy, x, a);
        for (int k = 0; k < 3; k++) {
            r2 += (x[k] - X[k]) * (x[k] - X[k]);
            v2 += (v[k] - V[k]) * (v[k] - V[k]);
            a2 += (a[k] - A[k]) * (a[k] - A[k]);
        }
        kinetic += 0.5 * b->m[i] * v2;
        tides += b->m[i] * sqrt(r2 * a2);
        if (heavy < last)
            potential -= b->m[i] * test_energy_motion(physics, b, heavy, i).potential;
    }
    const double least = rounding * fabs(start->conserved[system].potential);
    return -potential > least && kinetic + potential < 0.0 && tides < -weak * potential ? -potential
                                                                                        : INFINITY;
}

/* Returns |U| of a cluster that moves in external fields or about the heaviest body of the system,
 * without these: INFINITY if the bodies, or those but the heaviest, are not bound to one another,
 * or are held together by the fields. */
static double own_potential(const struct moment *start, size_t system)
{
    const struct bodies *const b = start->bodies;
    const struct external *const fields = start->physics->external;
    const size_t first = system * b->stride, none = b->systems * b->stride;
    size_t heavy = first;
    double pairs = start->conserved[system].potential;
    if (start->physics->boundary != BOUNDARY_OPEN || start->physics->rotation != 0.0 ||
        !external_has_mass(b, system))
        return INFINITY;
    for (size_t i = first; i < first + b->count; i++) {
        const double x[] = { b->x[i], b->y[i], b->z[i] };
        heavy = b->m[i] > b->m[heavy] ? i : heavy;
        pairs -= fields ? b->m[i] * external_potential(fields, x) : 0.0;
    }
    const double own = fields ? potential_of_cluster(start, system, none, pairs) : INFINITY;
    return fmin(own, potential_of_cluster(start, system, heavy, pairs));
}

static const struct bound_record nothing_bound = { .tried = NAN,
                                                   .body = NAN,
                                                   .centers = { NAN, NAN },
                                                   .first = NAN,
                                                   .time = NAN,
                                                   .pending = NAN,
                                                   .about = { NAN, NAN },
                                                   .holds = NAN };

static void begin_records(struct watch *watch, const struct moment *start)
{
    *watch->history =
        (struct history){ .judged = -1.0, .look = -1.0, .width = (double)watch->pace->strides[0] };
    for (size_t s = 0; s < watch->systems; s++) {
        const struct conserved *c = &start->conserved[s];
        size_t center;
        const bool by_tests = test_energy_applies(start->bodies, s, &center);
        watch->records[s] = (struct record){
            .level =
                level_of(conserved_internal_energy(c), c->potential, conserved_energy_scale(c)),
            .own = own_potential(start, s),
            .by_tests = by_tests,
            .first_error = NAN,
            .error_time = NAN,
            .error_body = NAN,
            .offending = close_pair_none,
            .time = start->time,
            .first_jump = NAN,
            .jumped_body = NAN,
            .jumped = close_pair_none,
            .last = close_pair_none,
            .fastest = close_pair_none,
            .bound = nothing_bound,
        };
        if (by_tests)
            begin_levels(watch, start, s, center);
    }
}

/* Allocates the history, the records and the levels in one array, so that they are saved as one. */
static enum status create_state(struct watch *watch, const struct bodies *bodies,
                                struct error *error)
{
    size_t center;
    watch->systems = bodies->systems;
    for (size_t s = 0; s < bodies->systems; s++)
        if (test_energy_applies(bodies, s, &center))
            watch->test_count = bodies->count;
    /* This cannot overflow: the bodies, which fit into memory, have as many numbers. */
    watch->length =
        HISTORY_LENGTH + watch->systems * (RECORD_LENGTH + watch->test_count * LEVEL_LENGTH);
    watch->history = memory_array(watch->length, sizeof(double), error);
    if (!watch->history)
        return error->status;
    watch->records = (struct record *)((double *)watch->history + HISTORY_LENGTH);
    watch->levels = (struct level *)(watch->records + watch->systems);
    return STATUS_OK;
}

enum status watch_create(const struct section *section, const struct moment *start,
                         const struct watch_method *method, struct watch **result,
                         struct error *error)
{
    *result = NULL;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return error_memory(error);
    if (create_state(watch, start->bodies, error)) {
        watch_destroy(watch);
        return error->status;
    }
    watch->pace = watch->systems * start->bodies->count <= FEW_BODIES ? &few : &many;
    watch->looks = watch->pace == &many;
    watch->force = method->force;
    watch->noise = force_traits(&method->force).energy_noise;
    watch->integrator = method->integrator;
    watch->chooses_steps = integrator_chooses_steps(method->integrator);
    watch->advised_steps = integrator_advised_steps(method->integrator);
    /* With a method of an order above 1 the energy may drift as well, but so little that a result
     * can be trusted: the drift is judged by its amount, like that of a symplectic method. */
    watch->method_drifts =
        !method->integrator->symplectic && !watch->chooses_steps && method->integrator->order <= 1;
    watch->count = start->bodies->count;
    watch->dt = start->dt;
    watch->end = (method->steps + 0.5) * start->dt; /* step 0 is t = 0; half a step for rounding */
    watch->units = start->physics->units;
    watch->physics = start->physics;
    watch->bodies = start->bodies;
    watch->turns = start->physics->rotation != 0.0;
    watch->may_hide = watch->count > 2 && !watch->turns && !start->physics->external &&
                      start->physics->boundary == BOUNDARY_OPEN;
    read_limits(watch, section);
    begin_records(watch, start);
    *result = watch;
    return STATUS_OK;
}

enum status watch_follow(const struct section *section, const struct simulation *simulation,
                         double steps, struct moment *now, struct watch **watch,
                         struct error *error)
{
    const struct watch_method method = { simulation->description.force, simulation->integrator,
                                         steps };
    *now = (struct moment){ .dt = simulation->step,
                            .threads = simulation->description.threads,
                            .physics = &simulation->physics,
                            .bodies = simulation->bodies,
                            .conserved = simulation->now,
                            .first = simulation->first,
                            .simulation = simulation };
    return watch_create(section, now, &method, watch, error);
}

void watch_destroy(struct watch *watch)
{
    if (!watch)
        return;
    memory_free(watch->history);
    free(watch);
}

size_t watch_system_reals(void)
{
    return RECORD_LENGTH;
}

uint64_t watch_every(const struct watch *watch)
{
    return watch->every;
}

double *watch_state(struct watch *watch, size_t *count)
{
    *count = watch->length;
    return (double *)watch->history;
}

/* --- the fastest pair ------------------------------------------------------------------------- */

const struct close_pair close_pair_none = { { NAN, NAN }, NAN, INFINITY, NAN };

enum status close_pair_find(const struct moment *now, size_t system, struct close_pair *pair,
                            struct error *error)
{
    struct nearest_pair nearest;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &nearest, error))
        return error->status;
    const int64_t *id = now->bodies->id + system * now->bodies->stride;
    *pair = close_pair_none;
    if (nearest.found)
        *pair = (struct close_pair){ { (double)id[nearest.i], (double)id[nearest.j] },
                                     nearest.distance,
                                     nearest.time_scale / now->dt,
                                     now->time };
    return STATUS_OK;
}

const char *close_pair_text(const struct watch *watch, const struct close_pair *pair,
                            char buffer[CLOSE_PAIR_TEXT_SIZE])
{
    const struct units *const units = watch->units;
    const double advised = watch->advised_steps;
    char distance[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE], period[80] = "", advice[32] = "";
    char names[BODIES_PAIR_SIZE];
    const double steps = 2.0 * M_PI * pair->steps;
    if (isnan(pair->ids[0])) {
        snprintf(buffer, CLOSE_PAIR_TEXT_SIZE, "none, for no two bodies attract each other");
        return buffer;
    }
    if (steps < advised)
        snprintf(advice, sizeof advice, " (%g are advised)", advised);
    if (advised > 0.0) /* with 0 the integrator chooses its own steps, of which dt says nothing */
        snprintf(period, sizeof period, ", where a circular orbit would take %.3g steps%s", steps,
                 advice);
    snprintf(buffer, CLOSE_PAIR_TEXT_SIZE, "%s, %s apart at t = %s%s",
             bodies_pair(watch->bodies, (int64_t)pair->ids[0], (int64_t)pair->ids[1], names),
             units_length(units, pair->distance, 3, distance),
             units_time(units, pair->time, 6, time), period);
    return buffer;
}
