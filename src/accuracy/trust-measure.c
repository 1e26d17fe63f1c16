#include "accuracy/trust.h"

#include <math.h>

#include "accuracy/bound-orbits.h"
#include "accuracy/trust-state.h"
#include "base/memory.h"
#include "diagnostics/diagnostic.h"

const unsigned trust_steps[TRUST_SHADOWS] = { [TRUST_TWIN] = 1, [TRUST_FINE] = 2 };

enum {
    DIVERGENCE,
    ROUNDING,
    TRUNCATION,
    E_FOLDING_TIME,
    E_FOLDING_TIME_ERROR,
    ACCURATE_UNTIL,
    REPRODUCIBLE_UNTIL,
    ORBITS_ACCURATE_UNTIL,
    ORBITS_REPRODUCIBLE_UNTIL,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "divergence", DIMENSION_NONE,
      "root mean square distance of the bodies from those of the twin, over the size of the "
      "system; when it has reached trust.tolerance, the twin is moved nearer to the run, and the "
      "column is empty from then on; it is empty also once the twin is not needed any more" },
    { "rounding", DIMENSION_NONE,
      "the same, as expected between this run and one on another machine, compiler or kernel: the "
      "rounding errors of the run so far, which grow as the distance from the twin does" },
    { "truncation", DIMENSION_NONE,
      "the same between this run and the orbits with an infinitely small step: the distance from "
      "the shadow with half the step, times 2^p / (2^p - 1) with the order p; empty once this "
      "shadow is not needed any more" },
    { "e_folding_time", DIMENSION_TIME,
      "time in which the distance from the twin grows by a factor of e; empty while it has not "
      "grown enough, or if it grows as a power of the time" },
    { "e_folding_time_error", DIMENSION_TIME, "its standard error" },
    { "accurate_until", DIMENSION_TIME,
      "time at which truncation and rounding, added in quadrature, reach trust.tolerance, by "
      "default 0.01; empty before" },
    { "reproducible_until", DIMENSION_TIME,
      "time at which rounding reaches trust.tolerance; empty before" },
    { "orbits_accurate_until", DIMENSION_TIME,
      "as accurate_until, for the orbit within the system (of a moon, a planet or a close pair) "
      "that is the first to be off by trust.tolerance of its own size; empty before, or if there "
      "are none" },
    { "orbits_reproducible_until", DIMENSION_TIME,
      "as reproducible_until, likewise for the first of these orbits" },
};

const struct parameter trust_parameters[] = {
    { KEY(FLAG, shadow), BY_DEFAULT(FLAG, false),
      .help = "Carry along a twin of every system, displaced by a rounding error, and say until "
              "when the orbits can be trusted (trust.csv)." },
    { BIND(FLAG, struct trust, half_step), BY_DEFAULT(FLAG, true),
      .help = "Carry along a second shadow with half the step, until it has left the run; it "
              "shows until when the orbits are accurate." },
    { BIND(INTEGER, struct trust, every), BY_DEFAULT(INTEGER, 10), AT_LEAST(1),
      .help = "Steps between two comparisons; the first and the last step are always compared." },
    { BIND(REAL, struct trust, tolerance), BY_DEFAULT(REAL, 0.01), POSITIVE_TO(0.5),
      .help = "Divergence, over the size of the system, at which its orbits count as "
              "different ones." },
    { BIND(REAL, struct trust, displacement), BY_DEFAULT(REAL, 1e-12), BETWEEN(1e-14, 1e-3),
      .help = "Distance of each body of the twin from its original at the start, over the "
              "size of the system; farther if the precision of the forces needs it." },
    { KEY(INTEGER, seed), BY_DEFAULT(INTEGER, 1), BETWEEN(1, 4294967295.0),
      .help =
          "Seed of the directions of these displacements; systems take it and those after it." },
};
const size_t trust_parameter_count = COUNT_OF(trust_parameters);

/* --- orbits within a system ------------------------------------------------------------------- */

/* Chooses the orbits within a system that are followed on their own: the smallest ones, if they are
 * smaller than half of the system, in whose distances their errors do not show. */
static enum status choose_orbits(struct trust_state *state, const struct moment *start,
                                 size_t system, struct error *error)
{
    static const double small = 0.5; /* over the size of the system */
    const struct bodies *b = start->bodies;
    const size_t first = system * b->stride;
    struct bound_orbit found[TRUST_ORBITS];
    size_t count;
    if (start->physics->rotation != 0.0) /* in a rotating frame velocities do not tell the orbits */
        return STATUS_OK;
    if (bound_orbits_smallest(start->physics, b, system, TRUST_ORBITS, found, &count, error))
        return error->status;
    for (size_t k = 0; k < count && found[k].semi_major_axis < small * state->size; k++) {
        const struct bound_center *center = &found[k].center;
        struct trust_orbit *orbit = &state->orbits[k];
        *orbit = (struct trust_orbit){ .body = (double)found[k].body,
                                       .centers = { -1.0, -1.0 },
                                       .ids = { (double)b->id[first + found[k].body], NAN, NAN },
                                       .size = found[k].semi_major_axis,
                                       .rounding.until = INFINITY,
                                       .error.until = INFINITY };
        double mass = 0.0;
        for (size_t c = 0; c < center->count; c++)
            mass += b->m[first + center->bodies[c]];
        for (size_t c = 0; c < center->count; c++) {
            orbit->centers[c] = (double)center->bodies[c];
            orbit->ids[1 + c] = (double)b->id[first + center->bodies[c]];
            orbit->shares[c] = b->m[first + center->bodies[c]] / mass;
        }
        state->orbit_count = (double)(k + 1);
    }
    return STATUS_OK;
}

/* --- distances -------------------------------------------------------------------------------- */

/* The distance of a system from its shadow, a copy that is advanced beside it. */
struct distance {
    double position; /* rms distance of bodies from their copies, over the system's size */
    double phase;    /* (position^2 + w^2)^(1/2), w: rms difference of velocities, over the system's
                        speed */
};

static double square_of_difference(const double *a, const double *b, size_t count, double L)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double d = L > 0.0 ? physics_nearest_image(a[i] - b[i], L) : a[i] - b[i];
        sum += d * d;
    }
    return sum;
}

static bool is_carried(const struct trust *trust, enum trust_shadow shadow, size_t system)
{
    return trust->shadows[shadow] && trust->slots[shadow][system] != TRUST_NOT_CARRIED;
}

static struct distance distance_of(const struct trust *trust, const struct moment *now,
                                   enum trust_shadow kind, size_t system)
{
    const struct bodies *b = now->bodies, *shadow = trust->shadows[kind];
    const struct trust_state *state = trust_state_of(trust, system);
    const struct physics *physics = now->physics;
    const size_t first = system * b->stride;
    const size_t other = (size_t)trust->slots[kind][system] * shadow->stride;
    const double *const from[] = { b->x, b->y, b->z, b->vx, b->vy, b->vz };
    const double *const to[] = {
        shadow->x, shadow->y, shadow->z, shadow->vx, shadow->vy, shadow->vz
    };
    const double L = physics->boundary == BOUNDARY_PERIODIC ? physics->box_length : 0.0;
    double position2 = 0.0, velocity2 = 0.0;
    for (int k = 0; k < 3; k++) {
        position2 += square_of_difference(from[k] + first, to[k] + other, b->count, L);
        velocity2 += square_of_difference(from[k + 3] + first, to[k + 3] + other, b->count, 0.0);
    }
    const double position = sqrt(position2 / (double)b->count) / state->size;
    const double velocity = sqrt(velocity2 / (double)b->count) / state->speed;
    return (struct distance){ position, hypot(position, velocity) };
}

/* Returns the distance between the positions of the orbit's body, relative to its centre, in the
 * system and in the shadow, over the orbit's size. */
static double orbit_distance(const struct trust *trust, const struct moment *now,
                             enum trust_shadow kind, size_t system, const struct trust_orbit *orbit)
{
    const struct bodies *b = now->bodies, *shadow = trust->shadows[kind];
    const size_t first = system * b->stride;
    const size_t other = (size_t)trust->slots[kind][system] * shadow->stride;
    const double *const from[] = { b->x, b->y, b->z };
    const double *const to[] = { shadow->x, shadow->y, shadow->z };
    double square = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        const size_t body = (size_t)orbit->body;
        double d = from[axis][first + body] - to[axis][other + body];
        for (size_t c = 0; c < TRUST_CENTERS && orbit->centers[c] >= 0.0; c++) {
            const size_t center = (size_t)orbit->centers[c];
            d -= orbit->shares[c] * (from[axis][first + center] - to[axis][other + center]);
        }
        square += d * d;
    }
    return sqrt(square) / orbit->size;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Updates a rise from its last sample, at time t0, to the distance `value` at time t1. The distance
 * grows exponentially in between, which gives the time when it reaches the tolerance. */
static void rise_to(struct trust_rise *rise, double value, double tolerance, double t0, double t1)
{
    if (isinf(rise->until) && value >= tolerance) {
        const double part = rise->last > 0.0 && isfinite(value)
                                ? log(tolerance / rise->last) / log(value / rise->last)
                                : 1.0;
        rise->until = t0 + part * (t1 - t0);
    }
    rise->last = value;
}

/*
 * Updates the distance that rounding errors make, state->rounded: it has grown by the factor
 * `growth`, as that of the twin (a displaced copy) has since the last sample, and each of the
 * `steps` since then has added its own error. Along regular orbits, where distances grow like the
 * time, the errors of n = all_steps steps add up to more: noise sqrt(n / 3) times the growth from
 * the start.
 */
static void add_rounding(struct trust_state *state, double growth, double steps, double all_steps)
{
    static const double most = 10.0; /* larger than any distance within a system */
    const double grown = state->rounded * growth;
    const double regular = state->noise * sqrt(all_steps / 3.0) * exp(state->growth.log);
    state->rounded = fmax(hypot(grown, state->noise * sqrt(steps)), regular);
    state->rounded = fmin(state->rounded, most);
}

/* Asks for the twin (a displaced copy), whose distance `position` has grown to the tolerance, to be
 * brought nearer to the run: to the distance that rounding errors have made, whose growth it shows
 * from then on, or to its first displacement if that is more. */
static void bring_nearer(struct trust_state *state, double position)
{
    state->nearing = fmin(fmax(state->rounding.last, state->displacement) / position, 1.0);
    state->moved = 1.0;
    state->grown = state->growth.log;
    state->start = state->last = state->last * state->nearing;
}

static double compare_twin(struct trust *trust, struct trust_state *state, const struct moment *now,
                           size_t system)
{
    const double steps = (double)now->step - state->step;
    struct distance d = distance_of(trust, now, TRUST_TWIN, system);
    if (state->lost[TRUST_TWIN] > 0.0)
        d = (struct distance){ INFINITY, INFINITY };
    if (state->start == 0.0)
        state->start = state->last = d.phase;
    const double growth = d.phase / state->last;
    growth_add(&state->growth, now->time, state->grown + log(d.phase / state->start));
    add_rounding(state, growth, steps, (double)now->step);
    const double share = isfinite(d.phase) ? d.position / d.phase : 1.0;
    state->last = d.phase;
    rise_to(&state->rounding, state->rounded * share, trust->tolerance, state->time, now->time);
    for (size_t k = 0; k < (size_t)state->orbit_count; k++) {
        struct trust_orbit *orbit = &state->orbits[k];
        const double part = isfinite(d.phase)
                                ? orbit_distance(trust, now, TRUST_TWIN, system, orbit) / d.phase
                                : 1.0;
        rise_to(&orbit->rounding, state->rounded * part, trust->tolerance, state->time, now->time);
    }
    const double shown = state->moved > 0.0 ? NAN : d.position;
    /* The last step of a run may be no multiple of `every`. There the twin stays where it is: the
     * run may be continued, and is then as if it had not been interrupted. */
    if (d.position >= trust->tolerance && isinf(state->rounding.until) && isfinite(d.position) &&
        now->step % trust->every == 0)
        bring_nearer(state, d.position);
    return shown;
}

static double compare_fine(struct trust *trust, struct trust_state *state, const struct moment *now,
                           size_t system)
{
    const struct distance d = distance_of(trust, now, TRUST_FINE, system);
    const double truncation =
        state->lost[TRUST_FINE] > 0.0 ? INFINITY : trust->richardson * d.position;
    /* The error of the orbits is that of the step and that of rounding, in quadrature. */
    rise_to(&state->error, hypot(truncation, state->rounding.last), trust->tolerance, state->time,
            now->time);
    for (size_t k = 0; k < (size_t)state->orbit_count; k++) {
        struct trust_orbit *orbit = &state->orbits[k];
        const double off =
            state->lost[TRUST_FINE] > 0.0
                ? INFINITY
                : trust->richardson * orbit_distance(trust, now, TRUST_FINE, system, orbit);
        rise_to(&orbit->error, hypot(off, orbit->rounding.last), trust->tolerance, state->time,
                now->time);
    }
    return truncation;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    (void)error;
    struct trust *trust = (struct trust *)diagnostic;
    struct trust_state *state = trust_state_of(trust, system);
    if (is_carried(trust, TRUST_TWIN, system)) {
        row[DIVERGENCE] = compare_twin(trust, state, now, system);
        row[ROUNDING] = state->rounding.last;
    }
    if (is_carried(trust, TRUST_FINE, system))
        row[TRUNCATION] = compare_fine(trust, state, now, system);
    for (int k = 0; k < TRUST_SHADOWS; k++)
        if (is_carried(trust, (enum trust_shadow)k, system))
            state->carried[k] = (double)now->step;
    state->step = (double)now->step;
    state->time = now->time;
    const struct growth_fit fit = trust_fit_growth(state);
    row[E_FOLDING_TIME] = fit.time;
    row[E_FOLDING_TIME_ERROR] = fit.error;
    if (trust->half_step)
        row[ACCURATE_UNTIL] = state->error.until;
    row[REPRODUCIBLE_UNTIL] = state->rounding.until;
    for (size_t k = 0; k < (size_t)state->orbit_count; k++) {
        const struct trust_orbit *orbit = &state->orbits[k];
        row[ORBITS_REPRODUCIBLE_UNTIL] =
            fmin(orbit->rounding.until, row[ORBITS_REPRODUCIBLE_UNTIL]);
        if (trust->half_step)
            row[ORBITS_ACCURATE_UNTIL] = fmin(orbit->error.until, row[ORBITS_ACCURATE_UNTIL]);
    }
    return STATUS_OK;
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    (void)section;
    struct trust *const trust = (struct trust *)diagnostic;
    trust->sorted = memory_array(start->bodies->systems, sizeof *trust->sorted, error);
    return error->status;
}

static void clear(struct diagnostic *diagnostic)
{
    memory_free(((struct trust *)diagnostic)->sorted);
}

static const struct drawing drawings[] = {
    { .name = "divergence",
      .title = "Divergence of the orbits",
      .y_label = "distance over size",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "truncation", "from an infinitely small step" },
                  { "rounding", "from another machine" },
                  { "divergence", "twin, a rounding error away", CURVE_DASHED } },
      .caption = "How far errors have moved the bodies, over the size of the system. Straight "
                 "lines are exponential growth." },
};

const struct diagnostic_class diagnostic_trust = {
    .variant = { .name = "trust", .help = "Until when the orbits can be trusted." },
    .size = sizeof(struct trust),
    .needs = NEED_STATE,
    .state_reals = TRUST_STATE_LENGTH,
    .init = init,
    .measure_system = measure_system,
    .clear = clear,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .asked_by = "trust.shadow",
};

enum status trust_create(const struct section *section, const struct moment *start,
                         const struct integrator *integrator, const struct trust_force *force,
                         struct diagnostic **result, struct error *error)
{
    const size_t systems = start->bodies->systems;
    if (diagnostic_create_as(&diagnostic_trust, section, start, result, error))
        return error->status;
    struct trust *const trust = (struct trust *)*result;
    trust->richardson = 1.0 / (1.0 - exp2(-integrator->order));
    trust->systems = systems;
    trust->units = start->physics->units;
    trust->bodies = start->bodies;
    enum status status = STATUS_OK;
    for (size_t s = 0; s < systems && !status; s++) {
        status = trust_begin(trust, start, s, integrator, force, error);
        if (!status)
            status = choose_orbits(trust_state_of(trust, s), start, s, error);
    }
    return status;
}

bool trust_is_horizon(size_t column)
{
    return column >= ACCURATE_UNTIL;
}

/* --- what to do with the shadows -------------------------------------------------------------- */

void trust_show(struct diagnostic *diagnostic, enum trust_shadow shadow,
                const struct bodies *bodies, const int64_t *slots)
{
    struct trust *trust = (struct trust *)diagnostic;
    trust->shadows[shadow] = bodies;
    trust->slots[shadow] = slots;
}

double trust_displacement(const struct diagnostic *diagnostic, size_t system)
{
    const struct trust *trust = (const struct trust *)diagnostic;
    const struct trust_state *state = trust_state_of(trust, system);
    return state->displacement * state->size;
}

bool trust_is_done(const struct diagnostic *diagnostic, enum trust_shadow shadow, size_t system)
{
    const struct trust_state *state = trust_state_of((const struct trust *)diagnostic, system);
    return isfinite((shadow == TRUST_TWIN ? state->rounding : state->error).until);
}

double trust_take_nearing(struct diagnostic *diagnostic, size_t system)
{
    struct trust_state *state = trust_state_of((struct trust *)diagnostic, system);
    const double nearing = state->nearing;
    state->nearing = 1.0;
    return nearing;
}

void trust_lose(struct diagnostic *diagnostic, size_t system, enum trust_shadow shadow)
{
    trust_state_of((struct trust *)diagnostic, system)->lost[shadow] = 1.0;
}
