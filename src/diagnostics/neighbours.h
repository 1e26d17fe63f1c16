/* The nearest neighbours of every body of a system in open space, by a k-d tree. */
#ifndef ORRERY_DIAGNOSTICS_NEIGHBOURS_H
#define ORRERY_DIAGNOSTICS_NEIGHBOURS_H

#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"

struct neighbours; /* opaque; a copy of the positions, so the bodies may move on */

/* STATUS_MEMORY; STATUS_NUMERICAL when a body is nowhere (NaN, infinite). */
enum status neighbours_create(const struct bodies *bodies, size_t system,
                              struct neighbours **neighbours, struct error *error);
void neighbours_destroy(struct neighbours *neighbours); /* accepts NULL */

enum { NEIGHBOURS_MAX = 32 };

/*
 * The `wanted` <= NEIGHBOURS_MAX bodies nearest to body i other than itself: their indices within
 * the system and squared distances, nearest first. Returns how many there are. Threads may ask at
 * the same time.
 */
size_t neighbours_find(const struct neighbours *neighbours, size_t i, size_t wanted, size_t *index,
                       double *r2);

#endif
