#include "model/time-unit.h"

#include <stdio.h>

#include "base/memory.h"
#include "model/unit.h"

/* A unit is chosen only if the run is at least this many units long. */
static const double least_count = 2.0;

static struct time_unit unit_of(double size, const char *name, const char *label)
{
    struct time_unit unit = { .size = size };
    snprintf(unit.name, sizeof unit.name, "%s", name);
    snprintf(unit.label, sizeof unit.label, "%s", label);
    return unit;
}

static struct time_unit choose_physical(const struct units *units, double end,
                                        const struct time_unit *own)
{
    static const struct {
        const char *name;
        double seconds;
    } table[] = { { "Gyr", 1e9 * CONSTANT_YEAR },
                  { "Myr", 1e6 * CONSTANT_YEAR },
                  { "kyr", 1e3 * CONSTANT_YEAR },
                  { "yr", CONSTANT_YEAR },
                  { "d", CONSTANT_DAY } };
    for (size_t k = 0; k < COUNT_OF(table); k++) {
        const double size = table[k].seconds / units->seconds;
        if (end >= least_count * size && (size > 1.0 || !units->time))
            return unit_of(size, table[k].name, table[k].name);
    }
    return *own;
}

static struct time_unit choose_of_motion(const struct time_spans *spans,
                                         const struct time_unit *own)
{
    const struct {
        const char *name;
        double size;
    } table[] = { { "periods", spans->period },
                  { "half-mass relaxation times", spans->relaxation },
                  { "crossing times", spans->crossing } };
    char label[2 * UNITS_LABEL_SIZE];
    for (size_t k = 0; k < COUNT_OF(table); k++) {
        snprintf(label, sizeof label, "%s of %.4g", table[k].name, table[k].size);
        if (table[k].size > 0.0 && spans->end >= least_count * table[k].size)
            return unit_of(table[k].size, table[k].name, label);
    }
    return *own;
}

struct time_unit time_unit_choose(const struct units *units, const struct time_spans *spans)
{
    char label[UNITS_LABEL_SIZE];
    units_label(units, (struct dimension)DIMENSION_TIME, label);
    const struct time_unit own = unit_of(1.0, units_physical(units) ? label : "", label);
    return units_physical(units) ? choose_physical(units, spans->end, &own)
                                 : choose_of_motion(spans, &own);
}

const char *time_unit_text(const struct time_unit *unit, double time, int digits,
                           char buffer[UNITS_TEXT_SIZE])
{
    snprintf(buffer, UNITS_TEXT_SIZE, "%.*g%s%s", digits, time / unit->size,
             unit->name[0] ? " " : "", unit->name);
    return buffer;
}
