/* The diagnostic of close encounters: the pairs of bodies that are nearest in space or have the
 * shortest time scale; they limit the step and cause jumps of the energy. */
#include <math.h>

#include "diagnostics/diagnostic.h"
#include "space/nearest.h"

enum {
    NEAREST_DISTANCE,
    NEAREST_ID_1,
    NEAREST_ID_2,
    CLOSEST_DISTANCE,
    CLOSEST_ID_1,
    CLOSEST_ID_2,
    CLOSEST_TIME,
    FASTEST_TIME_SCALE,
    FASTEST_ID_1,
    FASTEST_ID_2,
    STEPS_PER_TIME_SCALE,
    COLUMNS
};

static const struct column columns[COLUMNS] = {
    { "nearest_distance", DIMENSION_LENGTH,
      "least distance of two bodies (to the nearest image in a periodic box)" },
    { "nearest_id_1", DIMENSION_NONE, "id of one of them" },
    { "nearest_id_2", DIMENSION_NONE, "id of the other" },
    { "closest_distance", DIMENSION_LENGTH,
      "least nearest_distance of this row and all before it; encounters between rows are missed" },
    { "closest_id_1", DIMENSION_NONE, "id of one of that pair" },
    { "closest_id_2", DIMENSION_NONE, "id of the other" },
    { "closest_time", DIMENSION_TIME, "when that was" },
    { "fastest_time_scale", DIMENSION_TIME,
      "least tau = sqrt((r^2 + eps^2)^(3/2) / (G (m_1 + m_2))) of all pairs; 2 pi tau is the "
      "period of a circular orbit of the pair at its distance r; empty when nothing has mass" },
    { "fastest_id_1", DIMENSION_NONE, "id of one of that pair" },
    { "fastest_id_2", DIMENSION_NONE, "id of the other" },
    { "steps_per_time_scale", DIMENSION_NONE,
      "fastest_time_scale over the step; 32 are the 200 steps per period that `orrery check` "
      "advises" },
};

/* The state of one system, which a checkpoint keeps: the closest pair so far, its distance, the ids
 * of its bodies and when that was. */
struct state {
    double distance;
    double ids[2];
    double time;
};

enum { STATE_LENGTH = sizeof(struct state) / sizeof(double) };

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    (void)section;
    (void)error;
    struct state *state = (struct state *)diagnostic->state;
    for (size_t s = 0; s < start->bodies->systems; s++)
        state[s] = (struct state){ INFINITY, { NAN, NAN }, NAN };
    return STATUS_OK;
}

static void ids_of(const struct bodies *bodies, size_t system, const struct nearest_pair *pair,
                   double ids[2])
{
    const int64_t *id = bodies->id + system * bodies->stride;
    ids[0] = pair->found ? (double)id[pair->i] : NAN;
    ids[1] = pair->found ? (double)id[pair->j] : NAN;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    struct state *const state = (struct state *)diagnostic->state + system;
    struct nearest_pair nearest, fastest;
    if (nearest_pair(now->physics, now->bodies, system, NEAREST_IN_SPACE, &nearest, error) ||
        nearest_pair(now->physics, now->bodies, system, NEAREST_IN_TIME, &fastest, error))
        return error->status;
    row[NEAREST_DISTANCE] = nearest.distance;
    ids_of(now->bodies, system, &nearest, row + NEAREST_ID_1);
    if (nearest.found && nearest.distance < state->distance) {
        state->distance = nearest.distance;
        state->time = now->time;
        ids_of(now->bodies, system, &nearest, state->ids);
    }
    if (isfinite(state->distance)) /* INFINITY: there was no pair yet */
        row[CLOSEST_DISTANCE] = state->distance;
    row[CLOSEST_ID_1] = state->ids[0];
    row[CLOSEST_ID_2] = state->ids[1];
    row[CLOSEST_TIME] = state->time;
    row[FASTEST_TIME_SCALE] = fastest.time_scale;
    ids_of(now->bodies, system, &fastest, row + FASTEST_ID_1);
    row[STEPS_PER_TIME_SCALE] = fastest.time_scale / now->dt;
    return STATUS_OK;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(500),
};

static const struct drawing drawings[] = {
    { .name = "close-encounters",
      .title = "Close encounters",
      .y_label = "distance",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "nearest_distance", "nearest pair" },
                  { "closest_distance", "closest so far", CURVE_DASHED } },
      .caption = "The least distance of two bodies. A dip asks for a shorter step where a step is "
                 "long beside distance over speed; within the softening length the force of a pair "
                 "changes little." },
};

const struct diagnostic_class diagnostic_close_encounters = {
    .variant = { "close-encounters",
                 "Nearest pair now and so far, and the pair with the shortest time scale.",
                 parameters, COUNT_OF(parameters) },
    .needs = NEED_STATE,
    .state_reals = STATE_LENGTH,
    .init = init,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = NEAREST_BODY_BYTES,
};
