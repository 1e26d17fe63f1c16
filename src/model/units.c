#include "model/units.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- symbols ---------------------------------------------------------------------------------- */

#define SOLAR_MASS (CONSTANT_GM_SUN / CONSTANT_G)

static const struct symbol {
    const char *names; /* its spellings, with blanks between and around them */
    struct dimension dimension;
    double worth; /* 0: an N-body unit */
} symbols[] = {
    { " M ", DIMENSION_MASS, 0.0 },
    { " L ", DIMENSION_LENGTH, 0.0 },
    { " T ", DIMENSION_TIME, 0.0 },
    { " kg ", DIMENSION_MASS, 1.0 },
    { " g ", DIMENSION_MASS, 1e-3 },
    { " Msun MSun msun M_sun M_Sun Msol solMass Msolar M_\u2299 M\u2299 M_\u2609 M\u2609 ",
      DIMENSION_MASS, SOLAR_MASS },
    { " Mearth M_earth earthMass ", DIMENSION_MASS, CONSTANT_GM_EARTH / CONSTANT_G },
    { " Mjup M_jup Mjupiter jupiterMass ", DIMENSION_MASS, CONSTANT_GM_JUPITER / CONSTANT_G },
    { " m ", DIMENSION_LENGTH, 1.0 },
    { " cm ", DIMENSION_LENGTH, 1e-2 },
    { " km ", DIMENSION_LENGTH, 1e3 },
    { " AU au ", DIMENSION_LENGTH, CONSTANT_AU },
    { " pc parsec parsecs ", DIMENSION_LENGTH, CONSTANT_PARSEC },
    { " kpc kiloparsec ", DIMENSION_LENGTH, 1e3 * CONSTANT_PARSEC },
    { " Mpc megaparsec ", DIMENSION_LENGTH, 1e6 * CONSTANT_PARSEC },
    { " ly lyr ", DIMENSION_LENGTH, CONSTANT_LIGHT_YEAR },
    { " Rsun R_sun solRad ", DIMENSION_LENGTH, CONSTANT_R_SUN },
    { " Rearth R_earth earthRad ", DIMENSION_LENGTH, CONSTANT_R_EARTH },
    { " Rjup R_jup Rjupiter jupiterRad ", DIMENSION_LENGTH, CONSTANT_R_JUPITER },
    { " s sec second seconds ", DIMENSION_TIME, 1.0 },
    { " min minute minutes ", DIMENSION_TIME, 60.0 },
    { " hr hour hours ", DIMENSION_TIME, 3600.0 },
    { " d day days ", DIMENSION_TIME, CONSTANT_DAY },
    { " yr year years a ", DIMENSION_TIME, CONSTANT_YEAR },
    { " kyr ", DIMENSION_TIME, 1e3 * CONSTANT_YEAR },
    { " Myr ", DIMENSION_TIME, 1e6 * CONSTANT_YEAR },
    { " Gyr ", DIMENSION_TIME, 1e9 * CONSTANT_YEAR },
};

const char *unit_symbols(void)
{
    return "kg, g, Msun, Mearth, Mjup; m, cm, km, AU, pc, kpc, Mpc, ly, Rsun, Rearth, Rjup; s, "
           "min, hr, d, yr, kyr, Myr, Gyr";
}

/* Quotients that some files write without a sign between numerator and denominator. */
static const struct {
    const char *name, *meant;
} joined[] = { { "kms", "km/s" }, { "kmps", "km/s" }, { "mps", "m/s" } };

static const struct symbol *find_symbol(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(symbols); i++)
        for (const char *p = symbols[i].names + 1; *p; p += strcspn(p, " ") + 1)
            if (strcspn(p, " ") == length && strncmp(p, name, length) == 0)
                return &symbols[i];
    return NULL;
}

/* --- expressions ------------------------------------------------------------------------------ */

/* The product of the factors that have been read so far. */
struct product {
    int mass, length, time;
    double worth;
    bool physical, nbody; /* it has a physical symbol; it has an N-body symbol */
};

enum { MOST_BRACKETS = 4, GREATEST_POWER = 9, GREATEST_EXPONENT = 99 };

static void multiply(struct product *product, const struct product *factor, int power)
{
    product->mass += power * factor->mass;
    product->length += power * factor->length;
    product->time += power * factor->time;
    product->worth *= pow(factor->worth, power);
    product->physical |= factor->physical;
    product->nbody |= factor->nbody;
}

/* Takes the power behind a factor, "^-1", "**-1", "^{-1}" or "-1", and moves *text behind it;
 * *power is 1 if there is none. Returns false if the power is 0, too large or no whole number. */
static bool take_power(const char **text, int *power)
{
    const char *p = *text;
    const bool sign = *p == '^' || strncmp(p, "**", 2) == 0;
    p += *p == '^' ? 1 : sign ? 2 : 0;
    const bool braces = sign && (*p == '{' || *p == '(');
    p += braces;
    *power = 1;
    const char *digits = p + (*p == '-' || *p == '+');
    if (!isdigit((unsigned char)*digits))
        return !sign;
    char *end;
    const long value = strtol(p, &end, 10);
    if (value < -GREATEST_POWER || value > GREATEST_POWER || value == 0)
        return false;
    if (braces && *end != '}' && *end != ')')
        return false;
    *power = (int)value;
    *text = end + braces;
    return true;
}

/* Takes a number, "1e10" or "10^10", and moves *text behind it. Returns false if there is none, or
 * if it is not positive and finite. */
static bool take_number(const char **text, struct product *factor)
{
    const char *p = *text;
    char *end;
    if (*p == '0' && (p[1] == 'x' || p[1] == 'X'))
        return false;
    factor->worth = strtod(p, &end);
    if (end == p)
        return false;
    if (*end == '^' || strncmp(end, "**", 2) == 0) {
        p = end + (*end == '^' ? 1 : 2);
        const long power = strtol(p, &end, 10);
        if (end == p || power < -GREATEST_EXPONENT || power > GREATEST_EXPONENT)
            return false;
        factor->worth = pow(factor->worth, (double)power);
    }
    *text = end;
    return factor->worth > 0.0 && isfinite(factor->worth);
}

static bool is_symbol_byte(const char *p)
{
    return isalpha((unsigned char)*p) || *p == '_' || (unsigned char)*p >= 0x80;
}

static bool take_symbol(const char **text, struct product *factor)
{
    const char *p = *text;
    while (is_symbol_byte(p) && strncmp(p, "\u00b7", 2) != 0)
        p++;
    const struct symbol *symbol = find_symbol(*text, (size_t)(p - *text));
    if (p == *text || !symbol)
        return false;
    *factor = (struct product){ symbol->dimension.mass, symbol->dimension.length,
                                symbol->dimension.time, symbol->worth > 0.0 ? symbol->worth : 1.0,
                                symbol->worth > 0.0,    !(symbol->worth > 0.0) };
    *text = p;
    return true;
}

/* Skips the signs and blanks between two factors; *divides tells whether a `/` is among them. */
static void skip_signs(const char **text, bool *divides)
{
    const char *p = *text;
    for (*divides = false;; p++) {
        if (*p == '/' && !*divides)
            *divides = true;
        else if (strncmp(p, "\u00b7", 2) == 0)
            p++;
        else if (*p != ' ' && *p != '\t' && *p != '*')
            break;
    }
    *text = p;
}

/* Takes a product up to the end of the text or to the closing bracket, and moves *text behind it.
 * `brackets` is the number of brackets that are open. Returns false if the text is no product. */
static bool take_product(const char **text, int brackets, struct product *product)
{
    *product = (struct product){ .worth = 1.0 };
    for (bool divides;;) {
        struct product factor = { .worth = 1.0 };
        int power = 1;
        skip_signs(text, &divides);
        if (**text == '\0' || **text == ')')
            return !divides;
        bool good;
        if (**text == '(') {
            ++*text;
            good = brackets < MOST_BRACKETS && take_product(text, brackets + 1, &factor) &&
                   *(*text)++ == ')' && take_power(text, &power);
        } else if (isdigit((unsigned char)**text) || **text == '.')
            good = take_number(text, &factor);
        else
            good = take_symbol(text, &factor) && take_power(text, &power);
        if (!good)
            return false;
        multiply(product, &factor, divides ? -power : power);
        if (abs(product->mass) > GREATEST_EXPONENT || abs(product->length) > GREATEST_EXPONENT ||
            abs(product->time) > GREATEST_EXPONENT)
            return false;
    }
}

bool unit_parse(const char *text, struct unit *unit)
{
    struct product product;
    for (size_t i = 0; i < COUNT_OF(joined); i++)
        if (strcmp(text, joined[i].name) == 0)
            text = joined[i].meant;
    const char *p = text;
    if (text[strspn(text, " \t")] == '\0' || !take_product(&p, 0, &product) || *p != '\0')
        return false;
    if ((product.physical && product.nbody) || !(product.worth > 0.0) || !isfinite(product.worth))
        return false;
    if (product.nbody && product.worth != 1.0)
        return false;
    *unit = (struct unit){ { (signed char)product.mass, (signed char)product.length,
                             (signed char)product.time },
                           product.nbody ? 0.0 : product.worth };
    return true;
}

/* --- systems of units ------------------------------------------------------------------------- */

/*
 * The values of G and of the units in SI:
 * astronomical: G = k^2 with the Gaussian constant k = 0.01720209895 AU^(3/2) Msun^(-1/2) d^-1
 *   (IAU 1976, system of astronomical constants).
 * galactic, pc-msun-kms, pc-msun-myr: G Msun is GMsun, in the unit of length times the square of
 *   the unit of velocity.
 * A solar mass has GMsun / G kilograms; see units.h for the values.
 */
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

/* --- the unit of a run's times ---------------------------------------------------------------- */

/* A unit is chosen only if the run is at least this many units long. */
static const double least_count = 2.0;

static struct time_unit unit_of(double size, const char *name, const char *label)
{
    struct time_unit unit = { .size = size };
    snprintf(unit.name, sizeof unit.name, "%s", name);
    snprintf(unit.label, sizeof unit.label, "%s", label);
    return unit;
}

static struct time_unit choose_physical(const struct units *units, double end,
                                        const struct time_unit *own)
{
    static const struct {
        const char *name;
        double seconds;
    } longer[] = { { "Gyr", 1e9 * CONSTANT_YEAR },
                   { "Myr", 1e6 * CONSTANT_YEAR },
                   { "kyr", 1e3 * CONSTANT_YEAR },
                   { "yr", CONSTANT_YEAR },
                   { "d", CONSTANT_DAY } };
    for (size_t k = 0; k < COUNT_OF(longer); k++) {
        const double size = longer[k].seconds / units->seconds;
        if (end >= least_count * size && (size > 1.0 || !units->time))
            return unit_of(size, longer[k].name, longer[k].name);
    }
    return *own;
}

static struct time_unit choose_of_motion(const struct time_spans *spans,
                                         const struct time_unit *own)
{
    const struct {
        const char *name;
        double size;
    } motions[] = { { "periods", spans->period },
                    { "half-mass relaxation times", spans->relaxation },
                    { "crossing times", spans->crossing } };
    char label[2 * UNITS_LABEL_SIZE];
    for (size_t k = 0; k < COUNT_OF(motions); k++) {
        snprintf(label, sizeof label, "%s of %.4g", motions[k].name, motions[k].size);
        if (motions[k].size > 0.0 && spans->end >= least_count * motions[k].size)
            return unit_of(motions[k].size, motions[k].name, label);
    }
    return *own;
}

struct time_unit time_unit_choose(const struct units *units, const struct time_spans *spans)
{
    char label[UNITS_LABEL_SIZE];
    units_label(units, (struct dimension)DIMENSION_TIME, label);
    const struct time_unit own = unit_of(1.0, units_physical(units) ? label : "", label);
    return units_physical(units) ? choose_physical(units, spans->end, &own)
                                 : choose_of_motion(spans, &own);
}

const char *time_unit_text(const struct time_unit *unit, double time, int digits,
                           char buffer[UNITS_TEXT_SIZE])
{
    snprintf(buffer, UNITS_TEXT_SIZE, "%.*g%s%s", digits, time / unit->size,
             unit->name[0] ? " " : "", unit->name);
    return buffer;
}
