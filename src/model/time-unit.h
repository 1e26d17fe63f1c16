/* The unit in which people think of the times of a run, for texts and figures: years, periods of
 * its orbit, crossing times of its cluster. Files of numbers keep the unit of the config. */
#ifndef ORRERY_MODEL_TIME_UNIT_H
#define ORRERY_MODEL_TIME_UNIT_H

#include "model/units.h"

struct time_unit {
    double size; /* its length, in the run's unit of time; 1: it is the run's unit */
    char name[UNITS_LABEL_SIZE];      /* "yr", "periods", "crossing times"; "" in N-body units */
    char label[2 * UNITS_LABEL_SIZE]; /* the name for an axis of a figure: "crossing times
                                         of 2.828"; "T" */
};

/* The length of a run, and spans of time that may become its unit, all in the unit of time of its
 * config; NaN: not known. */
struct time_spans {
    double end;    /* time until which the run goes */
    double period; /* period of the orbit that the run measures, at the start */
    /* Crossing time and half-mass relaxation time of its cluster, at the start. */
    double crossing, relaxation;
};

/*
 * Chooses the first of these units of which the run is at least two long. If the run's units are
 * physical: Gyr, Myr, kyr, yr and d, but only those longer than the run's own unit of time, if that
 * has a symbol. Otherwise: the period of its orbit, the half-mass relaxation time, the crossing
 * time of its cluster. If none fits, it is the run's own unit.
 */
struct time_unit time_unit_choose(const struct units *units, const struct time_spans *spans);

/* Writes `time`, which is in the run's own unit of time, as "9.6 yr" with `digits` significant
 * digits. Returns `buffer`. */
const char *time_unit_text(const struct time_unit *unit, double time, int digits,
                           char buffer[UNITS_TEXT_SIZE]);

#endif
