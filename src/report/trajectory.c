#include "report/trajectory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* The value of `key` in a comment line, up to the next blank; false if it is not there. */
static bool find_value(const char *comment, const char *key, char *value, size_t size)
{
    const char *found = strstr(comment, key);
    if (!found || (found != comment && found[-1] != ' '))
        return false;
    found += strlen(key);
    snprintf(value, size, "%.*s", (int)strcspn(found, " "), found);
    return true;
}

/* Properties=species:S:1:pos:R:3:...: name, type and count of columns, over and over. */
static bool find_position(struct trajectory *trajectory, const char *comment)
{
    char properties[512];
    bool found = false;
    trajectory->columns = 0;
    if (!find_value(comment, "Properties=", properties, sizeof properties))
        return false;
    char *rest = properties, *name;
    while ((name = strsep(&rest, ":"))) {
        const char *type = strsep(&rest, ":"), *count = strsep(&rest, ":");
        int64_t columns;
        if (!type || !count || !text_parse_integer(count, &columns) || columns < 1)
            return false;
        if (strcmp(name, "pos") == 0 && columns == 3) {
            trajectory->position = trajectory->columns;
            found = true;
        }
        trajectory->columns += (size_t)columns;
    }
    return found;
}

static enum status add_frame(struct trajectory *trajectory, struct lines_mark mark, double time,
                             struct error *error)
{
    const size_t count = trajectory->frame_count;
    if ((count & (count - 1)) == 0) { /* full at every power of two */
        const size_t capacity = count ? 2 * count : 1;
        struct trajectory_frame *frames =
            realloc(trajectory->frames, memory_bytes(capacity, sizeof *trajectory->frames));
        if (!frames)
            return error_set(error, STATUS_MEMORY, "out of memory");
        trajectory->frames = frames;
    }
    trajectory->frames[trajectory->frame_count++] = (struct trajectory_frame){ mark, time };
    return STATUS_OK;
}

/* The next line; *end where the file ends before it does. */
static enum status whole_line(struct trajectory *trajectory, char **line, bool *end,
                              struct error *error)
{
    const enum status status = lines_next(trajectory->lines, line, error);
    *end = !status && (!*line || lines_is_cut(trajectory->lines));
    return status;
}

/* The line with the count; *end at the end of the file. */
static enum status read_count(struct trajectory *trajectory, bool *end, struct error *error)
{
    char *line;
    int64_t bodies;
    if (whole_line(trajectory, &line, end, error) || *end)
        return error->status;
    if (!text_parse_integer(line, &bodies) || bodies < 1)
        return lines_error(trajectory->lines, error, "not a number of bodies");
    if (trajectory->frame_count && trajectory->bodies != (size_t)bodies)
        return lines_error(trajectory->lines, error, "%lld bodies here, %zu before",
                           (long long)bodies, trajectory->bodies);
    trajectory->bodies = (size_t)bodies;
    return STATUS_OK;
}

/* One frame from its count to its last body; *end where the file ends before that. */
static enum status index_frame(struct trajectory *trajectory, bool *end, struct error *error)
{
    char *line, text[TEXT_REAL_SIZE];
    if (read_count(trajectory, end, error) || *end)
        return error->status;
    const struct lines_mark mark = lines_tell(trajectory->lines);
    if (whole_line(trajectory, &line, end, error) || *end)
        return error->status;
    if (!find_position(trajectory, line))
        return lines_error(trajectory->lines, error, "no extended XYZ: no positions in Properties");
    double time = NAN;
    if (!find_value(line, "Time=", text, sizeof text) || !text_parse_real(text, &time))
        time = NAN;
    for (size_t i = 0; i < trajectory->bodies && !*end; i++)
        if (whole_line(trajectory, &line, end, error))
            return error->status;
    return *end ? STATUS_OK : add_frame(trajectory, mark, time, error);
}

enum status trajectory_open(const char *path, struct trajectory **result, struct error *error)
{
    *result = NULL;
    struct trajectory *trajectory = calloc(1, sizeof *trajectory);
    if (!trajectory)
        return error_set(error, STATUS_MEMORY, "out of memory");
    enum status status = lines_open(path, &trajectory->lines, error);
    for (bool end = false; !status && !end;)
        status = index_frame(trajectory, &end, error);
    if (!status && trajectory->frame_count == 0)
        status = error_set(error, STATUS_DATA, "%s: no frame", path);
    if (status)
        trajectory_close(trajectory);
    else
        *result = trajectory;
    return status;
}

void trajectory_close(struct trajectory *trajectory)
{
    if (!trajectory)
        return;
    lines_close(trajectory->lines);
    free(trajectory->frames);
    free(trajectory);
}

static enum status read_position(const struct trajectory *trajectory, char *line, double *x,
                                 double *y, double *z, struct error *error)
{
    double *const targets[] = { x, y, z };
    char *rest = NULL;
    const char *cell = strtok_r(line, " \t", &rest);
    for (size_t column = 0; cell; column++, cell = strtok_r(NULL, " \t", &rest)) {
        if (column < trajectory->position)
            continue;
        const size_t axis = column - trajectory->position;
        if (!text_parse_real(cell, targets[axis]))
            return lines_error(trajectory->lines, error, "\"%.40s\" is not a number", cell);
        if (axis == 2)
            return STATUS_OK;
    }
    return lines_error(trajectory->lines, error, "the line ends before the position");
}

enum status trajectory_read(struct trajectory *trajectory, size_t frame, size_t stride, double *x,
                            double *y, double *z, struct error *error)
{
    char *line;
    enum status status = lines_seek(trajectory->lines, trajectory->frames[frame].mark, error);
    if (!status)
        status = lines_next(trajectory->lines, &line, error);
    for (size_t i = 0; !status && i < trajectory->bodies; i++) {
        status = lines_next(trajectory->lines, &line, error);
        if (!status && !line)
            status = lines_error(trajectory->lines, error, "the file has become shorter");
        if (!status && i % stride == 0)
            status = read_position(trajectory, line, x + i / stride, y + i / stride, z + i / stride,
                                   error);
    }
    return status;
}
