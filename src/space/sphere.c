#include "space/sphere.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

/* --- the centre of density -------------------------------------------------------------------- */

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

/* Puts the mean of a system's positions, weighted by `weight`, into x. `first` is the array index
 * of its first body. Returns false if the sum of the weights is not positive or not finite. */
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

static void center_of_mass(const struct bodies *bodies, size_t system, double x[3])
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
    if (neighbours_create(bodies, system, threads, &neighbours, error))
        return error->status;
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
        center_of_mass(bodies, system, center->x);
        center->core_radius = NAN;
    }
    memory_free(density);
    neighbours_destroy(neighbours);
    return STATUS_OK;
}

/* --- the sphere ------------------------------------------------------------------------------- */

const char *const sphere_center_names[] = { "density", "mass", "origin", NULL };

/* Finds the chosen centre of the sphere. Its core radius is NaN unless the centre is that of
 * density. */
static enum status find_center(const struct bodies *bodies, size_t system,
                               enum sphere_center choice, int threads, struct sphere *sphere,
                               struct error *error)
{
    sphere->core_radius = NAN;
    if (choice == SPHERE_DENSITY) {
        struct density_center center;
        if (density_center(bodies, system, threads, &center, error))
            return error->status;
        memcpy(sphere->center, center.x, sizeof center.x);
        sphere->core_radius = center.core_radius;
    } else if (choice == SPHERE_MASS) {
        center_of_mass(bodies, system, sphere->center);
    }
    return STATUS_OK;
}

enum status sphere_create(const struct bodies *bodies, size_t system, enum sphere_center center,
                          int threads, struct sphere *sphere, struct error *error)
{
    const size_t count = bodies->count, first = system * bodies->stride;
    *sphere = (struct sphere){ .count = count };
    double *distance = memory_array(count, sizeof *distance, error);
    sphere->r = memory_array(count, sizeof *sphere->r, error);
    sphere->enclosed = memory_array(count, sizeof *sphere->enclosed, error);
    sphere->body = memory_array(count, sizeof *sphere->body, error);
    if (!distance || !sphere->r || !sphere->enclosed || !sphere->body ||
        find_center(bodies, system, center, threads, sphere, error)) {
        memory_free(distance);
        sphere_destroy(sphere);
        return error->status;
    }
    for (size_t i = 0; i < count; i++) {
        const double dx = bodies->x[first + i] - sphere->center[0],
                     dy = bodies->y[first + i] - sphere->center[1],
                     dz = bodies->z[first + i] - sphere->center[2];
        distance[i] = sqrt(dx * dx + dy * dy + dz * dz);
    }
    gsl_sort_index(sphere->body, distance, 1, count);
    for (size_t k = 0; k < count; k++) {
        sphere->r[k] = distance[sphere->body[k]];
        sphere->mass += bodies->m[first + sphere->body[k]];
        sphere->enclosed[k] = sphere->mass;
    }
    memory_free(distance);
    return STATUS_OK;
}

void sphere_destroy(struct sphere *sphere)
{
    memory_free(sphere->r);
    memory_free(sphere->enclosed);
    memory_free(sphere->body);
    *sphere = (struct sphere){ 0 };
}

static size_t count_below(const double *ascending, size_t count, double x)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ascending[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double sphere_radius(const struct sphere *sphere, double fraction)
{
    /* A little less is wanted, so that the rounding of the sum of masses does not lead to the next
     * body. */
    const double wanted = fraction * sphere->mass * (1.0 - 1e-12);
    return sphere->r[count_below(sphere->enclosed, sphere->count - 1, wanted)];
}

size_t sphere_count_within(const struct sphere *sphere, double r)
{
    return count_below(sphere->r, sphere->count, r);
}
