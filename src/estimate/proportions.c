#include "estimate/proportions.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "space/nearest.h"

/* The mass beyond which masses are taken to be in kilograms: those of planets and stars are larger,
 * no mass in N-body units is. */
static const double kilograms = 1e15;

/* A step longer than this number of shortest periods is no attempt at following the motion. */
static const double slip = 10.0;

/* A run shorter than this part of the shortest period is told to end early. It is less than 1 to
 * spare a run of one period that is a little shorter by rounding. */
static const double most_of_a_period = 0.9;

enum {
    MOST_BODIES = 4096, /* largest system whose fastest pair is sought, which takes milliseconds */
    /* most systems examined; others of an ensemble are like them */
    MOST_SYSTEMS = 64
};

__attribute__((format(printf, 2, 3))) static void add(struct proportions *proportions,
                                                      const char *format, ...)
{
    const size_t used = strlen(proportions->text);
    const char *separator = used > 0 ? "; " : "";
    char words[PROPORTIONS_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    snprintf(proportions->text + used, PROPORTIONS_TEXT_SIZE - used, "%s%s", separator, words);
}

static void look_at_masses(const struct experiment *x, struct proportions *proportions)
{
    const struct bodies *b = x->simulation.bodies;
    const double heaviest = gsl_stats_max(b->m, 1, bodies_length(b));
    proportions->masses = !units_physical(x->simulation.physics.units) &&
                          x->simulation.physics.gravitational_constant == 1.0 &&
                          heaviest > kilograms;
    if (proportions->masses)
        add(proportions,
            "masses reach %.2g with G = 1: for kilograms, metres and seconds set physics.units = "
            "\"si\"",
            heaviest);
}

/*
 * Finds the time in which the two bodies of a system's fastest pair turn about each other, or pass:
 * the shortest of 2 pi tau, the period if its orbit were circular; 2 pi s / v with the softened
 * distance s = sqrt(r^2 + eps^2), for a pair that is faster; and the period 2 pi sqrt(a^3 / mu) of
 * a bound pair, which is less than the first if the pair is near its apocentre, but not less than 2
 * pi sqrt(eps^3 / mu), the shortest with softening. Sets *turn to that time, or INFINITY if there
 * is no pair, and `id` to the ids of the two bodies.
 */
static enum status find_turn(const struct experiment *x, size_t system, double *turn, int64_t id[2],
                             struct error *error)
{
    const struct bodies *b = x->simulation.bodies;
    struct nearest_pair pair;
    *turn = INFINITY;
    if (nearest_pair(&x->simulation.physics, b, system, NEAREST_IN_TIME, &pair, error))
        return error->status;
    if (!pair.found)
        return STATUS_OK;
    const size_t i = system * b->stride + pair.i, j = system * b->stride + pair.j;
    const double v2 =
        pow(b->vx[j] - b->vx[i], 2) + pow(b->vy[j] - b->vy[i], 2) + pow(b->vz[j] - b->vz[i], 2);
    const double mu = x->simulation.physics.gravitational_constant * (b->m[i] + b->m[j]);
    const double softening = x->simulation.physics.softening;
    const double distance = hypot(pair.distance, softening);
    const double a = 0.5 * mu / (mu / distance - 0.5 * v2);
    *turn = fmin(pair.time_scale, distance / sqrt(v2));
    if (a > 0.0)
        *turn = fmin(*turn, sqrt(pow(fmax(a, softening), 3) / mu));
    *turn *= 2.0 * M_PI;
    id[0] = b->id[i];
    id[1] = b->id[j];
    return STATUS_OK;
}

static enum status look_at_times(const struct experiment *x, struct proportions *proportions,
                                 struct error *error)
{
    const struct bodies *b = x->simulation.bodies;
    const double end = section_real(config_section(x->config, "time"), "end");
    char period[UNITS_TEXT_SIZE], pair[BODIES_PAIR_SIZE];
    double shortest = INFINITY;
    int64_t fastest[2] = { 0, 0 };
    if (x->simulation.step > end) {
        add(proportions, "time.step = %g is longer than the run, time.end = %g", x->simulation.step,
            end);
        return STATUS_OK;
    }
    for (size_t s = 0; s < b->systems && s < MOST_SYSTEMS && b->count <= MOST_BODIES; s++) {
        int64_t id[2];
        double turn;
        if (find_turn(x, s, &turn, id, error))
            return error->status;
        if (turn < shortest) {
            shortest = turn;
            memcpy(fastest, id, sizeof fastest);
        }
    }
    if (!isfinite(shortest))
        return STATUS_OK;
    units_time(x->simulation.physics.units, shortest, 3, period);
    bodies_pair(b, fastest[0], fastest[1], pair);
    if (end < most_of_a_period * shortest)
        add(proportions, "time.end is %.2g of the shortest period, %s (%s)", end / shortest, period,
            pair);
    else if (x->simulation.step > slip * shortest &&
             !integrator_chooses_steps(x->simulation.integrator))
        add(proportions, "time.step is %.2g times the shortest period, %s (%s)",
            x->simulation.step / shortest, period, pair);
    return STATUS_OK;
}

enum status proportions_find(const struct experiment *x, struct proportions *proportions,
                             struct error *error)
{
    *proportions = (struct proportions){ 0 };
    look_at_masses(x, proportions);
    return proportions->masses ? STATUS_OK : look_at_times(x, proportions, error);
}
