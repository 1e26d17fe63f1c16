/*
 * One device's part of the bodies: some systems, or some bodies of every system, in its own memory
 * with its own stream. Copies are queued; what a host array gets is there after gpu_part_wait().
 */
#ifndef ORRERY_GPU_PART_H
#define ORRERY_GPU_PART_H

#include <stdbool.h>

#include "devices.h"
#include "setup.h"

/* The arrays of the sums of the force. */
struct gpu_part_force {
    struct gpu_tuning tuning;
    double *unit_mass, *factor; /* of every system */
    void *sources;              /* bodies as the kernels see them */
    void *sides;                /* of the third law, with room for ... */
    unsigned distances;         /* ... this number of distances */
    unsigned slots;             /* of the last sums that no move has taken up */
    bool sources_current;       /* they are those of the positions */
};

/* The launch of steps of systems that stay in a block. */
struct gpu_part_resident {
    struct gpu_tuning tuning;
};

/* The arrays of potentials and conserved quantities. */
struct gpu_part_observed {
    struct gpu_tuning tuning; /* of the potentials */
    void *sources;            /* in double; those of the force where these are */
    double *phi, *psi;
    double *blocks, *sums; /* of blocks of bodies, and of systems */
};

/* The steps of a team as one graph; of team.c. */
struct gpu_part_graph {
    cudaGraphExec_t graph;
    const struct integrator *integrator;
    double dt;
    size_t systems;
};

struct gpu_part {
    const struct gpu_setup *setup;
    struct gpu_device device;
    size_t first_system; /* of the host's bodies; their number is shape.systems */
    size_t capacity;     /* systems */
    struct gpu_shape shape;
    cudaStream_t stream;
    cudaEvent_t ready, copied; /* for the copies between parts */
    cudaEvent_t done;          /* for the host, which sleeps until then */
    void *memory;              /* one allocation for all arrays on the device */
    struct gpu_state state;
    double *partial; /* sums of the force or of potentials, in slots */
    struct gpu_part_force force;
    struct gpu_part_resident resident;
    struct gpu_part_observed observed;
    unsigned long long *non_finite, *on_host; /* and what gpu_part_wait() has read of it */
    struct gpu_part_graph graph;
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
/* Takes positions, or velocities and potentials, of all bodies: those of other processes too; gives
 * those of its own. */
enum status gpu_part_upload_positions(struct gpu_part *part, struct error *error);
enum status gpu_part_upload_observed(struct gpu_part *part, struct error *error);
enum status gpu_part_download_positions(struct gpu_part *part, struct error *error);
enum status gpu_part_download_velocities(struct gpu_part *part, struct error *error);
/* Gives positions and velocities, or accelerations, back to the host's arrays. */
enum status gpu_part_download_state(struct gpu_part *part, struct error *error);
enum status gpu_part_download_accelerations(struct gpu_part *part, struct error *error);
enum status gpu_part_download_potentials(struct gpu_part *part, double *phi, double *psi,
                                         struct error *error);

/* The failure `code` of the part's device, as gpu_check() has it. */
enum status gpu_part_check(const struct gpu_part *part, cudaError_t code, const char *doing,
                           struct error *error);

/* Until everything queued is done. Sets *non_finite, unless NULL, where the state of a body has
 * become infinite or NaN. */
enum status gpu_part_wait(struct gpu_part *part, bool *non_finite, struct error *error);

#endif
