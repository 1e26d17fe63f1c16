/* The scales of a system over which the diagnostic "trust" tells its errors. */
#include <float.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "accuracy/trust-state.h"
#include "base/memory.h"

/* The total mass of one system, and means over its bodies, all with equal weight. */
struct spread {
    double mass;
    double mean[3];              /* position */
    double distance2;            /* mean square distance from `mean` */
    double position2, velocity2; /* mean squares of position and velocity */
};

static struct spread spread_of(const struct bodies *b, size_t system)
{
    struct spread spread = { 0 };
    const size_t first = system * b->stride;
    const double share = 1.0 / (double)b->count;
    for (size_t i = first; i < first + b->count; i++) {
        const double x[] = { b->x[i], b->y[i], b->z[i] }, v[] = { b->vx[i], b->vy[i], b->vz[i] };
        spread.mass += b->m[i];
        for (int k = 0; k < 3; k++) {
            spread.mean[k] += share * x[k];
            spread.position2 += share * x[k] * x[k];
            spread.velocity2 += share * v[k] * v[k];
        }
    }
    for (size_t i = first; i < first + b->count; i++) {
        const double x[] = { b->x[i], b->y[i], b->z[i] };
        for (int k = 0; k < 3; k++)
            spread.distance2 += share * (x[k] - spread.mean[k]) * (x[k] - spread.mean[k]);
    }
    return spread;
}

/*
 * Returns the distance in phase space that rounding adds in one step, in units of the system's size
 * and speed. A sum is off by up to half a unit in the last place, which is between eps/2 and eps of
 * it: the root mean square is some 0.2 eps. Each drift rounds the positions and each kick the
 * velocities; forces bring their own errors.
 */
static double noise_of(const struct integrator *integrator, const struct trust_force *force,
                       double dt, const struct spread *spread, const struct trust_state *state)
{
    const double unit = 0.2 * DBL_EPSILON;
    const double acceleration =
        /* The forces at the start may be small: size and speed give the least that counts. */
        fmax(force->scale, state->speed * state->speed / state->size);
    double drifts = (double)integrator_roundings(integrator, VECTOR_X);
    double kicks = (double)integrator_roundings(integrator, VECTOR_V);
    double squares = 0.0;
    for (size_t k = 0; k < integrator->stage_count; k++)
        if (integrator->stages[k].verb == VERB_KICK)
            squares += integrator->stages[k].coefficient * integrator->stages[k].coefficient;
    /* An integrator that chooses its own steps takes an unknown number of them in dt, and sums them
     * exactly: one rounding in dt. */
    if (integrator_chooses_steps(integrator))
        drifts = kicks = squares = 1.0;
    const double position = unit * sqrt(drifts * spread->position2) / state->size;
    const double velocity =
        unit * sqrt(kicks * fmax(spread->velocity2 / (state->speed * state->speed), 1.0));
    const double kick = fmax(force->error, unit) * acceleration * dt * sqrt(squares) / state->speed;
    return sqrt(position * position + velocity * velocity + kick * kick);
}

/* Finds the distance from the median of each coordinate within which 90 % of the bodies lie, of ten
 * at least: few bodies far away do not change it. STATUS_MEMORY. */
static enum status find_extent(const struct bodies *b, size_t system, double *extent,
                               struct error *error)
{
    const double *const x[] = { b->x, b->y, b->z };
    double *const sorted = memory_array(b->count, sizeof *sorted, error);
    double center[3];
    for (int k = 0; k < 3 && sorted; k++) {
        memcpy(sorted, x[k] + system * b->stride, b->count * sizeof *sorted);
        center[k] = gsl_stats_median(sorted, 1, b->count);
    }
    for (size_t i = 0; i < b->count && sorted; i++) {
        const size_t at = system * b->stride + i;
        sorted[i] = hypot(hypot(x[0][at] - center[0], x[1][at] - center[1]), x[2][at] - center[2]);
    }
    if (sorted)
        *extent = gsl_stats_select(sorted, 1, b->count, (b->count * 9 + 9) / 10 - 1);
    memory_free(sorted);
    return error->status;
}

/* Finds the size of a system: the root mean square distance from the mean position, or
 * find_extent() if that is less, since one body far away would make errors of the others look
 * small. In a periodic box it is half the side, that of a uniform cube. */
static enum status find_size(const struct moment *start, size_t system, const struct spread *spread,
                             double *size, struct error *error)
{
    double extent = INFINITY;
    if (start->physics->boundary == BOUNDARY_PERIODIC) {
        *size = 0.5 * start->physics->box_length;
        return STATUS_OK;
    }
    if (start->bodies->count >= 10 && find_extent(start->bodies, system, &extent, error))
        return error->status;
    *size = fmin(sqrt(spread->distance2), extent);
    return STATUS_OK;
}

enum status trust_begin(const struct trust *trust, const struct moment *start, size_t system,
                        const struct integrator *integrator, const struct trust_force *force,
                        struct error *error)
{
    /* The least displacement of the twin (the copy whose distance shows how errors grow), over the
     * rounding errors of a crossing time: the distance of a twin that starts nearer, as it might
     * with forces in fp32, would be rounding errors rather than its displacement. */
    static const double clear_of_noise = 30.0;
    const struct spread spread = spread_of(start->bodies, system);
    struct trust_state *const state = trust_state_of(trust, system);
    double size;
    if (find_size(start, system, &spread, &size, error))
        return error->status;
    state->size = size > 0.0 ? size : 1.0; /* one body alone has no size */
    state->speed = sqrt(start->physics->gravitational_constant * spread.mass / state->size);
    state->noise = noise_of(integrator, force, start->dt, &spread, state);
    const double steps = size > 0.0 ? state->size / state->speed / start->dt : 1.0;
    state->displacement = fmax(trust->displacement, clear_of_noise * state->noise * sqrt(steps));
    state->nearing = 1.0;
    state->rounding.until = state->error.until = INFINITY;
    return STATUS_OK;
}
