#include "model/unit.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
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
           "min, "
           "hr, d, yr, kyr, Myr, Gyr";
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
