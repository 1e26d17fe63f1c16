#include "estimate/accuracy-target.h"

#include <gsl/gsl_sort.h>
#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "estimate/experiment.h"
#include "model/conserved.h"

const char *const accuracy_target_names[] = { "worst", "q90", NULL };

const char *const accuracy_target_help[] = {
    "The system whose error is the largest.",
    "The least error that nine of ten systems do not exceed.",
};

/* The default of time.work_limit, in pair interactions: some five minutes. */
static const double usual_work = 1e12;

void accuracy_target_check(const struct section *time, struct error *error)
{
    char end[TEXT_REAL_SIZE];
    if (!section_has(time, "energy_error") && section_has(time, "energy_error_of"))
        section_error(time, "energy_error_of", error,
                      "does not apply without time.energy_error, which it is about");
    if (!section_has(time, "trust_until") && !section_has(time, "energy_error") &&
        section_has(time, "work_limit"))
        section_error(time, "work_limit", error,
                      "does not apply without time.energy_error or time.trust_until, for which "
                      "steps are chosen");
    if (!section_has(time, "trust_until"))
        return;
    if (section_has(time, "energy_error"))
        section_error(
            time, "trust_until", error,
            "does not apply with time.energy_error: steps are chosen for one of them; to "
            "judge the energy as well, expect = ( { quantity = \"energy_error\"; at_most = "
            "%s; } )",
            text_real(end, section_real(time, "energy_error")));
    if (section_real(time, "trust_until") > section_real(time, "end"))
        section_error(time, "trust_until", error, "is beyond the end of the run: time.end = %s",
                      text_real(end, section_real(time, "end")));
}

struct accuracy_target accuracy_target(const struct config *config)
{
    const struct section *time = config_section(config, "time");
    const double error = section_real(time, "energy_error"),
                 until = section_real(time, "trust_until");
    return (struct accuracy_target){
        .error = error,
        .until = until,
        .asked = isnan(until) ? error : section_real(config_section(config, "trust"), "tolerance"),
        .of = section_has(time, "energy_error_of")
                  ? (enum accuracy_target_of)section_choice(time, "energy_error_of")
                  : TARGET_OF_WORST,
        .work = section_has(time, "work_limit") ? section_real(time, "work_limit") : usual_work,
        .integrator = !section_written(time, "integrator"),
        .step = !section_has(time, "step"),
    };
}

bool accuracy_target_of_orbits(const struct accuracy_target *target)
{
    return !isnan(target->until);
}

const char *accuracy_target_key(const struct accuracy_target *target)
{
    return accuracy_target_of_orbits(target) ? "time.trust_until"
           : !isnan(target->error)           ? "time.energy_error"
                                             : NULL;
}

bool accuracy_target_leaves_choice(const struct config *config)
{
    const struct section *time = config_section(config, "time");
    const struct accuracy_target target = accuracy_target(config);
    const struct integrator *integrator = experiment_integrator(config);
    if (!accuracy_target_key(&target))
        return false;
    return target.integrator || (integrator_has_stages(integrator)
                                     ? target.step
                                     : !section_written(time, integrator_key(integrator)->key));
}

enum status accuracy_target_error(const struct accuracy_target *target, const double *errors,
                                  size_t systems, double *counts, struct error *error)
{
    *counts = 0.0;
    for (size_t s = 0; s < systems; s++)
        *counts = conserved_larger_error(*counts, errors[s]);
    if (target->of == TARGET_OF_WORST || systems < 2)
        return STATUS_OK;
    double *sorted = memory_array(systems, sizeof *sorted, error);
    for (size_t s = 0; sorted && s < systems; s++)
        sorted[s] = isnan(errors[s]) ? INFINITY : fabs(errors[s]);
    if (!sorted)
        return error->status;
    gsl_sort(sorted, 1, systems);
    *counts = sorted[(size_t)ceil(0.9 * (double)systems) - 1];
    memory_free(sorted);
    return STATUS_OK;
}
