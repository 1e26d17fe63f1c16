#include "run/expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/text.h"

/* --- finding the column ------------------------------------------------------------------------
 */

/* Does `quantity` name column `column` of this diagnostic, alone or as "diagnostic.column"? */
static bool names_column(const char *quantity, const struct diagnostic *diagnostic, size_t column)
{
    const char *dot = strchr(quantity, '.');
    const char *name = diagnostic->name;
    if (dot && strncmp(quantity, name, (size_t)(dot - quantity)) == 0 &&
        name[dot - quantity] == '\0')
        quantity = dot + 1;
    return strcmp(quantity, diagnostic->columns[column].name) == 0;
}

static bool can_be_expected(const struct diagnostic *diagnostic)
{
    return diagnostic && diagnostic->class_->rows_per_event == 1;
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
        for (size_t c = 0; can_be_expected(&off) && c < off.column_count; c++)
            found = found || names_column(quantity, &off, c);
        if (found)
            text_print(owners, "%s\"%s\"", owners->length ? " or " : "", off.name);
    }
}

static enum status unknown_quantity(const struct criterion *criterion,
                                    const struct diagnostic *const *diagnostics, size_t count,
                                    struct error *error)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    struct text owners = { 0 };
    add_owners(criterion->quantity, &owners);
    if (owners.length && !owners.failed)
        section_error(criterion->section, "quantity", error,
                      "no diagnostic of this run has such a column; add { type = %s; } to "
                      "`diagnostics`, which measures it",
                      owners.bytes);
    const bool said = owners.length > 0;
    text_free(&owners);
    if (said)
        return error->status;
    for (size_t d = 0; d < count; d++) {
        if (!can_be_expected(diagnostics[d]))
            continue;
        for (size_t c = 0; c < diagnostics[d]->column_count; c++) {
            const char *name = diagnostics[d]->columns[c].name;
            const size_t distance = text_distance(criterion->quantity, name);
            if (distance < least) {
                least = distance;
                nearest = name;
            }
        }
    }
    if (!nearest)
        return section_error(criterion->section, "quantity", error,
                             "no diagnostic in `diagnostics` has columns to expect anything of");
    return section_error(criterion->section, "quantity", error,
                         "no diagnostic of this run has such a column; the nearest is %s", nearest);
}

static enum status find_column(struct criterion *criterion,
                               const struct diagnostic *const *diagnostics, size_t count,
                               struct error *error)
{
    size_t found = 0;
    for (size_t d = 0; d < count; d++)
        for (size_t c = 0; can_be_expected(diagnostics[d]) && c < diagnostics[d]->column_count; c++)
            if (names_column(criterion->quantity, diagnostics[d], c)) {
                criterion->diagnostic = d;
                criterion->column = c;
                found++;
            }
    if (found == 0)
        return unknown_quantity(criterion, diagnostics, count, error);
    if (found > 1)
        return section_error(criterion->section, "quantity", error,
                             "%zu diagnostics have such a column; write diagnostic.column", found);
    return STATUS_OK;
}

/* --- the bounds --------------------------------------------------------------------------------
 */

static double real_or(const struct section *section, const char *key, double otherwise)
{
    return section_has(section, key) ? section_real(section, key) : otherwise;
}

static enum status read_bounds(struct criterion *criterion, struct error *error)
{
    const struct section *section = criterion->section;
    criterion->lowest = real_or(section, "at_least", -INFINITY);
    criterion->highest = real_or(section, "at_most", INFINITY);
    if (section_has(section, "between")) {
        size_t count;
        const double *range = section_reals(section, "between", &count);
        criterion->lowest = fmax(criterion->lowest, range[0]);
        criterion->highest = fmin(criterion->highest, range[1]);
    }
    if (isinf(criterion->lowest) && isinf(criterion->highest))
        return section_error(section, NULL, error, "needs one of at_most, at_least, between");
    if (criterion->lowest > criterion->highest)
        return section_error(section, NULL, error, "no value lies between %g and %g",
                             criterion->lowest, criterion->highest);
    criterion->after = real_or(section, "after", -INFINITY);
    criterion->before = real_or(section, "before", INFINITY);
    return STATUS_OK;
}

/* " Myr" where the units are worth something and the number is not a pure one. */
static void name_unit(const struct units *units, struct dimension dimension,
                      char unit[UNITS_LABEL_SIZE + 1])
{
    char label[UNITS_LABEL_SIZE];
    if (units_physical(units) && strcmp(units_label(units, dimension, label), "1") != 0)
        snprintf(unit, UNITS_LABEL_SIZE + 1, " %s", label);
}

static void name_units(struct criterion *criterion, const struct diagnostic *const *diagnostics,
                       const struct units *units)
{
    const struct column *column = &diagnostics[criterion->diagnostic]->columns[criterion->column];
    name_unit(units, column->dimension, criterion->unit);
    name_unit(units, (struct dimension)DIMENSION_TIME, criterion->time_unit);
}

enum status expectations_create(const struct config *config, const char *group,
                                const struct units *units,
                                const struct diagnostic *const *diagnostics,
                                size_t diagnostic_count, struct expectations *expectations,
                                struct error *error)
{
    const size_t count = config_count(config, group);
    *expectations = (struct expectations){ 0 };
    struct criterion *criteria = calloc(count + 1, sizeof *criteria);
    if (!criteria)
        return error_set(error, STATUS_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        struct criterion *criterion = &criteria[i];
        criterion->section = config_item(config, group, i);
        criterion->quantity = section_string(criterion->section, "quantity");
        criterion->worst = criterion->first_failure = NAN;
        /* All of them, so that every error is reported in one pass. */
        if (find_column(criterion, diagnostics, diagnostic_count, error) == STATUS_OK)
            name_units(criterion, diagnostics, units);
        read_bounds(criterion, error);
    }
    if (error->status) {
        free(criteria);
        return error->status;
    }
    *expectations = (struct expectations){ criteria, count };
    return STATUS_OK;
}

void expectations_destroy(struct expectations *expectations)
{
    free(expectations->criteria);
    *expectations = (struct expectations){ 0 };
}

/* --- judging -----------------------------------------------------------------------------------
 */

/* How far inside the bounds; negative outside. */
static double margin(const struct criterion *criterion, double value)
{
    return fmin(value - criterion->lowest, criterion->highest - value);
}

static void judge(struct criterion *criterion, size_t system, double time, double value)
{
    if (time < criterion->after || time > criterion->before)
        return;
    if (criterion->rows == 0 || isnan(value) ||
        margin(criterion, value) < margin(criterion, criterion->worst)) {
        criterion->worst = value;
        criterion->worst_system = (double)system;
    }
    criterion->rows++;
    if (margin(criterion, value) >= 0) /* false for NaN */
        return;
    if (criterion->failures == 0) {
        criterion->first_failure = time;
        criterion->failed_system = (double)system;
    }
    criterion->failures++;
}

void expectations_system_row(struct expectations *expectations, size_t diagnostic, size_t system,
                             double time, const double *values)
{
    for (size_t i = 0; i < expectations->count; i++) {
        struct criterion *criterion = &expectations->criteria[i];
        if (criterion->diagnostic == diagnostic)
            judge(criterion, system, time, values[criterion->column]);
    }
}

void expectations_row(struct expectations *expectations, size_t diagnostic, double time,
                      const double *values)
{
    expectations_system_row(expectations, diagnostic, 0, time, values);
}

const struct criterion *expectations_met(const struct expectations *expectations, size_t diagnostic,
                                         double time, const double *values)
{
    for (size_t i = 0; i < expectations->count; i++) {
        const struct criterion *c = &expectations->criteria[i];
        if (c->diagnostic == diagnostic && time >= c->after && time <= c->before &&
            margin(c, values[c->column]) >= 0)
            return c;
    }
    return NULL;
}

bool criterion_holds(const struct criterion *criterion)
{
    return criterion->rows > 0 && criterion->failures == 0;
}

bool expectations_hold(const struct expectations *expectations)
{
    for (size_t i = 0; i < expectations->count; i++)
        if (!criterion_holds(&expectations->criteria[i]))
            return false;
    return true;
}

/* --- telling -----------------------------------------------------------------------------------
 */

const char *criterion_text(const struct criterion *criterion, char buffer[CRITERION_TEXT_SIZE])
{
    char bounds[48], window[48 + UNITS_LABEL_SIZE] = "";
    if (isinf(criterion->lowest))
        snprintf(bounds, sizeof bounds, "<= %g", criterion->highest);
    else if (isinf(criterion->highest))
        snprintf(bounds, sizeof bounds, ">= %g", criterion->lowest);
    else
        snprintf(bounds, sizeof bounds, "in [%g, %g]", criterion->lowest, criterion->highest);
    const char *unit = criterion->time_unit;
    if (isfinite(criterion->after) && isfinite(criterion->before))
        snprintf(window, sizeof window, " for t in [%g, %g]%s", criterion->after, criterion->before,
                 unit);
    else if (isfinite(criterion->after))
        snprintf(window, sizeof window, " after t = %g%s", criterion->after, unit);
    else if (isfinite(criterion->before))
        snprintf(window, sizeof window, " before t = %g%s", criterion->before, unit);
    snprintf(buffer, CRITERION_TEXT_SIZE, "%.60s %s%s%s", criterion->quantity, bounds,
             criterion->unit, window);
    return buffer;
}

/* Null where it is of none. */
static json_t *system_json(double system)
{
    return system > 0.0 ? json_integer((json_int_t)system) : json_null();
}

static json_t *criterion_json(const struct criterion *c)
{
    char text[CRITERION_TEXT_SIZE];
    return json_pack(
        "{s:s, s:s, s:s, s:b, s:o, s:o, s:I, s:I, s:o, s:o}", "criterion", criterion_text(c, text),
        "quantity", c->quantity, "unit", c->unit[0] ? c->unit + 1 : "", "holds", criterion_holds(c),
        "worst", document_number(c->worst), "worst_system", system_json(c->worst_system), "rows",
        (json_int_t)c->rows, "failures", (json_int_t)c->failures, "first_failure_time",
        document_number(c->first_failure), "first_failure_system", system_json(c->failed_system));
}

json_t *expectations_json(const struct expectations *expectations)
{
    json_t *array = json_array();
    for (size_t i = 0; i < expectations->count; i++)
        document_append(&array, criterion_json(&expectations->criteria[i]));
    return array;
}
