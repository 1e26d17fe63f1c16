#include "formats/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "formats/system-list.h"

/* The names by which a column may state its quantity; messages use the first one. */
enum { NAMES = 4 };
static const char *const names[QUANTITIES][NAMES] = {
    [QUANTITY_MASS] = { "mass", "m", "masses" },
    [QUANTITY_X] = { "x", "pos_x", "position_x" },
    [QUANTITY_Y] = { "y", "pos_y", "position_y" },
    [QUANTITY_Z] = { "z", "pos_z", "position_z" },
    [QUANTITY_VX] = { "vx", "vel_x", "velocity_x", "v_x" },
    [QUANTITY_VY] = { "vy", "vel_y", "velocity_y", "v_y" },
    [QUANTITY_VZ] = { "vz", "vel_z", "velocity_z", "v_z" },
    [QUANTITY_ID] = { "id", "particle_id" },
    [QUANTITY_SYSTEM] = { "cluster", "system" },
    [QUANTITY_SPECIES] = { "species" },
};

enum quantity rows_find_quantity(const char *name, size_t length)
{
    for (size_t q = 0; q < QUANTITIES; q++)
        for (size_t k = 0; k < NAMES && names[q][k]; k++)
            if (strlen(names[q][k]) == length && strncasecmp(names[q][k], name, length) == 0)
                return (enum quantity)q;
    return QUANTITIES;
}

enum status rows_name_column(struct rows *rows, const char *name, size_t column,
                             struct error *error)
{
    const enum quantity quantity = rows_find_quantity(name, strlen(name));
    if (quantity == QUANTITIES) {
        if (strcasecmp(name, "time") == 0)
            rows->time = column;
        read_about_leave_out(&rows->about, name);
        return STATUS_OK;
    }
    size_t *known = &rows->column[quantity];
    if (*known)
        return lines_error(rows->lines, error, "columns %zu and %zu are both the %s", *known,
                           column, names[quantity][0]);
    *known = column;
    return STATUS_OK;
}

/* Returns the unit in `units`, by columns, of the column that has quantity q; NULL if there is
 * none. */
static const char *unit_of(const struct rows *rows, const char *const *units, enum quantity q)
{
    const char *unit = rows->column[q] ? units[rows->column[q] - 1] : NULL;
    return unit && unit[0] ? unit : NULL;
}

/* Finds the first quantity whose unit has a value in kg, m and s, if `worth` is true, or else whose
 * unit is an N-body unit; QUANTITY_REALS if there is none. */
static enum quantity find_unit(const struct read_units *units, bool worth)
{
    enum quantity q = 0;
    while (q < QUANTITY_REALS && (units->of[q].worth > 0.0) != worth)
        q++;
    return q;
}

static enum status check_mixture(const struct rows *rows, struct error *error)
{
    const enum quantity nbody = find_unit(&rows->about.units, false),
                        other = find_unit(&rows->about.units, true);
    if (nbody == QUANTITY_REALS || other == QUANTITY_REALS)
        return STATUS_OK;
    return lines_error(rows->lines, error,
                       "column %zu (%s) is in N-body units and column %zu (%s) is not; these do "
                       "not mix",
                       rows->column[nbody], names[nbody][0], rows->column[other], names[other][0]);
}

enum status rows_name_units(struct rows *rows, const char *const *units, struct error *error)
{
    char problem[READ_PROBLEM_SIZE];
    struct read_units *said = &rows->about.units;
    enum quantity without = QUANTITY_REALS;
    rows->units_line = lines_number(rows->lines);
    for (enum quantity q = 0; q < QUANTITY_REALS; q++) {
        const char *unit = unit_of(rows, units, q);
        if (!unit && without == QUANTITY_REALS)
            without = q;
        if (unit && !read_units_note(said, q, unit, problem))
            lines_error(rows->lines, error, "column %zu (%s): %s", rows->column[q], names[q][0],
                        problem);
        said->said |= unit != NULL;
    }
    if (said->said && without < QUANTITY_REALS)
        lines_error(rows->lines, error,
                    "column %zu (%s) has no unit, but others have: name those of mass, positions "
                    "and velocities, or none",
                    rows->column[without], names[without][0]);
    if (said->said && !error->status)
        check_mixture(rows, error);
    said->time = (struct unit){ DIMENSION_TIME, 0.0 };
    if (said->of[QUANTITY_VX].worth > 0.0)
        said->time.worth = said->of[QUANTITY_X].worth / said->of[QUANTITY_VX].worth;
    return error->status;
}

enum status rows_require(const struct rows *rows, const char *hint, struct error *error)
{
    struct text missing = { 0 };
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        if (!rows->column[q])
            text_print(&missing, "%s%s", missing.length ? ", " : "", names[q][0]);
    if (!missing.length && !missing.failed)
        return STATUS_OK;
    const enum status status =
        missing.failed ? error_memory(error)
                       : lines_error(rows->lines, error, "no column %s%s", missing.bytes, hint);
    text_free(&missing);
    return status;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct row {
    double value[QUANTITY_REALS];
    int64_t id, system;
};

static void close_rows(struct rows *rows)
{
    if (!rows->lent)
        lines_close(rows->lines);
    free(rows->fields);
}

static enum status open_rows(const struct read_format *format, const struct read_request *request,
                             struct rows *rows, struct error *error)
{
    *rows = (struct rows){ .separator = ' ',
                           .announced = ROWS_UNKNOWN,
                           .shortest = SIZE_MAX,
                           .lines = request->lines,
                           .lent = request->lines != NULL };
    read_about_clear(&rows->about);
    if ((!rows->lent && lines_open(request->path, &rows->lines, error)) ||
        format->open_rows(request, rows, error) ||
        read_resolve_units(request, rows->units_line, &rows->about, &rows->factors, error))
        goto fail;
    rows->fields = calloc(rows->width, sizeof *rows->fields);
    if (!rows->fields) {
        error_system(error, STATUS_MEMORY, ENOMEM, request->path);
        goto fail;
    }
    if (request->about)
        *request->about = rows->about;
    return STATUS_OK;
fail:
    close_rows(rows);
    return error->status;
}

/* Reads the line of the next row into *line, which is NULL behind the last row. */
static enum status next_line(struct rows *rows, char **line, struct error *error)
{
    *line = NULL;
    if (rows->taken == rows->announced)
        return STATUS_OK;
    for (;;) {
        if (lines_next(rows->lines, line, error) != STATUS_OK)
            return error->status;
        if (!*line && rows->announced != ROWS_UNKNOWN)
            return lines_error(rows->lines, error,
                               "the file ends after %zu of the %zu bodies that it announces",
                               rows->taken, rows->announced);
        if (!*line)
            return STATUS_OK;
        const char *start = *line + strspn(*line, " \t\n\v\f\r");
        if (*start != '\0' && !(rows->comments && *start == '#'))
            break;
        if (lines_pass_over(rows->lines, error))
            return error->status;
    }
    rows->taken++;
    return STATUS_OK;
}

/* Returns the number by which messages name the body of the present row: its id, or else its number
 * in the file, from 1. */
static int64_t body_name(const struct rows *rows, const struct row *row)
{
    return rows->column[QUANTITY_ID] ? row->id : (int64_t)rows->taken;
}

static enum status parse_integer(const struct rows *rows, enum quantity quantity, int64_t *value,
                                 struct error *error)
{
    const size_t column = rows->column[quantity];
    if (!column)
        return STATUS_OK;
    const char *field = rows->fields[column - 1];
    if (text_parse_integer(field, value))
        return STATUS_OK;
    return lines_error(rows->lines, error,
                       "column %zu (%s) of body number %zu: '%.40s' is not an "
                       "integer",
                       column, names[quantity][0], rows->taken, field);
}

static enum status parse_real(const struct rows *rows, enum quantity quantity, struct row *row,
                              struct error *error)
{
    const char *field = rows->fields[rows->column[quantity] - 1];
    if (text_parse_real(field, &row->value[quantity]))
        return STATUS_OK;
    const char *hint = strchr(field, ',') ? "; the decimal sign is '.'" : "";
    return lines_error(
        rows->lines, error, "column %zu (%s) of body %" PRId64 ": '%.40s' is not a finite number%s",
        rows->column[quantity], names[quantity][0], body_name(rows, row), field, hint);
}

static enum status convert(const struct rows *rows, enum quantity quantity, struct row *row,
                           struct error *error)
{
    const double value = row->value[quantity];
    row->value[quantity] *= rows->factors.of[quantity];
    if (isfinite(row->value[quantity]))
        return STATUS_OK;
    return lines_error(rows->lines, error,
                       "column %zu (%s) of body %" PRId64 ": %g is too large a number in the units "
                       "of the run",
                       rows->column[quantity], names[quantity][0], body_name(rows, row), value);
}

static bool is_read(const struct rows *rows, size_t column)
{
    for (size_t q = 0; q < QUANTITY_SPECIES; q++)
        if (rows->column[q] == column)
            return true;
    return false;
}

/*
 * Notes in about.unfinished that the file may have been cut within its last number, since half of a
 * number looks like a whole one. A last line without a line end proves little, because some editors
 * write none. But if the line end is missing, the last number is suspect if it is at least two
 * characters shorter than the last numbers of all rows before, or if its exponent is 0, the rest of
 * e-05, say. One character less is not enough: many numbers end in a 0 that is not written, and one
 * digit lost at the end matters little.
 */
static void look_for_cut(struct rows *rows)
{
    const char *number = rows->fields[rows->width - 1], *digits = number + strspn(number, "+-");
    const char *exponent = strpbrk(digits, "eE");
    const size_t length = strlen(digits);
    const bool is_shorter = rows->taken > 1 && length + 1 < rows->shortest;
    const bool is_no_power =
        exponent && strcmp(exponent + 1 + strspn(exponent + 1, "+-"), "0") == 0;
    if (lines_is_cut(rows->lines) && (is_shorter || is_no_power) && is_read(rows, rows->width))
        snprintf(rows->about.unfinished, READ_NUMBER_SIZE, "%s", number);
    rows->shortest = length < rows->shortest ? length : rows->shortest;
}

/* Refuses a row whose time differs from that of the first row: the table holds several frames,
 * whose bodies would be taken for those of one. */
static enum status check_time(struct rows *rows, struct error *error)
{
    char time[sizeof rows->first_time];
    if (!rows->time)
        return STATUS_OK;
    snprintf(time, sizeof time, "%s", rows->fields[rows->time - 1]);
    if (rows->taken == 1)
        memcpy(rows->first_time, time, sizeof time);
    if (strcmp(time, rows->first_time) == 0)
        return STATUS_OK;
    return lines_error(rows->lines, error,
                       "column %zu (time) is '%s' here and '%s' in the first row: the table holds "
                       "several frames, and may hold only one",
                       rows->time, time, rows->first_time);
}

static enum status parse_row(struct rows *rows, char *line, struct row *row, struct error *error)
{
    *row = (struct row){ 0 };
    const size_t count = text_split(line, rows->separator, rows->fields, rows->width);
    if (count != rows->width)
        return lines_error(rows->lines, error, "%zu columns where %zu are expected%s", count,
                           rows->width,
                           count > rows->width && rows->separator == ','
                               ? " (a decimal comma? the decimal sign is '.')"
                               : "");
    look_for_cut(rows);
    if (check_time(rows, error) || parse_integer(rows, QUANTITY_ID, &row->id, error) ||
        parse_integer(rows, QUANTITY_SYSTEM, &row->system, error))
        return error->status;
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        if (parse_real(rows, q, row, error))
            return error->status;
    if (row->value[QUANTITY_MASS] < 0)
        return lines_error(
            rows->lines, error, "column %zu (mass) of body %" PRId64 ": %g is negative",
            rows->column[QUANTITY_MASS], body_name(rows, row), row->value[QUANTITY_MASS]);
    for (enum quantity q = 0; q < QUANTITY_REALS && !error->status; q++)
        convert(rows, q, row, error);
    return error->status;
}

/* --- systems ---------------------------------------------------------------------------------- */

/* Reads all rows and counts the bodies of every system; without a column for systems all bodies
 * count for system 0. */
static enum status count_systems(struct rows *rows, struct system_list *systems,
                                 struct error *error)
{
    for (;;) {
        char *line;
        struct row row = { 0 };
        if (next_line(rows, &line, error) || !line)
            return error->status;
        if ((rows->column[QUANTITY_SYSTEM] && parse_row(rows, line, &row, error)) ||
            system_list_add(systems, row.system, error))
            return error->status;
    }
}

static enum status measure_rows(struct rows *rows, struct system_list *systems, struct error *error)
{
    if (count_systems(rows, systems, error) != STATUS_OK)
        return error->status;
    if (systems->length == 0)
        return lines_error(rows->lines, error, "no bodies");
    for (size_t s = 1; s < systems->length; s++)
        if (systems->all[s].count != systems->all[0].count)
            return lines_error(rows->lines, error,
                               "system %" PRId64 " has %zu bodies and system %" PRId64 " has %zu; "
                               "all must have the same number",
                               systems->all[0].name, systems->all[0].count, systems->all[s].name,
                               systems->all[s].count);
    return STATUS_OK;
}

/* --- the functions of a text format ----------------------------------------------------------- */

enum status rows_measure(const struct read_format *format, const struct read_request *request,
                         struct read_shape *shape, struct error *error)
{
    struct rows rows;
    struct system_list systems = { 0 };
    if (open_rows(format, request, &rows, error) != STATUS_OK)
        return error->status;
    const enum status status = shape ? measure_rows(&rows, &systems, error) : STATUS_OK;
    if (!status && shape)
        *shape =
            (struct read_shape){ systems.length, systems.all[0].count, lines_number(rows.lines) };
    system_list_free(&systems);
    close_rows(&rows);
    return status;
}

static void set_body(struct bodies *bodies, size_t index, const struct row *row, bool has_id)
{
    double *const arrays[QUANTITY_REALS] = { bodies->m,  bodies->x,  bodies->y, bodies->z,
                                             bodies->vx, bodies->vy, bodies->vz };
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        arrays[q][index] = row->value[q];
    if (has_id)
        bodies->id[index] = row->id;
}

/* Keeps the species of the bodies, or drops them all if struct bodies cannot hold them. A last
 * species named "X" is dropped, since X stands for bodies without a species. */
static void keep_species(struct rows *rows, struct bodies *bodies)
{
    const size_t last = bodies->species_count;
    if (rows->no_species)
        read_about_leave_out(&rows->about, names[QUANTITY_SPECIES][0]);
    if (rows->no_species)
        bodies->species_count = 0;
    else if (last > 0 && strcmp(bodies->species[last - 1].name, "X") == 0)
        bodies->species_count--;
}

/* Reads all rows into `bodies`: those of the k-th entry of `systems` become system k. STATUS_DATA
 * also if the file has grown since it was measured. */
static enum status fill_bodies(struct rows *rows, struct system_list *systems,
                               struct bodies *bodies, struct error *error)
{
    const size_t column = rows->column[QUANTITY_SPECIES];
    bodies->species_count = 0;
    for (;;) {
        char *line;
        struct row row;
        if (next_line(rows, &line, error) || !line || parse_row(rows, line, &row, error))
            return error->status;
        const size_t s = system_list_find(systems, row.system);
        if (s == systems->length || systems->all[s].name != row.system ||
            systems->all[s].count == bodies->count)
            return rows->announced == ROWS_UNKNOWN
                       ? lines_error(rows->lines, error, "the file has grown while it was read")
                       : lines_error(
                             rows->lines, error,
                             "a system of this frame has more than the %zu bodies of others",
                             bodies->count);
        if (column && !rows->no_species)
            rows->no_species =
                !bodies_note_species(bodies, s, systems->all[s].count, rows->fields[column - 1]);
        set_body(bodies, s * bodies->stride + systems->all[s].count++, &row,
                 rows->column[QUANTITY_ID] != 0);
    }
}

/* Lists the numbers that name the systems of the file, with counts of 0, and goes back to the first
 * row of the table. Without a column for systems the list is one system, 0. */
static enum status name_systems(struct rows *rows, struct system_list *systems, struct error *error)
{
    const bool named = rows->column[QUANTITY_SYSTEM] != 0;
    const struct lines_mark first = lines_tell(rows->lines);
    const enum status status =
        named ? count_systems(rows, systems, error) : system_list_add(systems, 0, error);
    for (size_t s = 0; s < systems->length; s++)
        systems->all[s].count = 0;
    rows->taken = 0;
    rows->shortest = SIZE_MAX;
    return status || !named ? status : lines_seek(rows->lines, first, error);
}

static enum status check_filled(const struct rows *rows, const struct system_list *systems,
                                const struct bodies *bodies, struct error *error)
{
    for (size_t s = 0; s < systems->length; s++)
        if (systems->all[s].count != bodies->count)
            return lines_error(rows->lines, error, "the file has shrunk while it was read");
    return STATUS_OK;
}

/* Tells whether a frame announces as many bodies as it should have: those of all systems, if it is
 * one of several that are read one after the other, of which only the first was measured. */
static bool announces_expected(const struct rows *rows, const struct read_request *request,
                               const struct bodies *bodies)
{
    if (rows->announced == ROWS_UNKNOWN)
        return true;
    return request->lines ? rows->announced == bodies->systems * bodies->count
                          : rows->announced % bodies->count == 0;
}

enum status rows_read(const struct read_format *format, const struct read_request *request,
                      struct bodies *bodies, struct error *error)
{
    struct rows rows;
    struct system_list systems = { 0 };
    if (open_rows(format, request, &rows, error) != STATUS_OK)
        return error->status;
    if (!announces_expected(&rows, request, bodies))
        lines_error(rows.lines, error, "the frame has %zu bodies, where %zu are expected",
                    rows.announced, bodies->systems * bodies->count);
    else if (!name_systems(&rows, &systems, error) &&
             !read_check_systems(request, systems.length, bodies, error) &&
             !fill_bodies(&rows, &systems, bodies, error) &&
             !check_filled(&rows, &systems, bodies, error)) {
        keep_species(&rows, bodies);
        if (systems.length == 1)
            read_repeat(bodies);
        if (request->about)
            *request->about = rows.about;
    }
    system_list_free(&systems);
    close_rows(&rows);
    return error->status;
}
