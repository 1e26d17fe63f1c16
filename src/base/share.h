/* Dealing a number of things out, as evenly as it goes. */
#ifndef ORRERY_BASE_SHARE_H
#define ORRERY_BASE_SHARE_H

#include <stddef.h>

/*
 * Returns the beginning of share `k` of `parts`, which is the end of share k - 1: floor(total k /
 * parts), computed so that the product cannot overflow. The sizes of shares differ by at most one.
 */
static inline size_t share_start(size_t total, size_t parts, size_t k)
{
    return total / parts * k + total % parts * k / parts;
}

#endif
