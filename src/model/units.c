#include "model/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/*
 * The values of G and of the units in SI:
 * astronomical: G = k^2 with the Gaussian constant k = 0.01720209895 AU^(3/2) Msun^(-1/2) d^-1
 *   (IAU 1976, system of astronomical constants).
 * galactic, pc-msun-kms, pc-msun-myr: G Msun is GMsun, in the unit of length times the square of
 *   the unit of velocity.
 * A solar mass has GMsun / G kilograms; see unit.h for the values.
 */
#define SOLAR_MASS (CONSTANT_GM_SUN / CONSTANT_G)
#define KPC (1e3 * CONSTANT_PARSEC)
#define PC CONSTANT_PARSEC
#define MYR (1e6 * CONSTANT_YEAR)

static const struct units table[] = {
    { "nbody", "M", "L", "T", NULL, 1.0, 0.0, 0.0, 0.0, "by definition" },
    { "astronomical", "Msun", "AU", "d", NULL, 0.01720209895 * 0.01720209895, SOLAR_MASS,
      CONSTANT_AU, CONSTANT_DAY, "IAU 1976 (Gaussian constant)" },
    { "galactic", "1e10Msun", "kpc", NULL, "km/s", 1e10 * CONSTANT_GM_SUN / (KPC * 1e6),
      1e10 * SOLAR_MASS, KPC, KPC / 1e3, "IAU 2015 B2, B3" },
    { "si", "kg", "m", "s", NULL, CONSTANT_G, 1.0, 1.0, 1.0, "CODATA 2022" },
    { "pc-msun-kms", "Msun", "pc", NULL, "km/s", CONSTANT_GM_SUN / (PC * 1e6), SOLAR_MASS, PC,
      PC / 1e3, "IAU 2015 B2, B3" },
    { "pc-msun-myr", "Msun", "pc", "Myr", NULL, CONSTANT_GM_SUN / PC *(MYR / PC) * (MYR / PC),
      SOLAR_MASS, PC, MYR, "IAU 2015 B2, B3" },
};

const char *const units_names[] = { "nbody",       "astronomical", "galactic", "si",
                                    "pc-msun-kms", "pc-msun-myr",  NULL };
const char *const units_help[] = {
    "G = 1: any consistent units of mass M, length L and time T.",
    "Solar masses, astronomical units, days; G = 0.00029591220828559115 AU^3 Msun^-1 d^-2, the "
    "square of the Gaussian constant (IAU 1976).",
    "1e10 solar masses, kiloparsecs, km/s; G = 43009.1727003628 kpc (km/s)^2 (1e10 Msun)^-1 "
    "(IAU 2015 B2, B3).",
    "Kilograms, metres, seconds; G = 6.6743e-11 m^3 kg^-1 s^-2 (CODATA 2022).",
    "Solar masses, parsecs, km/s; G = 0.004300917270036279 pc (km/s)^2 Msun^-1 (IAU 2015 B2, B3); "
    "the unit of time is 0.97779222 Myr.",
    "Solar masses, parsecs, millions of Julian years; G = 0.004498502151469553 pc^3 Msun^-1 "
    "Myr^-2 (IAU 2015 B2, B3).",
};
_Static_assert(COUNT_OF(units_names) == COUNT_OF(table) + 1, "a name for every row");
_Static_assert(COUNT_OF(units_help) == COUNT_OF(table), "and what it is");

const struct units_word units_words[UNITS_WORDS] = { { "mass_unit", DIMENSION_MASS },
                                                     { "length_unit", DIMENSION_LENGTH },
                                                     { "velocity_unit", DIMENSION_VELOCITY },
                                                     { "time_unit", DIMENSION_TIME } };

const struct units *units_at(size_t index)
{
    return index < COUNT_OF(table) ? &table[index] : NULL;
}

const struct units *units_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

/* Appends "symbol^power" to the label, with a blank before it unless it is the first; nothing if
 * the power is 0. */
static void append_power(char *label, const char *symbol, int power)
{
    if (power == 0)
        return;
    const size_t length = strlen(label);
    char *end = label + length;
    const size_t room = UNITS_LABEL_SIZE - length;
    const char *blank = length ? " " : "";
    /* A symbol that is itself a quotient or a product needs brackets under a power. */
    if (power == 1)
        snprintf(end, room, "%s%s", blank, symbol);
    else if (strchr(symbol, '/') || isdigit((unsigned char)symbol[0]))
        snprintf(end, room, "%s(%s)^%d", blank, symbol, power);
    else
        snprintf(end, room, "%s%s^%d", blank, symbol, power);
}

const char *units_label(const struct units *units, struct dimension dimension,
                        char buffer[UNITS_LABEL_SIZE])
{
    buffer[0] = '\0';
    append_power(buffer, units->mass, dimension.mass);
    if (units->time) {
        append_power(buffer, units->length, dimension.length);
        append_power(buffer, units->time, dimension.time);
    } else { /* velocity is a base unit: T = L / V */
        append_power(buffer, units->length, dimension.length + dimension.time);
        append_power(buffer, units->velocity, -dimension.time);
    }
    return buffer[0] ? buffer : strcpy(buffer, "1");
}

static const char *print_number(const struct units *units, struct dimension dimension, double value,
                                int digits, char buffer[UNITS_TEXT_SIZE])
{
    char label[UNITS_LABEL_SIZE];
    if (units && units_physical(units))
        snprintf(buffer, UNITS_TEXT_SIZE, "%.*g %s", digits, value,
                 units_label(units, dimension, label));
    else
        snprintf(buffer, UNITS_TEXT_SIZE, "%.*g", digits, value);
    return buffer;
}

const char *units_behind(const struct units *units, struct dimension dimension,
                         char buffer[UNITS_LABEL_SIZE + 1])
{
    char label[UNITS_LABEL_SIZE];
    buffer[0] = '\0';
    if (units_physical(units) && strcmp(units_label(units, dimension, label), "1") != 0)
        snprintf(buffer, UNITS_LABEL_SIZE + 1, " %s", label);
    return buffer;
}

const char *units_time(const struct units *units, double time, int digits,
                       char buffer[UNITS_TEXT_SIZE])
{
    return print_number(units, (struct dimension)DIMENSION_TIME, time, digits, buffer);
}

const char *units_length(const struct units *units, double length, int digits,
                         char buffer[UNITS_TEXT_SIZE])
{
    return print_number(units, (struct dimension)DIMENSION_LENGTH, length, digits, buffer);
}

static double worth_of(const struct units *units, struct dimension d)
{
    return pow(units->kilograms, d.mass) * pow(units->metres, d.length) *
           pow(units->seconds, d.time);
}

bool units_physical(const struct units *units)
{
    return units->metres > 0.0;
}

struct unit units_unit(const struct units *units, struct dimension dimension)
{
    return (struct unit){ dimension, units_physical(units) ? worth_of(units, dimension) : 0.0 };
}

double units_factor(const struct units *units, struct unit unit)
{
    /* Units that differ by less than this are the same but for roundings, and numbers in them keep
     * their bits. */
    static const double roundings = 1e-14;
    const double factor = units_physical(units) && unit.worth > 0.0
                              ? unit.worth / worth_of(units, unit.dimension)
                          : units_physical(units) || unit.worth > 0.0 ? NAN
                                                                      : 1.0;
    return fabs(factor - 1.0) < roundings ? 1.0 : factor;
}
