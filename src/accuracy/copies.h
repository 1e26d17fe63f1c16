/* The copies of its bodies that a run carries along, as its config alone tells: shadows
 * (accuracy/shadow.h) and replays (accuracy/replay.h), each in a backend of its own. */
#ifndef ORRERY_ACCURACY_COPIES_H
#define ORRERY_ACCURACY_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "accuracy/trust.h"
#include "config/configuration.h"

/* Tell whether the config asks for shadows, for shadows of a kind, for replays. */
bool copies_shadowed(const struct config *config);
bool copies_shadow(const struct config *config, enum trust_shadow kind);
bool copies_replayed(const struct config *config);

/* Tells whether the forces of the run are exact but for rounding in double; if not, a replay with
 * exact forces is needed too. */
bool copies_exact(const struct config *config);

/* Return, for each system, the number of copies that exist at a time, and their work as a multiple
 * of the run's. */
size_t copies_count(const struct config *config);
double copies_work(const struct config *config);

#endif
