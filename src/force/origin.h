/*
 * The origin from which float kernels measure positions: a median of each coordinate, which no body
 * that escapes can move, so that the others keep their digits. (The middle of the bounding box, and
 * the centre of mass, go with the farthest body.)
 *
 * The median is that of nine bodies, spread evenly over the indices of the system; in larger
 * systems it is the median of the medians of nine groups, which have 81 or 729 bodies in all. It
 * follows from the positions and the number of bodies alone, and costs next to nothing beside the
 * sums over pairs.
 */
#ifndef ORRERY_FORCE_ORIGIN_H
#define ORRERY_FORCE_ORIGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of origin from which the kernels of a backend measure positions. */
enum origin {
    ORIGIN_EXACT,  /* any origin: kernels read positions in double, with all digits */
    ORIGIN_MEDIAN, /* in open space the median of some bodies; in a periodic box 0 */
    ORIGIN_ZERO    /* the point (0, 0, 0) */
};

enum { ORIGIN_SAMPLE = 9, ORIGIN_COMPARATORS = 19 };

/* Comparators that bring the median of `size` numbers to index size / 2: each comparator compares
 * the numbers at two indices, and leaves the lesser one at `low` and the greater one at `high`. */
struct origin_network {
    size_t size, comparators;
    struct {
        unsigned char low, high;
    } comparator[ORIGIN_COMPARATORS];
};

/* Returns the network that finds the median in a system of `count` > 0 bodies: of a sample of
 * ORIGIN_SAMPLE of them, or of all bodies if they are fewer, without one body if their number is
 * even. */
const struct origin_network *origin_network(size_t count);

/* Returns the index of body `k` of the `size` <= count bodies that stand for all. */
static inline size_t origin_body(size_t count, size_t size, size_t k)
{
    return k * count / size;
}

/* Finds the origin of `count` > 0 bodies from their coordinates x[axis]. If the bodies are at most
 * ORIGIN_ONE_SAMPLE, it is the median, found by origin_network(), of the bodies that origin_body()
 * gives; otherwise a median of medians. */
enum { ORIGIN_ONE_SAMPLE = 1024 };
void origin_find(const double *const x[3], size_t count, double origin[3]);

#ifdef __cplusplus
}
#endif

#endif
