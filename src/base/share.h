/* Dealing a number of things out, as evenly as it goes. */
#ifndef ORRERY_BASE_SHARE_H
#define ORRERY_BASE_SHARE_H

#include <stddef.h>

/*
 * Where share `k` of `parts` begins, and share k - 1 ends: floor(total k / parts), worked out so
 * that the product cannot overflow. Shares differ by one thing at most.
 */
static inline size_t share_start(size_t total, size_t parts, size_t k)
{
    return total / parts * k + total % parts * k / parts;
}

#endif
