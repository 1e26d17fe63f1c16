/* The cell that the bodies are shown in: what a trajectory writes and g(r) is normalised with. */
#ifndef ORRERY_MODEL_CELL_H
#define ORRERY_MODEL_CELL_H

#include <stdbool.h>

#include "model/bodies.h"
#include "model/physics.h"

/* A cube whose lowest corner is at (origin, origin, origin). */
struct cell {
    double origin, side;
    bool periodic;
};

/*
 * Returns the cell of all systems at once. Periodic: the box about the origin, or a whole number of
 * boxes away. Open space: the smallest cube [-h, h]^3 that holds all bodies with h a power of two,
 * so that it seldom changes. Exceptions, because some versions of OVITO take positions as reduced
 * coordinates when all of them lie in [-0.51, 0.51] or [-0.01, 1.01]: there it is the unit cube,
 * for which that changes nothing, or a box elsewhere.
 */
struct cell cell_of(const struct physics *physics, const struct bodies *bodies);

#endif
