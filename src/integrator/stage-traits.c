#include "integrator/stage-traits.h"

#include <float.h>
#include <math.h>

/* --- series ----------------------------------------------------------------------------------- */

/*
 * A series in the step h: the coefficients of h^0 to h^STAGE_ORDER_MOST. A step of kicks and drifts
 * turns x and v into series of h, and so does the exact motion; the first coefficient in which they
 * differ is that of h^(order + 1).
 */
enum { TERMS = STAGE_ORDER_MOST + 1, AXES = 3 };

struct series {
    double c[TERMS];
};

/* Position and velocity of the body that moves, as series in h. */
struct orbit_series {
    struct series x[AXES], v[AXES];
};

static void add_product(struct series *sum, const struct series *a, const struct series *b)
{
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; i + k < TERMS; k++)
            sum->c[i + k] += a->c[i] * b->c[k];
}

/* Returns a^power, by the recurrence that follows from a p' = power a' p (Euler; Knuth, The Art of
 * Computer Programming 2, 4.7). */
static struct series power_of(const struct series *a, double power)
{
    struct series p = { { pow(a->c[0], power) } };
    for (int n = 1; n < TERMS; n++) {
        for (int k = 1; k <= n; k++)
            p.c[n] += (power * k - (n - k)) * a->c[k] * p.c[n - k];
        p.c[n] /= n * a->c[0];
    }
    return p;
}

/* Computes the acceleration in the softened field of three masses, without any symmetry that could
 * hide an error. Masses and lengths are near 1, so that the coefficients of the series neither grow
 * nor shrink fast. */
static void accelerate(const struct series x[AXES], struct series a[AXES])
{
    static const double eps2 = 0.7;
    static const struct {
        double m, x[AXES];
    } centres[] = { { 1.0, { 0.31, -0.83, 0.47 } },
                    { 0.8, { -1.13, 0.59, 0.22 } },
                    { 0.6, { 0.26, 0.94, -1.07 } } };
    for (int axis = 0; axis < AXES; axis++)
        a[axis] = (struct series){ { 0 } };
    for (size_t j = 0; j < sizeof centres / sizeof *centres; j++) {
        struct series r[AXES], r2 = { { eps2 } };
        for (int axis = 0; axis < AXES; axis++) {
            r[axis] = x[axis];
            r[axis].c[0] -= centres[j].x[axis];
            add_product(&r2, &r[axis], &r[axis]);
        }
        struct series inverse = power_of(&r2, -1.5);
        for (int n = 0; n < TERMS; n++)
            inverse.c[n] *= -centres[j].m;
        for (int axis = 0; axis < AXES; axis++)
            add_product(&a[axis], &inverse, &r[axis]);
    }
}

static const struct orbit_series start = { .x = { { { 0.17 } }, { { -0.11 } }, { { 0.29 } } },
                                           .v = { { { 0.53 } }, { { 0.41 } }, { { -0.37 } } } };

/* Adds coefficient h rate to each series of `to`. */
static void move(struct series to[AXES], double coefficient, const struct series rate[AXES])
{
    for (int axis = 0; axis < AXES; axis++)
        for (int n = 1; n < TERMS; n++)
            to[axis].c[n] += coefficient * rate[axis].c[n - 1];
}

static struct orbit_series step_of(const struct integrator *integrator)
{
    struct orbit_series s = start;
    struct series a[AXES];
    for (size_t k = 0; k < integrator->stage_count; k++) {
        const struct stage *const stage = &integrator->stages[k];
        if (stage->verb == VERB_DRIFT) {
            move(s.x, stage->coefficient, s.v);
        } else if (stage->verb == VERB_KICK) {
            accelerate(s.x, a);
            move(s.v, stage->coefficient, a);
        }
    }
    return s;
}

/* Returns the series of the exact motion x' = v, v' = a(x): each pass of the loop gives one
 * coefficient more. */
static struct orbit_series motion(void)
{
    struct orbit_series s = start;
    struct series a[AXES];
    for (int n = 1; n < TERMS; n++) {
        accelerate(s.x, a);
        for (int axis = 0; axis < AXES; axis++) {
            s.x[axis].c[n] = s.v[axis].c[n - 1] / n;
            s.v[axis].c[n] = a[axis].c[n - 1] / n;
        }
    }
    return s;
}

int stage_order(const struct integrator *integrator)
{
    static const double met = 1e-9;
    const struct orbit_series got = step_of(integrator), expected = motion();
    int order = 0;
    for (; order < STAGE_ORDER_MOST; order++) {
        double error = 0.0;
        for (int axis = 0; axis < AXES; axis++) {
            error = fmax(error, fabs(got.x[axis].c[order + 1] - expected.x[axis].c[order + 1]));
            error = fmax(error, fabs(got.v[axis].c[order + 1] - expected.v[axis].c[order + 1]));
        }
        if (!(error < met))
            break;
    }
    return order;
}

/* --- a passage -------------------------------------------------------------------------------- */

static const double eccentricity = 0.9;

static double energy_of(const double x[2], const double v[2])
{
    return 0.5 * (v[0] * v[0] + v[1] * v[1]) - 1.0 / hypot(x[0], x[1]);
}

/* Returns the largest energy error from pericentre to apocentre, relative to the potential energy
 * at the pericentre, of an orbit with semi-major axis 1. `steps` is the number of steps per period
 * at the pericentre. */
static double passage_error(const struct integrator *integrator, double steps)
{
    const double e = eccentricity, dt = 2.0 * M_PI * pow(1.0 - e, 1.5) / steps;
    double x[2] = { 1.0 - e, 0.0 }, v[2] = { 0.0, sqrt((1.0 + e) / (1.0 - e)) }, worst = 0.0;
    const double E0 = energy_of(x, v);
    for (double t = 0.0; t < M_PI; t += dt) {
        for (size_t k = 0; k < integrator->stage_count; k++) {
            const struct stage *const stage = &integrator->stages[k];
            const double r2 = x[0] * x[0] + x[1] * x[1], h = stage->coefficient * dt;
            for (int axis = 0; axis < 2; axis++)
                if (stage->verb == VERB_DRIFT)
                    x[axis] += h * v[axis];
                else if (stage->verb == VERB_KICK)
                    v[axis] -= h * x[axis] / (r2 * sqrt(r2));
        }
        const double error = fabs(energy_of(x, v) - E0) * (1.0 - e);
        if (!(error < 1.0)) /* the body has escaped, or its energy is not finite */
            return INFINITY;
        worst = fmax(worst, error);
    }
    return worst;
}

/* Tries numbers of steps until the error is near the wanted one: from the error with one number,
 * the order of the integrator predicts the next number. */
double stage_passage_steps(const struct integrator *integrator)
{
    static const double most = 1e5, first = 60.0, near = 1.2;
    enum { TRIES = 12 };
    double steps = first;
    for (int k = 0; k < TRIES && steps < most; k++) {
        const double times = passage_error(integrator, steps) / INTEGRATOR_PASSAGE_ERROR;
        if (times < near && times * near > 1.0)
            break;
        const double change = isfinite(times) ? pow(times, 1.0 / integrator->order) : 4.0;
        steps = ceil(steps * fmax(change, 0.25));
    }
    return fmin(steps, most);
}

/* --- symmetry --------------------------------------------------------------------------------- */

bool stage_list_is_symmetric(const struct integrator *integrator)
{
    static const double rounding = 4 * DBL_EPSILON;
    const struct stage *const stages = integrator->stages;
    size_t first = 0, end = integrator->stage_count;
    while (first < end) {
        if (stages[first].verb == VERB_FORCE) {
            first++;
        } else if (stages[end - 1].verb == VERB_FORCE) {
            end--;
        } else {
            const struct stage *const a = &stages[first++], *const b = &stages[--end];
            if (a->verb != b->verb || !(fabs(a->coefficient - b->coefficient) <= rounding))
                return false;
        }
    }
    return true;
}
