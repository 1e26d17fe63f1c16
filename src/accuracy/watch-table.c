#include "accuracy/watch-table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "accuracy/watch-bound.h"

static struct finding (*const makers[WATCH_ROWS])(const struct watch *, const struct record *) = {
    [WATCH_ROW_ERROR] = watch_row_of_error,   [WATCH_ROW_DRIFT] = watch_row_of_drift,
    [WATCH_ROW_CHANGE] = watch_row_of_change, [WATCH_ROW_ORBIT] = watch_bound_row,
    [WATCH_ROW_FORCES] = watch_row_of_forces, [WATCH_ROW_PAIR] = watch_row_of_pair,
};

bool watch_table_counts(const bool *left_out, size_t system)
{
    return !(left_out && left_out[system]);
}

bool watch_table_any_counts(const struct watch *watch, const bool *left_out)
{
    for (size_t s = 0; s < watch->systems; s++)
        if (watch_table_counts(left_out, s))
            return true;
    return false;
}

bool watch_table_fails(const struct watch *watch, const bool *left_out, int first, int last)
{
    for (size_t s = 0; s < watch->systems; s++)
        for (int k = first; k <= last && watch_table_counts(left_out, s); k++)
            if (makers[k](watch, &watch->records[s]).severity == FINDING_FAILURE)
                return true;
    return false;
}

bool watch_within_limits(const struct watch *watch, const bool *left_out)
{
    return watch_table_any_counts(watch, left_out) &&
           !watch_table_fails(watch, left_out, 0, WATCH_ROWS - 1);
}

bool watch_holds(const struct watch *watch, const bool *left_out)
{
    return watch->on_jump == ON_JUMP_WARN || watch_within_limits(watch, left_out);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Puts a row in the place of the kept one if there is none yet or `worse` says that the row is
 * worse, and counts its system if `counted` says so. */
static void keep(struct finding *kept, const struct finding *row, bool worse, bool counted)
{
    const size_t systems = kept->systems + counted;
    if (!kept->name || worse)
        *kept = *row;
    kept->systems = systems;
}

static void add_system(struct watch_table *table, const struct watch *watch, size_t system)
{
    struct finding made[WATCH_ROWS];
    const struct finding *failure = NULL;
    for (int k = 0; k < WATCH_ROWS; k++) {
        struct finding *const row = &made[k];
        *row = makers[k](watch, &watch->records[system]);
        row->system = system + 1;
        keep(&table->rows[k], row, finding_is_worse(row, &table->rows[k]),
             row->severity > FINDING_HELD);
        if (row->severity == FINDING_FAILURE &&
            (!failure || (k == WATCH_ROW_FORCES && row->times > failure->times)))
            failure = row;
    }
    if (failure)
        keep(&table->worst, failure, failure->times > table->worst.times, true);
}

struct watch_table watch_table_make(const struct watch *watch, const bool *left_out)
{
    struct watch_table table = { 0 };
    if (watch_table_fails(watch, left_out, 0, WATCH_ROWS - 1))
        table.left_out = left_out;
    for (size_t s = 0; s < watch->systems; s++)
        if (watch_table_counts(table.left_out, s))
            add_system(&table, watch, s);
    return table;
}

const struct record *watch_table_record(const struct watch *watch, const struct finding *row)
{
    return &watch->records[row->system - 1];
}

/* --- the largest of all systems --------------------------------------------------------------- */

static double number_at(const struct record *record, size_t offset)
{
    double number;
    memcpy(&number, (const unsigned char *)record + offset, sizeof number);
    return number;
}

const struct record *watch_table_largest(const struct watch *watch, size_t offset)
{
    const struct record *found = watch->records;
    for (size_t s = 1; s < watch->systems; s++)
        if (number_at(&watch->records[s], offset) > number_at(found, offset))
            found = &watch->records[s];
    return found;
}

double watch_energy_error(const struct watch *watch)
{
    return watch_table_largest(watch, offsetof(struct record, largest_error))->largest_error;
}

double watch_judged_in_limits(const struct watch *watch)
{
    return watch_table_largest(watch, offsetof(struct record, largest_judged))->largest_judged /
           watch->energy_error;
}

double watch_error_in_limits(const struct watch *watch)
{
    const struct watch_table table = watch_table_make(watch, NULL);
    double error = watch_energy_error(watch);
    for (size_t s = 0; s < watch->systems; s++)
        if (watch_hiding(watch, &watch->records[s]) > 0.0)
            error = fmax(error, watch->records[s].largest_judged);
    return fmax(error / watch->energy_error, table.rows[WATCH_ROW_ORBIT].times);
}
