#include "report/finding.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* "810 %", with three digits and no exponent as long as that can be read. */
static const char *percent(double share, char buffer[32])
{
    snprintf(buffer, 32, share >= 1.0 && share < 1e4 ? "%.0f %%" : "%.3g %%", 100.0 * share);
    return buffer;
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
    char moved[240] = "", system[40] = "", time[UNITS_TEXT_SIZE];
    if (most.system > 0)
        snprintf(system, sizeof system, " in system %zu", most.system);
    if (isfinite(most.size))
        snprintf(moved, sizeof moved, "It moved by at most %.3g |E₀|, at t = %s%s%s. ", most.size,
                 units_time(result_units(result), most.time, 6, time), system,
                 has_gap(series, "relative_energy_error") ? ", and is undefined in some rows" : "");
    if (integrator && integrator->symplectic)
        snprintf(text, size,
                 "%sThe integrator %s is symplectic: on regular motion its error stays within a "
                 "band. A line that climbs is a drift; a jump is a close encounter that the step "
                 "was too long for.",
                 moved, name);
    else
        snprintf(text, size, "%s%s%s%s", moved, integrator ? "The integrator " : "", name,
                 integrator ? " is not symplectic: nothing keeps its error within a band." : "");
}

void finding_energies(const struct series *series, const struct result *result, char *text,
                      size_t size)
{
    (void)result;
    const struct extreme most = find_extreme(series, "relative_energy_error");
    char share[32];
    if (!isfinite(most.size))
        snprintf(text, size, "%s", "");
    else if (most.size <= flat_line)
        snprintf(text, size, "Their sum stayed within %.3g |E₀| of its first value.", most.size);
    else
        snprintf(text, size,
                 "Their sum should stay as it is; it changed by %s of |E₀|, which is an error of "
                 "the integration.",
                 percent(most.size, share));
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

/* Of the last row of each system, how many have a mean energy that is not negative? */
static size_t count_unbound(const struct series *series)
{
    const struct series_column *kinetic = series_find(series, "kinetic_mean");
    const struct series_column *potential = series_find(series, "potential_mean");
    size_t unbound = 0;
    for (size_t s = 1; kinetic && potential && series->rows > 0 && s <= series->systems; s++) {
        const size_t last = s * series->rows - 1;
        unbound += kinetic->values[last] + potential->values[last] >= 0.0;
    }
    return unbound;
}

void finding_virial(const struct series *series, const struct result *result, char *text,
                    size_t size)
{
    (void)result;
    const size_t unbound = count_unbound(series);
    text[0] = '\0';
    if (unbound > 0 && series->systems == 1)
        snprintf(text, size, "This one is not bound: ⟨E⟩ is positive at the end.");
    else if (unbound > 0)
        snprintf(text, size, "%zu of the %zu systems are not bound: ⟨E⟩ is positive at the end.",
                 unbound, series->systems);
}

void finding_divergence(const struct series *series, const struct result *result, char *text,
                        size_t size)
{
    (void)series;
    const double tolerance = result_real(result, "config.trust.tolerance");
    text[0] = '\0';
    if (isfinite(tolerance))
        snprintf(
            text, size,
            "Where a line reaches %.6g (trust.tolerance), single orbits mean nothing any more; "
            "statistics over them may.",
            tolerance);
}

/* Sums over pairs cancel to some 1e-15 in double and 1e-7 in single precision, and the errors of
 * many steps add up; what is above this is no round-off. */
static const double most_round_off = 1e-4;

void finding_vector(const struct result *result, double change, bool relative, bool angular,
                    char *text, size_t size)
{
    char share[32];
    if (angular && strcmp(result_string(result, "config.physics.boundary"), "periodic") == 0)
        snprintf(text, size, "A periodic box does not conserve it.");
    else if (relative && change > most_round_off)
        snprintf(text, size,
                 "It changed by %s of |L₀|, which is an error of the integration: only "
                 "round-off may change it.",
                 percent(change, share));
    else
        snprintf(text, size, "Round-off alone grows like the square root of the number of steps.");
}
