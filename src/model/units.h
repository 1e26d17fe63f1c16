/* Systems of units: the gravitational constant in each, its units in SI, and how to label
 * numbers. */
#ifndef ORRERY_MODEL_UNITS_H
#define ORRERY_MODEL_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/dimension.h"
#include "model/unit.h"

#ifdef __cplusplus
extern "C" {
#endif

struct units {
    const char *name;          /* as the key physics.units spells it */
    const char *mass, *length; /* symbols of the units: "Msun", "AU" */
    const char *time;          /* symbol, or NULL where velocity is the base unit instead */
    const char *velocity;      /* symbol, or NULL where time is the base unit */
    double gravitational_constant;
    /* The units of mass, length and time in SI; 0 in `nbody` units. */
    double kilograms, metres, seconds;
    const char *source; /* the source of these values */
};

extern const char *const units_names[]; /* the names of all systems of units; NULL-terminated */
extern const char *const units_help[];  /* a sentence on each system of units, with its G */

/* Return a system of units by its number, NULL past the last, and by its name, NULL if it is
 * unknown. Rows are static. */
const struct units *units_at(size_t index);
const struct units *units_find(const char *name);

/* Writes the unit of a dimension into `buffer` and returns it: "Msun AU^2 d^-2" for an energy, "1"
 * for a pure number; in `nbody` units "M L^2 T^-2". */
enum { UNITS_LABEL_SIZE = 64 };
const char *units_label(const struct units *units, struct dimension dimension,
                        char buffer[UNITS_LABEL_SIZE]);

/* The words by which files of bodies name their units. */
struct units_word {
    const char *word; /* "mass_unit" */
    struct dimension dimension;
};
enum { UNITS_WORDS = 4 };
extern const struct units_word units_words[UNITS_WORDS];

/* Writes the unit of a dimension with a blank before it, " Myr", to stand behind a number; "" for a
 * pure number, or if the units have no value in SI. Returns `buffer`. */
const char *units_behind(const struct units *units, struct dimension dimension,
                         char buffer[UNITS_LABEL_SIZE + 1]);

/* Write a time or a length for people, with `digits` significant digits and its unit: "3653 d". If
 * the units have no value in SI, or `units` is NULL, they write the number alone. Return
 * `buffer`. */
enum { UNITS_TEXT_SIZE = UNITS_LABEL_SIZE + 32 };
const char *units_time(const struct units *units, double time, int digits,
                       char buffer[UNITS_TEXT_SIZE]);
const char *units_length(const struct units *units, double length, int digits,
                         char buffer[UNITS_TEXT_SIZE]);

/* Tells whether the units have a value in SI; those of `nbody` have none. */
bool units_physical(const struct units *units);

/* Returns the unit of a dimension in this system of units. */
struct unit units_unit(const struct units *units, struct dimension dimension);

/* Returns the factor that turns a number in `unit` into one in these units: exactly 1 if both are
 * the same but for rounding, NaN if only one of them is an N-body unit. */
double units_factor(const struct units *units, struct unit unit);

#ifdef __cplusplus
}
#endif

#endif
