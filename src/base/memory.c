/*
 * aligned_alloc() leaves memory as it was, and clearing all of it makes all of it resident.
 * calloc() has large blocks from the system, which clears each page when it is first used. The byte
 * before the array says how far it was moved to be aligned.
 */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void *memory_array(size_t count, size_t size, struct error *error)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - MEMORY_ALIGNMENT) {
        error_set(error, STATUS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
        return NULL;
    }
    if (bytes == 0)
        bytes = 1; /* an array outside of its block would look like a leak */
    char *const block = calloc(1, bytes + MEMORY_ALIGNMENT);
    if (!block) {
        error_set(error, STATUS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
        return NULL;
    }
    const size_t shift = MEMORY_ALIGNMENT - (uintptr_t)block % MEMORY_ALIGNMENT;
    char *const array = block + shift;
    array[-1] = (char)shift;
    return array;
}

void memory_free(void *array)
{
    if (array)
        free((char *)array - ((char *)array)[-1]);
}

void memory_return_large(void)
{
#ifdef __GLIBC__
    /* Clearing so many bytes anew costs less than a tenth of a millisecond. */
    enum { LARGE = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}
