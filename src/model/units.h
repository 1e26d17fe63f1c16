/* Systems of units: the value of 1 in each, the gravitational constant in it, and how to label
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
    const char *name;          /* as physics.units spells it */
    const char *mass, *length; /* symbols: "Msun", "AU" */
    const char *time;          /* symbol, or NULL where velocity is the base unit instead */
    const char *velocity;      /* symbol, or NULL where time is the base unit */
    double gravitational_constant;
    double kilograms, metres, seconds; /* of the unit of mass, length, time; 0 in `nbody` units */
    const char *source;                /* the source of these values */
};

extern const char *const units_names[]; /* the names of all systems of units; NULL-terminated */
extern const char *const units_help[];  /* a sentence for each, with its G */

/* Return a system of units by its number, NULL past the last, and by its name, NULL if it is
 * unknown. Rows are static. */
const struct units *units_at(size_t index);
const struct units *units_find(const char *name);

/* Writes the label of a dimension into `buffer` and returns it: "Msun AU^2 d^-2", "1" for a pure
 * number; in `nbody` units "M L^2 T^-2". */
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

/* Writes " Myr", to stand behind a number; "" if the number is a pure one or the units have no
 * value in SI. */
const char *units_behind(const struct units *units, struct dimension dimension,
                         char buffer[UNITS_LABEL_SIZE + 1]);

/*
 * Writes "3653 d", with `digits` significant digits, for people. If the units have no value in SI,
 * or `units` is NULL, it writes the number alone.
 */
enum { UNITS_TEXT_SIZE = UNITS_LABEL_SIZE + 32 };
const char *units_time(const struct units *units, double time, int digits,
                       char buffer[UNITS_TEXT_SIZE]);
const char *units_length(const struct units *units, double length, int digits,
                         char buffer[UNITS_TEXT_SIZE]);

/* Tells whether the units have a value in SI; those of `nbody` have none. */
bool units_physical(const struct units *units);

/* Returns the unit of a dimension in this system. */
struct unit units_unit(const struct units *units, struct dimension dimension);

/*
 * Returns the factor that turns a number in `unit` into these units: exactly 1 if they are the
 * same, NaN between N-body units and others.
 */
double units_factor(const struct units *units, struct unit unit);

#ifdef __cplusplus
}
#endif

#endif
