/* The GPUs of this machine, and the driver's errors in words. */
#ifndef ORRERY_GPU_DEVICES_H
#define ORRERY_GPU_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct gpu_device {
    int index;      /* as the driver counts them */
    char name[256]; /* "NVIDIA H200" */
    char isa[16];   /* "sm_90", or "emulated" */
    bool emulated;  /* the CPU does what a GPU would do: for learners, and never fast */
    int multiprocessors;
    int lanes;           /* fp32 operations of one multiprocessor in a cycle */
    double clock;        /* Hz, the highest */
    size_t memory;       /* bytes */
    int driver, runtime; /* versions: 13000 is 13.0 */
};

/* Counts the devices. STATUS_UNAVAILABLE with the reason if there is none or no driver. */
enum status gpu_device_count(int *count, struct error *error);
enum status gpu_device_find(int index, struct gpu_device *device, struct error *error);

/* Lets devices copy from each other's memory without a detour by way of the host's, where they
 * can. */
void gpu_devices_connect(const struct gpu_device *devices, size_t size);

/* The failure `code` (a cudaError_t) of a device while it was `doing` something: STATUS_OK for
 * 0, STATUS_MEMORY for want of memory, STATUS_UNAVAILABLE for all else. */
enum status gpu_check(int code, int device, const char *doing, struct error *error);

#endif
