#include "formats/hdf5-units.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "model/constants.h"

/*
 * The unit that is worth `value`. Files give it with four to seven digits, and the kilogram of the
 * Sun is not known to more than four: what is a power of ten of a unit of astronomy but for a
 * thousandth is that, so that 1.989e43 g are 1e10 solar masses.
 */
static double named_worth(double value, const double *named, size_t count)
{
    static const double tolerance = 1e-3;
    for (size_t i = 0; i < count; i++) {
        const double ten = pow(10.0, rint(log10(value / named[i])));
        if (fabs(value / (ten * named[i]) - 1.0) < tolerance)
            return ten * named[i];
    }
    return value;
}

/* Returns the value of the unit of velocity: the stated one, or else length over time; if the
 * digits of the two make a power of ten of cm/s, that was meant. */
static double velocity_worth(const double cgs[HDF5_CGS], double length)
{
    static const double digits = 1e-5;
    static const double times[] = { CONSTANT_YEAR, CONSTANT_DAY };
    if (cgs[HDF5_CGS_VELOCITY] > 0.0)
        return 1e-2 * cgs[HDF5_CGS_VELOCITY];
    const double quotient = cgs[HDF5_CGS_LENGTH] / cgs[HDF5_CGS_TIME];
    const double ten = pow(10.0, rint(log10(quotient)));
    return fabs(quotient / ten - 1.0) < digits
               ? 1e-2 * ten
               : length / named_worth(cgs[HDF5_CGS_TIME], times, COUNT_OF(times));
}

/* Tells whether units that were given twice agree, but for their digits. */
static bool times_agree(const double cgs[HDF5_CGS])
{
    static const double tolerance = 1e-3;
    return !(cgs[HDF5_CGS_VELOCITY] > 0.0 && cgs[HDF5_CGS_TIME] > 0.0) ||
           fabs(cgs[HDF5_CGS_VELOCITY] * cgs[HDF5_CGS_TIME] / cgs[HDF5_CGS_LENGTH] - 1.0) <
               tolerance;
}

/* From what the file says in cgs. */
static enum status make_units(const struct read_wish *wish, struct hdf5_snapshot *snapshot,
                              struct error *error)
{
    static const double masses[] = { CONSTANT_GM_SUN / CONSTANT_G },
                        lengths[] = { CONSTANT_PARSEC, CONSTANT_AU };
    const double *cgs = snapshot->cgs;
    struct read_units *units = &snapshot->about.units;
    bool any = false, good = true;
    for (size_t k = 0; k < HDF5_CGS; k++) {
        any |= cgs[k] != 0.0;
        good = good && isfinite(cgs[k]) && cgs[k] >= 0.0;
    }
    if (!any)
        return STATUS_OK;
    if (!good || !(cgs[HDF5_CGS_MASS] > 0.0) || !(cgs[HDF5_CGS_LENGTH] > 0.0) ||
        !(cgs[HDF5_CGS_VELOCITY] > 0.0 || cgs[HDF5_CGS_TIME] > 0.0) || !times_agree(cgs))
        return error_set(
            error, STATUS_DATA,
            "%s: its units must be those of mass, length and velocity (or time) in cgs, greater "
            "than 0 and in agreement; %s \"as-is\" takes the numbers as they stand",
            snapshot->path, read_units_called(wish));
    const double length = named_worth(1e-2 * cgs[HDF5_CGS_LENGTH], lengths, COUNT_OF(lengths));
    const double worth[] = { named_worth(1e-3 * cgs[HDF5_CGS_MASS], masses, COUNT_OF(masses)),
                             length, velocity_worth(cgs, length) };
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        units->of[q] =
            (struct unit){ read_units_dimension(q), worth[(q >= QUANTITY_X) + (q >= QUANTITY_VX)] };
    units->time = (struct unit){ DIMENSION_TIME, worth[1] / worth[2] };
    snprintf(units->spelling[0], READ_UNIT_SIZE, "%.7g g", cgs[HDF5_CGS_MASS]);
    snprintf(units->spelling[1], READ_UNIT_SIZE, "%.7g cm", cgs[HDF5_CGS_LENGTH]);
    snprintf(units->spelling[2], READ_UNIT_SIZE, "%.7g cm/s", 1e2 * worth[2]);
    units->said = true;
    return STATUS_OK;
}

/* All 1: so codes without units of their own fill in the form. */
static bool are_ones(const double cgs[HDF5_CGS])
{
    return cgs[HDF5_CGS_MASS] == 1.0 && cgs[HDF5_CGS_LENGTH] == 1.0 &&
           (cgs[HDF5_CGS_VELOCITY] == 1.0 || cgs[HDF5_CGS_TIME] == 1.0);
}

/* Refuses numbers of cosmological snapshots, which contain powers of h and of the scale factor,
 * whatever their units are; a value that no cosmology has is damage. */
static enum status check_cosmology(const struct read_wish *wish,
                                   const struct hdf5_snapshot *snapshot, struct error *error)
{
    static const double least_h = 0.01, most_h = 100.0, least_z = 1e-9, most_z = 1e9;
    const bool has_h = snapshot->hubble != 0.0 && snapshot->hubble != 1.0;
    const double value = has_h ? snapshot->hubble : snapshot->redshift, size = fabs(value);
    const bool known = has_h ? value >= least_h && value <= most_h
                             : value > -1.0 && size >= least_z && size <= most_z;
    const char *name = has_h ? "HubbleParam" : "Redshift";
    if (!has_h && value == 0.0)
        return STATUS_OK;
    if (!known)
        return error_set(error, STATUS_DATA,
                         "%s: its %s is %g, which no cosmology has; %s \"as-is\" takes the numbers "
                         "as they stand",
                         snapshot->path, name, value, read_units_called(wish));
    return error_set(error, STATUS_CONFIG,
                     "%s: its %s is %g: numbers of cosmological snapshots contain h and the scale "
                     "factor, which are not converted here; scale them, and set %s \"as-is\"",
                     snapshot->path, name, value, read_units_called(wish));
}

enum status hdf5_units_resolve(const struct read_request *request, struct hdf5_snapshot *snapshot,
                               struct read_factors *factors, struct error *error)
{
    const struct read_wish *wish = &request->wish;
    struct read_units *units = &snapshot->about.units;
    *units = (struct read_units){ 0 };
    if (!wish->as_is && make_units(wish, snapshot, error))
        return error->status;
    if (wish->units && !units_physical(wish->units) && are_ones(snapshot->cgs))
        units->said = false;
    if (!wish->as_is && check_cosmology(wish, snapshot, error))
        return error->status;
    return read_resolve_units(request, 0, &snapshot->about, factors, error);
}
