/* Unit systems: what 1 means in each, the gravitational constant in it, and how to label numbers.
 */
#ifndef ORRERY_MODEL_UNITS_H
#define ORRERY_MODEL_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dimension.h"

#ifdef __cplusplus
extern "C" {
#endif

struct units {
    const char *name;          /* "nbody", "astronomical", "galactic", "si" */
    const char *mass, *length; /* symbols: "Msun", "AU" */
    const char *time;          /* symbol, or NULL where velocity is the base unit instead */
    const char *velocity;      /* symbol, or NULL where time is the base unit */
    double gravitational_constant;
    double kilograms, metres, seconds; /* that 1 of each is worth; 0 in `nbody` units */
    const char *source;                /* of these values */
    const char *help;
};

extern const char *const units_names[]; /* of all rows; NULL-terminated */

/* NULL past the last / for an unknown name. Rows are static. */
const struct units *units_at(size_t index);
const struct units *units_find(const char *name);

/* "Msun AU^2 d^-2", "1" for a pure number; in `nbody` units "M L^2 T^-2". */
enum { UNITS_LABEL_SIZE = 64 };
const char *units_label(const struct units *units, struct dimension dimension,
                        char buffer[UNITS_LABEL_SIZE]);

/* The other way round; false where the label is none of these units'. */
bool units_dimension(const struct units *units, const char *label, struct dimension *dimension);

#ifdef __cplusplus
}
#endif

#endif
