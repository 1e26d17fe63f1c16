#include "model/conserved.h"

#include <float.h>
#include <math.h>

#include "model/vec3.h"

/* A sum, and what rounding has lost of it so far (Neumaier 1974, Z. angew. Math. Mech. 54, 39). */
struct sum {
    double value, lost;
};

static inline void add(struct sum *sum, double term)
{
    const double next = sum->value + term;
    if (fabs(sum->value) >= fabs(term))
        sum->lost += (sum->value - next) + term;
    else
        sum->lost += (term - next) + sum->value;
    sum->value = next;
}

static inline double total(struct sum sum)
{
    return sum.value + sum.lost;
}

void conserved_velocity(double mass, double kinetic, const double momentum[3], double velocity[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        velocity[k] = mass > 0.0 ? momentum[k] / mass : 0.0;
        square += velocity[k] * velocity[k];
    }
    if (0.5 * mass * square <= 0.5 * DBL_EPSILON * kinetic)
        velocity[0] = velocity[1] = velocity[2] = 0.0;
}

double conserved_internal(double kinetic, double sum)
{
    static const double rounding = 4.0 * DBL_EPSILON; /* roundings of v and of V, relative to V */
    return sum <= rounding * rounding * kinetic ? 0.0 : sum;
}

/* Returns K', summed over the velocities relative to V: the difference of K and P^2/2M would lose
 * the digits of a K' that is much smaller than both. */
static double internal_of(const struct bodies *bodies, size_t first, const struct conserved *c)
{
    struct sum sum = { 0 };
    double V[3];
    conserved_velocity(c->mass, c->kinetic, c->momentum, V);
    if (V[0] == 0.0 && V[1] == 0.0 && V[2] == 0.0)
        return c->kinetic;
    for (size_t i = first; i < first + bodies->count; i++) {
        const double v[] = { bodies->vx[i] - V[0], bodies->vy[i] - V[1], bodies->vz[i] - V[2] };
        add(&sum, 0.5 * bodies->m[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return conserved_internal(c->kinetic, total(sum));
}

void conserved_measure(const struct bodies *bodies, size_t system, const double *phi,
                       const double *psi, struct conserved *conserved)
{
    struct sum mass = { 0 }, kinetic = { 0 }, potential = { 0 }, virial = { 0 };
    struct sum p[3] = { 0 }, l[3] = { 0 }, c[3] = { 0 };
    const size_t first = system * bodies->stride;
    for (size_t i = first; i < first + bodies->count; i++) {
        const double m = bodies->m[i], x[] = { bodies->x[i], bodies->y[i], bodies->z[i] };
        const double v[] = { bodies->vx[i], bodies->vy[i], bodies->vz[i] };
        add(&mass, m);
        add(&kinetic, 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        add(&potential, 0.5 * m * phi[i]);
        add(&virial, 0.5 * m * psi[i]);
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            add(&p[k], m * v[k]);
            add(&l[k], m * (x[a] * v[b] - x[b] * v[a]));
            add(&c[k], m * x[k]);
        }
    }
    conserved->mass = total(mass);
    conserved->kinetic = total(kinetic);
    for (int k = 0; k < 3; k++)
        conserved->momentum[k] = total(p[k]);
    conserved->internal = internal_of(bodies, first, conserved);
    conserved->potential = total(potential);
    conserved->virial = total(virial);
    for (int k = 0; k < 3; k++) {
        conserved->angular_momentum[k] = total(l[k]);
        conserved->center[k] = total(c[k]) / conserved->mass;
    }
}

double conserved_energy(const struct conserved *conserved)
{
    return conserved->kinetic + conserved->potential;
}

double conserved_internal_energy(const struct conserved *conserved)
{
    return conserved->internal + conserved->potential;
}

double conserved_energy_scale(const struct conserved *first)
{
    return fmax(fabs(conserved_internal_energy(first)), fabs(first->potential));
}

double conserved_energy_error(const struct conserved *first, const struct conserved *now)
{
    const double scale = conserved_energy_scale(first);
    const double change = conserved_internal_energy(now) - conserved_internal_energy(first);
    return scale != 0.0 ? change / scale : NAN;
}

double conserved_larger_error(double largest, double error)
{
    return isnan(error) || fabs(error) > largest ? fabs(error) : largest; /* fmax() drops a NaN */
}

/* --- bodies without mass ---------------------------------------------------------------------- */

bool test_energy_applies(const struct bodies *b, size_t system, size_t *center)
{
    const size_t first = system * b->stride;
    size_t massive = 0;
    *center = first;
    for (size_t i = first; i < first + b->count; i++)
        if (b->m[i] > 0.0 && massive++ == 0)
            *center = i;
    return massive == 1 && b->count > 1;
}

struct test_motion test_energy_motion(const struct physics *physics, const struct bodies *b,
                                      size_t c, size_t i)
{
    const double eps2 = physics->softening * physics->softening;
    double d[3], v[3];
    pair_separation(physics, b, c, i, d);
    pair_velocity(b, c, i, v);
    const double r2 = vec3_dot(d, d), r = sqrt(r2 + eps2);
    if (!(r > 0.0))
        return (struct test_motion){ 0 };
    const double potential = -(physics->gravitational_constant * b->m[c] / r);
    return (struct test_motion){ 0.5 * vec3_dot(v, v), potential, r2,
                                 potential * r2 / (r2 + eps2) };
}

double test_energy(const struct physics *physics, const struct bodies *b, size_t system)
{
    const size_t first = system * b->stride;
    size_t center;
    if (!test_energy_applies(b, system, &center))
        return NAN;
    double sum = 0.0;
    for (size_t i = first; i < first + b->count; i++)
        if (i != center) {
            const struct test_motion motion = test_energy_motion(physics, b, center, i);
            sum += motion.kinetic + motion.potential;
        }
    return sum;
}
