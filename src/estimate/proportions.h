/*
 * Proportions between the numbers of an experiment that are allowed, but are usually a slip of
 * whoever wrote the config: masses in kilograms while G is 1, a step longer than the run, a step or
 * a run that is far too long or too short for the motion of the bodies. The run starts in spite of
 * them, and if it fails, they are the first explanation.
 */
#ifndef ORRERY_ESTIMATE_PROPORTIONS_H
#define ORRERY_ESTIMATE_PROPORTIONS_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/experiment.h"

enum { PROPORTIONS_TEXT_SIZE = 512 };

struct proportions {
    bool masses; /* masses are in kilograms while G is 1; then no other number means anything */
    /* Sentences for users, "time.end is 0.016 of the shortest period ...; ...", or "". */
    char text[PROPORTIONS_TEXT_SIZE];
};

/* Finds the proportions of an experiment at its start. STATUS_MEMORY. */
enum status proportions_find(const struct experiment *experiment, struct proportions *proportions,
                             struct error *error);

#endif
