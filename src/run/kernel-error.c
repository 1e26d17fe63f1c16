#include "run/kernel-error.h"

#include <math.h>

#include "base/document.h"
#include "force/accuracy.h"

/* Pairs of bodies that are summed in long double at most: some 0.1 s. */
static const double most_pairs = 4e6;

/* Returns the number of bodies that are summed: as many as the pairs allow, at least a few. */
static size_t sample_of(const struct bodies *bodies)
{
    static const double least = 8.0;
    return (size_t)fmax(least, fmin(ACCURACY_SAMPLE, most_pairs / (double)bodies->count));
}

static bool is_coarse(const struct run *run)
{
    const struct force_traits traits = force_traits(&run->simulation->description.force);
    return traits.rounding > 0.0 || traits.truncation > 0.0;
}

static enum status measure(struct run *run, struct error *error)
{
    const struct bodies *bodies = run->simulation->bodies;
    struct accuracy *accuracy;
    if (accuracy_create(&run->simulation->physics, bodies, sample_of(bodies), &accuracy, error))
        return error->status;
    const enum status status = simulation_accelerations(run->simulation, error);
    if (!status)
        run->kernel_error = (struct kernel_error){ .whole = accuracy_error(accuracy, bodies),
                                                   .bias = accuracy_bias(accuracy, bodies) };
    accuracy_destroy(accuracy);
    return status;
}

enum status kernel_error_measure(struct run *run, struct error *error)
{
    const json_t *before = json_object_get(run->continuation.before, "force_error");
    if (!is_coarse(run))
        return STATUS_OK;
    if (!run->continuation.checkpoint)
        return measure(run, error);
    run->kernel_error =
        (struct kernel_error){ .whole = json_number_value(json_object_get(before, "whole")),
                               .bias = json_number_value(json_object_get(before, "bias")) };
    return STATUS_OK;
}

json_t *kernel_error_json(const struct run *run)
{
    if (!is_coarse(run))
        return json_null();
    return json_pack("{s:o, s:o}", "whole", document_number(run->kernel_error.whole), "bias",
                     document_number(run->kernel_error.bias));
}
