#include "force/accuracy.h"

#include "base/memory.h"
#include "external/external.h"

struct accuracy {
    size_t count;
    struct {
        size_t body;
        long double a[3];
    } sample[ACCURACY_SAMPLE];
};

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
    if (!physics->external)
        return;
    double field[3];
    external_acceleration(physics->external, (const double[3]){ b->x[i], b->y[i], b->z[i] }, field);
    for (int axis = 0; axis < 3; axis++)
        a[axis] += field[axis];
}

enum status accuracy_create(const struct physics *physics, const struct bodies *bodies, size_t most,
                            struct accuracy **result, struct error *error)
{
    struct accuracy *accuracy = *result = memory_array(1, sizeof *accuracy, error);
    if (!accuracy)
        return error->status;
    most = most < ACCURACY_SAMPLE ? most : ACCURACY_SAMPLE;
    accuracy->count = bodies->count < most ? bodies->count : most;
    for (size_t k = 0; k < accuracy->count && !interruption_raised(physics->interruption); k++) {
        accuracy->sample[k].body = k * bodies->count / accuracy->count;
        sum(physics, bodies, accuracy->sample[k].body, accuracy->sample[k].a);
    }
    if (!interruption_status(physics->interruption, error))
        return STATUS_OK;
    accuracy_destroy(accuracy);
    *result = NULL;
    return error->status;
}

void accuracy_destroy(struct accuracy *accuracy)
{
    memory_free(accuracy);
}

/* Sums over the bodies of the sample and the three axes; e is the error of a component of an
 * acceleration, and a the exact component. */
struct sums {
    long double error2, along, whole; /* e^2, e a, a^2 */
};

static struct sums compare(const struct accuracy *accuracy, const struct bodies *bodies)
{
    struct sums sums = { 0 };
    for (size_t k = 0; k < accuracy->count; k++) {
        const size_t i = accuracy->sample[k].body;
        const double a[3] = { bodies->ax[i], bodies->ay[i], bodies->az[i] };
        for (int axis = 0; axis < 3; axis++) {
            const long double exact = accuracy->sample[k].a[axis], error = a[axis] - exact;
            sums.error2 += error * error;
            sums.along += error * exact;
            sums.whole += exact * exact;
        }
    }
    return sums;
}

double accuracy_error(const struct accuracy *accuracy, const struct bodies *bodies)
{
    const struct sums sums = compare(accuracy, bodies);
    return sums.whole > 0 ? (double)sqrtl(sums.error2 / sums.whole) : 0;
}

double accuracy_bias(const struct accuracy *accuracy, const struct bodies *bodies)
{
    const struct sums sums = compare(accuracy, bodies);
    return sums.whole > 0 ? (double)(sums.along / sums.whole) : 0;
}

double accuracy_scale(const struct accuracy *accuracy)
{
    long double whole = 0;
    for (size_t k = 0; k < accuracy->count; k++)
        for (int axis = 0; axis < 3; axis++)
            whole += accuracy->sample[k].a[axis] * accuracy->sample[k].a[axis];
    return accuracy->count > 0 ? (double)sqrtl(whole / (long double)accuracy->count) : 0;
}
