#include "report/finding.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "integrator/integrator.h"

/* Below this |dE/E0| the sum of the energies looks constant in a figure, whatever its cause. */
static const double flat_line = 1e-3;

/* The entry of the largest size, of all systems and rows; NaN where there is none. */
struct extreme {
    double size, time;
    size_t system; /* counted from 1; 0: there is one alone */
};

static struct extreme find_extreme(const struct series *series, const char *column)
{
    const struct series_column *values = series_find(series, column);
    const struct series_column *time = series_find(series, "time");
    struct extreme extreme = { NAN, NAN, 0 };
    for (size_t i = 0; values && time && i < series->systems * series->rows; i++)
        if (isfinite(values->values[i]) && !(fabs(values->values[i]) <= extreme.size))
            extreme = (struct extreme){ fabs(values->values[i]), time->values[i],
                                        series->systems > 1 ? i / series->rows + 1 : 0 };
    return extreme;
}

/* Is there a number that is none? An empty cell of a column that every row should have. */
static bool has_gap(const struct series *series, const char *column)
{
    const struct series_column *values = series_find(series, column);
    for (size_t i = 0; values && i < series->systems * series->rows; i++)
        if (!isfinite(values->values[i]))
            return true;
    return false;
}

static const struct integrator *integrator_of(const struct result *result)
{
    return integrator_find(result_string(result, "config.time.integrator"));
}

void finding_energy_error(const struct series *series, const struct result *result, char *text,
                          size_t size)
{
    const struct extreme most = find_extreme(series, "relative_energy_error");
    const struct integrator *integrator = integrator_of(result);
    const char *name = integrator ? integrator->variant.name : "";
    char moved[160] = "", system[40] = "";
    if (most.system > 0)
        snprintf(system, sizeof system, " in system %zu", most.system);
    if (isfinite(most.size))
        snprintf(moved, sizeof moved, "It moved by at most %.3g |E₀|, at t = %.6g%s%s. ", most.size,
                 most.time, system,
                 has_gap(series, "relative_energy_error") ? ", and is undefined in some rows" : "");
    if (integrator && integrator->symplectic)
        snprintf(text, size,
                 "%s%s is symplectic: on regular motion its error stays within a band. A line that "
                 "climbs is a drift; a jump is a close encounter that the step was too long for.",
                 moved, name);
    else
        snprintf(text, size, "%s%s%s", moved, name,
                 integrator ? " is not symplectic: its error grows with time." : "");
}

void finding_energies(const struct series *series, const struct result *result, char *text,
                      size_t size)
{
    (void)result;
    const struct extreme most = find_extreme(series, "relative_energy_error");
    if (!isfinite(most.size))
        snprintf(text, size, "%s", "");
    else if (most.size <= flat_line)
        snprintf(text, size, "Their sum stayed within %.3g |E₀| of its first value.", most.size);
    else
        snprintf(
            text, size,
            "Their sum should stay as it is; it changed by %.3g |E₀|, which is an error of the "
            "integration.",
            most.size);
}

void finding_orbit_error(const struct series *series, const struct result *result, char *text,
                         size_t size)
{
    (void)series;
    const struct integrator *integrator = integrator_of(result);
    const double bodies = result_real(result, "bodies");
    snprintf(
        text, size, "%s%s%s",
        integrator && integrator->symplectic
            ? "A symplectic integrator errs along the track, by an amount that grows linearly."
            : "This integrator is not symplectic: the size of the orbit changes, and the error "
              "along the track grows faster than linearly.",
        bodies > 2 ? " " : "",
        bodies > 2 ? "The other bodies pull the pair away from it, which is no error." : "");
}
