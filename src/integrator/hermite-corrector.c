#include "config.h"

#include "integrator/hermite.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>

#include "external/external.h"
#include "model/vec3.h"

/* --- the times of pairs ----------------------------------------------------------------------- */

/* Two numbers that do not follow from acceleration and jerk of a body, found by loops over its
 * pairs: the shortest time scale of a pair, and the sum of the sizes of the pulls, which may
 * cancel. */

/* Returns the square of the shortest time of a passage or fall of body i with another body, as
 * pair_time() defines them. */
CLONE_FOR_VECTORS
static double pair_time2(const struct physics *physics, const struct reference_motion *motion,
                         size_t i)
{
    const double *const x = motion->x[0], *const y = motion->x[1], *const z = motion->x[2];
    const double *const vx = motion->v[0], *const vy = motion->v[1], *const vz = motion->v[2];
    const double eps2 = physics->softening * physics->softening;
    double least = INFINITY;
#pragma omp simd reduction(min : least)
    for (size_t j = 0; j < motion->count; j++) {
        const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const double wx = vx[j] - vx[i], wy = vy[j] - vy[i], wz = vz[j] - vz[i];
        const double r2 = dx * dx + dy * dy + dz * dz + eps2, v2 = wx * wx + wy * wy + wz * wz;
        const double m = physics->gravitational_constant * (motion->m[i] + motion->m[j]);
        const double fall2 = r2 * sqrt(r2) / m, passage2 = r2 / v2;
        const double shorter = fall2 < passage2 ? fall2 : passage2;
        const double time2 = j != i && r2 > 0 ? shorter : INFINITY;
        least = time2 < least ? time2 : least;
    }
    return least;
}

/* Returns the shortest time of a passage, s/v, or of a fall, (s^3 / G(m_i + m_j))^(1/2), of body i
 * with another one, s^2 = r^2 + eps^2, or of a change of the fields; INFINITY if there is none. */
static double pair_time(const struct physics *physics, const struct reference_motion *motion,
                        size_t i)
{
    const double pairs = sqrt(pair_time2(physics, motion, i));
    if (!physics->external)
        return pairs;
    const double x[3] = { motion->x[0][i], motion->x[1][i], motion->x[2][i] };
    const double v[3] = { motion->v[0][i], motion->v[1][i], motion->v[2][i] };
    return fmin(pairs, external_time(physics->external, x, v));
}

/* Returns the sum of the sizes of all pulls on body i, divided by G: m r / (r^2 + eps^2)^(3/2).
 * Reads whole groups of 8 bodies, the padding included; the order of additions is the same for
 * every width of vectors. */
CLONE_FOR_VECTORS
static double pulls(const struct physics *physics, const struct reference_motion *motion, size_t i)
{
    enum { SUMS = 8 };
    const double *const m = motion->m, *const x = motion->x[0], *const y = motion->x[1],
                        *const z = motion->x[2];
    const double eps2 = physics->softening * physics->softening;
    double sums[SUMS] = { 0 }, sum = 0;
    for (size_t j = 0; j < motion->count; j += SUMS)
#pragma omp simd
        for (size_t k = 0; k < SUMS; k++) {
            const double dx = x[j + k] - x[i], dy = y[j + k] - y[i], dz = z[j + k] - z[i];
            const double r2 = dx * dx + dy * dy + dz * dz;
            const double s2 = r2 + eps2 > 0 ? r2 + eps2 : 1;
            sums[k] += m[j + k] * sqrt(r2) / (s2 * sqrt(s2));
        }
    for (size_t k = 0; k < SUMS; k++)
        sum += sums[k];
    return sum;
}

/* Returns the sum of the sizes of the pulls on body i: G m_j |r| / s^3 of each other body, and |a|
 * of each field. Space is open, and the arrays go on to a multiple of 8 bodies, with masses of
 * 0. */
static double pair_pulls(const struct physics *physics, const struct reference_motion *motion,
                         size_t i)
{
    const double pairs = physics->gravitational_constant * pulls(physics, motion, i);
    const double x[3] = { motion->x[0][i], motion->x[1][i], motion->x[2][i] };
    if (!physics->external)
        return pairs;
    return pairs + external_pulls(physics->external, x);
}

/* --- a frame that turns ----------------------------------------------------------------------- */

/*
 * The Coriolis acceleration is c v with c = -2 i Omega, where a complex number has the components
 * along x and y. It has to belong to the corrected velocity v1: with that of the predicted velocity
 * the corrector would be of third order. But v1 depends on it in turn. Both relations are linear,
 * so v1 is found at once; with the other forces f and their rate f', a1 = f + c v1, j1 = f' + c a1:
 *   v1 = v0 + h/2 (a0 + a1) + h^2/12 (j0 - j1)
 *   v1 (1 - h c/2 + h^2 c^2/12) = v0 + h/2 (a0 + f) + h^2/12 (j0 - f' - c f).
 * Without other forces v1 is v0 turned by Pade's (2, 2) form of exp(h c), and |v| does not change.
 */
static double complex coriolis(const struct physics *physics)
{
    return -2.0 * physics->rotation * I;
}

static double complex in_plane(double *const of[3], size_t i)
{
    return of[0][i] + of[1][i] * I;
}

/* Adds the Coriolis acceleration c v, and its rate c (a + c v), to acceleration and jerk of body
 * number k of the block, whose velocity is v. With the sign -1 subtracts both again. */
static void add_coriolis(const struct hermite_block *block, size_t k, double complex v, double sign)
{
    const double complex c = coriolis(block->physics), f = in_plane(block->a, k);
    const double complex a = c * v, jerk = c * (sign > 0 ? f + a : f);
    block->a[0][k] += sign * creal(a);
    block->a[1][k] += sign * cimag(a);
    block->jerk[0][k] += sign * creal(jerk);
    block->jerk[1][k] += sign * cimag(jerk);
}

/* Adds the Coriolis acceleration and its rate to acceleration and jerk of body number k of the
 * block, at the end of its step, in a frame that turns. */
static void turn(const struct block_system *s, const struct hermite_block *block, size_t k)
{
    const size_t i = block->body[k];
    if (block->physics->rotation == 0.0)
        return;
    const double complex f = in_plane(block->a, k), rate = in_plane(block->jerk, k);
    const double h = s->step[i];
    const double complex c = coriolis(block->physics), turns = h * c;
    const double complex sum = in_plane(s->v, i) + h / 2 * (in_plane(s->a, i) + f) +
                               h * h / 12 * (in_plane(s->jerk, i) - rate - c * f);
    add_coriolis(block, k, sum / (1 - turns / 2 + turns * turns / 12), 1);
}

/* --- the steps to take ------------------------------------------------------------------------ */

double hermite_start(const struct block_system *s, const struct hermite_rule *rule,
                     const struct hermite_block *block, size_t k, double longest)
{
    const size_t i = block->body[k];
    double a[3], jerk[3];
    if (block->physics->rotation != 0.0)
        add_coriolis(block, k, in_plane(s->v, i), 1);
    for (int axis = 0; axis < 3; axis++) {
        s->low[axis][i] = 0;
        s->a[axis][i] = a[axis] = block->a[axis][k];
        s->jerk[axis][i] = jerk[axis] = block->jerk[axis][k];
    }
    const double wanted = rule->eta_start * vec3_length(a) / vec3_length(jerk);
    if (wanted < longest)
        return wanted;
    return rule->eta_start * pair_time(block->physics, &block->predicted, i);
}

/*
 * A correction of one component. The second and third derivative of the acceleration at the start
 * of a step h follow from both ends (Makino & Aarseth 1992, eq. 5 and 6):
 *   a2 = (-6 (a0 - a1) - h (4 j0 + 2 j1)) / h^2,  a3 = (12 (a0 - a1) + 6 h (j0 + j1)) / h^3.
 * They correct x by h^4/24 a2 + h^5/120 a3 and v by h^3/6 a2 + h^4/24 a3.
 */
struct change {
    double x, v;          /* corrections of the predicted x and v */
    double second, third; /* h^2 a2, h^3 a3 */
};

static struct change change_of(const struct block_system *s, const struct hermite_block *block,
                               size_t k, int axis)
{
    const size_t i = block->body[k];
    const double h = s->step[i];
    const double a0 = s->a[axis][i], j0 = s->jerk[axis][i];
    const double a1 = block->a[axis][k], j1 = block->jerk[axis][k];
    const double second = -6 * (a0 - a1) - h * (4 * j0 + 2 * j1);
    const double third = 12 * (a0 - a1) + 6 * h * (j0 + j1);
    return (struct change){ h * h * (second / 24 + third / 120), h * (second / 6 + third / 24),
                            second, third };
}

/* Returns the predicted position of a body that is due, minus x: the rounding error of x plus
 * h v + h^2/2 a + h^3/6 jerk. */
static double predicted_shift(const struct block_system *s, size_t i, int axis)
{
    const double h = s->step[i];
    return s->low[axis][i] +
           h * (s->v[axis][i] + h * (0.5 * s->a[axis][i] + h * (1.0 / 6) * s->jerk[axis][i]));
}

/* --- a second evaluation ---------------------------------------------------------------------- */

/* The bodies of a small block, at the positions x + shift. Separations are computed part by part,
 * since two bodies may be as close as the rounding error of x + shift. */
enum { SOURCES = 2 * HERMITE_SMALL_BLOCK };
struct small_block {
    size_t count; /* number of bodies: those of the block, and behind them further sources
                     (add_sources()) */
    double m[SOURCES], v[3][SOURCES], x[3][SOURCES], shift[3][SOURCES];
};

/* Puts body i at index k of *small, with the predicted position and velocity with which the kernels
 * have summed the block's forces. */
static void put_predicted(const struct hermite_block *block, size_t i, struct small_block *small,
                          size_t k)
{
    small->m[k] = block->predicted.m[i];
    for (int axis = 0; axis < 3; axis++) {
        small->x[axis][k] = block->predicted.x[axis][i];
        small->shift[axis][k] = 0;
        small->v[axis][k] = block->predicted.v[axis][i];
    }
}

/* Copies the bodies of the block to *small, with the predicted positions and velocities by which
 * their forces were summed or, if `corrected`, with those that the corrector finds. */
static void gather(const struct block_system *system, const struct hermite_block *block,
                   bool corrected, struct small_block *small)
{
    small->count = block->count;
    for (size_t k = 0; k < block->count; k++) {
        const size_t i = block->body[k];
        put_predicted(block, i, small, k);
        for (int axis = 0; axis < 3 && corrected; axis++) {
            const struct change change = change_of(system, block, k, axis);
            small->x[axis][k] = system->x[axis][i];
            small->shift[axis][k] = predicted_shift(system, i, axis) + change.x;
            small->v[axis][k] += change.v;
        }
    }
}

static bool has_massless(const struct hermite_block *block)
{
    for (size_t k = 0; k < block->count; k++)
        if (block->predicted.m[block->body[k]] == 0)
            return true;
    return false;
}

/*
 * Adds sources behind the block if it has bodies without mass. Two bodies that attract each other
 * take steps of one length, but a body without mass, which orbits another and does not pull it,
 * ends most of its steps alone. So the bodies with mass that are not due act on it from their
 * predicted positions. If they are too many for a second evaluation to be cheap, none is added.
 */
static void add_sources(const struct hermite_block *block, struct small_block *small)
{
    if (!has_massless(block))
        return;
    for (size_t i = 0, k = 0; i < block->predicted.count; i++) {
        if (k < block->count && block->body[k] == i) {
            k++;
            continue;
        }
        if (block->predicted.m[i] == 0)
            continue;
        if (small->count == SOURCES) {
            small->count = block->count;
            return;
        }
        put_predicted(block, i, small, small->count++);
    }
}

/* Adds the forces of the fields on body k to its acceleration and jerk. */
static void add_field(const struct physics *physics, const struct small_block *small, size_t k,
                      double a[3], double jerk[3])
{
    if (!physics->external)
        return;
    const double x[3] = { small->x[0][k] + small->shift[0][k], small->x[1][k] + small->shift[1][k],
                          small->x[2][k] + small->shift[2][k] };
    const double v[3] = { small->v[0][k], small->v[1][k], small->v[2][k] };
    const struct field_motion field = external_motion(physics->external, x, v);
    for (int axis = 0; axis < 3; axis++) {
        a[axis] += field.a[axis];
        jerk[axis] += field.jerk[axis];
    }
}

/* Adds `sign` times the forces of the bodies of *small on each other, and of the fields on them, to
 * accelerations and jerks of the block. */
static void add_forces(const struct hermite_block *block, const struct small_block *small,
                       double sign)
{
    double seen[3][SOURCES]; /* positions of the bodies of *small relative to body k */
    struct reference_motion motion = { small->m,
                                       { seen[0], seen[1], seen[2] },
                                       { small->v[0], small->v[1], small->v[2] },
                                       block->count };
    for (size_t k = 0; k < block->count; k++) {
        double a[3], jerk[3];
        motion.count = small->m[k] == 0 ? small->count : block->count;
        for (int axis = 0; axis < 3; axis++) {
            const double *const x = small->x[axis], *const shift = small->shift[axis];
            for (size_t j = 0; j < motion.count; j++)
                seen[axis][j] = (x[j] - x[k]) + (shift[j] - shift[k]);
        }
        reference_jerk(block->physics, &motion, k, a, jerk);
        add_field(block->physics, small, k, a, jerk);
        for (int axis = 0; axis < 3; axis++) {
            block->a[axis][k] += sign * a[axis];
            block->jerk[axis][k] += sign * jerk[axis];
        }
    }
}

size_t hermite_refine(const struct block_system *system, const struct hermite_block *block)
{
    struct small_block once, again;
    for (size_t k = 0; k < block->count; k++)
        turn(system, block, k);
    gather(system, block, false, &once);
    gather(system, block, true, &again);
    for (size_t k = 0; k < block->count && block->physics->rotation != 0.0; k++)
        add_coriolis(block, k, again.v[0][k] + again.v[1][k] * I, -1);
    add_sources(block, &once);
    add_sources(block, &again);
    add_forces(block, &once, -1);
    add_forces(block, &again, 1);
    return 2 * block->count * again.count;
}

/* --- the end of a step ------------------------------------------------------------------------ */

/* Adds dx to *x, and puts the rounding error of the sum into *low (two-sum; Knuth 1969). */
static void add_exactly(double *x, double *low, double dx)
{
    const double sum = *x + dx, added = sum - *x;
    *low = (*x - (sum - added)) + (dx - added);
    *x = sum;
}

/*
 * Returns the step by Aarseth's criterion at the end of the step, where a2 has grown by h a3. If
 * pulls cancel, a2 and a3 are rounding errors over powers of h (h |a3| > |a2| is a first, cheap
 * sign of that), and would ask for shorter and shorter steps. Then the times of the pairs decide,
 * as for the first step.
 */
double hermite_correct(const struct block_system *s, const struct hermite_rule *rule,
                       const struct hermite_block *block, size_t k)
{
    const struct reference_motion *const motion = &block->predicted;
    const size_t i = block->body[k];
    const double h = s->step[i];
    double a1[3], j1[3], a2[3], a3[3];
    turn(s, block, k);
    for (int axis = 0; axis < 3; axis++) {
        const struct change change = change_of(s, block, k, axis);
        add_exactly(&s->x[axis][i], &s->low[axis][i], predicted_shift(s, i, axis) + change.x);
        s->v[axis][i] = motion->v[axis][i] + change.v;
        s->a[axis][i] = a1[axis] = block->a[axis][k];
        s->jerk[axis][i] = j1[axis] = block->jerk[axis][k];
        a2[axis] = change.second + change.third;
        a3[axis] = change.third;
    }
    const double a = vec3_length(a1), j = h * vec3_length(j1), b = vec3_length(a2),
                 c = vec3_length(a3);
    const double above = a * b + j * j, below = j * c + b * b;
    if (c > b && rule->eta * above < below &&
        c <= rule->rounding * pair_pulls(block->physics, motion, i))
        return rule->eta_start * pair_time(block->physics, motion, i);
    /* Without any force the body may take any step. */
    return above == 0 && below == 0 ? INFINITY : h * sqrt(rule->eta * above / below);
}
