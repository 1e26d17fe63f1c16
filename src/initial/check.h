/* The conditions that bodies must satisfy before they may move. */
#ifndef ORRERY_INITIAL_CHECK_H
#define ORRERY_INITIAL_CHECK_H

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

/*
 * The system whose first body stands at index `first`: all finite, no negative mass, some mass,
 * no id twice, and no two bodies at one position when the softening is 0; otherwise adds the number
 * of such pairs to *coincident. `source` names the origin of the bodies in messages. O(N log N)
 * time, 16 bytes per body. STATUS_DATA, STATUS_MEMORY.
 */
enum status check_bodies(const struct bodies *bodies, size_t first, const struct physics *physics,
                         const char *source, size_t *coincident, struct error *error);

#endif
