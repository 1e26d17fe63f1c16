#include "config.h"

#include "integrator/hermite-corrector.h"

#include <math.h>
#include <stdbool.h>

#include "external/external.h"
#include "model/vec3.h"

/* --- the times of pairs ----------------------------------------------------------------------- */

/*
 * The times of the pairs of a body, one by one, for cases that the sums of their pulls do not show:
 * the shortest time of a pair, and the sizes of the pulls that may cancel. Direct sums over all
 * bodies.
 */

/* Returns the time of a passage or of a fall, whichever is shorter, squared: |a| / |jerk| does not
 * show it for bodies that are at rest. */
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

/* The shortest time of a passage, s/v, or of a fall, (s^3 / G(m_i + m_j))^(1/2), of body i with
 * another one, s^2 = r^2 + eps^2, or of a change of the fields; INFINITY where there is none. */
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

/* The sizes of all pulls on a body, m r / (r^2 + eps^2)^(3/2), padding of no mass included; eight
 * sums, in the same order whatever the vectors are. */
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

/* G sum_j m_j r / s^3, and the pull of the fields. In open space the arrays go on to a multiple of
 * 8 bodies, with masses of 0. */
static double pair_pulls(const struct physics *physics, const struct reference_motion *motion,
                         size_t i)
{
    const double pairs = physics->gravitational_constant * pulls(physics, motion, i);
    double a[3];
    if (!physics->external)
        return pairs;
    external_acceleration(physics->external,
                          (const double[3]){ motion->x[0][i], motion->x[1][i], motion->x[2][i] },
                          a);
    return pairs + vec3_length(a);
}

/* --- the steps to take ------------------------------------------------------------------------ */

double hermite_start(const struct block_system *s, const struct hermite_rule *rule,
                     const struct hermite_block *block, size_t k, double longest)
{
    const size_t i = block->body[k];
    double a[3], jerk[3];
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
 * The second and third derivative of the acceleration at the start of a step h follow from both
 * ends (Makino & Aarseth 1992, eq. 5 and 6):
 *   a2 = (-6 (a0 - a1) - h (4 j0 + 2 j1)) / h^2,  a3 = (12 (a0 - a1) + 6 h (j0 + j1)) / h^3.
 * They correct x by h^4/24 a2 + h^5/120 a3 and v by h^3/6 a2 + h^4/24 a3.
 */
struct change {
    double x, v;          /* of what was predicted */
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

/* x + h v + h^2/2 a + h^3/6 jerk - x of a body that is due, and what x lacks. */
static double predicted_shift(const struct block_system *s, size_t i, int axis)
{
    const double h = s->step[i];
    return s->low[axis][i] +
           h * (s->v[axis][i] + h * (0.5 * s->a[axis][i] + h * (1.0 / 6) * s->jerk[axis][i]));
}

/* --- a second evaluation ---------------------------------------------------------------------- */

/* The positions of the bodies are x + shift, for which separations are not rounded: two of them
 * may be as close as roundings of x. */
enum { SOURCES = 2 * HERMITE_SMALL_BLOCK };
struct small_block {
    size_t count; /* bodies of the block, and behind them those that pull its bodies without mass */
    double m[SOURCES], v[3][SOURCES], x[3][SOURCES], shift[3][SOURCES];
};

/* As the kernels have seen them, or as the corrector leaves them. */
static void gather(const struct block_system *system, const struct hermite_block *block,
                   bool corrected, struct small_block *small)
{
    small->count = block->count;
    for (size_t k = 0; k < block->count; k++) {
        const size_t i = block->body[k];
        small->m[k] = block->predicted.m[i];
        for (int axis = 0; axis < 3; axis++) {
            small->x[axis][k] = block->predicted.x[axis][i];
            small->shift[axis][k] = 0;
            small->v[axis][k] = block->predicted.v[axis][i];
            if (!corrected)
                continue;
            const struct change change = change_of(system, block, k, axis);
            small->x[axis][k] = system->x[axis][i];
            small->shift[axis][k] = predicted_shift(system, i, axis) + change.x;
            small->v[axis][k] += change.v;
        }
    }
}

static void add_source(const struct hermite_block *block, size_t i, struct small_block *small)
{
    const size_t k = small->count++;
    small->m[k] = block->predicted.m[i];
    for (int axis = 0; axis < 3; axis++) {
        small->x[axis][k] = block->predicted.x[axis][i];
        small->shift[axis][k] = 0;
        small->v[axis][k] = block->predicted.v[axis][i];
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
 * Two bodies of a pair take steps of one length, since each feels the other as it is felt; but what
 * goes round a body without pulling at it comes to the end of its steps alone. So the bodies that
 * have mass and are not due stand behind the block, where they are predicted to be. They are left
 * out where they are too many for a second evaluation to cost little.
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
        add_source(block, i, small);
    }
}

/* Adds what the fields do to body k. */
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

/* Adds `sign` times what they do to each other, and the fields to them, to the block's
 * accelerations and jerks. */
static void add_forces(const struct hermite_block *block, const struct small_block *small,
                       double sign)
{
    double seen[3][SOURCES]; /* positions, from body k */
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
    gather(system, block, false, &once);
    gather(system, block, true, &again);
    add_sources(block, &once);
    add_sources(block, &again);
    add_forces(block, &once, -1);
    add_forces(block, &again, 1);
    return 2 * block->count * again.count;
}

/* --- the end of a step ------------------------------------------------------------------------ */

/* x + dx, and what is lost of it (two-sum; Knuth 1969). */
static void add_exactly(double *x, double *low, double dx)
{
    const double sum = *x + dx, added = sum - *x;
    *low = (*x - (sum - added)) + (dx - added);
    *x = sum;
}

/*
 * Returns Aarseth's criterion at the end of the step, where a2 has grown by h a3. If pulls cancel,
 * both are roundings over powers of h (which h a3 > a2 tells at no cost), and would ask for shorter
 * and shorter steps: there the times of the pairs decide, as for the first step.
 */
double hermite_correct(const struct block_system *s, const struct hermite_rule *rule,
                       const struct hermite_block *block, size_t k)
{
    const struct reference_motion *const motion = &block->predicted;
    const size_t i = block->body[k];
    const double h = s->step[i];
    double a1[3], j1[3], a2[3], a3[3];
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
    /* A body alone has no force at all, and whatever step it likes. */
    return above == 0 && below == 0 ? INFINITY : h * sqrt(rule->eta * above / below);
}
