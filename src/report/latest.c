#include "report/latest.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/name.h"
#include "base/text.h"

/* --- what there is ---------------------------------------------------------------------------- */

static const char ensemble_ending[] = "-ensemble";

/* The tables with one row at each event: run.json names their columns even before the first row is
 * written. Each is held as a diagnostic, as show_create() needs it: table i at index i, and the
 * table of its statistics over the systems of an ensemble at index count + i. */
struct tables {
    size_t count;
    struct diagnostic *diagnostics; /* [2 count] */
    /* [2 count]: pointers into `diagnostics`; NULL: no such table */
    const struct diagnostic **by_name;
};

static const struct diagnostic_class table_class = { .table = false }; /* a row at each event */

static bool list_columns(const char *name, json_t *row, struct diagnostic *diagnostic)
{
    const char *key;
    json_t *value;
    size_t k = 0;
    struct column *columns = calloc(json_object_size(row) + 1, sizeof *columns);
    *diagnostic = (struct diagnostic){ .class_ = &table_class, .name = name, .columns = columns };
    json_object_foreach(row, key, value)
    {
        if (columns)
            columns[k++].name = key;
    }
    diagnostic->column_count = k;
    return columns;
}

static void tables_free(struct tables *tables)
{
    for (size_t i = 0; tables->diagnostics && i < 2 * tables->count; i++)
        free((void *)tables->diagnostics[i].columns);
    free(tables->diagnostics);
    free(tables->by_name);
}

static bool is_statistics(const char *name)
{
    const size_t length = strlen(name), ending = strlen(ensemble_ending);
    return length > ending && strcmp(name + length - ending, ensemble_ending) == 0;
}

/* Lists the tables that run.json names. There the statistics of a diagnostic stand directly behind
 * the diagnostic. Returns false for want of memory. */
static bool tables_list(const struct result *result, bool ensemble, struct tables *tables)
{
    json_t *rows = result_find(result, FIELD_DIAGNOSTICS), *row;
    const char *name;
    bool whole = true;
    *tables = (struct tables){ .count = 0 };
    json_object_foreach(rows, name, row)
    {
        tables->count += !ensemble || !is_statistics(name);
    }
    tables->diagnostics = calloc(tables->count + 1, 2 * sizeof *tables->diagnostics);
    tables->by_name = calloc(tables->count + 1, 2 * sizeof(struct diagnostic *));
    if (!tables->diagnostics || !tables->by_name)
        return false;
    size_t next = 0;
    json_object_foreach(rows, name, row)
    {
        const bool statistics = ensemble && is_statistics(name);
        if (statistics && next == 0)
            continue;
        const size_t index = statistics ? tables->count + next - 1 : next++;
        whole &= list_columns(name, row, &tables->diagnostics[index]);
        tables->by_name[index] = &tables->diagnostics[index];
    }
    return whole;
}

/* Appends the names of all quantities, "conservation.energy,..."; in an ensemble, of those that
 * have statistics. */
static void name_all(const struct tables *tables, bool ensemble, struct text *names)
{
    for (size_t i = 0; i < tables->count; i++) {
        const struct diagnostic *d = &tables->diagnostics[i];
        for (size_t c = 0; c < d->column_count && (!ensemble || tables->by_name[tables->count + i]);
             c++)
            text_print(names, "%s%s.%s", names->length ? "," : "", d->name, d->columns[c].name);
    }
}

/* --- the last row ----------------------------------------------------------------------------- */

enum { TAIL_SIZE = 1 << 16 };

/* Reads the header and the last complete line of a file, and points *header and *last to them in
 * `buffer`, which has room for 2 TAIL_SIZE bytes. Returns false if the file has no complete line
 * after the header. */
static bool read_ends(const char *path, char *buffer, char **header, char **last)
{
    struct stat about;
    char *const tail = buffer + TAIL_SIZE;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    const off_t from = about.st_size > TAIL_SIZE - 1 ? about.st_size - (TAIL_SIZE - 1) : 0;
    const ssize_t head = regular ? pread(fd, buffer, TAIL_SIZE - 1, 0) : -1;
    const ssize_t got = regular ? pread(fd, tail, TAIL_SIZE - 1, from) : -1;
    close(fd);
    if (head <= 0 || got <= 0)
        return false;
    buffer[head] = tail[got] = '\0';
    char *end = strrchr(tail, '\n'), *line_end = strchr(buffer, '\n');
    if (!end || !line_end)
        return false;
    *end = *line_end = '\0';
    char *before = strrchr(tail, '\n');
    *header = buffer;
    *last = before ? before + 1 : tail;
    return before != NULL; /* else the last line is the header itself */
}

/* Tells whether a cell of a header, "energy [M L^2 T^-2]", is that of the column `name`,
 * "energy". */
static bool is_called(const char *cell, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(cell, name, length) == 0 && (cell[length] == ' ' || cell[length] == '\0');
}

static double cell_number(const char *cell)
{
    double value;
    return text_parse_real(cell, &value) ? value : NAN;
}

/* Tells whether `words` are a blank and a unit in brackets, as in a header: " [M L^2 T^-2]". */
static bool is_in_brackets(const char *words)
{
    char unit[NAME_LONGEST + 1];
    const size_t length = strlen(words);
    if (length < 3 || length > sizeof unit || words[1] != '[' || words[length - 1] != ']')
        return false;
    snprintf(unit, sizeof unit, "%.*s", (int)(length - 3), words + 2);
    return name_is_unit(unit);
}

/* Takes step, time and the values of the chosen quantities from `last`, the last row of a table
 * with the header `header`. Returns false if the header has a unit that no run could have
 * written. */
static bool take_row(struct latest *latest, size_t table, const struct diagnostic *diagnostic,
                     char *header, char *last)
{
    enum { MOST = 1024 };
    char *names[MOST], *cells[MOST];
    const size_t count = text_split(header, ',', names, MOST);
    if (count > MOST || text_split(last, ',', cells, MOST) != count)
        return true;
    struct latest_table *row = &latest->tables[table];
    row->found = true;
    for (size_t i = 0; i < count; i++) {
        row->step = is_called(names[i], "step") ? cell_number(cells[i]) : row->step;
        row->time = is_called(names[i], "time") ? cell_number(cells[i]) : row->time;
        for (size_t k = 0; k < latest->show.count; k++) {
            const struct quantity_index *quantity = &latest->show.quantities[k];
            struct run_cell *cell = &latest->show.cells[k];
            if (quantity->diagnostic != table ||
                !is_called(names[i], diagnostic->columns[quantity->column].name))
                continue;
            const char *unit = strchr(names[i], ' ');
            if (unit && !is_in_brackets(unit))
                return false;
            if (unit && strcmp(unit, " [1]") != 0 && !strchr(cell->label, ' '))
                strncat(cell->label, unit, sizeof cell->label - strlen(cell->label) - 1);
            cell->measured = true;
            cell->value = cell_number(cells[i]);
        }
    }
    return true;
}

static enum status read_rows(const struct result *result, const struct tables *tables,
                             bool ensemble, struct latest *latest, struct error *error)
{
    char *buffer = malloc(2 * TAIL_SIZE), *header, *last;
    latest->count = tables->count;
    latest->tables = calloc(tables->count + 1, sizeof *latest->tables);
    if (!buffer || !latest->tables) {
        free(buffer);
        return error_memory(error);
    }
    for (size_t k = 0; k < latest->show.count && ensemble; k++)
        latest->show.quantities[k].diagnostic -= tables->count;
    for (size_t i = 0; i < tables->count; i++) {
        const struct diagnostic *from = tables->by_name[ensemble ? tables->count + i : i];
        char file[RESULT_PATH_SIZE], path[RESULT_PATH_SIZE];
        if (!from)
            continue;
        latest->tables[i].name = from->name;
        snprintf(file, sizeof file, "%s.csv", from->name);
        if (read_ends(result_file(result, file, path), buffer, &header, &last) &&
            !take_row(latest, i, from, header, last)) {
            error_set(error, STATUS_DATA,
                      "%s: its header has a unit that no run could have written", path);
            break;
        }
    }
    free(buffer);
    return error->status;
}

enum status latest_read(const struct result *result, const char *names, struct latest *latest,
                        struct error *error)
{
    const bool ensemble = result_real(result, FIELD_SYSTEMS) > 1;
    struct tables tables;
    struct text all = { 0 };
    *latest = (struct latest){ 0 };
    enum status status = tables_list(result, ensemble, &tables) ? STATUS_OK : error_memory(error);
    if (!status && !names)
        name_all(&tables, ensemble, &all);
    if (all.failed)
        status = error_memory(error);
    if (!status)
        status = show_create(names ? names : all.bytes, tables.by_name,
                             ensemble ? tables.by_name + tables.count : NULL, tables.count, NULL,
                             &latest->show, error);
    if (!status)
        status = read_rows(result, &tables, ensemble, latest, error);
    text_free(&all);
    tables_free(&tables);
    return status;
}

void latest_free(struct latest *latest)
{
    show_destroy(&latest->show);
    free(latest->tables);
    *latest = (struct latest){ 0 };
}

bool latest_row(const struct latest *latest, const struct result *result, struct run_row *row)
{
    bool found = false;
    *row = (struct run_row){ .last = (uint64_t)fmax(result_real(result, FIELD_STEPS), 0.0),
                             .units = result_units(result),
                             .cells = latest->show.cells,
                             .count = latest->show.count };
    for (size_t k = 0; k < latest->show.count; k++) {
        const struct latest_table *table = &latest->tables[latest->show.quantities[k].diagnostic];
        if (!table->found || !(table->step >= (double)row->step))
            continue;
        found = true;
        row->step = (uint64_t)table->step;
        row->time = table->time;
    }
    return found;
}
