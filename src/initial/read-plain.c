/*
 * Seven columns between blanks: m x y z vx vy vz. Lines that start with # are comments; one of them
 * before the first body may name the columns with their units, as in "# m [Msun] x [AU] ...".
 */
#include <string.h>
#include <strings.h>

#include "initial/read.h"
#include "initial/rows.h"

static const char *const names[QUANTITY_REALS] = { "m", "x", "y", "z", "vx", "vy", "vz" };

/* Cuts a comment "m [Msun] x [AU] ..." into the units; false for what names no columns so. */
static bool cut_units(char *comment, const char *units[QUANTITY_REALS])
{
    char *p = comment;
    for (enum quantity q = 0; q < QUANTITY_REALS; q++) {
        p += strspn(p, " \t#");
        const size_t length = strcspn(p, " \t[");
        if (length != strlen(names[q]) || strncasecmp(p, names[q], length) != 0)
            return false;
        p += length;
        p += strspn(p, " \t");
        units[q] = NULL;
        if (*p != '[')
            continue;
        char *end = strchr(p, ']');
        if (!end)
            return false;
        *end = '\0';
        units[q] = p + 1;
        p = end + 1;
    }
    return p[strspn(p, " \t")] == '\0';
}

/* Looks through the comments before the first body, and goes back to where they began. */
static enum status find_units(struct rows *rows, struct error *error)
{
    const struct lines_mark begin = lines_tell(rows->lines);
    enum status status = STATUS_OK;
    for (bool before = true; before && !status;) {
        const char *units[QUANTITY_REALS];
        char *line;
        if (lines_next(rows->lines, &line, error) != STATUS_OK)
            return error->status;
        const char first = line ? line[strspn(line, " \t")] : 'x';
        before = first == '#' || first == '\0';
        if (first == '#' && cut_units(line, units))
            status = rows_name_units(rows, units, error);
    }
    return status ? status : lines_seek(rows->lines, begin, error);
}

static enum status open_table(const struct read_request *request, struct rows *rows,
                              struct error *error)
{
    if (read_check_frame(request, "a table", error))
        return error->status;
    rows->comments = true;
    rows->width = QUANTITY_REALS;
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        rows->column[q] = q + 1;
    return request->wish.as_is ? STATUS_OK : find_units(rows, error);
}

/* Whatever is nothing else. */
static bool recognise(const char *path, const char *head, size_t length)
{
    (void)path, (void)head, (void)length;
    return true;
}

const struct read_format read_plain = { "plain", recognise, rows_measure, rows_read, open_table };
