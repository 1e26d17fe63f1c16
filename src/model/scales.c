#include "model/scales.h"

#include <math.h>

static double norm(const double *x, const double *y, const double *z, size_t i)
{
    return sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
}

void scales_measure(const struct bodies *b, struct scales *scales)
{
    *scales = (struct scales){ 0 };
    for (size_t s = 0; s < b->systems; s++) {
        double momentum = 0.0, angular_momentum = 0.0;
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++) {
            const double r = norm(b->x, b->y, b->z, i), v = norm(b->vx, b->vy, b->vz, i);
            scales->length += r * r;
            scales->velocity += v * v;
            momentum += b->m[i] * v;
            angular_momentum += b->m[i] * r * v;
        }
        scales->momentum = fmax(scales->momentum, momentum);
        scales->angular_momentum = fmax(scales->angular_momentum, angular_momentum);
    }
    const double count = (double)b->systems * (double)b->count;
    scales->length = sqrt(scales->length / count);
    scales->velocity = sqrt(scales->velocity / count);
}
