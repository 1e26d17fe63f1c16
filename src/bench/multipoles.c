#include "bench/multipoles.h"

#include <math.h>

/* The pairs, some seconds' work, to which direct sums are limited; but least_compared bodies are
 * compared. */
static const double most_pairs = 1e9;
static const size_t least_compared = 500;

const struct multipoles multipoles_unknown = { .errors = { NAN, NAN, NAN, NAN, NAN },
                                               .profile = { NAN, NAN, NAN, NAN, NAN } };

static size_t compared_of(size_t count)
{
    const size_t by_pairs = (size_t)(most_pairs / (double)(count ? count : 1));
    size_t compared = by_pairs < MULTIPOLES_COMPARED ? by_pairs : MULTIPOLES_COMPARED;
    compared = compared > least_compared ? compared : least_compared;
    return compared < count ? compared : count;
}

enum status multipoles_measure(const struct force_options *options, const struct physics *physics,
                               struct bodies *bodies, struct multipoles *multipoles,
                               struct error *error)
{
    struct physics alone = *physics; /* the method does not compute external fields */
    alone.external = NULL;
    const struct moment now = { .threads = options->threads, .physics = &alone, .bodies = bodies };
    struct force_options profiled = *options;
    struct force *force = NULL;
    profiled.profiled = true;
    if (force_create(&profiled, &alone, bodies, &force, error))
        return error->status;
#pragma omp parallel num_threads(options->threads)
    force_accelerations(force, bodies);
    force->method->profile(force, &multipoles->profile);
    force_destroy(force);
    return force_audit(&now, 0, compared_of(bodies->count), &multipoles->errors, error);
}
