#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "force/method.h"
#include "integrator/integrator.h"
#include "model/units.h"
#include "report/draw.h"

/* --- conserved quantities --------------------------------------------------------------------- */

/* The relative energy error up to which the sum of the energies looks constant in a figure. */
static const double flat_line = 1e-3;

/* The number of a column with the largest absolute value (`size`), over all systems and rows, and
 * its time; both are NaN if the column has no number. */
struct extreme {
    double size, time;
    size_t system; /* from 1; 0: the run has only one system */
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

static bool has_gap(const struct series *series, const char *column)
{
    const struct series_column *values = series_find(series, column);
    for (size_t i = 0; values && i < series->systems * series->rows; i++)
        if (!isfinite(values->values[i]))
            return true;
    return false;
}

/* Writes `share` (8.1) in percent ("810 %"): with three digits, but from 100 % to a million percent
 * as a whole number, which %.3g would round or write with an exponent. */
static const char *percent(double share, char buffer[32])
{
    snprintf(buffer, 32, share >= 1.0 && share < 1e4 ? "%.0f %%" : "%.3g %%", 100.0 * share);
    return buffer;
}

/* Tells whether external fields or a rotating frame acted on the bodies: energies are then in the
 * frame of the fields, and not about the centre of mass. */
static bool has_fields(const struct result *result)
{
    return result_string(result, FIELD_EXTERNAL_KEPT_MOMENTUM)[0] != '\0';
}

/* The relative difference below which two errors look the same in three digits. */
static const double rounding = 5e-3;

static void tell_energy_error(const struct drawn *drawn, struct text *words)
{
    const struct extreme most = find_extreme(drawn->series, "relative_energy_error");
    const struct integrator *integrator = result_integrator(drawn->result);
    const double watched = result_real(drawn->result, FIELD_LARGEST_ENERGY_ERROR);
    const bool unseen = drawn->series->systems == 1 && watched > most.size * (1.0 + rounding);
    char time[UNITS_TEXT_SIZE], system[TEXT_SYSTEM_SIZE];
    if (result_rotates(drawn->result))
        text_print(words, "In the rotating frame it is Jacobi's energy, in which U has the "
                          "centrifugal potential. ");
    else if (has_fields(drawn->result))
        text_print(words,
                   "In external fields it is the whole energy in their frame, for they do not "
                   "keep the motion of the whole. ");
    if (isfinite(most.size)) {
        text_print(words, "%s moved by at most %.3g of max(|E₀|, |U₀|), at t = %s%s%s. ",
                   unseen ? "At the rows drawn here it" : "It", most.size,
                   result_time(drawn->result, most.time, 6, time),
                   text_system(system, (double)most.system, NULL),
                   has_gap(drawn->series, "relative_energy_error")
                       ? ", and is undefined in some rows"
                       : "");
        if (unseen)
            text_print(words, "Between these rows the watch saw %.3g. ", watched);
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

static void tell_energies(const struct drawn *drawn, struct text *words)
{
    const struct extreme most = find_extreme(drawn->series, "relative_energy_error");
    const char *const where =
        has_fields(drawn->result) ? "Their" : "About the centre of mass their";
    char share[32];
    if (most.size <= flat_line)
        text_print(words, "%s sum stayed within %.3g of max(|E₀|, |U₀|) of its first value%s.",
                   where, most.size, result_broke_off(drawn->result) ? ", up to the last row" : "");
    else if (isfinite(most.size))
        text_print(words,
                   "%s sum should stay as it is; it changed by %s of max(|E₀|, |U₀|), which is an "
                   "error of the integration.",
                   where, percent(most.size, share));
}

/* Returns the largest relative change of a momentum that may be round-off with the force method and
 * the precision of the run. */
static double most_round_off(const struct drawn *drawn)
{
    const struct force_options force =
        force_options_named(result_string(drawn->result, FIELD_COMPUTE_METHOD),
                            result_string(drawn->result, FIELD_COMPUTE_PRECISION));
    return force_traits(&force).momentum_noise;
}

const char finding_round_off[] = "Only round-off may change it, and round-off grows like the "
                                 "square root of the number of steps.";

/* Says by how much a vector changed: relative to its size at the start (in words: `first`) if
 * drawn->relative is set; else to the sum of the sizes of its parts (in words: `parts`), the field
 * `scale` of run.json. `kept`: the integrator keeps the vector, so that only round-off may change
 * it. */
static void tell_change(const struct drawn *drawn, enum run_field scale, const char *parts,
                        const char *first, bool kept, struct text *words)
{
    const double size = result_real(drawn->result, scale);
    const double share = drawn->relative ? drawn->largest : drawn->largest / size;
    char buffer[32];
    const bool small = share <= most_round_off(drawn);
    if (kept && (small || !isfinite(share))) {
        text_print(words, "%s", finding_round_off);
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

/* Returns the largest change, since the first row of the same system, of a vector's component along
 * one of `axes`, such as "xy". */
static double change_along(const struct series *series, const char *vector, const char *axes)
{
    double most = 0.0;
    for (; *axes; axes++) {
        char column[32];
        snprintf(column, sizeof column, "%s_%c", vector, *axes);
        const struct series_column *found = series_find(series, column);
        for (size_t i = 0; found && i < series->systems * series->rows; i++)
            most = fmax(most, fabs(found->values[i] - found->values[i - i % series->rows]));
    }
    return most;
}

/* Changes `drawn` to the components of a vector that external fields or a rotating frame keep, and
 * says so. `kept` names their axes, "xy" or "none"; it is "" if there are no such fields. Returns
 * false if no component is left to be judged. */
static bool leave_kept(struct drawn *drawn, const char *kept, const char *vector,
                       struct text *words)
{
    const bool turns = result_rotates(drawn->result);
    if (!kept[0] || strcmp(kept, "xyz") == 0)
        return true;
    const size_t axes = strspn(kept, "xyz");
    if (kept[axes] != '\0' || axes > 2) { /* "none" or unknown words */
        text_print(words,
                   turns ? "The rotating frame changes it." : "The external fields change it.");
        return false;
    }
    drawn->largest = change_along(drawn->series, vector, kept);
    drawn->relative = false;
    text_print(words, "The %s its component%s along ",
               turns ? "rotating frame keeps" : "external fields keep", kept[1] ? "s" : "");
    for (size_t k = 0; kept[k]; k++)
        text_print(words, "%s%c", k > 0 ? " and " : "", kept[k]);
    text_print(words, " alone. Of that: ");
    return true;
}

/* Judges the change of the momentum. Integrators that kick all bodies at the same time keep it,
 * since the sum of the forces is 0. */
static void tell_momentum(const struct drawn *all, struct text *words)
{
    struct drawn kept = *all;
    if (leave_kept(&kept, result_string(all->result, FIELD_EXTERNAL_KEPT_MOMENTUM), "momentum",
                   words))
        tell_change(&kept, FIELD_SCALES_MOMENTUM, "the bodies' Σ m |v|", "|P₀|",
                    integrator_keeps_momentum(result_integrator(all->result)), words);
}

/* Judges the change of the angular momentum. A symplectic step consists of kicks along the line
 * between two bodies and of drifts along their velocities, which both keep it; other methods mix
 * the two. */
static void tell_angular_momentum(const struct drawn *all, struct text *words)
{
    struct drawn kept = *all;
    const struct integrator *integrator = result_integrator(all->result);
    if (!leave_kept(&kept, result_string(all->result, FIELD_EXTERNAL_KEPT_ANGULAR_MOMENTUM),
                    "angular_momentum", words))
        return;
    if (result_is_periodic(all->result))
        text_print(words, "A periodic box does not conserve it.");
    else
        tell_change(&kept, FIELD_SCALES_ANGULAR_MOMENTUM, "the bodies' Σ m |r| |v|", "|L₀|",
                    !integrator || integrator->symplectic, words);
}

static void tell_virial_ratio(const struct drawn *drawn, struct text *words)
{
    if (result_is_periodic(drawn->result))
        text_print(words, "In a periodic box nothing holds bodies together but the box, and a "
                          "steady state may have any ratio.");
    else if (result_rotates(drawn->result))
        text_print(words, "K is that in the rotating frame, and the Coriolis force is in neither W "
                          "nor U: a steady state may have any ratio.");
    else
        text_print(words, "1 in equilibrium%s.",
                   has_fields(drawn->result)
                       ? "; K is that in the frame of the external fields, and W and U have their "
                         "part"
                       : "");
}

/* --- other figures ---------------------------------------------------------------------------- */

/* Returns the first time, in any system, at which |error| is larger than 1; NaN if there is
 * none. */
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

/* Says from when on the error is as large as the orbit or, if it never is, which error is usual
 * with this integrator. An orbit along a straight line has no phase: there the distance tells. */
static void tell_orbit_error(const struct drawn *drawn, struct text *words)
{
    const struct integrator *integrator = result_integrator(drawn->result);
    const double phase = time_beyond(drawn->series, "phase_error");
    const double lost = isnan(phase) ? time_beyond(drawn->series, "distance_error") : phase;
    char time[UNITS_TEXT_SIZE];
    if (!isnan(lost))
        text_print(words, "%sAt t = %s the %s: from then on the error is as large as the orbit.",
                   integrator && !integrator->symplectic && !integrator_chooses_steps(integrator)
                       ? "This integrator is not symplectic: the size of the orbit changes. "
                       : "",
                   result_time(drawn->result, lost, 4, time),
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

/* Counts the systems with ⟨K⟩ + ⟨U⟩ > 0, the mean energy, in their last row. */
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

static void tell_unbound(const struct drawn *drawn, struct text *words)
{
    const size_t unbound = count_unbound(drawn->series);
    if (unbound > 0 && drawn->series->systems == 1)
        text_print(words, "This one is not bound: ⟨E⟩ is positive at the end.");
    else if (unbound > 0)
        text_print(words, "%zu of the %zu systems are not bound: ⟨E⟩ is positive at the end.",
                   unbound, drawn->series->systems);
}

static void tell_steps(const struct drawn *drawn, struct text *words)
{
    const struct units *units = result_units(drawn->result);
    const struct series_column *const steps = series_find(drawn->series, "smallest_step");
    const size_t count = steps ? drawn->series->systems * drawn->series->rows : 0;
    const double least = extent_of(steps ? steps->values : NULL, count).low;
    const double stuck = result_real(drawn->result, FIELD_OWN_STEPS_STUCK_AT);
    char time[UNITS_TEXT_SIZE];
    if (isfinite(least))
        text_print(words, "The smallest was %s. ", units_time(units, least, 3, time));
    if (isfinite(stuck))
        text_print(words, "At t = %s no step was short enough, and the run broke off.",
                   result_time(drawn->result, stuck, 6, time));
}

static void tell_tolerance(const struct drawn *drawn, struct text *words)
{
    const double tolerance = result_real(drawn->result, FIELD_CONFIG_TRUST_TOLERANCE);
    if (isfinite(tolerance))
        text_print(words,
                   "When a line reaches %.6g (trust.tolerance), single orbits mean nothing any "
                   "more; statistics over them may.",
                   tolerance);
}

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
