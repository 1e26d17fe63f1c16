#include <math.h>

#include "diagnostics/diagnostic.h"

enum { NEXT_STEP, MEAN_STEP, SMALLEST_STEP, STEPS, TAKEN_BACK, COLUMNS };

static const struct column columns[COLUMNS] = {
    { "next_step", DIMENSION_TIME,
      "length of the next step, with block steps the smallest of all bodies; empty at step 0 if "
      "none is chosen yet" },
    { "mean_step", DIMENSION_TIME,
      "mean length of the steps since the row before; empty if there were none" },
    { "smallest_step", DIMENSION_TIME, "smallest step so far; empty before the first" },
    { "steps", DIMENSION_NONE,
      "number of steps of the integrator since the row before, with block steps the sum over the "
      "bodies" },
    { "taken_back", DIMENSION_NONE,
      "steps since the row before that were taken back and tried again; empty for a "
      "method that takes none back" },
};

/* The work that the integrator had done on one system when its last row was made: three members of
 * struct work_done. */
struct state {
    double time, steps, rejections;
};

enum { STATE_LENGTH = sizeof(struct state) / sizeof(double) };

/* Returns the step; NaN if it is infinite, which means that there is none yet. */
static double known(double step)
{
    return isfinite(step) ? step : NAN;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    (void)error;
    struct state *const state = (struct state *)diagnostic->state + system;
    const struct work_done own = simulation_work_done(now->simulation, system);
    const double steps = own.steps - state->steps;
    /* The mean step is the time that the steps have advanced the system, over the number of steps
     * of each body. It does not use differences of the times of rows, which are rounded. */
    const double each = steps * own.bodies / (double)now->bodies->count;
    const bool chosen = integrator_chooses_steps(now->simulation->integrator);
    const double mean = chosen ? (own.time - state->time) / each : now->dt;
    row[NEXT_STEP] = known(own.current);
    row[MEAN_STEP] = steps > 0.0 ? mean : NAN;
    row[SMALLEST_STEP] = known(own.smallest);
    row[STEPS] = steps;
    row[TAKEN_BACK] = own.rejections - state->rejections;
    *state = (struct state){ own.time, own.steps, isnan(own.rejections) ? 0.0 : own.rejections };
    return STATUS_OK;
}

static const struct drawing drawings[] = {
    { .name = "own-steps",
      .title = "Step size",
      .y_label = "step",
      .scale = SCALE_LOGARITHMIC,
      .curves = { { "mean_step", "mean since the row before" },
                  { "next_step", "at the time of the row" },
                  { "smallest_step", "smallest so far", CURVE_DASHED } },
      .caption = "The steps that the integrator takes; where bodies have steps of their own, the "
                 "mean is that of all bodies, and the step at the time of a row the smallest of "
                 "them." },
};

const struct diagnostic_class diagnostic_own_steps = {
    .variant = { .name = "own-steps",
                 .help = "Steps of an integrator that chooses its own: mean, smallest, number." },
    .state_reals = STATE_LENGTH,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
};
