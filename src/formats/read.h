/* Files of bodies. A format is a row: how to recognise it, how to find out what it holds, and how
 * to read it into bodies. To add a format: a source file and its name in READ_FORMATS. */
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

/* The units of the numbers of a file, and the factors that convert them into those of the run. The
 * units that the file states count; if it states none, those of the key bodies.file_units; without
 * this key the numbers are in the units of the run. */

/* The quantity of a column; those from MASS to VZ are the reals that each body has. */
enum quantity {
    QUANTITY_MASS,
    QUANTITY_X,
    QUANTITY_Y,
    QUANTITY_Z,
    QUANTITY_VX,
    QUANTITY_VY,
    QUANTITY_VZ,
    QUANTITY_REALS, /* number of the reals before it, all of which a table must have */
    QUANTITY_ID = QUANTITY_REALS,
    QUANTITY_SYSTEM,
    QUANTITY_SPECIES, /* a word */
    QUANTITIES
};

/* The number of kinds of units that bodies have (mass, length, velocity), and the sizes of texts:
 * of a unit, and of the reason for an error. */
enum { READ_UNIT_KINDS = 3, READ_UNIT_SIZE = 40, READ_PROBLEM_SIZE = 512 };

/* The units that a file states. */
struct read_units {
    bool said;
    struct unit of[QUANTITY_REALS];
    struct unit time; /* unit of the times of frames */
    char spelling[READ_UNIT_KINDS]
                 [READ_UNIT_SIZE]; /* their names in messages: "Msun", "pc", "km/s" */
};

/* The wishes of a caller about the units of the numbers that are read. */
struct read_wish {
    /* Units into which numbers are converted, those of the run; NULL: numbers stay as they are. */
    const struct units *units;
    /* Units of the numbers of a file that states none; NULL: those of the run. */
    const struct units *file_units;
    bool as_is;         /* numbers stay as they are, also if the file states their units */
    const char *called; /* words for `file_units` in messages; NULL: "bodies.file_units =" */
};

/* Returns the words by which messages tell the user to set `file_units`, such as "bodies.file_units
 * ="; a value like `"as-is"` follows. */
const char *read_units_called(const struct read_wish *wish);

/* Returns the dimension of a mass, length or velocity. */
struct dimension read_units_dimension(enum quantity quantity);

/* Notes that the numbers of a quantity are in the unit `text`. Returns false, with the reason in
 * `problem`, if the text is no unit or the unit of something else. */
bool read_units_note(struct read_units *units, enum quantity quantity, const char *text,
                     char problem[READ_PROBLEM_SIZE]);

/* Notes the unit of time, after those of mass, length and velocity were noted. Returns false, with
 * the reason in `problem`, if `text` is no unit of time, if those units are not stated, or if
 * N-body units would mix with units that have a value in kg, m and s. */
bool read_units_note_time(struct read_units *units, const char *text,
                          char problem[READ_PROBLEM_SIZE]);

/* The factors by which the numbers of each quantity, and times, are multiplied to convert them. */
struct read_factors {
    double of[QUANTITY_REALS], time;
};

/* Returns the system of units, such as "galactic", that has all units of the file; NULL if no
 * system has them all, or the file states none. */
const struct units *read_units_system(const struct read_units *units);

/* Writes the units that a file states into `words`: "Msun, pc and km/s". */
const char *read_units_words(const struct read_units *units, char words[READ_PROBLEM_SIZE]);

/* --- readers ---------------------------------------------------------------------------------- */

enum { READ_LEFT_OUT_SIZE = 160, READ_NUMBER_SIZE = 32 };

/* The content of a file beside its bodies. */
struct read_about {
    double time;             /* time of the bodies, in the unit wished for; NaN: not stated */
    int64_t step;            /* -1: not stated */
    double box_length;       /* side of a periodic cube, in the unit wished for; 0: none */
    double box_corner[3];    /* lowest corner of that cube, likewise */
    bool other_cell;         /* the file has a periodic cell that is no cube */
    struct read_units units; /* units that the file states */
    char left_out[READ_LEFT_OUT_SIZE]; /* names of columns that are not read: "radius, color" */
    /* Set by read(): the last number of a text file that looks as if it was cut within that number;
     * else "". */
    char unfinished[READ_NUMBER_SIZE];
};

struct rows; /* rows.h */

struct read_request {
    const char *path;
    int64_t frame; /* number of the frame, from 0, in a file that holds several; -1: the last one */
    struct read_wish wish;
    /* For frames that are read one after the other: the file at `path`, open at the beginning of a
     * frame, which then counts as frame 0. The file is borrowed, and afterwards stands behind the
     * frame that was read. NULL: the call opens the file and closes it. */
    struct lines *lines;
    /* Takes the content of the file beside its bodies; NULL: not wanted. */
    struct read_about *about;
};

struct read_shape {
    size_t systems;
    size_t count; /* number of bodies in each system */
    size_t line;  /* line of the last body, for messages; 0: the file has no lines */
};

/* The frames that a file may hold. */
enum read_frames {
    READ_FRAMES_HIDDEN, /* several, which shows only in ids that occur twice: `orrery convert`
                           refuses those */
    READ_FRAMES_ONE,
    READ_FRAMES_MANY /* one behind the other: struct read_request has `lines` for them */
};

/* A format of files of bodies. Its functions report STATUS_DATA with the line, STATUS_CONFIG if the
 * file contradicts the wish, STATUS_NO_INPUT, STATUS_IO, STATUS_MEMORY. */
struct read_format {
    const char *name; /* that in READ_FORMATS: bodies.format and --from take it */
    /* Tells whether a file has this format, by its path and its first bytes, uncompressed and
     * NUL-terminated. */
    bool (*recognise)(const char *path, const char *head, size_t length);
    /* Finds the shape of the bodies. With `shape` NULL only what stands before the first body is
     * read. */
    enum status (*measure)(const struct read_format *format, const struct read_request *request,
                           struct read_shape *shape, struct error *error);
    /* Reads the file into bodies of the shape that was measured. Ids stay as they are if the file
     * has none. A file of one system fills all systems of `bodies` with it. */
    enum status (*read)(const struct read_format *format, const struct read_request *request,
                        struct bodies *bodies, struct error *error);
    /*
     * Opens a text of rows, for rows_measure() and rows_read(): reads up to the first row and sets
     * all members of `rows` but lines, taken and fields (separator, announced, comments and about
     * are preset to blanks, ROWS_UNKNOWN, false and nothing). `lines` is open and belongs to the
     * caller. NULL: the format is no text.
     */
    enum status (*open_rows)(const struct read_request *request, struct rows *rows,
                             struct error *error);
    enum read_frames frames;
};

/* The table of formats: ROW(name) stands for the struct read_<name>. The first one that recognises
 * a file reads it; the last one takes every file. */
#define READ_FORMATS(ROW) ROW(hdf5) ROW(xyz) ROW(csv) ROW(plain)
#define READ_DECLARE(name) extern const struct read_format read_##name;
READ_FORMATS(READ_DECLARE)
#undef READ_DECLARE
#define READ_NAME(name) #name,

extern const char *const read_names[]; /* in the order of READ_FORMATS; NULL-terminated */
/* Finds the format of that name; NULL if there is none. */
const struct read_format *read_find(const char *name);
/* Finds the format by the name and the first bytes of the file; text that no other format
 * recognises is "plain". STATUS_DATA if the format is one that is only written, such as npz; the
 * other errors are those of lines_head(). */
enum status read_recognise(const char *path, const struct read_format **format,
                           struct error *error);

/* For the readers of formats. read_about_clear() sets `about` to: nothing is stated.
 * read_about_leave_out() adds the name of a column to `left_out`, unless it is there already. */
void read_about_clear(struct read_about *about);
void read_about_leave_out(struct read_about *about, const char *name);

/*
 * For the readers of formats, once about->units are known: converts time and box in `about` into
 * the units that the request wishes for, and finds the factors for the numbers of bodies.
 * STATUS_CONFIG, with `line` of the file (0: no line) in the message, if the wish contradicts the
 * file.
 */
enum status read_resolve_units(const struct read_request *request, size_t line,
                               struct read_about *about, struct read_factors *factors,
                               struct error *error);

/* For formats whose files have one frame: checks that the request is for frame 0 or for the last
 * one. `what` names such a file in the message ("a table"). STATUS_DATA. */
enum status read_check_frame(const struct read_request *request, const char *what,
                             struct error *error);

/* For read(): checks that a file of `systems` systems may fill `bodies`: it must have one, or as
 * many as `bodies`. STATUS_DATA. */
enum status read_check_systems(const struct read_request *request, size_t systems,
                               const struct bodies *bodies, struct error *error);

/* The printf() format of the message about a file whose last number seems unfinished: its path, and
 * this number. */
#define READ_UNFINISHED                                                                            \
    "%.300s: its last line has no end, and its last number, %s, looks unfinished; was the file "   \
    "cut?"

/* Copies system 0 to all others. */
void read_repeat(struct bodies *bodies);

#endif
