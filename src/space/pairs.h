/* Counts of pairs of bodies by their separation, from which the pair correlation function g(r) is
 * made. */
#ifndef ORRERY_SPACE_PAIRS_H
#define ORRERY_SPACE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

enum pairs_method {
    PAIRS_AUTO, /* by a tree: pairs of cells beyond r_max are left out, and in open space pairs of
                   cells all of whose distances fall into one bin are counted at once; the distances
                   of all other pairs are computed. Like PAIRS_ALL if a body is too far from a
                   periodic box */
    PAIRS_ALL   /* the distance of every pair is computed */
};

/* The bytes that a count borrows for each body: a point of the tree, its share of the cells, and a
 * position. */
enum { PAIRS_BODY_BYTES = 8 * sizeof(double) };
/* The numbers of 8 bytes that each thread borrows for each bin. */
enum { PAIRS_THREAD_REALS = 4 };

/*
 * Adds to counts[k] the number of unordered pairs of one system whose distance r, to the nearest
 * image in a periodic box, has k <= r / width < k + 1, where width = r_max / bins. In a periodic
 * box r_max <= L / 2. Both methods give the same counts, and so does any number of threads. Bodies
 * at places that are not finite have no pairs. STATUS_MEMORY; STATUS_STOPPED if the count is
 * interrupted.
 */
enum status pairs_count(const struct physics *physics, const struct bodies *bodies, size_t system,
                        double r_max, size_t bins, enum pairs_method method, int threads,
                        uint64_t *counts, struct error *error);

#endif
