/*
 * Tables of bodies in text: one body a line, in columns that the start of the file or the format
 * itself names. The text formats share these functions; each of them opens its table in its own
 * way.
 */
#ifndef ORRERY_FORMATS_ROWS_H
#define ORRERY_FORMATS_ROWS_H

#include <stdbool.h>

#include "base/lines.h"
#include "formats/read.h"

/* A table that is read row by row. */
struct rows {
    struct lines *lines;
    char separator;            /* ',' or ' ' for any blanks */
    bool comments;             /* lines that start with # are skipped, as blank ones always are */
    size_t width;              /* columns */
    size_t column[QUANTITIES]; /* number of its column, from 1; 0: the table has no such column */
    size_t announced;          /* rows that the file says it has, or ROWS_UNKNOWN: up to its end */
    size_t taken;
    char **fields;   /* of the row at hand; width of them */
    size_t shortest; /* the least length of the last field, of the rows that were taken */
    bool lent;       /* the lines are the caller's */
    bool no_species; /* species are more than bodies can have, or differ between systems */
    struct read_about about;
    struct read_factors factors; /* of the numbers of a row */
    size_t units_line;           /* where the units are named; 0: nowhere */
};

#define ROWS_UNKNOWN SIZE_MAX

/* Do the work of measure() and read() of struct read_format for a text format. */
enum status rows_measure(const struct read_format *format, const struct read_request *request,
                         struct read_shape *shape, struct error *error);
enum status rows_read(const struct read_format *format, const struct read_request *request,
                      struct bodies *bodies, struct error *error);

/* Returns the quantity that the `length` letters of a name mean, in any case: m, mass, x, y, z, vx,
 * vy, vz, id, cluster, system, species; QUANTITIES for none of these. */
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
