/* The events of a step: bodies are observed, rows and frames written, criteria judged. */
#ifndef ORRERY_RUN_EVENTS_H
#define ORRERY_RUN_EVENTS_H

#include "run/parts.h"

/* The first step after the present one at which anything happens. */
uint64_t events_next(struct run *run);

/* Everything that happens at the step that was reached; ends the run there where a condition of
 * stop_when is met. */
enum status events_happen(struct run *run, struct error *error);

/*
 * Seconds that the events of this step may take, by what each of them has taken before. INFINITY
 * where something that may take long has not been measured in this process.
 */
double events_seconds(const struct run *run);

#endif
