/*
 * The origin from which float kernels measure positions: a median of each coordinate, which no
 * body that escapes can move, so that the others keep their digits. (The middle of the bounding
 * box, and the centre of mass, go with the farthest body.)
 *
 * The median is that of a few bodies, spread evenly over the system: nine of them; of more bodies,
 * the median of the medians of nine, 81 or 729 in all. It follows from the positions and the number
 * of bodies alone, and costs next to nothing beside the sums over pairs.
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
    ORIGIN_MEDIAN, /* as origin_find() has it, in open space */
    ORIGIN_ZERO    /* the origin of coordinates */
};

enum { ORIGIN_SAMPLE = 9, ORIGIN_COMPARATORS = 19 };

/* Comparators that bring the median of `size` numbers to number size / 2: each leaves the lesser
 * one in `low` and the greater one in `high`. */
struct origin_network {
    size_t size, comparators;
    struct {
        unsigned char low, high;
    } comparator[ORIGIN_COMPARATORS];
};

/* Returns the network that finds the median of a sample of `count` > 0 bodies. A system of fewer
 * than ORIGIN_SAMPLE bodies is its own sample, without one body if their number is even. */
const struct origin_network *origin_network(size_t count);

/* Returns the index of body `k` of the `size` <= count bodies that stand for all. */
static inline size_t origin_body(size_t count, size_t size, size_t k)
{
    return k * count / size;
}

/* Finds the origin of `count` > 0 bodies from their coordinates. If they are at most
 * ORIGIN_ONE_SAMPLE, it is the median by origin_network() of the bodies origin_body(). */
enum { ORIGIN_ONE_SAMPLE = 1024 };
void origin_find(const double *const x[3], size_t count, double origin[3]);

#ifdef __cplusplus
}
#endif

#endif
