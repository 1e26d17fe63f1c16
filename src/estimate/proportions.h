/* The proportions between the numbers of an experiment that are allowed, but are a slip as a
 * rule. */
#ifndef ORRERY_ESTIMATE_PROPORTIONS_H
#define ORRERY_ESTIMATE_PROPORTIONS_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/experiment.h"

enum { PROPORTIONS_TEXT_SIZE = 512 };

struct proportions {
    bool masses; /* they are of kilograms while G is 1: nothing else means anything */
    /* "time.end is 0.016 of the shortest orbital period ...; ...", for people; "" where nothing
     * stands out. */
    char text[PROPORTIONS_TEXT_SIZE];
};

/* Finds the proportions of an experiment at its start. STATUS_MEMORY. */
enum status proportions_find(const struct experiment *experiment, struct proportions *proportions,
                             struct error *error);

#endif
