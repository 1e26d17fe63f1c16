#include "model/conserved.h"

#include <math.h>

/* A sum and what rounding has lost of it (Neumaier 1974, Z. angew. Math. Mech. 54, 39). */
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
    conserved->potential = total(potential);
    conserved->virial = total(virial);
    for (int k = 0; k < 3; k++) {
        conserved->momentum[k] = total(p[k]);
        conserved->angular_momentum[k] = total(l[k]);
        conserved->center[k] = total(c[k]) / conserved->mass;
    }
}

double conserved_energy(const struct conserved *conserved)
{
    return conserved->kinetic + conserved->potential;
}

double conserved_energy_error(const struct conserved *first, const struct conserved *now)
{
    const double start = conserved_energy(first);
    return start != 0.0 ? (conserved_energy(now) - start) / fabs(start) : NAN;
}

double conserved_larger_error(double largest, double error)
{
    return isnan(error) || fabs(error) > largest ? fabs(error) : largest; /* fmax() drops a NaN */
}
