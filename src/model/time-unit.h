/* The unit in which people think of the times of a run: years, periods of its orbit, crossing times
 * of its cluster. Files of numbers keep the unit of the config. */
#ifndef ORRERY_MODEL_TIME_UNIT_H
#define ORRERY_MODEL_TIME_UNIT_H

#include "model/units.h"

struct time_unit {
    double size;                      /* in the run's unit of time; 1: it is that one */
    char name[UNITS_LABEL_SIZE];      /* "yr", "periods", "crossing times"; "" in N-body units */
    char label[2 * UNITS_LABEL_SIZE]; /* the same for an axis: "crossing times of 2.828"; "T" */
};

/* The times of a run that may be a unit, in its own; NaN: not known. */
struct time_spans {
    double end;                  /* of the run */
    double period;               /* at the start, of the orbit that it measures */
    double crossing, relaxation; /* of its cluster, at the start */
};

/*
 * Chooses a unit that the run lasts for at least two of. If its units are physical, that is the
 * largest of days, years and their thousands, unless its own is larger; otherwise the period of its
 * orbit, the half-mass relaxation time or the crossing time; otherwise its own.
 */
struct time_unit time_unit_choose(const struct units *units, const struct time_spans *spans);

/* Writes "9.6 yr", with `digits` significant digits, for a time in the unit of the run. */
const char *time_unit_text(const struct time_unit *unit, double time, int digits,
                           char buffer[UNITS_TEXT_SIZE]);

#endif
