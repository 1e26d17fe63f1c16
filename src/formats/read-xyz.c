/*
 * Extended XYZ, as Orrery and other programs write it: each frame is a line with the number of
 * bodies, a line of key=value pairs, of which Properties names the columns, and a line for each
 * body. The columns mass, pos, velo, id, cluster (the system) and species may stand in any order
 * among others. Their units are those of the keys mass_unit, length_unit, velocity_unit and
 * time_unit, if the frame has these keys.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/read.h"
#include "formats/rows.h"

enum { MAX_COLUMNS = 1024, PROPERTIES_SIZE = 16 * MAX_COLUMNS };

/* --- frames ----------------------------------------------------------------------------------- */

/* Skips blank lines and reads the number of bodies in the next frame; 0 at the end of the file. */
static enum status read_count(struct lines *lines, size_t *count, struct error *error)
{
    char *line;
    *count = 0;
    for (;;) {
        if (lines_next(lines, &line, error) != STATUS_OK)
            return error->status;
        if (!line || line[strspn(line, " \t")] != '\0')
            break;
        if (lines_pass_over(lines, error))
            return error->status;
    }
    int64_t value;
    if (!line)
        return STATUS_OK;
    if (!text_parse_integer(line, &value) || value < 1)
        return lines_error(lines, error, "'%.40s' is not the number of bodies of a frame", line);
    *count = (size_t)value;
    return STATUS_OK;
}

static enum status skip_frame(struct lines *lines, int64_t frame, size_t count, struct error *error)
{
    for (size_t i = 0; i <= count; i++) {
        char *line;
        if (lines_next(lines, &line, error) != STATUS_OK)
            return error->status;
        if (!line)
            return lines_error(lines, error,
                               "the file ends after %zu of the %zu bodies of frame %" PRId64 "%s",
                               i ? i - 1 : 0, count, frame,
                               frame > 0 ? "; frames before it can be chosen by bodies.frame" : "");
    }
    return STATUS_OK;
}

/* Goes to frame `wanted`, counted from 0 (-1: the last one), and reads its number of bodies. */
static enum status find_frame(struct lines *lines, int64_t wanted, size_t *count,
                              struct error *error)
{
    struct lines_mark last = { 0 };
    for (int64_t frame = 0;; frame++) {
        const struct lines_mark mark = lines_tell(lines);
        if (read_count(lines, count, error) != STATUS_OK)
            return error->status;
        if (*count == 0 && (wanted >= 0 || frame == 0))
            return lines_error(lines, error,
                               "there is no frame %" PRId64 ": the file holds %" PRId64
                               " frames, the first one is 0",
                               wanted < 0 ? 0 : wanted, frame);
        if (*count == 0)
            break;
        if (frame == wanted)
            return STATUS_OK;
        if (skip_frame(lines, frame, *count, error) != STATUS_OK)
            return error->status;
        last = mark;
    }
    if (lines_seek(lines, last, error) != STATUS_OK)
        return error->status;
    return read_count(lines, count, error);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* The names in Properties that are read, whatever their case, and the columns that each stands
 * for. */
static const struct {
    const char *name;
    const char *columns[3];
    size_t count;
} properties[] = {
    { "mass", { "mass" }, 1 },
    { "masses", { "mass" }, 1 },
    { "pos", { "x", "y", "z" }, 3 },
    { "velo", { "vx", "vy", "vz" }, 3 },
    { "vel", { "vx", "vy", "vz" }, 3 },
    { "velocities", { "vx", "vy", "vz" }, 3 },
    { "id", { "id" }, 1 },
    { "cluster", { "cluster" }, 1 },
    { "species", { "species" }, 1 },
};

static enum status add_property(struct rows *rows, const char *name, size_t count,
                                struct error *error)
{
    enum status status = STATUS_OK;
    bool known = false;
    for (size_t p = 0; p < COUNT_OF(properties); p++) {
        if (strcasecmp(properties[p].name, name) != 0)
            continue;
        known = true;
        if (properties[p].count != count)
            return lines_error(rows->lines, error, "%s has %zu columns, not %zu", name, count,
                               properties[p].count);
        for (size_t k = 0; k < count && !status; k++)
            status = rows_name_column(rows, properties[p].columns[k], rows->width + k + 1, error);
    }
    if (!known)
        read_about_leave_out(&rows->about, name);
    rows->width += count;
    return status;
}

/* Parses the value of Properties: "species:S:1:pos:R:3:...". */
static enum status parse_properties(struct rows *rows, char *text, struct error *error)
{
    enum status status = STATUS_OK;
    for (char *next = text; next && !status;) {
        const char *name = strsep(&next, ":"), *type = strsep(&next, ":");
        const char *number = strsep(&next, ":");
        int64_t count;
        if (!number || strlen(type) != 1 || !text_parse_integer(number, &count) || count < 1 ||
            count > MAX_COLUMNS || rows->width > MAX_COLUMNS)
            return lines_error(rows->lines, error,
                               "Properties: '%.40s' is not followed by a type and a number of "
                               "columns, as in pos:R:3",
                               name);
        status = add_property(rows, name, (size_t)count, error);
    }
    return status;
}

enum { VALUE_SIZE = 256 };

/* Reads time, step and box of a frame from its line of keys. A cell that is periodic along no axis
 * (`pbc`) is not taken for a box. */
static void read_about_frame(struct read_about *about, const char *line)
{
    char value[VALUE_SIZE], directions[3];
    double a[9];
    if (!text_find_value(line, "Time=", value, sizeof value) ||
        !text_parse_real(value, &about->time))
        about->time = NAN;
    if (!text_find_value(line, "Step=", value, sizeof value) ||
        !text_parse_integer(value, &about->step))
        about->step = -1;
    if (!text_find_value(line, "pbc=", value, sizeof value) ||
        sscanf(value, "%c %c %c", &directions[0], &directions[1], &directions[2]) != 3 ||
        !memchr(directions, 'T', sizeof directions) ||
        !text_find_value(line, "Lattice=", value, sizeof value))
        return;
    const bool cube = sscanf(value, "%lf %lf %lf %lf %lf %lf %lf %lf %lf", &a[0], &a[1], &a[2],
                             &a[3], &a[4], &a[5], &a[6], &a[7], &a[8]) == 9 &&
                      a[0] > 0 && isfinite(a[0]) && a[4] == a[0] && a[8] == a[0] && a[1] == 0 &&
                      a[2] == 0 && a[3] == 0 && a[5] == 0 && a[6] == 0 && a[7] == 0 &&
                      !memchr(directions, 'F', sizeof directions);
    about->box_length = cube ? a[0] : 0.0;
    about->other_cell = !cube;
    if (!text_find_value(line, "Origin=", value, sizeof value) ||
        sscanf(value, "%lf %lf %lf", &about->box_corner[0], &about->box_corner[1],
               &about->box_corner[2]) != 3 ||
        !isfinite(about->box_corner[0] + about->box_corner[1] + about->box_corner[2]))
        memset(about->box_corner, 0, sizeof about->box_corner);
}

/* Reads the units of a frame: mass_unit, length_unit and velocity_unit, all or none, and with them
 * time_unit, which otherwise follows from them. */
static enum status read_units(struct rows *rows, const char *line, struct error *error)
{
    static const struct {
        const char *key;
        enum quantity first, last;
    } keys[] = { { "mass_unit=", QUANTITY_MASS, QUANTITY_MASS },
                 { "length_unit=", QUANTITY_X, QUANTITY_Z },
                 { "velocity_unit=", QUANTITY_VX, QUANTITY_VZ } };
    char values[COUNT_OF(keys)][VALUE_SIZE], time[VALUE_SIZE], problem[READ_PROBLEM_SIZE];
    const char **units = calloc(rows->width, sizeof *units);
    if (!units)
        return error_set(error, STATUS_MEMORY, "out of memory for the columns of a file");
    for (size_t k = 0; k < COUNT_OF(keys); k++)
        if (text_find_value(line, keys[k].key, values[k], VALUE_SIZE))
            for (enum quantity q = keys[k].first; q <= keys[k].last; q++)
                units[rows->column[q] - 1] = values[k];
    const enum status status = rows_name_units(rows, units, error);
    free(units);
    if (!status && text_find_value(line, "time_unit=", time, sizeof time) &&
        !read_units_note_time(&rows->about.units, time, problem))
        return lines_error(rows->lines, error, "time_unit: %s", problem);
    return status;
}

static enum status open_table(const struct read_request *request, struct rows *rows,
                              struct error *error)
{
    char *line;
    if (find_frame(rows->lines, request->frame, &rows->announced, error) != STATUS_OK ||
        lines_next(rows->lines, &line, error) != STATUS_OK)
        return error->status;
    char words[PROPERTIES_SIZE];
    if (!line || !text_find_value(line, "Properties=", words, sizeof words))
        return lines_error(rows->lines, error,
                           "no Properties=...: only extended XYZ names its columns, and masses and "
                           "velocities are needed");
    read_about_frame(&rows->about, line);
    enum status status = parse_properties(rows, words, error);
    if (!status)
        status = rows_require(rows,
                              " in Properties (a trajectory needs the columns pos, velo and "
                              "mass to start from)",
                              error);
    if (!status && !request->wish.as_is)
        status = read_units(rows, line, error);
    return status;
}

/* Recognises a file whose first line is one whole number. */
static bool recognise(const char *path, const char *head, size_t length)
{
    (void)path, (void)length;
    head += strspn(head, " \t\r\n");
    const size_t digits = strspn(head, "0123456789");
    const char *rest = head + digits;
    return digits > 0 && strchr("\r\n", rest[strspn(rest, " \t")]) != NULL;
}

const struct read_format read_xyz = { "xyz",     recognise,  rows_measure,
                                      rows_read, open_table, READ_FRAMES_MANY };
