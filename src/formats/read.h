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
#include "formats/read-units.h"
#include "model/bodies.h"

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
    /* From the path and the first bytes of the file, uncompressed and NUL-terminated. */
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
