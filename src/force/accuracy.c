#include "force/accuracy.h"

#include <math.h>

#include "base/memory.h"

struct accuracy {
    size_t count;
    struct {
        size_t body;
        long double a[3];
    } sample[ACCURACY_SAMPLE];
};

/* Returns the nearest image as physics_nearest_image() does, which is exact in fp64 only. */
static long double nearest_image(long double d, long double L)
{
    return d - L * rintl(d / L);
}

static void sum(const struct physics *physics, const struct bodies *b, size_t i, long double a[3])
{
    const long double eps = physics->softening, L = physics->box_length;
    a[0] = a[1] = a[2] = 0;
    for (size_t j = 0; j < b->count; j++) {
        long double d[3] = { (long double)b->x[j] - b->x[i], (long double)b->y[j] - b->y[i],
                             (long double)b->z[j] - b->z[i] };
        for (int axis = 0; axis < 3 && physics->boundary == BOUNDARY_PERIODIC; axis++)
            d[axis] = nearest_image(d[axis], L);
        const long double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (r2 == 0)
            continue;
        const long double s2 = r2 + eps * eps;
        const long double g = physics->gravitational_constant * b->m[j] / (s2 * sqrtl(s2));
        for (int axis = 0; axis < 3; axis++)
            a[axis] += g * d[axis];
    }
}

enum status accuracy_create(const struct physics *physics, const struct bodies *bodies, size_t most,
                            struct accuracy **result, struct error *error)
{
    struct accuracy *accuracy = *result = memory_array(1, sizeof *accuracy, error);
    if (!accuracy)
        return error->status;
    most = most < ACCURACY_SAMPLE ? most : ACCURACY_SAMPLE;
    accuracy->count = bodies->count < most ? bodies->count : most;
    for (size_t k = 0; k < accuracy->count; k++) {
        accuracy->sample[k].body = k * bodies->count / accuracy->count;
        sum(physics, bodies, accuracy->sample[k].body, accuracy->sample[k].a);
    }
    return STATUS_OK;
}

void accuracy_destroy(struct accuracy *accuracy)
{
    memory_free(accuracy);
}

double accuracy_error(const struct accuracy *accuracy, const struct bodies *bodies)
{
    long double error = 0, whole = 0;
    for (size_t k = 0; k < accuracy->count; k++) {
        const size_t i = accuracy->sample[k].body;
        const long double *const exact = accuracy->sample[k].a;
        const double a[3] = { bodies->ax[i], bodies->ay[i], bodies->az[i] };
        for (int axis = 0; axis < 3; axis++) {
            error += (a[axis] - exact[axis]) * (a[axis] - exact[axis]);
            whole += exact[axis] * exact[axis];
        }
    }
    return whole > 0 ? (double)sqrtl(error / whole) : 0;
}

double accuracy_bias(const struct accuracy *accuracy, const struct bodies *bodies)
{
    long double along = 0, whole = 0;
    for (size_t k = 0; k < accuracy->count; k++) {
        const size_t i = accuracy->sample[k].body;
        const long double *const exact = accuracy->sample[k].a;
        const double a[3] = { bodies->ax[i], bodies->ay[i], bodies->az[i] };
        for (int axis = 0; axis < 3; axis++) {
            along += (a[axis] - exact[axis]) * exact[axis];
            whole += exact[axis] * exact[axis];
        }
    }
    return whole > 0 ? (double)(along / whole) : 0;
}

double accuracy_scale(const struct accuracy *accuracy)
{
    long double whole = 0;
    for (size_t k = 0; k < accuracy->count; k++)
        for (int axis = 0; axis < 3; axis++)
            whole += accuracy->sample[k].a[axis] * accuracy->sample[k].a[axis];
    return accuracy->count > 0 ? (double)sqrtl(whole / (long double)accuracy->count) : 0;
}
