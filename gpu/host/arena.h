/* The memory of a device for several arrays: one allocation, in which they follow one another. */
#ifndef ORRERY_GPU_ARENA_H
#define ORRERY_GPU_ARENA_H

#include <stddef.h>

/* The beginning of every array is a multiple of this number of bytes. */
enum { GPU_ARENA_ALIGNMENT = 256 };

struct gpu_arena {
    char *base;  /* the allocation; NULL: there is none, and bytes are only counted */
    size_t used; /* bytes that arrays have taken, with the gaps between them */
};

/* Returns the next array, of `count` elements of `size` bytes; NULL if there is no allocation. */
static inline void *gpu_arena_take(struct gpu_arena *arena, size_t count, size_t size)
{
    const size_t bytes = count * size + GPU_ARENA_ALIGNMENT - 1;
    char *const taken = arena->base ? arena->base + arena->used : NULL;
    arena->used += bytes / GPU_ARENA_ALIGNMENT * GPU_ARENA_ALIGNMENT;
    return taken;
}

#endif
