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
    double worth; /* in kg, m and s; 0: an N-body unit (M, L, T), worth nothing in particular */
};

/*
 * Numbers and symbols with blanks, `*` or `/` between them, whole powers as in s^-1, s**-1 or s-1,
 * and brackets; `/` divides by the one factor behind it. Symbols are those of unit_symbols(), and
 * M, L and T of N-body units, which do not mix with them. False for what is none of this.
 */
bool unit_parse(const char *text, struct unit *unit);

/* "kg, g, Msun, ...": the symbols that messages and the manual name; others mean the same. */
const char *unit_symbols(void);

#ifdef __cplusplus
}
#endif

#endif
