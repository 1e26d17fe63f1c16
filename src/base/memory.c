#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *memory_array(size_t count, size_t size, struct error *error)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - MEMORY_ALIGNMENT) {
        error_set(error, STATUS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
        return NULL;
    }
    /* aligned_alloc() wants a multiple of the alignment. */
    bytes = (bytes / MEMORY_ALIGNMENT + 1) * MEMORY_ALIGNMENT;
    void *array = aligned_alloc(MEMORY_ALIGNMENT, bytes);
    if (!array) {
        error_set(error, STATUS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
        return NULL;
    }
    return memset(array, 0, bytes);
}

void memory_free(void *array)
{
    free(array);
}
