/*
 * One device's part of the bodies: some systems, or some bodies of every system, in its own memory
 * with its own stream.
 */
#ifndef ORRERY_GPU_PART_H
#define ORRERY_GPU_PART_H

#include <stdbool.h>

#include "devices.h"
#include "setup.h"

/* The launch of the force kernel, and the arrays for its sums. */
struct gpu_part_force {
    struct gpu_tuning tuning;
    double *unit_mass, *factor; /* arrays of struct gpu_units, by system */
    void *sources;              /* bodies as the force kernels read them */
    /* With gpu_step(): the array that takes the next sources, which then become `sources`, and
     * whether the two arrays have changed places an odd number of times; else NULL. */
    void *next;
    bool exchanged;
    unsigned bodies; /* of a block of gpu_step(); 0: the force and the moves are launched apart */
    void *sides;     /* the sums of pairs of tiles, for gpu_symmetric() */
    unsigned distances;   /* distances between tiles for which `sides` has room */
    unsigned slots;       /* slots of the last sums; 0: a move has used these */
    bool later;           /* the next move is yet to compute the sums; slots is not 0 */
    bool sources_current; /* the sources are those of the present positions */
};

/* The arrays of potentials (phi, and psi for the virial) and conserved quantities. */
struct gpu_part_observed {
    struct gpu_tuning tuning; /* of the potentials */
    bool in_floats;           /* they are computed in pairs of floats */
    double *unit_mass;        /* of sources in floats, by system */
    void
        *sources; /* bodies in double or in floats; NULL: those of the force, which are in double */
    double *phi, *psi;
    double *masses;        /* masses of conserved sums (setup->masses); NULL: the bodies' own */
    double *blocks, *sums; /* mass, energies and momenta of blocks of bodies, and of systems */
};

/* A CUDA graph of several steps, which steps.c launches at once, and what it was made for. */
struct gpu_part_graph {
    cudaGraphExec_t graph;
    const struct integrator *integrator;
    double dt;
    size_t systems;
};

struct gpu_part {
    const struct gpu_setup *setup;
    struct gpu_device device;
    size_t first_system; /* index of the part's first system in the host's arrays */
    size_t capacity;     /* number of systems for which there is memory */
    struct gpu_shape shape;
    cudaStream_t stream;
    cudaEvent_t ready, copied; /* copies between parts wait for these */
    cudaEvent_t done;          /* the host waits for this */
    cudaEvent_t launched[2];   /* before the last and the last but one test of the interruption */
    void *memory;              /* one allocation for all arrays on the device */
    struct gpu_state state;
    struct gpu_fields fields;
    double *partial; /* sums of the force or of the potentials, in slots */
    struct gpu_part_force force;
    struct gpu_tuning resident; /* the launch of gpu_resident(), for small systems */
    struct gpu_part_observed observed;
    /* The lowest index of a body that is not finite, or all bits set; and its copy on the host. */
    unsigned long long *non_finite, *on_host;
    struct gpu_part_graph graphs[2]; /* the second: for sources that have changed places */
    double *before; /* state before steps that may be interrupted, from state.x on; or NULL */
};

/* gpu_part_create() makes a part with memory for `systems` systems, of which it moves bodies
 * [first, last); gpu_part_size() returns the bytes that this takes. STATUS_MEMORY,
 * STATUS_UNAVAILABLE. */
size_t gpu_part_size(const struct gpu_setup *setup, const struct gpu_device *device, size_t systems,
                     size_t first, size_t last);
enum status gpu_part_create(const struct gpu_setup *setup, const struct gpu_device *device,
                            size_t systems, size_t first, size_t last, struct gpu_part **part,
                            struct error *error);
void gpu_part_destroy(struct gpu_part *part); /* accepts NULL */

/* gpu_part_keep() keeps a copy of the state on the device, and gpu_part_restore() makes it the
 * state again. Both do nothing if steps are not interrupted (setup->interruption). */
enum status gpu_part_keep(struct gpu_part *part, struct error *error);
enum status gpu_part_restore(struct gpu_part *part, struct error *error);

/* Turns `code`, the result of what the part's device was `doing`, into a status and an error. */
enum status gpu_part_check(const struct gpu_part *part, cudaError_t code, const char *doing,
                           struct error *error);

/* Waits until everything queued is done. Sets *non_finite, unless it is NULL, to true if the state
 * of a body has become infinite or NaN. */
enum status gpu_part_wait(struct gpu_part *part, bool *non_finite, struct error *error);

/* Makes the sources of the force kernel for the present positions, unless they are these. */
cudaError_t gpu_part_pack(struct gpu_part *part);
/* Return the arguments of the kernels: the units of the sources, and those of the force kernel. */
struct gpu_units gpu_part_units(const struct gpu_part *part);
struct gpu_sum_call gpu_part_sum_call(const struct gpu_part *part);

/* A team: the parts that compute the same systems, either one part with whole systems, or several
 * that divide the bodies of each system. */
struct gpu_team {
    struct gpu_part *const *parts;
    size_t count;
};

/* Calls `what` for one part of a team after another until it fails. */
enum status gpu_part_each(const struct gpu_team *team,
                          enum status (*what)(struct gpu_part *, struct error *),
                          struct error *error);

#endif
