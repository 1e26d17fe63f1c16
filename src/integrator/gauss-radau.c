#include "config.h"

#include "integrator/gauss-radau.h"

#include <float.h>
#include <math.h>

#include "force/direct/reference.h"

/* A step is at most so many times the one before, and is tried again where it should have been
 * shorter by as much. */
static const double most_growth = 4;
/* The first step, in units of the fastest pair's time scale: some four times shorter than most. */
static const double first_step = 0.05;

double radau_length(double accuracy)
{
    return pow(5040 * accuracy, 1.0 / 7);
}

/* --- the first step -----------------------------------------------------------------------------
 */

/* Of a passage or of an orbit, whichever is the shorter; squared. */
static double pair_time2(const struct physics *physics, double m, const double d[3],
                         const double w[3])
{
    const double eps = physics->softening;
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps * eps;
    const double w2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    return fmin(r2 * sqrt(r2) / (physics->gravitational_constant * m), r2 / w2);
}

void radau_begin(const struct radau_system *system, const struct radau_problem *problem)
{
    const double *const m = problem->m;
    const double *const x = radau_array_of(system, RADAU_X);
    const double *const v = radau_array_of(system, RADAU_V);
    double least = INFINITY, done = 0;
    *system->clock = (struct adaptive_clock){ .smallest = INFINITY };
    for (size_t i = 0; i < system->count; i++) {
        if (interruption_after(problem->physics->interruption, &done, (double)system->count))
            break;
        for (size_t j = i + 1; j < system->count; j++) {
            double d[3], w[3];
            for (size_t axis = 0; axis < 3; axis++) {
                d[axis] = x[axis * system->stride + j] - x[axis * system->stride + i];
                w[axis] = v[axis * system->stride + j] - v[axis * system->stride + i];
            }
            const double time2 =
                m[i] + m[j] > 0 ? pair_time2(problem->physics, m[i] + m[j], d, w) : INFINITY;
            if (time2 > 0 && time2 < least) {
                least = time2;
                system->clock->asker = (double)i;
            }
        }
    }
    system->clock->step = isfinite(least) ? first_step * sqrt(least) : 1;
}

/* --- a step -------------------------------------------------------------------------------------
 */

struct step {
    const struct radau_worker *worker;
    const struct radau_system *system;
    double dt;
};

/* Of the scratch: term k of q, f or e. */
static double *term(const struct step *step, double *of, size_t k)
{
    return of + k * 3 * step->system->stride;
}

/* The polynomial of the last step, about the start of this one and in units of its length, with
 * what the last prediction was off by. */
CLONE_FOR_VECTORS
static void predict_terms(const struct step *step)
{
    const struct radau_scratch *const scratch = &step->worker->scratch;
    const double last = step->system->clock->last;
    double factor[RADAU_TERMS][RADAU_TERMS];
    double power = 1;
    for (size_t j = 0; j < RADAU_TERMS; j++) {
        power *= last > 0 ? step->dt / last : 0;
        for (size_t k = 0; k < RADAU_TERMS; k++)
            factor[j][k] = radau.binomial[j][k] * power;
    }
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = step->worker->first; i < step->worker->last; i++) {
            const size_t at = axis * step->system->stride + i;
            double sum[RADAU_TERMS];
            for (size_t j = 0; j < RADAU_TERMS; j++) {
                double e = 0;
                for (size_t k = j; k < RADAU_TERMS; k++)
                    e += factor[j][k] * radau_array_of(step->system, RADAU_B + k)[at];
                term(step, scratch->e, j)[at] = e;
                sum[j] = e + radau_array_of(step->system, RADAU_C + j)[at];
            }
            for (size_t k = 0; k < RADAU_TERMS; k++) {
                double q = 0;
                for (size_t j = k; j < RADAU_TERMS; j++)
                    q += radau.newton[k][j] * sum[j];
                term(step, scratch->q, k)[at] = q;
            }
        }
}

/* Positions at node n: x + h v + h^2/2 a + dt^2 sum path q. */
CLONE_FOR_VECTORS
static void predict(const struct step *step, size_t n)
{
    const struct radau_scratch *const scratch = &step->worker->scratch;
    const double h = radau.node[n] * step->dt, dt2 = step->dt * step->dt;
    const double *const weight = radau.path[n];
    for (size_t axis = 0; axis < 3; axis++) {
        const size_t start = axis * step->system->stride;
        const double *const x = radau_array_of(step->system, RADAU_X) + start;
        const double *const x_low = radau_array_of(step->system, RADAU_X_LOW) + start;
        const double *const v = radau_array_of(step->system, RADAU_V) + start;
        const double *const a = radau_array_of(step->system, RADAU_A) + start;
        const double *const q = scratch->q + start;
        const size_t pitch = 3 * step->system->stride;
        double *const to = scratch->x[axis];
#pragma omp simd
        for (size_t i = step->worker->first; i < step->worker->last; i++) {
            double sum = weight[0] * q[i];
            for (size_t k = 1; k < RADAU_TERMS; k++)
                sum += weight[k] * q[k * pitch + i];
            to[i] = x[i] + (h * (v[i] + 0.5 * h * a[i]) + (dt2 * sum + x_low[i]));
        }
    }
}

/* Takes in the accelerations at node n. Of the last one: by how much b_6 changes, and how large the
 * accelerations are. */
CLONE_FOR_VECTORS
static void correct(const struct step *step, size_t n, double values[2])
{
    const struct radau_scratch *const scratch = &step->worker->scratch;
    const size_t pitch = 3 * step->system->stride;
    double change = 0, size = 0, odd = 0;
    for (size_t axis = 0; axis < 3; axis++) {
        const size_t start = axis * step->system->stride;
        const double *const a0 = radau_array_of(step->system, RADAU_A) + start;
        const double *const a = scratch->a[axis];
        double *const q = scratch->q + start, *const f = scratch->f + start;
#pragma omp simd reduction(max : change, size) reduction(+ : odd)
        for (size_t i = step->worker->first; i < step->worker->last; i++) {
            const double difference = a[i] - a0[i];
            double sum = difference;
            for (size_t k = 0; k < n; k++)
                sum -= radau.basis[n][k] * q[k * pitch + i];
            const double moved = fabs(sum - q[n * pitch + i]);
            const double large = fabs(a[i]);
            change = moved > change ? moved : change;
            size = large > size ? large : size;
            odd += 0 * a[i]; /* which a maximum would lose */
            q[n * pitch + i] = sum;
            f[n * pitch + i] = difference;
        }
    }
    values[0] = change * radau.powers[RADAU_TERMS - 1][RADAU_TERMS - 1] + odd;
    values[1] = size;
}

static void find_largest(const struct radau_worker *worker, double values[2])
{
    if (worker->largest)
        worker->largest(worker->context, values);
}

/* Work of a node besides the pairs, in the time of so many of them. */
enum { STEP_WORK = 100 };

/*
 * Until b_6 no longer changes or no longer comes nearer. The result: how large accelerations are;
 * NaN where one is not finite, or where the advance is interrupted.
 */
static double iterate(const struct step *step, struct interruption *interruption, double *done)
{
    const double work =
        (double)RADAU_NODES * (STEP_WORK + reference_pairs(1.0, (double)step->system->count));
    double before = INFINITY, values[2];
    for (int pass = 1;; pass++) {
        for (size_t n = 0; n < RADAU_NODES; n++) {
            predict(step, n);
            step->worker->force(step->worker->context);
            correct(step, n, values);
        }
        step->system->clock->sums += (double)(RADAU_NODES * step->system->count);
        if (interruption_after(interruption, done, work) || interruption_noticed(interruption))
            values[0] = NAN; /* which the others hear of */
        find_largest(step->worker, values);
        if (!isfinite(values[0] + values[1]))
            return NAN;
        if (radau_converged(pass, values[0], before, values[1]))
            return values[1];
        before = values[0];
    }
}

/*
 * Of one body, in units of the step and squared, from the squares of its acceleration and of the
 * three derivatives: 2 a^2 / (j^2 + |a| |s|) of Pham, Rein & Spiegel (2024). Where an acceleration
 * passes through 0 that says nothing: a, and the step with it, would be as small as the step
 * before. What Aarseth (1985) makes of one derivative more, (|a| |s| + j^2) / (|j| |c| + s^2), goes
 * on there, and a quarter of its root takes over.
 */
static inline double time_scale2(const double y[RADAU_RATES])
{
    static const double quarter2 = 1.0 / 16;
    const double as = sqrt(y[0] * y[2]);
    const double first = 2 * y[0] / (y[1] + as);
    const double second = quarter2 * (as + y[1]) / (sqrt(y[1] * y[3]) + y[2]);
    return second > first ? second : first;
}

/* The least of the bodies at the end of the step; INFINITY where no body has one. */
CLONE_FOR_VECTORS
static double find_time_scale(const struct step *step, double size, size_t *body)
{
    const struct radau_scratch *const scratch = &step->worker->scratch;
    const size_t stride = step->system->stride;
    const double *const a0 = radau_array_of(step->system, RADAU_A);
    double least = INFINITY;
    for (size_t i = step->worker->first; i < step->worker->last; i++) {
        double y[RADAU_RATES] = { 0 };
        for (size_t axis = 0; axis < 3; axis++) {
            const size_t at = axis * stride + i;
            double rate[RADAU_RATES] = { a0[at] };
            for (size_t k = 0; k < RADAU_TERMS; k++)
                for (size_t order = 0; order < RADAU_RATES; order++)
                    rate[order] += radau.end[order][k] * term(step, scratch->q, k)[at];
            for (size_t order = 0; order < RADAU_RATES; order++)
                y[order] += rate[order] * rate[order];
        }
        const double scale = time_scale2(y);
        if (y[0] > RADAU_CANCELLED * RADAU_CANCELLED * size * size && scale < least) {
            least = scale;
            *body = i;
        }
    }
    return least;
}

/* a + b in two parts, of which the sum is exact (Knuth). */
static inline double add(double a, double b, double *rest)
{
    const double sum = a + b, part = sum - a;
    *rest = (a - (sum - part)) + (b - part);
    return sum;
}

/* The bodies, and what the next step begins from. */
CLONE_FOR_VECTORS
static void finish(const struct step *step)
{
    const struct radau_scratch *const scratch = &step->worker->scratch;
    const struct radau_system *const system = step->system;
    const double dt = step->dt;
    double *const x = radau_array_of(system, RADAU_X);
    double *const x_low = radau_array_of(system, RADAU_X_LOW);
    double *const v = radau_array_of(system, RADAU_V);
    double *const v_low = radau_array_of(system, RADAU_V_LOW);
    const double *const a = radau_array_of(system, RADAU_A);
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = step->worker->first; i < step->worker->last; i++) {
            const size_t at = axis * system->stride + i;
            double dv = 0, dx = 0;
            for (size_t n = 0; n < RADAU_NODES; n++) {
                const double f = term(step, scratch->f, n)[at];
                dv += radau.in_v_low[n] * f;
                dx += radau.in_x_low[n] * f;
            }
            for (size_t n = 0; n < RADAU_NODES; n++) {
                const double f = term(step, scratch->f, n)[at];
                dv += radau.in_v[n] * f;
                dx += radau.in_x[n] * f;
            }
            const double far = dt * (v[at] + (v_low[at] + dt * (0.5 * a[at] + dx)));
            x[at] = add(x[at], far + x_low[at], &x_low[at]);
            v[at] = add(v[at], dt * (a[at] + dv) + v_low[at], &v_low[at]);
            for (size_t j = 0; j < RADAU_TERMS; j++) {
                double b = 0;
                for (size_t k = j; k < RADAU_TERMS; k++)
                    b += radau.powers[j][k] * term(step, scratch->q, k)[at];
                radau_array_of(system, RADAU_B + j)[at] = b;
                radau_array_of(system, RADAU_C + j)[at] =
                    system->clock->last > 0 ? b - term(step, scratch->e, j)[at] : 0;
            }
        }
}

/* --- steps --------------------------------------------------------------------------------------
 */

void radau_know_force(const struct radau_worker *worker, const struct radau_system *system)
{
    const size_t stride = system->stride;
    if (system->clock->known > 0)
        return;
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++)
            worker->scratch.x[axis][i] = radau_array_of(system, RADAU_X)[axis * stride + i];
    worker->force(worker->context);
    for (size_t axis = 0; axis < 3; axis++)
        for (size_t i = worker->first; i < worker->last; i++)
            radau_array_of(system, RADAU_A)[axis * stride + i] = worker->scratch.a[axis][i];
    system->clock->known = 1;
    system->clock->sums += (double)system->count;
}

void radau_tick(struct adaptive_clock *clock, double dt)
{
    double rest;
    clock->time = add(clock->time, dt, &rest);
    clock->time = add(clock->time, clock->time_low + rest, &clock->time_low);
    clock->last = dt;
    clock->known = 0;
    clock->steps += 1;
}

double radau_left(const struct adaptive_clock *clock, double target)
{
    return (target - clock->time) - clock->time_low;
}

double radau_floor(const struct adaptive_clock *clock, double grid)
{
    return DBL_EPSILON * fmax(clock->time, grid);
}

double radau_next(double dt, double scale, double length)
{
    return dt * fmin(most_growth, sqrt(scale) * length);
}

/* Each pass makes the change a hundred times smaller, so that after such a one the next would
 * change velocities by less than their rounding. */
bool radau_converged(int pass, double change, double before, double size)
{
    static const double none = 1e-12;
    return change <= none * size || (pass > 2 && change >= before) || pass == RADAU_PASSES;
}

bool radau_rejects(double dt, double next)
{
    return next * most_growth < dt;
}

/* Which pair is behind the smallest step so far? */
static void remember_smallest(const struct step *step, const struct radau_problem *problem)
{
    struct adaptive_clock *const clock = step->system->clock;
    if (step->dt >= clock->smallest)
        return;
    const size_t asker = (size_t)clock->asker, stride = step->system->stride;
    double *const x = radau_array_of(step->system, RADAU_X);
    const struct reference_motion motion = {
        .m = problem->m,
        .x = { x, x + stride, x + 2 * stride },
        .count = step->system->count,
    };
    clock->smallest = step->dt;
    clock->pair[0] = (double)asker;
    clock->pair[1] = (double)reference_strongest(problem->physics, &motion, asker);
}

/* Tries one step, and takes it if it is short enough. */
static enum adaptive_outcome try_step(const struct step *step, const struct radau_problem *problem,
                                      double *done)
{
    const struct radau_worker *const worker = step->worker;
    struct adaptive_clock *const clock = step->system->clock;
    radau_know_force(worker, step->system);
    predict_terms(step);
    const double size = iterate(step, problem->physics->interruption, done);
    if (!isfinite(size))
        return ADAPTIVE_NOT_FINITE;
    size_t asker = (size_t)clock->asker;
    double scale = find_time_scale(step, size, &asker);
    if (worker->least)
        worker->least(worker->context, &scale, &asker);
    clock->step = radau_next(step->dt, scale, worker->length);
    if (radau_rejects(step->dt, clock->step)) {
        clock->asker = (double)asker;
        clock->rejections += 1;
        return ADAPTIVE_DONE;
    }
    remember_smallest(step, problem);
    clock->asker = (double)asker;
    if (worker->wait)
        worker->wait(worker->context);
    finish(step);
    radau_tick(clock, step->dt);
    return ADAPTIVE_DONE;
}

enum adaptive_outcome radau_advance(const struct radau_worker *worker,
                                    const struct radau_system *system,
                                    const struct radau_problem *problem, double target, bool land)
{
    struct adaptive_clock *const clock = system->clock;
    enum adaptive_outcome outcome = ADAPTIVE_DONE;
    double done = 0; /* since an interruption was looked for */
    while (outcome == ADAPTIVE_DONE) {
        struct step step = { worker, system, clock->step };
        const double left = radau_left(clock, target);
        if (left < step.dt) {
            if (!land || left <= 0)
                break;
            step.dt = left;
        } else if (step.dt < radau_floor(clock, problem->grid)) {
            return ADAPTIVE_TOO_SMALL;
        }
        const double steps = clock->steps;
        outcome = try_step(&step, problem, &done);
        if (step.dt == left && clock->steps > steps)
            break;
    }
    return outcome;
}
