#include "model/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/*
 * astronomical: G = k^2 with the Gaussian constant k = 0.01720209895 AU^(3/2) Msun^(-1/2) d^-1
 *   (IAU 1976, system of astronomical constants).
 * galactic: 1e10 G Msun / (kpc (km/s)^2) with GMsun = 1.3271244e20 m^3 s^-2 (IAU 2015 B3) and
 *   1 kpc = 3.0856775814913673e19 m (IAU 2015 B2).
 * si: CODATA 2022, which with GMsun also gives the solar mass in kilograms; 1 AU = 149597870700 m
 *   (IAU 2012 B2).
 */
#define GM_SUN 1.3271244e20
#define G_SI 6.67430e-11
#define KPC 3.0856775814913673e19

static const struct units table[] = {
    { "nbody", "M", "L", "T", NULL, 1.0, 0.0, 0.0, 0.0, "by definition",
      "G = 1; any consistent units" },
    { "astronomical", "Msun", "AU", "d", NULL, 0.01720209895 * 0.01720209895, GM_SUN / G_SI,
      149597870700.0, 86400.0, "IAU 1976 (Gaussian constant)",
      "solar masses, astronomical units, days" },
    { "galactic", "1e10Msun", "kpc", NULL, "km/s", 1e10 * GM_SUN / (KPC * 1e6),
      1e10 * GM_SUN / G_SI, KPC, KPC / 1e3, "IAU 2015 B2, B3",
      "1e10 solar masses, kiloparsecs, km/s" },
    { "si", "kg", "m", "s", NULL, G_SI, 1.0, 1.0, 1.0, "CODATA 2022",
      "kilograms, metres, seconds" },
};

const char *const units_names[] = { "nbody", "astronomical", "galactic", "si", NULL };
_Static_assert(COUNT_OF(units_names) == COUNT_OF(table) + 1, "a name for every row");

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

/* Appends "symbol^power" after a blank. */
static void append_power(char *label, const char *symbol, int power)
{
    if (power == 0)
        return;
    const size_t length = strlen(label);
    char *end = label + length;
    const size_t room = UNITS_LABEL_SIZE - length;
    const char *blank = length ? " " : "";
    /* A symbol that is itself a quotient needs brackets under a power. */
    if (power == 1)
        snprintf(end, room, "%s%s", blank, symbol);
    else if (strchr(symbol, '/'))
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
    } else { /* T = L / V */
        append_power(buffer, units->length, dimension.length + dimension.time);
        append_power(buffer, units->velocity, -dimension.time);
    }
    return buffer[0] ? buffer : strcpy(buffer, "1");
}

/* Adds the dimension of `symbol`, `length` characters, to a power. */
static bool add_symbol(const struct units *units, const char *symbol, size_t length, int power,
                       struct dimension *sum)
{
    const struct {
        const char *symbol;
        struct dimension dimension;
    } symbols[] = {
        { units->mass, DIMENSION_MASS },
        { units->length, DIMENSION_LENGTH },
        { units->time, DIMENSION_TIME },
        { units->velocity, DIMENSION_VELOCITY },
    };
    for (size_t i = 0; i < COUNT_OF(symbols); i++) {
        const struct dimension d = symbols[i].dimension;
        if (!symbols[i].symbol || strlen(symbols[i].symbol) != length ||
            strncmp(symbols[i].symbol, symbol, length) != 0)
            continue;
        sum->mass = (signed char)(sum->mass + power * d.mass);
        sum->length = (signed char)(sum->length + power * d.length);
        sum->time = (signed char)(sum->time + power * d.time);
        return true;
    }
    return false;
}

bool units_dimension(const struct units *units, const char *label, struct dimension *dimension)
{
    *dimension = (struct dimension)DIMENSION_NONE;
    if (strcmp(label, "1") == 0)
        return true;
    while (*label) {
        const size_t length = strcspn(label, "^ ");
        char *end = (char *)label + length;
        const long power = *end == '^' ? strtol(end + 1, &end, 10) : 1;
        if (power < -9 || power > 9 || !add_symbol(units, label, length, (int)power, dimension))
            return false;
        label = end + strspn(end, " ");
    }
    return true;
}
