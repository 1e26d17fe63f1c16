/* Finds the GPUs of this machine, and turns the driver's error codes into messages. */
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

#endif
