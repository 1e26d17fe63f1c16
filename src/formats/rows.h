/* Tables of bodies in text: one body on each line, in columns that the start of the file or the
 * format itself names. The text formats share these functions; each of them opens its table in its
 * own way. */
#ifndef ORRERY_FORMATS_ROWS_H
#define ORRERY_FORMATS_ROWS_H

#include <stdbool.h>

#include "base/lines.h"
#include "formats/read.h"

/* A table that is read row by row. */
struct rows {
    struct lines *lines;
    char separator;            /* ',', '\t' or ' ' for any blanks */
    bool comments;             /* lines that start with # are skipped, as blank ones always are */
    size_t width;              /* number of columns */
    size_t column[QUANTITIES]; /* the column of each quantity, from 1; 0: the table has none */
    size_t time;               /* column of the time, from 1; 0: the table has none */
    char first_time[40];       /* the time in the first row, as it is written there */
    size_t announced;          /* rows that the file says it has, or ROWS_UNKNOWN: up to its end */
    size_t taken;
    char **fields;   /* the `width` fields of the row that is being read */
    size_t shortest; /* least length of the last field of a row, over the rows so far */
    bool lent;       /* `lines` belongs to the caller */
    bool no_species; /* the file has more species than bodies can have, or systems differ in them */
    struct read_about about;
    struct read_factors factors; /* by which the numbers of a row are multiplied */
    size_t units_line;           /* number of the line that names the units; 0: none */
};

#define ROWS_UNKNOWN SIZE_MAX

/* Serve as measure() and read() of struct read_format in all text formats. */
enum status rows_measure(const struct read_format *format, const struct read_request *request,
                         struct read_shape *shape, struct error *error);
enum status rows_read(const struct read_format *format, const struct read_request *request,
                      struct bodies *bodies, struct error *error);

/* Returns the quantity that the `length` letters of a column's name mean, in upper or lower case,
 * such as m, mass, x, vx, id, cluster, species; QUANTITIES if they mean none. */
enum quantity rows_find_quantity(const char *name, size_t length);

/* Notes that column `column` (from 1) has the quantity that `name` means; if it means none, notes
 * that the column is left out. STATUS_DATA if another column has the same quantity. */
enum status rows_name_column(struct rows *rows, const char *name, size_t column,
                             struct error *error);

/*
 * Notes the units of the columns: `units[c]` is that of column c + 1, or empty or NULL. Those of
 * other columns than mass, positions and velocities are ignored. STATUS_DATA, with all that is
 * wrong: a text that is no unit, a unit of something else, units of some columns but not of all,
 * and N-body units among others.
 */
enum status rows_name_units(struct rows *rows, const char *const *units, struct error *error);

/* Checks that the table has mass, positions and velocities. STATUS_DATA with the names of what is
 * missing; `hint` ends the message. */
enum status rows_require(const struct rows *rows, const char *hint, struct error *error);

#endif
