/* The pair of bodies that are nearest to each other, by their distance r or by the time scale tau
 * of their common motion. */
#ifndef ORRERY_SPACE_NEAREST_H
#define ORRERY_SPACE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

enum nearest_by {
    NEAREST_IN_SPACE, /* the pair with the least distance r */
    NEAREST_IN_TIME   /* the pair with the least time scale tau */
};

struct nearest_pair {
    bool found;  /* false if there is only one body, or if no pair has mass in a search by tau */
    size_t i, j; /* i < j, indices within the system */
    double distance; /* r; in a periodic box, to the nearest image */
    /* tau = sqrt((r^2 + eps^2)^(3/2) / (G (m_i + m_j))): the orbital time over 2 pi, and 0.90 of
     * the time of free fall from rest at r; infinite without mass. */
    double time_scale;
};

enum { NEAREST_BODY_BYTES = 2 * sizeof(double) }; /* bytes for each body that the search borrows */

/* Finds the nearest pair of a system, by sorting its bodies along x. Bodies at places that are not
 * finite are left out. STATUS_MEMORY; STATUS_STOPPED if the search is interrupted. */
enum status nearest_pair(const struct physics *physics, const struct bodies *bodies, size_t system,
                         enum nearest_by by, struct nearest_pair *pair, struct error *error);

#endif
