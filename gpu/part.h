/*
 * One device's part of the bodies: some systems, or some bodies of every system, in its own memory
 * with its own stream. All functions but create, destroy and wait only queue work; what a host
 * array gets is there after gpu_part_wait().
 */
#ifndef ORRERY_GPU_PART_H
#define ORRERY_GPU_PART_H

#include <stdbool.h>

#include "devices.h"
#include "kernels.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

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
};

/* STATUS_MEMORY. */
enum status gpu_setup_init(const struct gpu_kernel *kernel, enum precision precision,
                           const struct physics *physics, struct bodies *bodies,
                           struct gpu_setup *setup, struct error *error);
void gpu_setup_free(struct gpu_setup *setup);

struct gpu_part {
    const struct gpu_setup *setup;
    struct gpu_device device;
    size_t first_system; /* of the host's bodies; their number is shape.systems */
    size_t capacity;     /* systems */
    struct gpu_shape shape;
    struct gpu_tuning force_tuning, potential_tuning;
    cudaStream_t stream;
    cudaEvent_t ready, copied; /* for the exchange between parts */
    void *memory;              /* one allocation for all that follows */
    struct gpu_state state;
    double *unit_mass, *factor;
    void *sources, *full_sources; /* the same in double */
    double *partial;
    void *sides;
    unsigned distances;
    double *phi, *psi, *blocks, *sums;
    unsigned long long *blemish;
    unsigned slots;       /* of the last sums that no move has taken up */
    bool sources_current; /* they are those of the positions */
    struct gpu_graph {
        cudaGraphExec_t graph;
        const struct integrator *integrator;
        double dt;
        size_t systems;
    } graph; /* of team.c */
};

/* Room for `systems` systems and bodies [first, last) of each; their bytes. */
size_t gpu_part_size(const struct gpu_setup *setup, const struct gpu_device *device, size_t systems,
                     size_t first, size_t last);
enum status gpu_part_create(const struct gpu_setup *setup, const struct gpu_device *device,
                            size_t systems, size_t first, size_t last, struct gpu_part **part,
                            struct error *error);
void gpu_part_destroy(struct gpu_part *part); /* accepts NULL */

/* Takes systems [first_system, first_system + systems) from the host's arrays. */
enum status gpu_part_upload(struct gpu_part *part, size_t first_system, size_t systems,
                            struct error *error);
/* Gives positions and velocities, or accelerations, back to the host's arrays. */
enum status gpu_part_download_state(struct gpu_part *part, struct error *error);
enum status gpu_part_download_accelerations(struct gpu_part *part, struct error *error);

enum status gpu_part_sum(struct gpu_part *part, struct error *error);
enum status gpu_part_move(struct gpu_part *part, const struct gpu_move *moves, size_t count,
                          struct error *error);
/* Whole steps of systems that stay in a block; false in *done where they do not. */
enum status gpu_part_resident(struct gpu_part *part, const struct integrator *integrator, double dt,
                              uint64_t steps, bool *done, struct error *error);

/* The sums of gpu_potentials() from positions in state, into phi and psi on the device. */
enum status gpu_part_potentials(struct gpu_part *part, struct error *error);
enum status gpu_part_download_potentials(struct gpu_part *part, double *phi, double *psi,
                                         struct error *error);
/* Blocks' sums of the part's own bodies, then the systems' sums of all blocks, to
 * sums[systems][GPU_SUM_COUNT]. */
enum status gpu_part_conserved_blocks(struct gpu_part *part, struct error *error);
enum status gpu_part_conserved(struct gpu_part *part, double *sums, struct error *error);

/* Until everything queued is done. Sets *blemish, unless NULL, where the state of a body has become
 * infinite or NaN. */
enum status gpu_part_wait(struct gpu_part *part, bool *blemish, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
