#include "accuracy/kernel-error.h"

#include <math.h>

#include "force/accuracy.h"

/* Pairs of bodies that are summed in long double at most: some 0.1 s. */
static const double most_pairs = 4e6;

/* Returns the number of bodies that are summed: as many as the pairs allow, at least a few. */
static size_t sample_of(const struct bodies *bodies)
{
    static const double least = 8.0;
    return (size_t)fmax(least, fmin(ACCURACY_SAMPLE, most_pairs / (double)bodies->count));
}

bool kernel_error_counts(const struct simulation *simulation)
{
    const struct force_traits traits = force_traits(&simulation->description.force);
    return traits.rounding > 0.0 || traits.truncation > 0.0;
}

enum status kernel_error_measure(struct simulation *simulation, struct kernel_error *kernel_error,
                                 struct error *error)
{
    const struct bodies *bodies = simulation->bodies;
    struct accuracy *accuracy;
    if (accuracy_create(&simulation->physics, bodies, sample_of(bodies), &accuracy, error))
        return error->status;
    const enum status status = simulation_accelerations(simulation, error);
    if (!status)
        *kernel_error = (struct kernel_error){ .whole = accuracy_error(accuracy, bodies),
                                               .bias = accuracy_bias(accuracy, bodies) };
    accuracy_destroy(accuracy);
    return status;
}
