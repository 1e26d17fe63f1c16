#include "report/trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { MOST_CELLS = 256 };

/* Properties=species:S:1:pos:R:3:...: name, type and count of columns, over and over. */
static bool find_position(struct trajectory *trajectory, const char *comment)
{
    char properties[512];
    bool found = false;
    trajectory->columns = trajectory->mass = trajectory->id = 0;
    if (!text_find_value(comment, "Properties=", properties, sizeof properties))
        return false;
    char *rest = properties, *name;
    while ((name = strsep(&rest, ":"))) {
        const char *type = strsep(&rest, ":"), *count = strsep(&rest, ":");
        int64_t columns;
        if (!type || !count || !text_parse_integer(count, &columns) || columns < 1)
            return false;
        if (strcmp(name, "pos") == 0 && columns == 3) {
            trajectory->position = trajectory->columns;
            found = trajectory->position + 3 <= MOST_CELLS;
        }
        if (strcmp(name, "mass") == 0 && columns == 1 && trajectory->columns < MOST_CELLS)
            trajectory->mass = trajectory->columns;
        if (strcmp(name, "id") == 0 && columns == 1 && trajectory->columns < MOST_CELLS)
            trajectory->id = trajectory->columns;
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
            return error_memory(error);
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
    if (!text_find_value(line, "Time=", text, sizeof text) || !text_parse_real(text, &time))
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
        return error_memory(error);
    enum status status = lines_open_own(path, &trajectory->lines, error);
    for (bool end = false; !status && !end;)
        status = index_frame(trajectory, &end, error);
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

static enum status read_number(const struct trajectory *trajectory, const char *cell,
                               double *number, struct error *error)
{
    return text_parse_real(cell, number)
               ? STATUS_OK
               : lines_error(trajectory->lines, error, "\"%.40s\" is not a number", cell);
}

/* The position, and the mass if it is wanted. */
static enum status read_body(const struct trajectory *trajectory, char *line,
                             double *const position[3], double *m, struct error *error)
{
    char *cells[MOST_CELLS];
    const size_t count = text_split(line, ' ', cells, MOST_CELLS);
    enum status status = STATUS_OK;
    if (count < trajectory->position + 3 || count <= trajectory->mass)
        return lines_error(trajectory->lines, error, "the line ends before the position");
    for (size_t axis = 0; axis < 3 && !status; axis++)
        status = read_number(trajectory, cells[trajectory->position + axis], position[axis], error);
    if (m)
        *m = 1.0;
    if (!status && m && trajectory->mass)
        status = read_number(trajectory, cells[trajectory->mass], m, error);
    return status;
}

enum status trajectory_read(struct trajectory *trajectory, size_t frame, size_t stride, double *x,
                            double *y, double *z, double *m, struct error *error)
{
    char *line;
    enum status status = lines_seek(trajectory->lines, trajectory->frames[frame].mark, error);
    if (!status)
        status = lines_next(trajectory->lines, &line, error);
    for (size_t i = 0; !status && i < trajectory->bodies; i++) {
        status = lines_next(trajectory->lines, &line, error);
        if (!status && !line)
            status = lines_error(trajectory->lines, error, "the file has become shorter");
        if (!status && i % stride == 0) {
            const size_t k = i / stride;
            double *const position[] = { x + k, y + k, z + k };
            status = read_body(trajectory, line, position, m ? m + k : NULL, error);
        }
    }
    return status;
}

enum status trajectory_ids(struct trajectory *trajectory, double *ids, struct error *error)
{
    char *line, *cells[MOST_CELLS];
    enum status status = lines_seek(trajectory->lines, trajectory->frames[0].mark, error);
    if (!status)
        status = lines_next(trajectory->lines, &line, error);
    for (size_t i = 0; !status && i < trajectory->bodies; i++) {
        ids[i] = (double)i + 1.0;
        status = lines_next(trajectory->lines, &line, error);
        if (!status && line && trajectory->id &&
            text_split(line, ' ', cells, MOST_CELLS) > trajectory->id)
            status = read_number(trajectory, cells[trajectory->id], &ids[i], error);
    }
    return status;
}
