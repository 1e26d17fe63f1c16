/* The remedy for a run that has failed: tried if that costs less than the run did, and else
 * reported as an estimate or as a command to type. */
#ifndef ORRERY_RUN_REMEDY_H
#define ORRERY_RUN_REMEDY_H

#include "run/parts.h"

enum { REMEDY_TEXT_SIZE = 512 };

/*
 * "the step is 10 times too long; time.step = 0.0009 holds (orrery check)", for a run whose energy
 * was not kept or whose numbers are not finite. `beyond` is its energy error over the bound, more
 * than 1; infinite where the numbers failed.
 */
const char *remedy_of_energy(const struct run *run, double beyond, char buffer[REMEDY_TEXT_SIZE]);

/* The same for a criterion on something else. */
const char *remedy_of_criterion(const struct run *run, const struct finding *criterion,
                                char buffer[REMEDY_TEXT_SIZE]);

#endif
