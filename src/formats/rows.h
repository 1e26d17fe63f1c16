/*
 * Tables of bodies in text: one body a line, in columns that the start of the file or the format
 * itself names. What the text formats share; each differs by how it opens its table.
 */
#ifndef ORRERY_FORMATS_ROWS_H
#define ORRERY_FORMATS_ROWS_H

#include <stdbool.h>

#include "base/lines.h"
#include "formats/read.h"

/* A table at its first row. */
struct rows {
    struct lines *lines;
    char separator;            /* ',' or ' ' for any blanks */
    bool comments;             /* lines that start with # are skipped, as blank ones always are */
    size_t width;              /* columns */
    size_t column[QUANTITIES]; /* from 1; 0: the table has not this quantity */
    size_t announced;          /* rows that the file says it has, or ROWS_UNKNOWN: up to its end */
    size_t taken;
    char **fields;   /* of the row at hand; width of them */
    size_t shortest; /* length of the last field of a row, of those that were taken */
    bool lent;       /* the lines are the caller's */
    bool no_species; /* they are more than bodies can have, or differ between systems */
    struct read_about about;
    struct read_factors factors; /* of the numbers of a row */
    size_t units_line;           /* where the units are named; 0: nowhere */
};

#define ROWS_UNKNOWN SIZE_MAX

/* measure() and read() of struct read_format for a text format. */
enum status rows_measure(const struct read_format *format, const struct read_request *request,
                         struct read_shape *shape, struct error *error);
enum status rows_read(const struct read_format *format, const struct read_request *request,
                      struct bodies *bodies, struct error *error);

/* Returns the quantity that the `length` letters of a name mean, in any case: m, mass, x, y, z, vx,
 * vy, vz, id, cluster, system, species; QUANTITIES for none of these. */
enum quantity rows_find_quantity(const char *name, size_t length);

/* Column number `column` (from 1) is called `name`: notes it where that is a quantity, otherwise
 * that it is left out. STATUS_DATA for a second one of the same quantity. */
enum status rows_name_column(struct rows *rows, const char *name, size_t column,
                             struct error *error);

/*
 * The columns are in these units, `units[c]` that of column c + 1: nothing where it is empty or
 * NULL. Those of other columns than mass, positions and velocities are not looked at. STATUS_DATA,
 * with all that is wrong: no units, of something else, units of some columns but not of all, and
 * N-body units among others.
 */
enum status rows_name_units(struct rows *rows, const char *const *units, struct error *error);

/* STATUS_DATA with the names of what is missing; `hint` ends the message. */
enum status rows_require(const struct rows *rows, const char *hint, struct error *error);

#endif
