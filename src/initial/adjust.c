#include "initial/adjust.h"

/* Subtracts the mean, weighted by mass, from x[0 ... count - 1]. */
static void subtract_mean(const double *m, double *x, size_t count)
{
    double mass = 0, moment = 0;
    for (size_t i = 0; i < count; i++) {
        mass += m[i];
        moment += m[i] * x[i];
    }
    const double mean = moment / mass;
    for (size_t i = 0; i < count; i++)
        x[i] -= mean;
}

void adjust_center(struct bodies *bodies, size_t first)
{
    double *const arrays[] = {
        bodies->x, bodies->y, bodies->z, bodies->vx, bodies->vy, bodies->vz
    };
    for (size_t k = 0; k < 6; k++)
        subtract_mean(bodies->m + first, arrays[k] + first, bodies->count);
}

void adjust_scale(struct bodies *bodies, size_t first, double positions, double velocities)
{
    for (size_t i = first; i < first + bodies->count; i++) {
        bodies->x[i] *= positions;
        bodies->y[i] *= positions;
        bodies->z[i] *= positions;
        bodies->vx[i] *= velocities;
        bodies->vy[i] *= velocities;
        bodies->vz[i] *= velocities;
    }
}

void adjust_velocities(struct bodies *bodies, size_t first, const double V[3], double factor)
{
    double *const arrays[] = { bodies->vx, bodies->vy, bodies->vz };
    for (int k = 0; k < 3; k++)
        for (size_t i = first; i < first + bodies->count; i++)
            arrays[k][i] = V[k] != 0 ? V[k] + factor * (arrays[k][i] - V[k])
                                     : arrays[k][i] * factor; /* also of -0 */
}
