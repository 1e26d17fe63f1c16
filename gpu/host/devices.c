#include "devices.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

/* The executor of validation/gpu, which takes the place of CUDA's runtime, defines this as a
 * function. */
#ifndef GPU_IS_EMULATED
#define GPU_IS_EMULATED false
#endif

/* Returns the fp32 multiply-adds that a multiprocessor of a compute capability begins in a cycle
 * (CUDA C++ Programming Guide, arithmetic instructions). */
static int lanes_of(int major, int minor)
{
    const int half = major == 7 || (major == 8 && minor == 0);
    return half ? 64 : 128;
}

enum status gpu_check(int code, int device, const char *doing, struct error *error)
{
    if (code == cudaSuccess)
        return STATUS_OK;
    const enum status status =
        code == cudaErrorMemoryAllocation ? STATUS_MEMORY : STATUS_UNAVAILABLE;
    cudaGetLastError(); /* clears the error, which the next check would find again */
    return error_set(error, status, "GPU %d: %s: %s", device, doing,
                     cudaGetErrorString((cudaError_t)code));
}

static enum status old_driver(struct error *error)
{
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        return error_set(error, STATUS_UNAVAILABLE, "no NVIDIA driver is installed");
    return error_set(error, STATUS_UNAVAILABLE,
                     "no GPU can be used: the driver knows CUDA up to %d.%d, and this build needs "
                     "%d.%d",
                     driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

enum status gpu_device_count(int *count, struct error *error)
{
    *count = 0;
    const cudaError_t code = cudaGetDeviceCount(count);
    if (code == cudaErrorInsufficientDriver)
        return old_driver(error);
    if (code != cudaSuccess)
        return error_set(error, STATUS_UNAVAILABLE, "no GPU can be used: %s",
                         cudaGetErrorString(code));
    if (*count == 0)
        return error_set(error, STATUS_UNAVAILABLE, "no GPU is visible");
    return STATUS_OK;
}

enum status gpu_device_find(int index, struct gpu_device *device, struct error *error)
{
    struct cudaDeviceProp properties;
    int kilohertz = 0, ratio = 0;
    cudaError_t code = cudaGetDeviceProperties(&properties, index);
    if (!code)
        code = cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, index);
    if (!code)
        code = cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, index);
    if (code)
        return gpu_check(code, index, "asking for its properties", error);
    *device = (struct gpu_device){
        .index = index,
        .multiprocessors = properties.multiProcessorCount,
        .lanes = lanes_of(properties.major, properties.minor),
        .fp64_ratio = ratio,
        .clock = 1e3 * kilohertz,
        .memory = properties.totalGlobalMem,
        .emulated = GPU_IS_EMULATED,
    };
    snprintf(device->name, sizeof device->name, "%s", properties.name);
    snprintf(device->isa, sizeof device->isa, "sm_%d%d", properties.major, properties.minor);
    if (device->emulated)
        snprintf(device->isa, sizeof device->isa, "emulated");
    cudaDriverGetVersion(&device->driver);
    cudaRuntimeGetVersion(&device->runtime);
    return STATUS_OK;
}

/* Lets every device access the memory of every other. Failures are ignored: devices that cannot be
 * connected copy by way of the host, and some are connected already. */
void gpu_devices_connect(const struct gpu_device *devices, size_t size)
{
    for (size_t k = 0; k < size * size; k++) {
        const int own = devices[k / size].index, other = devices[k % size].index;
        int can = 0;
        if (own != other && !cudaSetDevice(own) && !cudaDeviceCanAccessPeer(&can, own, other) &&
            can)
            cudaDeviceEnablePeerAccess(other, 0);
    }
    cudaGetLastError();
}
