/*
 * Files of bodies. A format is a row: how to recognise it, how to find out what it holds, and how
 * to read it into bodies. To add one: a source file, a line here, a row in read.c and a choice in
 * file.c.
 */
#ifndef ORRERY_FORMATS_READ_H
#define ORRERY_FORMATS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lines.h"
#include "base/status.h"
#include "model/bodies.h"
#include "model/units.h"

/* --- units of a file -------------------------------------------------------------------------- */

/*
 * In which units the numbers of a file are, and what they are multiplied with to be in those of the
 * run. What the file says counts; where it says nothing, bodies.file_units; without either, the
 * numbers are in the units of the run.
 */

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
    QUANTITY_SPECIES, /* a word */
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

/* Factors of the numbers, and that of times. */
struct read_factors {
    double of[QUANTITY_REALS], time;
};

/* The system all whose units these are; NULL for none, or where nothing is said. */
const struct units *read_units_system(const struct read_units *units);

/* "Msun, pc and km/s" */
const char *read_units_words(const struct read_units *units, char words[READ_PROBLEM_SIZE]);

/* --- readers ---------------------------------------------------------------------------------- */

enum { READ_LEFT_OUT_SIZE = 160, READ_NUMBER_SIZE = 32 };

/* The statements of a file besides its bodies. */
struct read_about {
    double time;                       /* NaN: not said; in the unit that was wished for */
    int64_t step;                      /* -1: not said */
    double box_length;                 /* of a periodic cube, as time; 0: none */
    bool other_cell;                   /* it has a periodic cell that is no cube */
    struct read_units units;           /* those that the file names */
    char left_out[READ_LEFT_OUT_SIZE]; /* "radius, color": what bodies have and nobody reads */
    /* After read(): the last number of a text that ends within it, by the look of it; or "". */
    char unfinished[READ_NUMBER_SIZE];
};

struct rows; /* rows.h */

struct read_request {
    const char *path;
    int64_t frame; /* of files that hold several: from 0; -1 is the last one */
    struct read_wish wish;
    /* For frames that are read one after the other: the file at path, open at the beginning of the
     * frame `frame` (counted from there); borrowed, and left at the frame's end. NULL: opened for
     * the call. */
    struct lines *lines;
    struct read_about *about; /* where to put what else the file says; or NULL */
};

struct read_shape {
    size_t systems;
    size_t count; /* bodies in each of them */
    size_t line;  /* where the last body stands, for errors; 0 if there are no lines */
};

/* All report STATUS_DATA with the line, STATUS_CONFIG where the file contradicts the wish,
 * STATUS_NO_INPUT, STATUS_IO, STATUS_MEMORY. */
struct read_format {
    const char *name; /* as bodies.format spells it */
    /* Tells by the path and the first bytes of the file, uncompressed and NUL-terminated. */
    bool (*recognise)(const char *path, const char *head, size_t length);
    /* `shape` NULL: only what stands before the first body is looked at. */
    enum status (*measure)(const struct read_format *format, const struct read_request *request,
                           struct read_shape *shape, struct error *error);
    /* Into bodies of the shape that was measured; ids stay as they are where the file has none. A
     * file of one system fills all systems of `bodies` with it. */
    enum status (*read)(const struct read_format *format, const struct read_request *request,
                        struct bodies *bodies, struct error *error);
    /*
     * For rows_measure() and rows_read(), of a text of rows: reads up to the first row and sets
     * everything but lines, taken and fields (separator, announced, comments and about are preset
     * to blanks, ROWS_UNKNOWN, false and nothing). `lines` is open and belongs to the caller.
     */
    enum status (*open_rows)(const struct read_request *request, struct rows *rows,
                             struct error *error);
};

extern const struct read_format read_csv;
extern const struct read_format read_hdf5;
extern const struct read_format read_plain;
extern const struct read_format read_xyz;

/* The format of that name; NULL for none. */
const struct read_format *read_find(const char *name);
/* The format that the file looks like; text that is nothing else is plain. Errors of lines_head().
 */
enum status read_recognise(const char *path, const struct read_format **format,
                           struct error *error);

/* For formats: nothing said yet; and one more name for left_out, which it then has once. */
void read_about_clear(struct read_about *about);
void read_about_leave_out(struct read_about *about, const char *name);

/*
 * For formats, once about->units are known: brings what else is in `about` into the units of the
 * wish, and gives the factors for the bodies. STATUS_CONFIG; `line` 0: the file has none.
 */
enum status read_resolve_units(const struct read_request *request, size_t line,
                               struct read_about *about, struct read_factors *factors,
                               struct error *error);

/* For formats that hold no frames: is it frame 0, or the last one, that is wanted of the file,
 * `what` ("a table")? STATUS_DATA. */
enum status read_check_frame(const struct read_request *request, const char *what,
                             struct error *error);

/* For read(): may a file of `systems` systems fill `bodies`? STATUS_DATA. */
enum status read_check_systems(const struct read_request *request, size_t systems,
                               const struct bodies *bodies, struct error *error);

/* The message about a file whose last number is unfinished. */
#define READ_UNFINISHED                                                                            \
    "%.300s: its last line has no end, and its last number, %s, looks unfinished; was the file "   \
    "cut?"

/* Copies system 0 to all others. */
void read_repeat(struct bodies *bodies);

#endif
