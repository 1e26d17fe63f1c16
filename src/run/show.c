#include "run/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* --- finding the columns ---------------------------------------------------------------------- */

/* Finds the quantity `name` among the statistics of an ensemble; a name without an ending finds the
 * mean: "conservation.energy" is "conservation-ensemble.energy_mean". Returns how many columns
 * match, and one of them in *quantity. */
static size_t find_mean(const char *name, const struct diagnostic *const *statistics, size_t count,
                        struct quantity_index *quantity)
{
    static const char *const endings[] = { "", "_mean" };
    const char *dot = strchr(name, '.'), *column = dot ? dot + 1 : name;
    size_t found = quantity_find(name, statistics, count, quantity);
    for (size_t k = 0; k < COUNT_OF(endings) && found == 0; k++) {
        struct text full = { 0 };
        if (dot)
            text_print(&full, "%.*s-ensemble.", (int)(dot - name), name);
        text_print(&full, "%s%s", column, endings[k]);
        found = full.failed ? 0 : quantity_find(full.bytes, statistics, count, quantity);
        text_free(&full);
    }
    return found;
}

/* The columns that --show can name: those of `count` diagnostics or, for an ensemble, of their
 * statistics over systems (NULL for one system). */
struct choice {
    const struct diagnostic *const *diagnostics, *const *statistics;
    size_t count;
    const struct units *units;
};

static bool offers(const struct choice *choice, size_t diagnostic)
{
    const struct diagnostic *d = choice->diagnostics[diagnostic];
    return d && !d->class_->table && (!choice->statistics || choice->statistics[diagnostic]);
}

static enum status refuse(const char *name, size_t found, const struct choice *choice,
                          struct error *error)
{
    struct text reason = { 0 };
    struct quantity_index there;
    if (choice->statistics && found == 0 &&
        quantity_find(name, choice->diagnostics, choice->count, &there) > 0)
        return error_set(error, STATUS_USAGE,
                         "orrery: --show %s: there are no means of it over the systems, and of an "
                         "ensemble nothing else is shown",
                         name);
    quantity_explain(name, found, choice->diagnostics, choice->count, &reason);
    const enum status status =
        reason.failed ? error_memory(error)
                      : error_set(error, STATUS_USAGE, "orrery: --show %s: %s", name, reason.bytes);
    text_free(&reason);
    return status;
}

/* Reports all quantities that --show can name: a line for each diagnostic. */
static void tell_quantities(const struct choice *choice, struct error *error)
{
    for (size_t d = 0; d < choice->count; d++) {
        struct text list = { 0 };
        const struct diagnostic *diagnostic = choice->diagnostics[d];
        for (size_t c = 0; offers(choice, d) && c < diagnostic->column_count; c++)
            text_print(&list, "%s%s", c ? ", " : "", diagnostic->columns[c].name);
        if (list.length && !list.failed)
            error_set(error, STATUS_USAGE, "orrery: --show: %s measures %s", diagnostic->name,
                      list.bytes);
        text_free(&list);
    }
    if (choice->statistics)
        error_set(error, STATUS_USAGE,
                  "orrery: --show: of an ensemble the means over its systems are shown; names with "
                  "_std, _sem, _q10, _q50 or _q90 behind them are other statistics");
}

/* Labels the cell with the name and the unit of the column; `with_diagnostic` puts the diagnostic's
 * name and a dot before them. */
static void label(struct run_cell *cell, const struct diagnostic *diagnostic, size_t column,
                  bool with_diagnostic, const struct units *units)
{
    const struct column *c = &diagnostic->columns[column];
    char unit[UNITS_LABEL_SIZE] = "1";
    if (units)
        units_label(units, c->dimension, unit);
    const bool pure = strcmp(unit, "1") == 0;
    snprintf(cell->label, sizeof cell->label, "%.120s%s%.100s%s%s%s",
             with_diagnostic ? diagnostic->name : "", with_diagnostic ? "." : "", c->name,
             pure ? "" : " [", pure ? "" : unit, pure ? "" : "]");
}

static enum status add_quantity(struct show *show, const char *name, const struct choice *choice,
                                struct error *error)
{
    struct quantity_index *quantity = &show->quantities[show->count];
    const bool ensemble = choice->statistics;
    const struct diagnostic *const *from = ensemble ? choice->statistics : choice->diagnostics;
    if (strcmp(name, "step") == 0 || strcmp(name, "time") == 0)
        return STATUS_OK;
    const size_t found = ensemble ? find_mean(name, from, choice->count, quantity)
                                  : quantity_find(name, from, choice->count, quantity);
    if (found != 1)
        return refuse(name, found, choice, error);
    if (from[quantity->diagnostic]->class_->table)
        return error_set(error, STATUS_USAGE,
                         "orrery: --show %s: is a column of a table, which has many rows at each "
                         "event",
                         name);
    label(&show->cells[show->count++], from[quantity->diagnostic], quantity->column,
          strchr(name, '.') != NULL, choice->units);
    quantity->diagnostic += ensemble ? choice->count : 0;
    return STATUS_OK;
}

enum status show_create(const char *names, const struct diagnostic *const *diagnostics,
                        const struct diagnostic *const *statistics, size_t count,
                        const struct units *units, struct show *show, struct error *error)
{
    const struct choice choice = { diagnostics, statistics, count, units };
    *show = (struct show){ 0 };
    if (!names)
        return STATUS_OK;
    size_t most = 1;
    for (const char *c = names; *c; c++)
        most += *c == ',';
    char *list = strdup(names), **fields = calloc(most, sizeof *fields);
    show->quantities = calloc(most, sizeof *show->quantities);
    show->cells = calloc(most, sizeof *show->cells);
    if (list && fields && show->quantities && show->cells) {
        most = text_split(list, ',', fields, most);
        for (size_t i = 0; i < most; i++) /* goes on after an error, to report every error */
            add_quantity(show, fields[i], &choice, error);
        if (!error->status && show->count == 0)
            error_set(error, STATUS_USAGE,
                      "orrery: --show %s: names no quantity beside step and time", names);
        if (error->status == STATUS_USAGE)
            tell_quantities(&choice, error);
    } else {
        error_memory(error);
    }
    free(list);
    free(fields);
    return error->status;
}

void show_destroy(struct show *show)
{
    free(show->quantities);
    free(show->cells);
    *show = (struct show){ 0 };
}

/* --- their values ----------------------------------------------------------------------------- */

void show_begin(struct show *show)
{
    for (size_t i = 0; i < show->count; i++)
        show->cells[i].measured = false;
}

void show_take(struct show *show, size_t diagnostic, const double *values)
{
    for (size_t i = 0; i < show->count; i++) {
        struct run_cell *cell = &show->cells[i];
        if (show->quantities[i].diagnostic != diagnostic)
            continue;
        cell->measured = true;
        cell->value = values[show->quantities[i].column];
    }
}

bool show_due(const struct show *show)
{
    for (size_t i = 0; i < show->count; i++)
        if (show->cells[i].measured)
            return true;
    return false;
}
