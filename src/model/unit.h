/* A unit as files spell it: "kpc", "km/s", "AU d^-1", "1e10 Msun", "(km/s)^2", "pc Myr-1". */
#ifndef ORRERY_MODEL_UNIT_H
#define ORRERY_MODEL_UNIT_H

#include <stdbool.h>

#include "base/dimension.h"

#ifdef __cplusplus
extern "C" {
#endif

struct unit {
    struct dimension dimension;
    double worth; /* its value in kg, m and s; 0: an N-body unit (M, L, T), which has none */
};

/*
 * Parses a unit: numbers and symbols with blanks, `*` or `/` between them, whole powers as in s^-1,
 * s**-1 or s-1, and brackets; `/` divides by the one factor behind it. Symbols are those of
 * unit_symbols() or the N-body units M, L and T, but not both kinds in one text. Returns false for
 * any other text.
 */
bool unit_parse(const char *text, struct unit *unit);

/* Returns "kg, g, Msun, ...": the symbols that messages and the manual name; unit_parse() knows
 * others that mean the same. */
const char *unit_symbols(void);

#ifdef __cplusplus
}
#endif

/*
 * The values of the units of astronomy in SI. The mass of the Sun or of a planet follows from its
 * GM, which is known far better than G. GMsun, GMearth, GMjupiter, Rsun, Rearth, Rjupiter: nominal
 * values of IAU 2015 resolution B3; parsec: 648000/pi AU, IAU 2015 B2; AU: IAU 2012 B2; G: CODATA
 * 2022; the year is Julian.
 */

#define CONSTANT_G 6.67430e-11                 /* m^3 kg^-1 s^-2 */
#define CONSTANT_GM_SUN 1.3271244e20           /* m^3 s^-2 */
#define CONSTANT_GM_EARTH 3.986004e14          /* m^3 s^-2 */
#define CONSTANT_GM_JUPITER 1.2668653e17       /* m^3 s^-2 */
#define CONSTANT_AU 149597870700.0             /* m */
#define CONSTANT_PARSEC 3.0856775814913673e16  /* m */
#define CONSTANT_LIGHT_YEAR 9460730472580800.0 /* m */
#define CONSTANT_R_SUN 6.957e8                 /* m */
#define CONSTANT_R_EARTH 6.3781e6              /* m, at the equator */
#define CONSTANT_R_JUPITER 7.1492e7            /* m, at the equator */
#define CONSTANT_DAY 86400.0                   /* s */
#define CONSTANT_YEAR (365.25 * CONSTANT_DAY)  /* s */

#endif
