/* The copies of its bodies that a run advances beside itself, as its config tells: shadows, which
 * show how errors of the orbits grow (accuracy/shadow.h), and replays of parts of the run, which
 * show the causes of the energy error (accuracy/replay.h). Each copy has its own backend. */
#ifndef ORRERY_ACCURACY_COPIES_H
#define ORRERY_ACCURACY_COPIES_H

#include <stdbool.h>
#include <stddef.h>

#include "accuracy/trust.h"
#include "config/configuration.h"

/* Tell whether the config asks for any shadow, for the shadow of this kind, and for replays. */
bool copies_shadowed(const struct config *config);
bool copies_shadow(const struct config *config, enum trust_shadow kind);
bool copies_replayed(const struct config *config);

/* Tells whether the forces of the run are exact but for rounding in double; if not, each interval
 * is replayed once more, with exact forces and the run's own step. */
bool copies_exact(const struct config *config);

/* Return the number of copies of the run's bodies that exist at a time, before any shadow is
 * dropped, and the work of all these copies as a multiple of the run's own work. */
size_t copies_count(const struct config *config);
double copies_work(const struct config *config);

#endif
