/* The readers of tables without frames: csv, whose columns have names, and plain, which has seven.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/read.h"
#include "formats/rows.h"

/* --- csv -------------------------------------------------------------------------------------- */

/* Values separated by commas, or by tabs, with a header that names the columns, in any order. A
 * unit in brackets may follow a name, as in "x [AU]"; the numbers of the column are then in this
 * unit. Columns with unknown names are not read. */

/* Notes the quantities of the columns by the names in the header and, unless `as_is`, their
 * units. */
static enum status name_columns(struct rows *rows, char **names, const char **units, bool as_is,
                                struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t c = 0; c < rows->width && !status; c++) {
        units[c] = text_cut_unit(names[c]);
        status = rows_name_column(rows, names[c], c + 1, error);
    }
    if (!status)
        status = rows_require(rows, "; the first line names the columns", error);
    return status || as_is ? status : rows_name_units(rows, units, error);
}

/* Finds the header, the first line that is not blank; a leading #, as numpy writes it, is skipped.
 * Also finds the separator of the columns: a comma if the header has one, else a tab. */
static enum status find_header(struct rows *rows, char **header, struct error *error)
{
    for (;;) {
        if (lines_next(rows->lines, header, error) != STATUS_OK)
            return error->status;
        if (!*header)
            return lines_error(rows->lines, error, "no header with the names of the columns");
        *header += strspn(*header, " \t#");
        if (**header != '\0')
            break;
        if (lines_pass_over(rows->lines, error))
            return error->status;
    }
    rows->separator = strchr(*header, ',') ? ',' : '\t';
    if (strchr(*header, rows->separator))
        return STATUS_OK;
    return lines_error(rows->lines, error,
                       "the header has no comma and no tab; columns are separated by either");
}

static enum status open_csv(const struct read_request *request, struct rows *rows,
                            struct error *error)
{
    char *header;
    if (read_check_frame(request, "a table", error) || find_header(rows, &header, error))
        return error->status;
    size_t commas = 0;
    for (const char *p = header; *p; p++)
        commas += *p == rows->separator;
    char **names = calloc(commas + 1, sizeof *names);
    const char **units = calloc(commas + 1, sizeof *units);
    if (names && units) {
        rows->width = text_split(header, rows->separator, names, commas + 1);
        name_columns(rows, names, units, request->wish.as_is, error);
    } else
        error_set(error, STATUS_MEMORY, "out of memory for the header of a file");
    free(names);
    free(units);
    return error->status;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), own = strlen(ending);
    return length >= own && strcmp(path + length - own, ending) == 0;
}

/* Recognises a file by the end of its name, or by a comma in the first line that is neither blank
 * nor a comment, or a tab behind the name of a column. */
static bool recognise_csv(const char *path, const char *head, size_t length)
{
    (void)length;
    static const char *const endings[] = { ".csv", ".csv.gz", ".tsv", ".tsv.gz" };
    for (size_t i = 0; i < COUNT_OF(endings); i++)
        if (ends_with(path, endings[i]))
            return true;
    while (*(head += strspn(head, " \t\r\n")) == '#')
        head += strcspn(head, "\n");
    const size_t line = strcspn(head, "\n");
    return memchr(head, ',', line) != NULL ||
           (isalpha((unsigned char)head[0]) && memchr(head, '\t', line) != NULL);
}

const struct read_format read_csv = { "csv",     recognise_csv, rows_measure,
                                      rows_read, open_csv,      READ_FRAMES_HIDDEN };

/* --- plain ------------------------------------------------------------------------------------ */

/* Seven columns, separated by blanks: m x y z vx vy vz. Lines that start with # are comments; one
 * of them before the first body may name the columns with their units, as in "# m [Msun] x [AU]
 * ...". */

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

static enum status open_plain(const struct read_request *request, struct rows *rows,
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
static bool recognise_plain(const char *path, const char *head, size_t length)
{
    (void)path, (void)head, (void)length;
    return true;
}

const struct read_format read_plain = { "plain",   recognise_plain, rows_measure,
                                        rows_read, open_plain,      READ_FRAMES_ONE };
