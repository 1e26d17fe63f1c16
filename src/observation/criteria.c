#include "observation/criteria.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "diagnostics/diagnostic.h"
#include "model/conserved.h"

/* --- finding the column ----------------------------------------------------------------------- */

static enum status find_column(struct criterion *criterion,
                               const struct diagnostic *const *diagnostics, size_t count,
                               struct error *error)
{
    struct quantity_index quantity = { 0 };
    struct text reason = { 0 };
    const size_t found = quantity_find(criterion->quantity, diagnostics, count, &quantity);
    criterion->diagnostic = quantity.diagnostic;
    criterion->column = quantity.column;
    if (found == 1)
        return STATUS_OK;
    quantity_explain(criterion->quantity, found, diagnostics, count, &reason);
    const enum status status =
        reason.failed ? error_memory(error)
                      : section_error(criterion->section, "quantity", error, "%s", reason.bytes);
    text_free(&reason);
    return status;
}

/* --- the bounds ------------------------------------------------------------------------------- */

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
    /* An unset time is NaN: fmax() makes it -INFINITY, fmin() INFINITY, no limit. */
    criterion->after = fmax(criterion->after, -INFINITY);
    criterion->before = fmin(criterion->before, INFINITY);
    return STATUS_OK;
}

static void name_units(struct criterion *criterion, const struct diagnostic *const *diagnostics,
                       const struct units *units)
{
    const struct column *column = &diagnostics[criterion->diagnostic]->columns[criterion->column];
    units_behind(units, column->dimension, criterion->unit);
    units_behind(units, (struct dimension)DIMENSION_TIME, criterion->time_unit);
}

/* Writes why a value of the column can be undefined: its help says when a cell is empty. */
static void define_undefined(struct criterion *criterion, const struct diagnostic *diagnostic)
{
    static const char *const clauses[] = { "; empty ", ", empty " };
    char *const why = criterion->why_undefined;
    const size_t size = sizeof criterion->why_undefined;
    const char *found = NULL, *const help = diagnostic->columns[criterion->column].help;
    for (size_t k = 0; k < COUNT_OF(clauses) && help && !found; k++)
        found = strstr(help, clauses[k]);
    if (criterion->of_energy)
        snprintf(why, size,
                 ", since E0 and U0 are 0; test_energy_error is that of bodies without mass");
    else if (found) {
        found += strlen(clauses[0]);
        snprintf(why, size, ", as it is %.*s", (int)strcspn(found, ";"), found);
    } else if (diagnostic->class_->column_count == 0) /* statistics over the systems */
        snprintf(why, size, ", since too few systems have a value");
    else
        snprintf(why, size, "; orrery info %s tells what it is",
                 diagnostic->columns[criterion->column].name);
}

static bool is_of_energy(const struct criterion *criterion,
                         const struct diagnostic *const *diagnostics)
{
    const struct diagnostic *const diagnostic = diagnostics[criterion->diagnostic];
    return diagnostic->class_ == &diagnostic_conservation &&
           strcmp(diagnostic->columns[criterion->column].name, "energy_error") == 0;
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
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct criterion *criterion = &criteria[i];
        criterion->section = config_item(config, group, i);
        section_read(criterion->section, criterion);
        criterion->worst = criterion->first_failure = NAN;
        /* After an error the loop goes on, to report the errors of all criteria. */
        if (find_column(criterion, diagnostics, diagnostic_count, error) == STATUS_OK) {
            name_units(criterion, diagnostics, units);
            criterion->of_energy = is_of_energy(criterion, diagnostics);
            define_undefined(criterion, diagnostics[criterion->diagnostic]);
        }
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

/* --- judging ---------------------------------------------------------------------------------- */

/* Returns the distance of a value from the nearer bound: negative beyond one; NaN for a NaN. */
static double margin(const struct criterion *criterion, double value)
{
    return fmin(value - criterion->lowest, criterion->highest - value);
}

/* Times are rounded products of steps and their length; hence the slack. */
bool criterion_counts(const struct criterion *criterion, double time)
{
    const double slack = 1e-9 * fabs(time);
    return time >= criterion->after - slack && time <= criterion->before + slack;
}

static void judge_value(struct criterion *criterion, size_t system, double time, double value)
{
    if (!criterion_counts(criterion, time))
        return;
    if (criterion->rows == 0 || isnan(value) ||
        margin(criterion, value) < margin(criterion, criterion->worst)) {
        criterion->worst = value;
        criterion->worst_system = (double)system;
    }
    criterion->rows++;
    criterion->last = time;
    if (margin(criterion, value) >= 0) /* false for NaN */
        return;
    if (criterion->failures == 0) {
        criterion->first_failure = time;
        criterion->failed_system = (double)system;
    }
    criterion->failures++;
}

/* Returns the value to be judged: that of the column or, for an energy error, the larger of it and
 * `error`, the largest one so far, which is measured more often than there are rows. */
static double value_of(const struct criterion *criterion, const double *values, double error)
{
    const double value = values[criterion->column];
    return criterion->of_energy ? conserved_larger_error(value, error) : value;
}

void expectations_row(struct expectations *expectations, size_t diagnostic, size_t system,
                      double time, const double *values, double error)
{
    for (size_t i = 0; i < expectations->count; i++) {
        struct criterion *criterion = &expectations->criteria[i];
        if (criterion->diagnostic == diagnostic)
            judge_value(criterion, system, time, value_of(criterion, values, error));
    }
}

const struct criterion *expectations_met(const struct expectations *expectations, size_t diagnostic,
                                         double time, const double *values, double error)
{
    for (size_t i = 0; i < expectations->count; i++) {
        const struct criterion *c = &expectations->criteria[i];
        if (c->diagnostic == diagnostic && criterion_counts(c, time) &&
            margin(c, value_of(c, values, error)) >= 0)
            return c;
    }
    return NULL;
}

bool criterion_holds(const struct criterion *criterion)
{
    return criterion->rows > 0 && criterion->failures == 0;
}

bool criterion_is_judged(const struct criterion *criterion)
{
    return criterion->failures > 0 || criterion->last > 0;
}

bool expectations_hold(const struct expectations *expectations)
{
    for (size_t i = 0; i < expectations->count; i++)
        if (!criterion_holds(&expectations->criteria[i]))
            return false;
    return true;
}

/* --- both lists ------------------------------------------------------------------------------- */

enum status criteria_create(const struct config *config, const struct units *units,
                            const struct diagnostic *const *diagnostics, size_t diagnostic_count,
                            struct criteria *criteria, struct error *error)
{
    expectations_create(config, "expect", units, diagnostics, diagnostic_count, &criteria->expect,
                        error);
    expectations_create(config, "stop_when", units, diagnostics, diagnostic_count,
                        &criteria->stop_when, error);
    return error->status;
}

void criteria_destroy(struct criteria *criteria)
{
    expectations_destroy(&criteria->expect);
    expectations_destroy(&criteria->stop_when);
}

void criteria_row(struct criteria *criteria, size_t diagnostic, size_t system, double time,
                  const double *values, double error)
{
    expectations_row(&criteria->expect, diagnostic, system, time, values, error);
    const struct criterion *met =
        expectations_met(&criteria->stop_when, diagnostic, time, values, error);
    if (met && !criteria->ended_by[0])
        criterion_text(met, criteria->ended_by);
}

/* Tells whether the criterion bounds the size of an energy error, which a shorter step may reduce;
 * but not if a run that has `ended` gave no value. */
static bool bounds_energy(const struct criterion *criterion, bool ended)
{
    return quantity_of_energy(criterion->quantity) && criterion->lowest <= 0.0 &&
           !(ended && isnan(criterion->worst));
}

static bool fails(const struct criterion *c, bool ended)
{
    return c->failures > 0 || (ended && c->rows == 0);
}

bool criteria_fail_otherwise(const struct criteria *criteria, bool ended)
{
    for (size_t i = 0; i < criteria->expect.count; i++) {
        const struct criterion *c = &criteria->expect.criteria[i];
        if (fails(c, ended) && !bounds_energy(c, ended))
            return true;
    }
    return false;
}

double criteria_energy_bound(const struct criteria *criteria, bool ended)
{
    double bound = INFINITY;
    for (size_t i = 0; i < criteria->expect.count; i++) {
        const struct criterion *c = &criteria->expect.criteria[i];
        if (bounds_energy(c, ended))
            bound = fmin(bound, fmax(0.0, isfinite(c->highest) ? c->highest : -c->lowest));
    }
    return bound;
}

/* --- telling ---------------------------------------------------------------------------------- */

const char *criterion_text(const struct criterion *criterion, char buffer[CRITERION_TEXT_SIZE])
{
    const double numbers[] = { criterion->lowest, criterion->highest, criterion->after,
                               criterion->before };
    char text[COUNT_OF(numbers)][TEXT_REAL_SIZE], bounds[80], window[80 + UNITS_LABEL_SIZE] = "";
    /* six digits, or as many more as the number needs */
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        text_beside(text[i], 6, numbers[i], numbers[i], numbers[i]);
    if (isinf(criterion->lowest))
        snprintf(bounds, sizeof bounds, "<= %s", text[1]);
    else if (isinf(criterion->highest))
        snprintf(bounds, sizeof bounds, ">= %s", text[0]);
    else
        snprintf(bounds, sizeof bounds, "in [%s, %s]", text[0], text[1]);
    const char *unit = criterion->time_unit;
    if (isfinite(criterion->after) && isfinite(criterion->before))
        snprintf(window, sizeof window, " for t in [%s, %s]%s", text[2], text[3], unit);
    else if (isfinite(criterion->after))
        snprintf(window, sizeof window, " after t = %s%s", text[2], unit);
    else if (isfinite(criterion->before))
        snprintf(window, sizeof window, " before t = %s%s", text[3], unit);
    snprintf(buffer, CRITERION_TEXT_SIZE, "%.60s %s%s%s", criterion->quantity, bounds,
             criterion->unit, window);
    return buffer;
}

const char *criterion_why_undefined(const struct criterion *criterion)
{
    return criterion->rows > 0 && isnan(criterion->worst) ? criterion->why_undefined : "";
}

/* Returns the value by which the criterion is judged. Before a run has ended it is NaN if the rows
 * have only an error at the start, which is 0 by definition. */
static double worst_of(const struct criterion *c, bool ended)
{
    const bool of_start = !ended && !criterion_is_judged(c) && c->worst == 0.0;
    return of_start && strstr(c->quantity, "error") ? NAN : c->worst;
}

/* Returns the row of the criterion for the table of findings. Its bound is the one of two that the
 * worst value is nearer to, or is beyond. */
static struct finding row_of(const struct criterion *c, bool ended)
{
    const bool below = isinf(c->highest) || c->worst - c->lowest < c->highest - c->worst;
    const double bound = below ? c->lowest : c->highest;
    return (struct finding){
        .subject = bounds_energy(c, ended) ? FINDING_OF_ENERGY : FINDING_OF_ROWS,
        .name = c->quantity,
        .unit = c->unit,
        .value = worst_of(c, ended),
        .bound = bound,
        .from_below = below,
        .times = isnan(c->worst) ? INFINITY : 1.0 - margin(c, c->worst) / fabs(bound),
        .since = c->first_failure,
        .bodies = { NAN, NAN },
        .system = (size_t)c->worst_system,
        .since_system = (size_t)c->failed_system,
        .severity = fails(c, ended)                   ? FINDING_FAILURE
                    : ended || criterion_is_judged(c) ? FINDING_HELD
                                                      : FINDING_OPEN,
        .unseen = c->rows == 0,
        .after = c->after,
        .before = c->before,
        .why_undefined = criterion_why_undefined(c),
    };
}

void expectations_findings(const struct expectations *expectations, bool ended,
                           struct findings *findings)
{
    for (size_t i = 0; i < expectations->count; i++) {
        const struct finding row = row_of(&expectations->criteria[i], ended);
        char text[CRITERION_TEXT_SIZE];
        findings_add(findings, &row, criterion_text(&expectations->criteria[i], text));
    }
}

static json_t *system_json(double system)
{
    return system > 0.0 ? json_integer((json_int_t)system) : json_null();
}

static json_t *criterion_json(const struct criterion *c, bool ended)
{
    char text[CRITERION_TEXT_SIZE];
    const bool open = !ended && c->failures == 0;
    return DOCUMENT({ "criterion", json_string(criterion_text(c, text)) },
                    { "quantity", json_string(c->quantity) },
                    { "unit", json_string(c->unit[0] ? c->unit + 1 : "") },
                    { "holds", open ? json_null() : json_boolean(criterion_holds(c)) },
                    { "judged", json_boolean(criterion_is_judged(c)) },
                    { "worst", document_number(worst_of(c, ended)) },
                    { "why_undefined", json_string(criterion_why_undefined(c)) },
                    { "worst_system", system_json(c->worst_system) },
                    { "rows", json_integer((json_int_t)c->rows) },
                    { "failures", json_integer((json_int_t)c->failures) },
                    { "first_failure_time", document_number(c->first_failure) },
                    { "first_failure_system", system_json(c->failed_system) });
}

json_t *expectations_json(const struct expectations *expectations, bool ended)
{
    json_t *array = json_array();
    for (size_t i = 0; i < expectations->count; i++)
        document_append(&array, criterion_json(&expectations->criteria[i], ended));
    return array;
}

/* --- quantities by name ----------------------------------------------------------------------- */

static bool is_table(const struct diagnostic *diagnostic)
{
    return diagnostic->class_->table;
}

/* Tells whether `quantity` names the column of this index: by the column's name, or as
 * "diagnostic.column". Columns of tables (with many rows at each event) have to be named in the
 * latter way, since many tables have an `r`. */
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

bool quantity_of_energy(const char *name)
{
    return strstr(name, "energy_error") != NULL;
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

/* Appends the types of all diagnostics that have a column of this name: "orbit" or "virial". */
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

/* Appends the name of the column that is spelt most like `name`, if any: "column" or, if it is one
 * of a table, "diagnostic.column". */
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
