/*
 * In which units the numbers of a file are, and what they are multiplied with to be in those of the
 * run. What the file says counts; where it says nothing, bodies.file_units; without either, the
 * numbers are in the units of the run.
 */
#ifndef ORRERY_FORMATS_READ_UNITS_H
#define ORRERY_FORMATS_READ_UNITS_H

#include <stdbool.h>

#include "model/units.h"

/* The quantity of a column, mass to VZ in the order of struct row. */
enum quantity {
    QUANTITY_MASS,
    QUANTITY_X,
    QUANTITY_Y,
    QUANTITY_Z,
    QUANTITY_VX,
    QUANTITY_VY,
    QUANTITY_VZ,
    QUANTITY_REALS, /* all before; a table must have them */
    QUANTITY_ID = QUANTITY_REALS,
    QUANTITY_SYSTEM,
    QUANTITIES
};

/* The kinds of units that bodies have: of mass, of length, of velocity. */
enum { READ_UNIT_KINDS = 3, READ_UNIT_SIZE = 40, READ_PROBLEM_SIZE = 512 };

/* The units that a file states. */
struct read_units {
    bool said;
    struct unit of[QUANTITY_REALS];
    struct unit time;                               /* of the time of a frame */
    char spelling[READ_UNIT_KINDS][READ_UNIT_SIZE]; /* "Msun", "pc", "km/s" */
};

/* The units that the reader of a file wishes for. */
struct read_wish {
    const struct units *units;      /* of the run: what numbers become; NULL: they stay */
    const struct units *file_units; /* where the file does not say; NULL: those of the run */
    bool as_is; /* numbers stay as they are, and what the file says of units is not looked at */
    const char
        *called; /* what messages call the wish for file_units; NULL: "bodies.file_units =" */
};

/* Returns the name of the wish for file_units in messages, with `"as-is"` behind it. */
const char *read_units_called(const struct read_wish *wish);

/* Returns the dimension of a mass, length or velocity. */
struct dimension read_units_dimension(enum quantity quantity);

/*
 * Notes that the numbers of a quantity are in the unit `text`. False, with what is wrong, for what
 * is no unit or one of something else.
 */
bool read_units_note(struct read_units *units, enum quantity quantity, const char *text,
                     char problem[READ_PROBLEM_SIZE]);

/* The same of the unit of time, once those of the bodies are noted: false also where it is of
 * another kind than these (N-body units, or with a worth), or where these are not said. */
bool read_units_note_time(struct read_units *units, const char *text,
                          char problem[READ_PROBLEM_SIZE]);

/* Computes the factors of the numbers, and that of times; false, with the remedy, if the wish
 * contradicts the file. */
struct read_factors {
    double of[QUANTITY_REALS], time;
};
bool read_units_factors(const struct read_units *units, const struct read_wish *wish,
                        struct read_factors *factors, char problem[READ_PROBLEM_SIZE]);

/* The system all whose units these are; NULL for none, or where nothing is said. */
const struct units *read_units_system(const struct read_units *units);

/* "Msun, pc and km/s" */
const char *read_units_words(const struct read_units *units, char words[READ_PROBLEM_SIZE]);

#endif
