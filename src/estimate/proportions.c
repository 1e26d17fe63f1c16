#include "estimate/proportions.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "space/nearest.h"

/* No mass in the units of a model is so large; those of planets and stars in kilograms are. */
static const double kilograms = 1e15;

/* The periods in a step beyond which it is no attempt at following the motion. */
static const double slip = 10.0;

enum {
    MOST_BODIES = 4096, /* of systems whose fastest pair is sought: milliseconds */
    MOST_SYSTEMS = 64   /* likewise; the others of an ensemble are like the first ones */
};

/* Adds a sentence. */
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
    double heaviest = 0.0;
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
            heaviest = fmax(heaviest, b->m[i]);
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
 * The time in which the fastest pair of a system turns about each other, or passes: the shortest of
 * 2 pi tau, where a circular orbit would be, 2 pi r / v of a pair that is faster, and the period
 * 2 pi sqrt(a^3 / mu) of a bound one, which is less than the first where it is near its apocentre.
 * Infinite where there is no pair.
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
    const double a =
        0.5 * mu / (mu / hypot(pair.distance, x->simulation.physics.softening) - 0.5 * v2);
    *turn = fmin(pair.time_scale, pair.distance / sqrt(v2));
    if (a > 0.0)
        *turn = fmin(*turn, sqrt(a * a * a / mu));
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
    char period[UNITS_TEXT_SIZE];
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
    if (end < shortest)
        add(proportions,
            "time.end is %.2g of the shortest period, %s (bodies %" PRId64 " and %" PRId64 ")",
            end / shortest, period, fastest[0], fastest[1]);
    else if (x->simulation.step > slip * shortest &&
             !integrator_chooses_steps(x->simulation.integrator))
        add(proportions,
            "time.step is %.2g times the shortest period, %s (bodies %" PRId64 " and %" PRId64 ")",
            x->simulation.step / shortest, period, fastest[0], fastest[1]);
    return STATUS_OK;
}

enum status proportions_find(const struct experiment *x, struct proportions *proportions,
                             struct error *error)
{
    *proportions = (struct proportions){ 0 };
    look_at_masses(x, proportions);
    return proportions->masses ? STATUS_OK : look_at_times(x, proportions, error);
}
