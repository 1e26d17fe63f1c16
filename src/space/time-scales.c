#include "space/time-scales.h"

#include <math.h>

#include "external/external.h"
#include "space/bound-pairs.h"

_Static_assert((int)BOUND_PAIRS_BODY_BYTES <= (int)TIME_SCALES_BODY_BYTES, "");

enum { LEAST_BODIES = 50 };

/* Fills all members but half_mass_radius: counts the bodies with mass, each bound pair as one body,
 * finds the largest mass among these, and sums the energies within the pairs. */
static void count_pairs(const struct bound_pairs *pairs, const struct bodies *bodies, size_t system,
                        struct time_scales_structure *structure)
{
    const double *const m = bodies->m + system * bodies->stride;
    for (size_t i = 0; i < bodies->count; i++) {
        const struct bound_pair *pair = bound_pairs_of(pairs, i);
        if (pair && i == pair->j)
            continue;
        const double mass = pair ? m[i] + m[pair->j] : m[i];
        structure->count += mass > 0.0;
        structure->largest = fmax(structure->largest, mass);
    }
    for (size_t k = 0; k < pairs->count; k++) {
        const struct bound_pair *pair = &pairs->pairs[k];
        structure->kinetic -= pair->energy + pair->potential;
        structure->potential += pair->potential;
        structure->virial += pair->virial;
    }
}

enum status time_scales_structure(const struct physics *physics, const struct bodies *bodies,
                                  size_t system, struct time_scales_structure *structure,
                                  struct error *error)
{
    *structure = (struct time_scales_structure){ 0 };
    if (physics->boundary == BOUNDARY_PERIODIC || physics->external || bodies->count < LEAST_BODIES)
        return STATUS_OK;
    struct bound_pairs pairs;
    struct sphere sphere;
    if (bound_pairs_create(physics, bodies, system, 1, &pairs, error))
        return error->status;
    count_pairs(&pairs, bodies, system, structure);
    bound_pairs_destroy(&pairs);
    if (sphere_create(bodies, system, SPHERE_MASS, 1, &sphere, error))
        return error->status;
    structure->half_mass_radius = sphere_radius(&sphere, 0.5);
    sphere_destroy(&sphere);
    return STATUS_OK;
}

struct time_scales time_scales(const struct physics *physics,
                               const struct time_scales_structure *structure,
                               const struct conserved *conserved)
{
    const double G = physics->gravitational_constant, M = conserved->mass, N = structure->count;
    const double K = conserved->internal - structure->kinetic;
    const double E = K + conserved->potential - structure->potential;
    const double W = conserved->virial - structure->virial, r = structure->half_mass_radius;
    struct time_scales scales = { NAN, NAN };
    if (N < LEAST_BODIES || structure->largest > 0.1 * M || !(E < 0.0))
        return scales;
    scales.crossing = G * pow(M, 2.5) / pow(-2.0 * E, 1.5);
    if (2.0 * K > 0.5 * fabs(W) && 2.0 * K < 1.5 * fabs(W))
        scales.relaxation = 0.138 * N * sqrt(r * r * r / (G * M)) / log(0.11 * N);
    return scales;
}

/* --- the size of numbers ---------------------------------------------------------------------- */

static double norm(const double *x, const double *y, const double *z, size_t i)
{
    return sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
}

void scales_measure(const struct bodies *b, struct scales *scales)
{
    *scales = (struct scales){ 0 };
    for (size_t s = 0; s < b->systems; s++) {
        const bool masses = external_has_mass(b, s);
        double momentum = 0.0, angular_momentum = 0.0;
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++) {
            const double r = norm(b->x, b->y, b->z, i), v = norm(b->vx, b->vy, b->vz, i);
            scales->length += r * r;
            scales->velocity += v * v;
            momentum += (masses ? b->m[i] : 1.0) * v;
            angular_momentum += (masses ? b->m[i] : 1.0) * r * v;
        }
        scales->momentum = fmax(scales->momentum, momentum);
        scales->angular_momentum = fmax(scales->angular_momentum, angular_momentum);
    }
    const double count = (double)b->systems * (double)b->count;
    scales->length = sqrt(scales->length / count);
    scales->velocity = sqrt(scales->velocity / count);
}
