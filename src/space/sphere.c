#include "space/sphere.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "space/density-center.h"

const char *const sphere_center_names[] = { "density", "mass", "origin", NULL };

/* The chosen centre; the core radius stays undefined but for the density centre. */
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
        density_center_of_mass(bodies, system, sphere->center);
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

/* Counts the numbers that are less than x. */
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
    /* Rounding in the sum of masses must not ask for a body more. */
    const double wanted = fraction * sphere->mass * (1.0 - 1e-12);
    return sphere->r[count_below(sphere->enclosed, sphere->count - 1, wanted)];
}

size_t sphere_count_within(const struct sphere *sphere, double r)
{
    return count_below(sphere->r, sphere->count, r);
}
