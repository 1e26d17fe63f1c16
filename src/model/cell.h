/* The cell in which the bodies are shown: files of trajectories name it, and the radial
 * distribution function g(r) is normalised with its volume. */
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
 * Returns the cell of all systems together. In a periodic box it is the box about the origin; in
 * open space it is the smallest cube [-h, h]^3 that holds all bodies, with h a power of two, so
 * that it seldom changes from one frame to the next. Exception in open space: some versions of
 * OVITO take positions for reduced coordinates (fractions of the cell) if all of them lie in
 * [-0.51, 0.51] or [-0.01, 1.01]. Then the cell is a unit cube, in which fractions and positions
 * are the same. (A periodic box has no such form, and moving it would make bodies jump from one
 * frame to the next.)
 */
struct cell cell_of(const struct physics *physics, const struct bodies *bodies);

/* Returns the periodic box about the origin; a cell of side 0 in open space. */
struct cell cell_about_origin(const struct physics *physics);

/* Returns the image of coordinate x in [origin, origin + side) if the cell is periodic, else x. The
 * coordinates of the bodies themselves are never wrapped. */
double cell_wrap(const struct cell *cell, double x);

#endif
