/* Units: one as files spell it, systems of units with the gravitational constant in each, and the
 * unit in which people think of the times of a run. */
#ifndef ORRERY_MODEL_UNITS_H
#define ORRERY_MODEL_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "config/parameter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A unit as files spell it: "kpc", "km/s", "AU d^-1", "1e10 Msun", "(km/s)^2", "pc Myr-1". */
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

/* --- systems of units ------------------------------------------------------------------------- */

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

/* --- the unit of a run's times ---------------------------------------------------------------- */

/* The unit in which people think of the times of a run, for texts and figures: years, periods of
 * its orbit, crossing times of its cluster. Files of numbers keep the unit of the config. */
struct time_unit {
    double size; /* its length, in the run's unit of time; 1: it is the run's unit */
    char name[UNITS_LABEL_SIZE];      /* "yr", "periods", "crossing times"; "" in N-body units */
    char label[2 * UNITS_LABEL_SIZE]; /* the name for an axis of a figure: "crossing times
                                         of 2.828"; "T" */
};

/* The length of a run, and spans of time that may become its unit, all in the unit of time of its
 * config; NaN: not known. */
struct time_spans {
    double end;    /* time until which the run goes */
    double period; /* period of the orbit that the run measures, at the start */
    /* Crossing time and half-mass relaxation time of its cluster, at the start. */
    double crossing, relaxation;
};

/*
 * Chooses the first of these units of which the run is at least two long. If the run's units are
 * physical: Gyr, Myr, kyr, yr and d, but only those longer than the run's own unit of time, if that
 * has a symbol. Otherwise: the period of its orbit, the half-mass relaxation time, the crossing
 * time of its cluster. If none fits, it is the run's own unit.
 */
struct time_unit time_unit_choose(const struct units *units, const struct time_spans *spans);

/* Writes `time`, which is in the run's own unit of time, as "9.6 yr" with `digits` significant
 * digits. Returns `buffer`. */
const char *time_unit_text(const struct time_unit *unit, double time, int digits,
                           char buffer[UNITS_TEXT_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
