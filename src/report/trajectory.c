#include "report/trajectory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"

enum { MOST_CELLS = 256, NO_COLUMN = MOST_CELLS };

/* Finds the columns of position, velocity and so on by the text Properties=species:S:1:pos:R:3:...
 * in the comment line of a frame: name, type and number of columns of each property. Returns false
 * if there is no position. */
static bool find_columns(struct trajectory *trajectory, const char *comment)
{
    const struct {
        const char *name;
        int64_t columns;
        size_t *place;
    } wanted[] = {
        { "pos", 3, &trajectory->position },   { "velo", 3, &trajectory->velocity },
        { "mass", 1, &trajectory->mass },      { "id", 1, &trajectory->id },
        { "cluster", 1, &trajectory->system }, { "species", 1, &trajectory->species },
    };
    char properties[512];
    bool found = false;
    trajectory->columns = 0;
    for (size_t k = 0; k < COUNT_OF(wanted); k++)
        *wanted[k].place = NO_COLUMN;
    if (!text_find_value(comment, "Properties=", properties, sizeof properties))
        return false;
    char *rest = properties, *name;
    while ((name = strsep(&rest, ":"))) {
        const char *type = strsep(&rest, ":"), *count = strsep(&rest, ":");
        int64_t columns;
        if (!type || !count || !text_parse_integer(count, &columns) || columns < 1)
            return false;
        for (size_t k = 0; k < COUNT_OF(wanted); k++)
            if (strcmp(name, wanted[k].name) == 0 && columns == wanted[k].columns &&
                trajectory->columns + (size_t)columns <= MOST_CELLS) {
                *wanted[k].place = trajectory->columns;
                found = found || wanted[k].place == &trajectory->position;
            }
        trajectory->columns += (size_t)columns;
    }
    return found;
}

/* Reads the side and the origin of the periodic cube from pbc, Lattice and Origin in the comment
 * line of a frame; both become 0 if one of these is missing. */
static void find_cell(struct trajectory *trajectory, const char *comment)
{
    char pbc[16], text[512], *cells[9];
    if (text_find_value(comment, "pbc=", pbc, sizeof pbc) && strcmp(pbc, "T T T") == 0 &&
        text_find_value(comment, "Lattice=", text, sizeof text) &&
        text_split(text, ' ', cells, 9) == 9 && text_parse_real(cells[0], &trajectory->cell_side) &&
        text_find_value(comment, "Origin=", text, sizeof text) &&
        text_split(text, ' ', cells, 9) == 3 && text_parse_real(cells[0], &trajectory->cell_origin))
        return;
    trajectory->cell_side = trajectory->cell_origin = 0.0;
}

static enum status add_frame(struct trajectory *trajectory, struct lines_mark mark, double time,
                             struct error *error)
{
    const size_t count = trajectory->frame_count;
    if ((count & (count - 1)) == 0) { /* the array is full at each power of two */
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

/* Reads the next line; *end becomes true if the file ends before that line does. */
static enum status whole_line(struct trajectory *trajectory, char **line, bool *end,
                              struct error *error)
{
    const enum status status = lines_next(trajectory->lines, line, error);
    *end = !status && (!*line || lines_is_cut(trajectory->lines));
    return status;
}

/* Reads the number of bodies, the first line of a frame; *end becomes true if the file ends
 * there. */
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

/* Goes through one frame and notes its place in the file; *end becomes true, and nothing is noted,
 * if the file ends before the frame does. */
static enum status index_frame(struct trajectory *trajectory, bool *end, struct error *error)
{
    char *line, text[TEXT_REAL_SIZE];
    if (read_count(trajectory, end, error) || *end)
        return error->status;
    const struct lines_mark mark = lines_tell(trajectory->lines);
    if (whole_line(trajectory, &line, end, error) || *end)
        return error->status;
    if (!find_columns(trajectory, line))
        return lines_error(trajectory->lines, error, "no extended XYZ: no positions in Properties");
    if (trajectory->frame_count == 0)
        find_cell(trajectory, line);
    double time = NAN;
    if (!text_find_value(line, "Time=", text, sizeof text) || !text_parse_real(text, &time))
        time = NAN;
    for (size_t i = 0; i < trajectory->bodies && !*end; i++)
        if (whole_line(trajectory, &line, end, error))
            return error->status;
    return *end ? STATUS_OK : add_frame(trajectory, mark, time, error);
}

enum status trajectory_open(const struct result *result, struct trajectory **opened,
                            struct error *error)
{
    char buffer[RESULT_PATH_SIZE];
    const char *const path = result_trajectory(result, buffer);
    *opened = NULL;
    if (!path)
        return STATUS_OK;
    struct trajectory *trajectory = calloc(1, sizeof *trajectory);
    if (!trajectory)
        return error_memory(error);
    lines_open_own(path, &trajectory->lines, error);
    for (bool end = false; !error->status && !end;)
        index_frame(trajectory, &end, error);
    if (!error->status && trajectory->frame_count == 0 && result_is_whole(result))
        error_set(error, STATUS_DATA, "%s: no frame", path);
    if (error->status || trajectory->frame_count == 0)
        trajectory_close(trajectory);
    else
        *opened = trajectory;
    return error->status;
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

/* Tells whether a line of `count` cells lacks some of the `wide` columns from `column` on; false if
 * the file has no such columns (NO_COLUMN). */
static bool ends_before(size_t count, size_t column, size_t wide)
{
    return column != NO_COLUMN && count < column + wide;
}

static enum status read_body(const struct trajectory *trajectory, char *line,
                             const struct trajectory_values *values, size_t k, struct error *error)
{
    char *cells[MOST_CELLS];
    const size_t count = text_split(line, ' ', cells, MOST_CELLS);
    double *const position[3] = { values->x + k, values->y + k, values->z + k };
    double v[3];
    if (ends_before(count, trajectory->position, 3) || ends_before(count, trajectory->mass, 1) ||
        ends_before(count, trajectory->velocity, 3))
        return lines_error(trajectory->lines, error, "the line ends before the position");
    for (size_t axis = 0; axis < 3 && !error->status; axis++)
        read_number(trajectory, cells[trajectory->position + axis], position[axis], error);
    if (values->m)
        values->m[k] = 1.0;
    if (values->speed)
        values->speed[k] = NAN;
    if (!error->status && values->m && trajectory->mass != NO_COLUMN)
        read_number(trajectory, cells[trajectory->mass], &values->m[k], error);
    if (!error->status && values->speed && trajectory->velocity != NO_COLUMN) {
        for (size_t axis = 0; axis < 3 && !error->status; axis++)
            read_number(trajectory, cells[trajectory->velocity + axis], &v[axis], error);
        values->speed[k] = error->status ? NAN : hypot(hypot(v[0], v[1]), v[2]);
    }
    return error->status;
}

/* Reads the next line of a frame, which was complete when trajectory_open() found it: the end of
 * the file is an error. */
static enum status next_line(struct trajectory *trajectory, char **line, struct error *error)
{
    if (!lines_next(trajectory->lines, line, error) && !*line)
        lines_error(trajectory->lines, error, "the file has become shorter");
    return error->status;
}

enum status trajectory_read(struct trajectory *trajectory, size_t frame, size_t stride,
                            const struct trajectory_values *values, struct error *error)
{
    char *line;
    if (!lines_seek(trajectory->lines, trajectory->frames[frame].mark, error))
        next_line(trajectory, &line, error);
    for (size_t i = 0; !error->status && i < trajectory->bodies; i++)
        if (!next_line(trajectory, &line, error) && i % stride == 0)
            read_body(trajectory, line, values, i / stride, error);
    return error->status;
}

/* Copies as much of a name as there is room for, as valid UTF-8, which pages and figures need. */
static void take_name(const char *name, char word[TRAJECTORY_GROUP_SIZE])
{
    snprintf(word, TRAJECTORY_GROUP_SIZE, "%.*s", (int)name_cut(name, TRAJECTORY_GROUP_SIZE - 1),
             name);
    json_t *known = document_words(word);
    snprintf(word, TRAJECTORY_GROUP_SIZE, "%s", known ? json_string_value(known) : "?");
    json_decref(known);
}

/* Returns the index of the group of this name, a new group if need be; TRAJECTORY_GROUPS if there
 * is no room. */
static unsigned group_of(struct trajectory_groups *groups, const char *name)
{
    char word[TRAJECTORY_GROUP_SIZE];
    take_name(name, word);
    for (size_t k = 0; k < groups->count; k++)
        if (strcmp(groups->names[k], word) == 0)
            return (unsigned)k;
    if (groups->count < TRAJECTORY_GROUPS) {
        memcpy(groups->names[groups->count], word, sizeof word);
        return (unsigned)groups->count++;
    }
    return TRAJECTORY_GROUPS;
}

enum status trajectory_identify(struct trajectory *trajectory, size_t stride, double *ids,
                                unsigned *group, struct trajectory_groups *groups,
                                struct error *error)
{
    char *line, *cells[MOST_CELLS];
    const bool systems = trajectory->system != NO_COLUMN;
    const size_t column = systems ? trajectory->system : trajectory->species;
    bool too_many = false;
    if (groups)
        *groups = (struct trajectory_groups){ .kind = systems ? "system" : "species",
                                              .whole = stride == 1 };
    if (!lines_seek(trajectory->lines, trajectory->frames[0].mark, error))
        next_line(trajectory, &line, error);
    for (size_t i = 0; !error->status && i < trajectory->bodies; i++) {
        const size_t k = i / stride;
        if (next_line(trajectory, &line, error) || i % stride > 0)
            continue;
        const size_t count = text_split(line, ' ', cells, MOST_CELLS);
        ids[k] = (double)i + 1.0;
        if (count > trajectory->id)
            read_number(trajectory, cells[trajectory->id], &ids[k], error);
        if (group) {
            group[k] = count > column && !too_many ? group_of(groups, cells[column]) : 0;
            too_many = too_many || group[k] == TRAJECTORY_GROUPS;
            groups->sizes[too_many ? 0 : group[k]]++;
        }
    }
    if (groups && (too_many || groups->count == 1))
        groups->count = 0;
    return error->status;
}

const char *trajectory_body_name(const struct trajectory_groups *groups, unsigned group)
{
    const bool alone = groups->whole && group < groups->count && groups->sizes[group] == 1;
    return alone && strcmp(groups->kind, "species") == 0 && strcmp(groups->names[group], "X") != 0
               ? groups->names[group]
               : NULL;
}
