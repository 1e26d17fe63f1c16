/* The requests that a test may make of the executor beside CUDA's own functions. */
#ifndef ORRERY_EXECUTOR_H
#define ORRERY_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum executor_order {
    EXECUTOR_FORWARD,  /* threads by index, work in the order of its calls */
    EXECUTOR_BACKWARD, /* threads and blocks from the last to the first, the youngest stream first
                        */
    EXECUTOR_SHUFFLED  /* threads, blocks and streams as a fixed seed has it */
};

struct executor_settings {
    int devices;
    size_t memory; /* bytes of each device */
    enum executor_order order;
    int failing_allocation; /* 1: the next one fails; 0: none */
    int failing_fill;       /* 1: the next cudaMemsetAsync() is refused; 0: none */
    int failing_launch;     /* 1: the next launch is refused; 0: none */
    int failing_kernel;     /* 1: the next kernel to run fails, as the next wait says; 0: none */
    int no_code;            /* the program has no code for the device's architecture */
    int busy;               /* another process has the device for itself */
    int driver;             /* the CUDA that the driver knows: 13000 is 13.0; 0: there is none */
    int of_two_kinds;       /* every other device has another name */
    int multiprocessors;    /* of each device */
    int fp64_ratio;         /* fp32 operations in the time of one in fp64 */
};

/* Also read from the environment at the first call, for whole programs: ORRERY_EXECUTOR_DEVICES,
 * _MEMORY, _ORDER, _FAIL_ALLOCATION, _FAIL_LAUNCH, _FAIL_KERNEL, _NO_CODE, _BUSY, _DRIVER,
 * _FP64_RATIO.
 * ORRERY_EXECUTOR_DROP takes out a barrier (block.cpp). ORRERY_EXECUTOR_GPU=1 lets the program take
 * the executor for a GPU. */
extern struct executor_settings executor_settings;

/* The test is linked with CUDA's own runtime and runs on a GPU (validation/gpu/on-gpu.c), to which
 * the settings and counts here mean nothing. */
extern const bool executor_is_a_gpu;

struct executor_counts {
    size_t allocated;                       /* bytes that are not freed */
    size_t streams, events, graphs, locked; /* that exist; ranges of locked host memory */
    size_t launches, waits, sent;           /* so far; bytes copied from the host to devices */
    size_t peers;                           /* pairs of devices that use each other's memory */
};

struct executor_counts executor_count(void);

/* The defaults again: one device, 1 GiB, 8 multiprocessors, fp64 at half the rate of fp32, forward,
 * no failures, a driver that knows the runtime's CUDA, no devices connected; other counts go on. */
void executor_reset(void);

#ifdef __cplusplus
}
#endif

#endif
