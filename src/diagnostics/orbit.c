/* The diagnostic of the orbit of one body about another. The reference is the motion that the two
 * would have alone, from their state at step 0: for two bodies the difference shows the error of
 * the integrator, for more also the perturbation by the other bodies. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "model/kepler.h"
#include "model/vec3.h"

enum {
    SEPARATION,
    ORBIT_X,
    ORBIT_Y,
    REFERENCE_X,
    REFERENCE_Y,
    RADIAL,
    ALONG_TRACK,
    OUT_OF_PLANE,
    DISTANCE_ERROR,
    SEMI_MAJOR_AXIS,
    SEMI_MAJOR_AXIS_ERROR,
    ECCENTRICITY,
    ECCENTRICITY_ERROR,
    APSE_TURN,
    APSE_ERROR,
    REVOLUTIONS,
    PHASE_ERROR,
    PERIOD,
    MEAN_PERIOD,
    COLUMNS
};

#define EMPTY_UNCOUNTED "; empty once rows are too far apart to count the turns between them"

static const struct column columns[COLUMNS] = {
    { "separation", DIMENSION_LENGTH, "distance r of the pair" },
    { "orbit_x", DIMENSION_LENGTH,
      "position of the secondary seen from the primary, in the plane of the orbit at step 0: along "
      "the separation at step 0" },
    { "orbit_y", DIMENSION_LENGTH,
      "the same, perpendicular to that separation, positive in the direction of motion" },
    { "reference_x", DIMENSION_LENGTH, "orbit_x of the reference" },
    { "reference_y", DIMENSION_LENGTH, "orbit_y of the reference" },
    { "radial", DIMENSION_LENGTH,
      "position minus that of the reference, along the reference's separation" },
    { "along_track", DIMENSION_LENGTH,
      "the same in the orbital plane, perpendicular to the separation, positive ahead" },
    { "out_of_plane", DIMENSION_LENGTH, "the same along the reference's angular momentum" },
    { "distance_error", DIMENSION_NONE,
      "distance from the reference's position over its semi-major axis |a|; empty on a parabola" },
    { "semi_major_axis", DIMENSION_LENGTH,
      "a, half the sum of the turning points' distances that energy and angular momentum of the "
      "pair imply; -G m / 2E < 0 for an unbound one" },
    { "semi_major_axis_error", DIMENSION_NONE,
      "(a - a0) / |a0|, a0 that of step 0; empty if that was a parabola" },
    { "eccentricity", DIMENSION_NONE,
      "e, difference over sum of the turning points' distances; 1 - r_min / a for an unbound "
      "pair" },
    { "eccentricity_error", DIMENSION_NONE, "e - e0" },
    { "apse_turn", DIMENSION_NONE,
      "angle (radians, positive in the direction of motion) by which the pericentre has turned "
      "since step 0, at the passage through it that is nearest in time; empty for a circle, a "
      "straight line, and an unbound softened orbit" },
    { "apse_error", DIMENSION_NONE,
      "apse_turn minus the turn that the pair's own softening makes in the radial periods "
      "completed; equals apse_turn when eps = 0" },
    { "revolutions", DIMENSION_NONE,
      "angle swept since step 0 over 2 pi, in the plane of the orbit at step 0" EMPTY_UNCOUNTED },
    { "phase_error", DIMENSION_NONE,
      "angle (radians) swept since step 0 minus that of the reference" EMPTY_UNCOUNTED },
    { "period", DIMENSION_TIME,
      "mean time of a revolution on the orbit that the pair is on now: 2 pi sqrt(a^3 / G m) when "
      "eps = 0" },
    { "mean_period", DIMENSION_TIME,
      "time since step 0 over the revolutions that the mean longitude has made since then; this is "
      "the sum of the pericentre's angle and the mean anomaly, and the latter grows evenly from "
      "one pericentre to the next" EMPTY_UNCOUNTED },
};

/* The state of one system, which a checkpoint keeps. A kepler_state is the relative position and
 * velocity of the pair. */
struct state {
    struct kepler_state first; /* the pair at step 0 */
    double first_time;
    struct kepler_state reference; /* the reference at the last event */
    double reference_angle;        /* angle that the reference has swept since step 0, in radians */
    struct kepler_state last;      /* the pair itself at the last event */
    double angle;                  /* angle that the pair has swept since step 0, in radians */
    double last_time;
    double uncounted; /* 1 once turns between two events could not be counted, else 0 */
};

enum { STATE_LENGTH = sizeof(struct state) / sizeof(double) };

struct orbit {
    struct diagnostic base;
    size_t *pair; /* indices of primary and secondary in the arrays: two for each system */
};

/* --- the pair ----------------------------------------------------------------------------------*/

static size_t find_body(const struct bodies *bodies, size_t system, int64_t id)
{
    size_t i = 0;
    while (i < bodies->count && bodies->id[system * bodies->stride + i] != id)
        i++;
    return i;
}

static enum status choose_body(const struct section *section, const char *key, size_t otherwise,
                               const struct bodies *bodies, size_t system, size_t *index,
                               struct error *error)
{
    *index = otherwise;
    if (section_has(section, key))
        *index = find_body(bodies, system, section_integer(section, key));
    else if (bodies->count > 2)
        return section_error(section, key, error, "must be given for more than two bodies");
    if (*index >= bodies->count)
        return section_error(section, key, error, "there is no such body among the %zu",
                             bodies->count);
    *index += system * bodies->stride;
    return STATUS_OK;
}

static enum status choose_pair(const struct section *section, const struct bodies *bodies,
                               size_t system, size_t pair[2], struct error *error)
{
    if (choose_body(section, "primary", 0, bodies, system, &pair[0], error) ||
        choose_body(section, "secondary", 1, bodies, system, &pair[1], error))
        return error->status;
    if (pair[0] == pair[1])
        return section_error(section, "secondary", error, "is the primary too");
    return STATUS_OK;
}

static void clear(struct diagnostic *diagnostic)
{
    memory_free(((struct orbit *)diagnostic)->pair);
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    const struct bodies *bodies = start->bodies;
    struct orbit *orbit = (struct orbit *)diagnostic;
    orbit->pair = memory_array(bodies->systems, 2 * sizeof *orbit->pair, error);
    for (size_t s = 0; s < bodies->systems && orbit->pair; s++) {
        size_t *const pair = orbit->pair + 2 * s;
        if (choose_pair(section, bodies, s, pair, error))
            break;
        struct state *state = (struct state *)diagnostic->state + s;
        state->first = state->reference = state->last =
            kepler_state_of(start->physics, bodies, pair[0], pair[1]);
        state->first_time = state->last_time = start->time;
    }
    return error->status;
}

/* --- the frame of the orbit at step 0 --------------------------------------------------------- */

/* Fills `frame` with three unit vectors of a state of the pair: along the separation, ahead in the
 * plane of the orbit, and along the angular momentum. The last two are NaN on a straight line. */
static void frame_of(const struct kepler_state *state, double frame[3][3])
{
    const double *x = state->x, *v = state->v;
    double l[3];
    vec3_cross(x, v, l);
    const double r = vec3_length(x), h = vec3_length(l);
    for (int k = 0; k < 3; k++) {
        frame[0][k] = x[k] / r;
        frame[2][k] = h > 0.0 ? l[k] / h : NAN;
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        frame[1][k] = frame[2][a] * frame[0][b] - frame[2][b] * frame[0][a];
    }
}

static double angle_in(double frame[3][3], const struct kepler_state *state)
{
    return atan2(vec3_dot(state->x, frame[1]), vec3_dot(state->x, frame[0]));
}

/* The most turns between two rows that are counted: after a dozen, a perturbation by 6 % makes the
 * count wrong by a turn. */
static const double most_turns = 12.0;

/* Tells whether the turns between two states of the pair can be counted by advancing one state to
 * the time of the other as if the pair were alone: `alone`, which has swept the angle `swept`. It
 * must be within a quarter turn of `found`, the other state, after most_turns at most. */
static bool leads_to(const struct kepler_state *alone, double swept,
                     const struct kepler_state *found)
{
    return fabs(swept) <= most_turns * 2.0 * M_PI && vec3_dot(alone->x, found->x) > 0.0;
}

/*
 * Adds to state->angle the angle that the pair has swept since the last event. The present
 * direction fixes it up to whole revolutions; of the possible angles the one nearest to the angle
 * that the two bodies alone would have swept is taken, so that revolutions are counted right even
 * if several pass between two events. If the orbits of the two events, followed forwards and
 * backwards, do not lead to each other, the revolutions are unknown from then on.
 */
static enum status count_angle(struct state *state, const struct kepler_interaction *interaction,
                               const struct kepler_state *now, double elapsed, struct error *error)
{
    double frame[3][3], last_frame[3][3], swept, back;
    struct kepler_state alone, before;
    if (kepler_advance(interaction, &state->last, elapsed, &alone, &swept, error) ||
        kepler_advance(interaction, now, -elapsed, &before, &back, error))
        return error->status;
    if (!leads_to(&alone, swept, now) || !leads_to(&before, back, &state->last))
        state->uncounted = 1.0;
    frame_of(&state->first, frame);
    frame_of(&state->last, last_frame);
    if (vec3_dot(frame[2], last_frame[2]) < 0.0)
        swept = -swept; /* seen from the plane at step 0, the pair now goes the opposite way */
    const double direct = angle_in(frame, now) - angle_in(frame, &state->last);
    state->angle += swept + remainder(direct - swept, 2.0 * M_PI);
    state->last = *now;
    return STATUS_OK;
}

/* Advances the reference orbit to `time`: without softening by an exact formula from the state at
 * step 0; with softening by integration from the reference at the last event. */
static enum status advance_reference(struct state *state,
                                     const struct kepler_interaction *interaction, double time,
                                     struct error *error)
{
    if (interaction->eps == 0.0)
        return kepler_advance(interaction, &state->first, time - state->first_time,
                              &state->reference, &state->reference_angle, error);
    double swept;
    const struct kepler_state from = state->reference;
    if (kepler_advance(interaction, &from, time - state->last_time, &state->reference, &swept,
                       error))
        return error->status;
    state->reference_angle += swept;
    return STATUS_OK;
}

/* --- rows --------------------------------------------------------------------------------------*/

/* An eccentricity below this is due to rounding: such an orbit has no pericentre. */
static const double circular = 1e-8;

/* Returns |a|, a the semi-major axis of the orbit of a state, the unit of errors; NaN on a
 * parabola, whose a is infinite: rounding makes some huge number of it, in units of which any error
 * would look like 0. */
static double scale_of(const struct kepler_state *state, const struct kepler_orbit *orbit)
{
    static const double parabolic = 1e-8; /* least r / |a| that is no rounding error */
    const double a = fabs(orbit->semi_major_axis);
    return sqrt(vec3_dot(state->x, state->x)) < parabolic * a ? NAN : a;
}

/* Fills the columns that follow from the pericentre: the angle by which it has turned, the periods,
 * and their errors. `first` is the orbit at step 0, `angle` the angle swept since then in the time
 * `elapsed`. */
static void fill_apse(const struct kepler_orbit *first, const struct kepler_orbit *now,
                      double angle, double elapsed, double *row)
{
    /* The angle from the pericentre before step 0 to the last pericentre: a whole number of apsidal
     * angles (from one pericentre to the next), plus the angle by which perturbations have turned
     * the pericentre. */
    const double between = angle - now->true_anomaly + first->true_anomaly;
    const double periods = rint(between / first->apsidal_angle);
    if (first->eccentricity >= circular) {
        row[APSE_TURN] = between - periods * 2.0 * M_PI;
        row[APSE_ERROR] = between - periods * first->apsidal_angle;
    }
    /* `unit` is the angle swept in a radial period, over 2 pi: by it mean anomalies become
     * angles. */
    const double unit = now->apsidal_angle / (2.0 * M_PI);
    const double longitude = between + unit * (now->mean_anomaly - first->mean_anomaly);
    row[PERIOD] = now->radial_period / unit;
    row[MEAN_PERIOD] = elapsed > 0.0 ? elapsed / (longitude / (2.0 * M_PI)) : NAN;
}

static void fill_positions(const struct state *state, double *row)
{
    const struct kepler_state *now = &state->last, *reference = &state->reference;
    double frame[3][3], d[3];
    frame_of(&state->first, frame);
    row[SEPARATION] = sqrt(vec3_dot(now->x, now->x));
    row[ORBIT_X] = vec3_dot(now->x, frame[0]);
    row[ORBIT_Y] = vec3_dot(now->x, frame[1]);
    row[REFERENCE_X] = vec3_dot(reference->x, frame[0]);
    row[REFERENCE_Y] = vec3_dot(reference->x, frame[1]);
    frame_of(reference, frame);
    for (int k = 0; k < 3; k++)
        d[k] = now->x[k] - reference->x[k];
    row[RADIAL] = vec3_dot(d, frame[0]);
    row[ALONG_TRACK] = vec3_dot(d, frame[1]);
    row[OUT_OF_PLANE] = vec3_dot(d, frame[2]);
    row[DISTANCE_ERROR] = sqrt(vec3_dot(d, d));
    row[REVOLUTIONS] = state->angle / (2.0 * M_PI);
    row[PHASE_ERROR] = state->angle - state->reference_angle;
}

static enum status fill_row(struct state *state, const struct kepler_interaction *interaction,
                            double elapsed, double *row, struct error *error)
{
    struct kepler_orbit first, now;
    if (kepler_orbit(interaction, &state->first, &first, error) ||
        kepler_orbit(interaction, &state->last, &now, error))
        return error->status;
    fill_positions(state, row);
    const double scale = scale_of(&state->first, &first);
    row[DISTANCE_ERROR] /= scale;
    row[SEMI_MAJOR_AXIS] = now.semi_major_axis;
    row[SEMI_MAJOR_AXIS_ERROR] = (now.semi_major_axis - first.semi_major_axis) / scale;
    row[ECCENTRICITY] = now.eccentricity;
    row[ECCENTRICITY_ERROR] = now.eccentricity - first.eccentricity;
    fill_apse(&first, &now, state->angle, elapsed, row);
    if (state->uncounted > 0.0)
        row[REVOLUTIONS] = row[PHASE_ERROR] = row[MEAN_PERIOD] = NAN;
    if (state->uncounted > 0.0 && interaction->eps > 0.0)
        row[APSE_TURN] = row[APSE_ERROR] = NAN; /* they need the number of radial periods */
    return STATUS_OK;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    const struct orbit *orbit = (const struct orbit *)diagnostic;
    struct state *state = (struct state *)diagnostic->state + system;
    const size_t *const pair = orbit->pair + 2 * system;
    const struct kepler_interaction interaction =
        kepler_interaction_of(now->physics, now->bodies, pair[0], pair[1]);
    const struct kepler_state motion = kepler_state_of(now->physics, now->bodies, pair[0], pair[1]);
    if (advance_reference(state, &interaction, now->time, error) ||
        count_angle(state, &interaction, &motion, now->time - state->last_time, error))
        return error->status;
    state->last_time = now->time;
    return fill_row(state, &interaction, now->time - state->first_time, row, error);
}

static enum status warn(const struct diagnostic *diagnostic, const struct moment *start,
                        uint64_t every, struct text *warnings, struct error *error)
{
    const size_t *const pairs = ((const struct orbit *)diagnostic)->pair;
    double shortest = INFINITY;
    for (size_t s = 0; s < start->bodies->systems; s++) {
        const size_t *const pair = pairs + 2 * s;
        const struct kepler_interaction interaction =
            kepler_interaction_of(start->physics, start->bodies, pair[0], pair[1]);
        struct kepler_orbit orbit;
        if (kepler_orbit(&interaction, &((const struct state *)diagnostic->state)[s].first, &orbit,
                         error))
            return error->status;
        /* NaN, the period of an unbound pair, does not count. */
        shortest = fmin(shortest, orbit.radial_period * 2.0 * M_PI / orbit.apsidal_angle);
    }
    const double turns = (double)every * start->dt / shortest;
    if (turns > most_turns)
        text_print(warnings,
                   "%s%s: rows with every = %" PRIu64 " are %.3g turns apart, and more than %g "
                   "cannot be counted: revolutions, phase_error and mean_period stay empty; every "
                   "= %.0f would do",
                   warnings->length ? "; " : "", diagnostic->name, every, turns, most_turns,
                   floor((double)every * most_turns / turns));
    return STATUS_OK;
}

static const struct parameter parameters[] = {
    { KEY(INTEGER, primary), OPTIONAL,
      .help = "Id of the body that is orbited; unset: the first of two." },
    { KEY(INTEGER, secondary), OPTIONAL,
      .help = "Id of the body on the orbit; unset: the second of two." },
};

static const struct drawing drawings[] = {
    { .name = "orbit-error",
      .title = "Orbit error",
      .y_label = "|difference|",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "radial", "radial", .value = DRAWN_MAGNITUDE },
                  { "along_track", "along the track", .value = DRAWN_MAGNITUDE },
                  { "out_of_plane", "out of the plane", .value = DRAWN_MAGNITUDE } },
      .compared = "along_track",
      .caption = "Distance from the position on the two-body orbit of the initial state, in its "
                 "parts." },
    { .name = "orbit",
      .title = "Orbit of the secondary about the primary",
      .y_label = "y",
      .equal_axes = true,
      .focus = "primary",
      .curves = { { "orbit_y", "computed", CURVE_PATH, .x = "orbit_x" },
                  { "reference_y", "two-body orbit", CURVE_PATH, .x = "reference_x" } },
      .caption = "The path as the primary sees it, in the plane of the orbit, and that of the "
                 "two-body orbit of the initial state." },
};

const struct diagnostic_class diagnostic_orbit = {
    .variant = { "orbit",
                 "Orbit of one body about another: error against the two-body problem, elements, "
                 "period.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct orbit),
    .needs = NEED_STATE,
    .state_reals = STATE_LENGTH,
    .init = init,
    .warn = warn,
    .measure_system = measure_system,
    .clear = clear,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .system_reals = 2,
};
