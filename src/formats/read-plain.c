/* Seven columns, separated by blanks: m x y z vx vy vz. Lines that start with # are comments; one
 * of them before the first body may name the columns with their units, as in "# m [Msun] x [AU]
 * ...". */
#include <string.h>

#include "formats/read.h"
#include "formats/rows.h"

/* The meaning of a comment in a file: words, or the names of all columns, each once, in the order
 * of this format or in another order. */
enum comment { COMMENT_WORDS, COMMENT_COLUMNS, COMMENT_OTHER_ORDER };

/* Finds the units in a comment such as "m [Msun], x (AU), ...", which it cuts up: units[q] points
 * to that of quantity q (NULL: no unit). Returns the meaning of the comment. */
static enum comment cut_units(char *comment, const char *units[QUANTITY_REALS])
{
    size_t named[QUANTITY_REALS] = { 0 }, all = 0;
    bool once = true, ordered = true;
    char *p = comment;
    while (*(p += strspn(p, " \t#,"))) {
        const size_t length = strcspn(p, " \t,[(");
        const enum quantity quantity = rows_find_quantity(p, length);
        p += length;
        p += strspn(p, " \t");
        const char *unit = NULL;
        if (*p == '[' || *p == '(') {
            unit = p + 1;
            p += strcspn(p, *p == '[' ? "]" : ")");
            if (*p)
                *p++ = '\0';
        }
        if (quantity < QUANTITY_REALS) {
            ordered = ordered && quantity == all++;
            named[quantity]++;
            units[quantity] = unit;
        }
    }
    for (enum quantity q = 0; q < QUANTITY_REALS; q++)
        once = once && named[q] == 1;
    return !once ? COMMENT_WORDS : ordered ? COMMENT_COLUMNS : COMMENT_OTHER_ORDER;
}

/* Looks for names of columns and their units in the comments before the first body, and then goes
 * back to the first of these comments. */
static enum status read_comments(struct rows *rows, bool as_is, struct error *error)
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
        const enum comment comment = first == '#' ? cut_units(line, units) : COMMENT_WORDS;
        if (comment == COMMENT_OTHER_ORDER)
            status = lines_error(rows->lines, error,
                                 "this comment names the columns in another order than m x y z vx "
                                 "vy vz, in which plain columns stand; only CSV has them in any "
                                 "order");
        else if (comment == COMMENT_COLUMNS && !as_is)
            status = rows_name_units(rows, units, error);
        if (before && !status)
            status = lines_pass_over(rows->lines, error);
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
    return read_comments(rows, request->wish.as_is, error);
}

/* Takes every file that no other format has recognised. */
static bool recognise(const char *path, const char *head, size_t length)
{
    (void)path, (void)head, (void)length;
    return true;
}

const struct read_format read_plain = { "plain",   recognise,  rows_measure,
                                        rows_read, open_table, READ_FRAMES_ONE };
