/* Finds the GPUs of this machine, turns the driver's error codes into messages, and divides memory.
 */
#ifndef ORRERY_GPU_DEVICES_H
#define ORRERY_GPU_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* From this fp64_ratio on, fp64 is slow enough that other arithmetic or a CPU is faster. */
enum { GPU_FP64_SLOW = 16 };

struct gpu_device {
    int index;      /* number of the device, as the driver counts */
    char name[256]; /* "NVIDIA H200" */
    char isa[16];   /* "sm_90", or "emulated" */
    bool emulated;  /* the CPU executes the kernels in place of a GPU: for learning, and slow */
    int multiprocessors;
    int lanes;           /* fp32 multiply-adds that a multiprocessor begins in a cycle */
    int fp64_ratio;      /* fp32 operations in the time of one in fp64: 2, 32 or 64 */
    double clock;        /* highest clock rate, Hz */
    size_t memory;       /* all memory of the device, bytes */
    int driver, runtime; /* CUDA versions of the driver and of the library: 13000 is 13.0 */
};

/* Counts the devices. STATUS_UNAVAILABLE with the reason if there is none or no driver. */
enum status gpu_device_count(int *count, struct error *error);
enum status gpu_device_find(int index, struct gpu_device *device, struct error *error);

/* Lets devices copy from each other's memory without a detour by way of the host's, where they
 * can. */
void gpu_devices_connect(const struct gpu_device *devices, size_t size);

/* Turns `code` (a cudaError_t), the result of what a device was `doing`, into a status and an
 * error: STATUS_OK for 0, STATUS_MEMORY if memory is lacking, else STATUS_UNAVAILABLE. */
enum status gpu_check(int code, int device, const char *doing, struct error *error);

/* The beginning of every array is a multiple of this number of bytes. */
enum { GPU_ARENA_ALIGNMENT = 256 };

/* The memory of a device for several arrays: one allocation, in which they follow one another. */
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
