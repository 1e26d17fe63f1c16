#include "run/ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum status ensemble_create(size_t systems, double error_limit, struct conserved *now,
                            struct conserved *first, struct ensemble *ensemble, struct error *error)
{
    *ensemble =
        (struct ensemble){ .systems = systems,
                           .now = now,
                           .first = first,
                           .largest_error = calloc(systems, sizeof *ensemble->largest_error),
                           .left_out = calloc(systems, sizeof *ensemble->left_out),
                           .error_limit = error_limit };
    return ensemble->largest_error && ensemble->left_out ? STATUS_OK : error_memory(error);
}

void ensemble_destroy(struct ensemble *ensemble)
{
    free(ensemble->largest_error);
    free(ensemble->left_out);
    *ensemble = (struct ensemble){ 0 };
}

void ensemble_begin(struct ensemble *ensemble)
{
    memcpy(ensemble->first, ensemble->now, ensemble->systems * sizeof *ensemble->first);
}

double ensemble_error(const struct ensemble *ensemble, size_t system)
{
    return conserved_energy_error(&ensemble->first[system], &ensemble->now[system]);
}

void ensemble_leave_out(struct ensemble *ensemble)
{
    for (size_t s = 0; s < ensemble->systems; s++)
        ensemble->left_out[s] = isfinite(ensemble->error_limit) &&
                                !(ensemble->largest_error[s] <= ensemble->error_limit);
}

size_t ensemble_left_out(const struct ensemble *ensemble)
{
    size_t count = 0;
    for (size_t s = 0; s < ensemble->systems; s++)
        count += ensemble->left_out[s];
    return count;
}

void ensemble_judge(struct ensemble *ensemble)
{
    for (size_t s = 0; s < ensemble->systems; s++)
        ensemble->largest_error[s] =
            conserved_larger_error(ensemble->largest_error[s], ensemble_error(ensemble, s));
    ensemble_leave_out(ensemble);
}

double ensemble_largest_error(const struct ensemble *ensemble)
{
    double largest = 0.0;
    for (size_t s = 0; s < ensemble->systems; s++)
        largest = conserved_larger_error(largest, ensemble->largest_error[s]);
    return largest;
}

size_t ensemble_worst(const struct ensemble *ensemble)
{
    size_t worst = 0;
    for (size_t s = 1; s < ensemble->systems; s++) {
        const double error = ensemble_error(ensemble, s), most = ensemble_error(ensemble, worst);
        if (!isnan(most) && (isnan(error) || fabs(error) > fabs(most)))
            worst = s;
    }
    return worst;
}
