#include "space/density-center.h"

#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "space/neighbours.h"

enum { NEIGHBOUR = 6 };

static double local_density(const struct neighbours *neighbours, const double *m, size_t i)
{
    size_t index[NEIGHBOUR];
    double r2[NEIGHBOUR];
    if (neighbours_find(neighbours, i, NEIGHBOUR, index, r2) < NEIGHBOUR)
        return 0.0;
    double mass = 0.0;
    for (int k = 0; k < NEIGHBOUR - 1; k++)
        mass += m[index[k]];
    const double farthest = r2[NEIGHBOUR - 1];
    return mass / (4.0 / 3.0 * M_PI * farthest * sqrt(farthest));
}

/* The mean of the positions, with the given weights; false where these add up to nothing. */
static bool weighted_center(const struct bodies *bodies, size_t first, const double *weight,
                            double x[3])
{
    double sum = 0.0, moment[3] = { 0 };
    for (size_t i = 0; i < bodies->count; i++) {
        sum += weight[i];
        moment[0] += weight[i] * bodies->x[first + i];
        moment[1] += weight[i] * bodies->y[first + i];
        moment[2] += weight[i] * bodies->z[first + i];
    }
    for (int k = 0; k < 3; k++)
        x[k] = moment[k] / sum;
    return sum > 0.0 && isfinite(sum);
}

void density_center_of_mass(const struct bodies *bodies, size_t system, double x[3])
{
    const size_t first = system * bodies->stride;
    weighted_center(bodies, first, bodies->m + first, x);
}

static double core_radius(const struct bodies *bodies, size_t first, const double *density,
                          const double x[3])
{
    double sum = 0.0, moment = 0.0;
    for (size_t i = 0; i < bodies->count; i++) {
        const double dx = bodies->x[first + i] - x[0], dy = bodies->y[first + i] - x[1],
                     dz = bodies->z[first + i] - x[2];
        sum += density[i] * density[i];
        moment += density[i] * density[i] * (dx * dx + dy * dy + dz * dz);
    }
    return sqrt(moment / sum);
}

enum status density_center(const struct bodies *bodies, size_t system, int threads,
                           struct density_center *center, struct error *error)
{
    const size_t first = system * bodies->stride;
    struct neighbours *neighbours;
    enum status status = neighbours_create(bodies, system, threads, &neighbours, error);
    if (status != STATUS_OK)
        return status;
    double *density = memory_array(bodies->count, sizeof *density, error);
    if (!density) {
        neighbours_destroy(neighbours);
        return error->status;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
    for (size_t i = 0; i < bodies->count; i++)
        density[i] = local_density(neighbours, bodies->m + first, i);
    if (weighted_center(bodies, first, density, center->x)) {
        center->core_radius = core_radius(bodies, first, density, center->x);
    } else {
        density_center_of_mass(bodies, system, center->x);
        center->core_radius = NAN;
    }
    memory_free(density);
    neighbours_destroy(neighbours);
    return STATUS_OK;
}
