/* The copies of its bodies that a run carries along, by its config alone: shadows
 * (accuracy/shadow.h) and replays (accuracy/replay.h), each in a backend of its own. */
#ifndef ORRERY_ACCURACY_COPIES_H
#define ORRERY_ACCURACY_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "accuracy/trust.h"
#include "config/configuration.h"

/* Tells whether the config asks for shadows, for one of this kind, for replays. */
bool copies_shadowed(const struct config *config);
bool copies_shadow(const struct config *config, enum trust_shadow kind);
bool copies_replayed(const struct config *config);

/* Tells whether the forces of the run are in double, so that a replay need not repeat them so. */
bool copies_exact(const struct config *config);

/* Return the number of copies at a time, and the further work that they are, both for each
 * system. */
size_t copies_count(const struct config *config);
double copies_work(const struct config *config);

#endif
