#include "observation/quantity.h"

#include <string.h>

static bool is_table(const struct diagnostic *diagnostic)
{
    return diagnostic->class_->table;
}

/* Tells whether `quantity` names column `column` of this diagnostic, alone or as
 * "diagnostic.column". Of a table only the latter does: many tables have an `r`. */
static bool names_column(const char *quantity, const struct diagnostic *diagnostic, size_t column)
{
    const char *dot = strchr(quantity, '.');
    const char *name = diagnostic->name;
    if (dot && strncmp(quantity, name, (size_t)(dot - quantity)) == 0 &&
        name[dot - quantity] == '\0')
        quantity = dot + 1;
    else if (is_table(diagnostic))
        return false;
    return strcmp(quantity, diagnostic->columns[column].name) == 0;
}

size_t quantity_find(const char *name, const struct diagnostic *const *diagnostics, size_t count,
                     struct quantity_index *quantity)
{
    size_t found = 0;
    for (size_t d = 0; d < count; d++)
        for (size_t c = 0; diagnostics[d] && c < diagnostics[d]->column_count; c++)
            if (names_column(name, diagnostics[d], c)) {
                *quantity = (struct quantity_index){ d, c };
                found++;
            }
    return found;
}

/* The diagnostics that have such a column and are not switched on: "orbit", "orbit or virial". */
static void add_owners(const char *quantity, struct text *owners)
{
    for (size_t i = 0; diagnostic_at(i); i++) {
        const struct diagnostic_class *class_ = diagnostic_at(i);
        const struct diagnostic off = { .class_ = class_,
                                        .name = class_->variant.name,
                                        .columns = class_->columns,
                                        .column_count = class_->column_count };
        bool found = false;
        for (size_t c = 0; c < off.column_count; c++)
            found = found || names_column(quantity, &off, c);
        if (found)
            text_print(owners, "%s\"%s\"", owners->length ? " or " : "", off.name);
    }
}

/* The nearest column, "column" or of a table "diagnostic.column"; nothing where there are none. */
static void put_nearest(const char *name, const struct diagnostic *const *diagnostics, size_t count,
                        struct text *nearest)
{
    const struct diagnostic *owner = NULL;
    const char *column = NULL;
    size_t least = SIZE_MAX;
    for (size_t d = 0; d < count; d++)
        for (size_t c = 0; diagnostics[d] && c < diagnostics[d]->column_count; c++) {
            const size_t distance = text_distance(name, diagnostics[d]->columns[c].name);
            if (distance < least) {
                least = distance;
                column = diagnostics[d]->columns[c].name;
                owner = diagnostics[d];
            }
        }
    if (owner)
        text_print(nearest, "%s%s%s", is_table(owner) ? owner->name : "",
                   is_table(owner) ? "." : "", column);
}

void quantity_explain(const char *name, size_t found, const struct diagnostic *const *diagnostics,
                      size_t count, struct text *reason)
{
    struct text owners = { 0 }, nearest = { 0 };
    put_nearest(name, diagnostics, count, &nearest);
    add_owners(name, &owners);
    reason->failed |= owners.failed || nearest.failed;
    if (found > 1)
        text_print(reason, "%zu diagnostics have such a column; write diagnostic.column", found);
    else if (owners.length)
        text_print(reason,
                   "no diagnostic of this run has such a column; add { type = %s; } to "
                   "`diagnostics`, which measures it",
                   owners.bytes);
    else if (nearest.length)
        text_print(reason, "no diagnostic of this run has such a column; the nearest is %s",
                   nearest.bytes);
    else
        text_print(reason, "no diagnostic in `diagnostics` has columns to expect anything of");
    text_free(&owners);
    text_free(&nearest);
}
