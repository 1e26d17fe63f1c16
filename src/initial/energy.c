#include "initial/energy.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>

#include "base/memory.h"
#include "force/method.h"
#include "model/conserved.h"

/* The rows of the triangle of pairs (row i: a body i with all j > i) are divided into this many
 * parts: part k has the rows k, k + PARTS, ... Sums of parts are added in order, so that the result
 * does not depend on which thread did which part. */
enum { PARTS = 1024 };

/* Systems of fewer bodies are summed by one thread: to start several, and to wait for them, in each
 * system of an ensemble takes longer. */
enum { FEW_BODIES = 512 };

/* The number of terms that are computed by vector instructions before they are added; even, since
 * add_terms() takes two at a time. */
enum { TERMS = 64 };

struct terms {
    double potential[TERMS], virial[TERMS];
};

/* Finds the terms of the pairs of body i with `count` bodies from index j on: m_j / s and m_j r^2 /
 * s^3, s^2 = r^2 + eps^2; 0 if s is 0. Always inlined, once for each value of `periodic`, so that
 * the compiler makes vector instructions of the loop. */
__attribute__((always_inline)) static inline void find_terms(const struct physics *physics,
                                                             const struct bodies *b, size_t i,
                                                             size_t j, size_t count, bool periodic,
                                                             struct terms *terms)
{
    const double eps2 = physics->softening * physics->softening, L = physics->box_length;
    const double xi = b->x[i], yi = b->y[i], zi = b->z[i];
#pragma omp simd
    for (size_t k = 0; k < count; k++) {
        double dx = b->x[j + k] - xi, dy = b->y[j + k] - yi, dz = b->z[j + k] - zi;
        if (periodic) {
            dx = physics_nearest_image(dx, L);
            dy = physics_nearest_image(dy, L);
            dz = physics_nearest_image(dz, L);
        }
        const double r2 = dx * dx + dy * dy + dz * dz, s2 = r2 + eps2;
        const double inverse = 1.0 / sqrt(s2 > 0 ? s2 : INFINITY);
        terms->potential[k] = b->m[j + k] * inverse;
        terms->virial[k] = b->m[j + k] * inverse * (r2 * inverse * inverse);
    }
}

/* Adds the terms: in open space alternately to two sums, in a periodic box to one, as gcc with SSE2
 * (two doubles in a vector, none with nearest images) did with an OpenMP reduction that stood here.
 * Written out, the order and its bits do not depend on the compiler. */
__attribute__((always_inline)) static inline void add_terms(const double *terms, size_t count,
                                                            bool periodic, double sums[2])
{
    double first = sums[0], second = sums[1];
    size_t k = 0;
    for (; k + 1 < count && !periodic; k += 2) {
        first += terms[k];
        second += terms[k + 1];
    }
    for (; k < count; k++)
        first += terms[k];
    sums[0] = first;
    sums[1] = second;
}

/* Returns the sums over the pairs of body i with the bodies i < j < last, without the factor -G. */
__attribute__((always_inline)) static inline struct pair_sums
row(const struct physics *physics, const struct bodies *b, size_t i, size_t last, bool periodic)
{
    double potential[2] = { 0 }, virial[2] = { 0 };
    for (size_t j = i + 1; j < last; j += TERMS) {
        struct terms terms;
        const size_t count = last - j < TERMS ? last - j : TERMS;
        find_terms(physics, b, i, j, count, periodic, &terms);
        add_terms(terms.potential, count, periodic, potential);
        add_terms(terms.virial, count, periodic, virial);
    }
    return (struct pair_sums){ b->m[i] * (potential[0] + potential[1]),
                               b->m[i] * (virial[0] + virial[1]) };
}

struct pair_sums energy_pairs(const struct physics *physics, const struct bodies *bodies,
                              size_t first)
{
    const bool periodic = physics->boundary == BOUNDARY_PERIODIC;
    const bool interrupts = physics->interruption && bodies->count >= FEW_BODIES;
    const size_t last = first + bodies->count;
    const size_t used = bodies->count < PARTS ? bodies->count : PARTS;
    struct pair_sums parts[PARTS] = { 0 };
#pragma omp parallel for schedule(dynamic) if (bodies->count >= FEW_BODIES)
    for (size_t part = 0; part < used; part++)
        for (size_t i = first + part; i < last; i += PARTS) {
            if (interrupts && interruption_raised(physics->interruption))
                break;
            const struct pair_sums sums = periodic ? row(physics, bodies, i, last, true)
                                                   : row(physics, bodies, i, last, false);
            parts[part].potential += sums.potential;
            parts[part].virial += sums.virial;
        }
    struct pair_sums total = { 0 };
    for (size_t part = 0; part < used; part++) {
        total.potential -= physics->gravitational_constant * parts[part].potential;
        total.virial -= physics->gravitational_constant * parts[part].virial;
    }
    return total;
}

double energy_kinetic(const struct bodies *bodies, size_t first)
{
    double sum = 0;
    for (size_t i = first; i < first + bodies->count; i++) {
        const double vx = bodies->vx[i], vy = bodies->vy[i], vz = bodies->vz[i];
        sum += bodies->m[i] * (vx * vx + vy * vy + vz * vz);
    }
    return 0.5 * sum;
}

double energy_internal(const struct bodies *bodies, size_t first, double V[3])
{
    const double kinetic = energy_kinetic(bodies, first);
    double mass = 0, momentum[3] = { 0 }, sum = 0;
    for (size_t i = first; i < first + bodies->count; i++) {
        mass += bodies->m[i];
        momentum[0] += bodies->m[i] * bodies->vx[i];
        momentum[1] += bodies->m[i] * bodies->vy[i];
        momentum[2] += bodies->m[i] * bodies->vz[i];
    }
    conserved_velocity(mass, kinetic, momentum, V);
    if (V[0] == 0 && V[1] == 0 && V[2] == 0)
        return kinetic;
    for (size_t i = first; i < first + bodies->count; i++) {
        const double vx = bodies->vx[i] - V[0], vy = bodies->vy[i] - V[1],
                     vz = bodies->vz[i] - V[2];
        sum += bodies->m[i] * (vx * vx + vy * vy + vz * vz);
    }
    return conserved_internal(kinetic, 0.5 * sum);
}

enum status energy_of_run(const struct force_options *forces, const struct physics *physics,
                          const struct bodies *bodies, size_t first, struct pair_sums *sums,
                          struct error *error)
{
    if (!forces || physics->boundary != BOUNDARY_OPEN || !(force_traits(forces).truncation > 0)) {
        *sums = energy_pairs(physics, bodies, first);
        return interruption_status(physics->interruption, error);
    }
    const struct bodies one = bodies_alone(bodies, first);
    struct force_options options = *forces;
    struct force *force = NULL;
    options.threads = omp_get_max_threads();
    options.share = (struct force_share){ 0 }; /* each process finds all potentials */
    double *const phi = memory_array(one.stride, sizeof *phi, error);
    double *const psi = memory_array(one.stride, sizeof *psi, error);
    *sums = (struct pair_sums){ 0 };
    if (phi && psi && !force_create(&options, physics, &one, &force, error)) {
#pragma omp parallel num_threads(options.threads)
        force_potentials(force, &one, phi, psi);
        for (size_t i = 0; i < one.count; i++) {
            sums->potential += 0.5 * one.m[i] * phi[i];
            sums->virial += 0.5 * one.m[i] * psi[i];
        }
    }
    force_destroy(force);
    memory_free(phi);
    memory_free(psi);
    return error->status ? error->status : interruption_status(physics->interruption, error);
}
