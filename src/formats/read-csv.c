/* Values separated by commas, or by tabs, with a header that names the columns, in any order. A
 * unit in brackets may follow a name, as in "x [AU]"; the numbers of the column are then in this
 * unit. Columns with unknown names are not read. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/read.h"
#include "formats/rows.h"

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

static enum status open_table(const struct read_request *request, struct rows *rows,
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
static bool recognise(const char *path, const char *head, size_t length)
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

const struct read_format read_csv = { "csv",     recognise,  rows_measure,
                                      rows_read, open_table, READ_FRAMES_HIDDEN };
