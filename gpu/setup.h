/*
 * What all devices compute with: the kernel, the law of the pair terms, and the units in which
 * fp32 has them.
 */
#ifndef ORRERY_GPU_SETUP_H
#define ORRERY_GPU_SETUP_H

#include <stdbool.h>

#include "kernels.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

struct backend_exchange; /* backend/backend.h */

struct gpu_kernel {
    const char *name;
    cudaError_t (*sum)(const struct gpu_sum_call *call, unsigned *slots);
    uint32_t padding; /* the stride of systems is a multiple of it */
    int components;   /* of its sums */
    bool mutual;      /* needs all bodies of a system on one device, and room for both sides */
    bool resident;    /* small systems may stay in a block: the bits are the same */
};

/* The row of compute.kernel; NULL for a name that no row has. "auto" is the best plain one. */
const struct gpu_kernel *gpu_kernel_find(const char *name);

/* What all parts have in common. */
struct gpu_setup {
    const struct gpu_kernel *kernel;
    const struct physics *physics;
    struct bodies *bodies;
    struct gpu_law law;
    double *unit_mass, *factor; /* of every system: struct gpu_units, on the host */
    /* Of the force, where it is not to be the device's own: as launched, or to be fitted. */
    const struct gpu_tuning *tuning;
    const struct gpu_tuning_row *row;
    /* Where other processes move bodies of the same systems; else NULL. */
    const struct backend_exchange *exchange;
    double *phi, *psi; /* on the host, laid out like the bodies */
};

/* STATUS_MEMORY. */
enum status gpu_setup_init(const struct gpu_kernel *kernel, enum precision precision,
                           const struct physics *physics, struct bodies *bodies,
                           struct gpu_setup *setup, struct error *error);
/* The bodies are divided among processes. STATUS_MEMORY. */
enum status gpu_setup_share(struct gpu_setup *setup, const struct backend_exchange *exchange,
                            struct error *error);
void gpu_setup_free(struct gpu_setup *setup);

#ifdef __cplusplus
}
#endif

#endif
