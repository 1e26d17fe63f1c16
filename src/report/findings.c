#include "report/findings.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrator/integrator.h"
#include "model/units.h"

/* The first time at which an error is larger than 1; NaN for none. */
static double time_beyond(const struct series *series, const char *column)
{
    const struct series_column *error = series_find(series, column);
    const struct series_column *time = series_find(series, "time");
    double first = NAN;
    for (size_t i = 0; error && time && i < series->systems * series->rows; i++)
        if (fabs(error->values[i]) > 1.0)
            first = fmin(first, time->values[i]);
    return first;
}

/* Describes the usual error of the orbit with this integrator, as long as it is a small one. */
static void tell_orbit_error(const struct drawn *drawn, struct text *words)
{
    const struct integrator *integrator = result_integrator(drawn->result);
    const double phase = time_beyond(drawn->series, "phase_error"); /* a straight line has none */
    const double lost = isnan(phase) ? time_beyond(drawn->series, "distance_error") : phase;
    char time[UNITS_TEXT_SIZE];
    if (!isnan(lost))
        text_print(words, "%sAt t = %s the %s: from then on the error is as large as the orbit.",
                   integrator && !integrator->symplectic && !integrator_chooses_steps(integrator)
                       ? "This integrator is not symplectic: the size of the orbit changes. "
                       : "",
                   units_time(result_units(drawn->result), lost, 4, time),
                   isnan(phase) ? "position is off by more than the semi-major axis"
                                : "phase is off by more than a radian");
    else if (integrator && integrator->symplectic)
        text_print(words, "A symplectic integrator errs along the track, by an amount that grows "
                          "linearly.");
    else if (integrator_chooses_steps(integrator))
        text_print(words,
                   "With steps that follow the motion, the error comes from their accuracy and "
                   "from rounding; it grows fastest along the track.");
    else
        text_print(words, "This integrator is not symplectic: the size of the orbit changes, and "
                          "the error along the track grows faster than linearly.");
    if (result_real(drawn->result, FIELD_BODIES) > 2)
        text_print(words, " The other bodies pull the pair away from it, which is no error.");
}

/* Counts the systems whose mean energy is positive in their last row. */
static size_t count_unbound(const struct series *series)
{
    const struct series_column *kinetic = series_find(series, "kinetic_mean");
    const struct series_column *potential = series_find(series, "potential_mean");
    size_t unbound = 0;
    for (size_t s = 1; kinetic && potential && series->rows > 0 && s <= series->systems; s++) {
        const size_t last = s * series->rows - 1;
        unbound += kinetic->values[last] + potential->values[last] > 0.0;
    }
    return unbound;
}

/* Describes a system that is not bound, whose means go on changing. */
static void tell_unbound(const struct drawn *drawn, struct text *words)
{
    const size_t unbound = count_unbound(drawn->series);
    if (unbound > 0 && drawn->series->systems == 1)
        text_print(words, "This one is not bound: ⟨E⟩ is positive at the end.");
    else if (unbound > 0)
        text_print(words, "%zu of the %zu systems are not bound: ⟨E⟩ is positive at the end.",
                   unbound, drawn->series->systems);
}

/* The least of a column, of all systems; NaN where there is none. */
static double least_of(const struct series *series, const char *column)
{
    const struct series_column *found = series_find(series, column);
    double least = NAN;
    for (size_t i = 0; found && i < series->systems * series->rows; i++)
        least = fmin(least, found->values[i]);
    return least;
}

/* Describes the lengths of steps, and the place where a run broke off for want of a shorter one. */
static void tell_steps(const struct drawn *drawn, struct text *words)
{
    const struct units *units = result_units(drawn->result);
    const double least = least_of(drawn->series, "smallest_step");
    const double stuck = result_real(drawn->result, FIELD_OWN_STEPS_STUCK_AT);
    char time[UNITS_TEXT_SIZE];
    if (isfinite(least))
        text_print(words, "The smallest was %s. ", units_time(units, least, 3, time));
    if (isfinite(stuck))
        text_print(words, "At t = %s no step was short enough, and the run broke off.",
                   units_time(units, stuck, 6, time));
}

/* Explains the line beyond which orbits are no longer those of the system. */
static void tell_tolerance(const struct drawn *drawn, struct text *words)
{
    const double tolerance = result_real(drawn->result, FIELD_CONFIG_TRUST_TOLERANCE);
    if (isfinite(tolerance))
        text_print(words,
                   "When a line reaches %.6g (trust.tolerance), single orbits mean nothing any "
                   "more; statistics over them may.",
                   tolerance);
}

/* By the name of a figure. */
static const struct {
    const char *figure;
    void (*tell)(const struct drawn *drawn, struct text *words);
} findings[] = {
    { "energy-error", tell_energy_error }, { "energies", tell_energies },
    { "momentum", tell_momentum },         { "angular-momentum", tell_angular_momentum },
    { "virial-ratio", tell_virial_ratio }, { "virial", tell_unbound },
    { "orbit-error", tell_orbit_error },   { "own-steps", tell_steps },
    { "divergence", tell_tolerance },
};

void finding_tell(const char *figure, const struct drawn *drawn, struct text *words)
{
    for (size_t i = 0; i < COUNT_OF(findings); i++)
        if (strcmp(findings[i].figure, figure) == 0)
            findings[i].tell(drawn, words);
}
