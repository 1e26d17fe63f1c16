#include "report/findings.h"

#include <math.h>
#include <stdio.h>

#include "force/method.h"
#include "integrator/integrator.h"
#include "model/units.h"

/* Below this error the sum of the energies looks constant in a figure, whatever its cause. */
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

/* Describes the change of the energy, and its meaning for this integrator. */
void tell_energy_error(const struct drawn *drawn, struct text *words)
{
    const struct extreme most = find_extreme(drawn->series, "relative_energy_error");
    const struct integrator *integrator = result_integrator(drawn->result);
    char time[UNITS_TEXT_SIZE], system[TEXT_SYSTEM_SIZE];
    if (isfinite(most.size)) {
        text_print(words, "It moved by at most %.3g of max(|E₀|, |U₀|), at t = %s%s%s. ", most.size,
                   units_time(result_units(drawn->result), most.time, 6, time),
                   text_system(system, (double)most.system, NULL),
                   has_gap(drawn->series, "relative_energy_error")
                       ? ", and is undefined in some rows"
                       : "");
    }
    if (integrator && integrator->symplectic)
        text_print(words,
                   "The integrator %s is symplectic: on regular motion its error stays within a "
                   "band. A line that climbs is a drift; a jump is a close encounter that the step "
                   "was too long for.",
                   integrator->variant.name);
    else if (integrator_chooses_steps(integrator))
        text_print(
            words,
            "The integrator %s chooses its steps by the motion, short ones in encounters: "
            "its error grows by the error that its accuracy allows per step, and by rounding.",
            integrator->variant.name);
    else if (integrator)
        text_print(words,
                   "The integrator %s is not symplectic: nothing keeps its error within a band.",
                   integrator->variant.name);
}

/* By how much K + U changed. */
void tell_energies(const struct drawn *drawn, struct text *words)
{
    const struct extreme most = find_extreme(drawn->series, "relative_energy_error");
    char share[32];
    if (most.size <= flat_line)
        text_print(words,
                   "About the centre of mass their sum stayed within %.3g of max(|E₀|, |U₀|) of "
                   "its first value%s.",
                   most.size, result_broke_off(drawn->result) ? ", up to the last row" : "");
    else if (isfinite(most.size))
        text_print(words,
                   "About the centre of mass their sum should stay as it is; it changed by %s of "
                   "max(|E₀|, |U₀|), which is an error of the integration.",
                   percent(most.size, share));
}

/* Returns the largest change that may be round-off. */
static double most_round_off(const struct drawn *drawn)
{
    const struct force_options force =
        force_options_named(result_string(drawn->result, FIELD_COMPUTE_METHOD),
                            result_string(drawn->result, FIELD_COMPUTE_PRECISION));
    return force_traits(&force).momentum_noise;
}

/* A vector that only round-off may change where the integrator keeps it: by how much it did,
 * over what it began with, or else over the sum of its parts' sizes. */
static void tell_change(const struct drawn *drawn, enum result_field scale, const char *parts,
                        const char *first, bool kept, struct text *words)
{
    const double size = result_real(drawn->result, scale);
    const double share = drawn->relative ? drawn->largest : drawn->largest / size;
    char buffer[32];
    const bool small = share <= most_round_off(drawn);
    if (kept && (small || !isfinite(share))) {
        text_print(words, "Only round-off may change it, and round-off grows like the square root "
                          "of the number of steps.");
        return;
    }
    if (isfinite(share))
        text_print(words, "It changed by %s of %s%s: ", percent(share, buffer),
                   drawn->relative ? first : parts,
                   small ? "" : ", which is an error of the integration");
    if (kept)
        text_print(words, "only round-off may change it.");
    else
        text_print(words, "%s integrator %s keeps it as well as its steps are accurate.",
                   isfinite(share) ? "the" : "The",
                   result_string(drawn->result, FIELD_CONFIG_TIME_INTEGRATOR));
}

/* The sum of forces is 0 where all bodies are kicked at one time. */
void tell_momentum(const struct drawn *drawn, struct text *words)
{
    const struct integrator *integrator = result_integrator(drawn->result);
    tell_change(drawn, FIELD_SCALES_MOMENTUM, "the bodies' Σ m |v|", "|P₀|",
                integrator_keeps_momentum(integrator), words);
}

/* Kicks along r and drifts along v leave r x v as it is; other methods mix both in a step. */
void tell_angular_momentum(const struct drawn *drawn, struct text *words)
{
    const struct integrator *integrator = result_integrator(drawn->result);
    if (result_is_periodic(drawn->result))
        text_print(words, "A periodic box does not conserve it.");
    else
        tell_change(drawn, FIELD_SCALES_ANGULAR_MOMENTUM, "the bodies' Σ m |r| |v|", "|L₀|",
                    !integrator || integrator->symplectic, words);
}

void tell_virial_ratio(const struct drawn *drawn, struct text *words)
{
    if (result_is_periodic(drawn->result))
        text_print(words, "In a periodic box nothing holds bodies together but the box, and a "
                          "steady state may have any ratio.");
    else
        text_print(words, "1 in equilibrium.");
}
