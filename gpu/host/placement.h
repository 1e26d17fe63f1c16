/*
 * How the bodies of a run are divided over devices:
 *
 *   whole     every device keeps some systems for good, as many as the others or one more;
 *   divided   fewer systems than devices: every device moves some bodies of each system;
 *             other processes may move other bodies, and positions are gathered from them;
 *   streamed  the bodies do not fit, or the config asks for it: batches of systems go through the
 *             device's memory, and some of them are copied while others are computed. The host's
 *             arrays are always current.
 */
#ifndef ORRERY_GPU_PLACEMENT_H
#define ORRERY_GPU_PLACEMENT_H

#include "backend/backend.h"
#include "part.h"

enum gpu_mode { GPU_WHOLE, GPU_DIVIDED, GPU_STREAMED };

enum {
    GPU_MAX_PARTS = 64,
    GPU_MAX_BATCHES = 3 /* batches under way on a device: one arrives, one computes, one leaves */
};

struct gpu_placement {
    struct gpu_setup setup;
    enum gpu_mode mode;
    struct gpu_part *parts[GPU_MAX_PARTS];
    size_t part_count, device_count;
    size_t batches;                  /* GPU_STREAMED: number of batches under way on every device */
    size_t own_first, own_last;      /* this process moves bodies [own_first, own_last) */
    size_t first[GPU_MAX_PARTS + 1]; /* device d has systems [first[d], first[d + 1]) */
    double *pinned[BODIES_REALS];    /* host arrays that are locked in memory */
    size_t pinned_count;
    char device[280], isa[16]; /* names of the devices and of their instruction set */
};

/* Finds whether GPUs can be used: launches a small kernel, because a device may be counted and
 * still refuse to work. STATUS_UNAVAILABLE, STATUS_MEMORY. */
enum status gpu_placement_probe(struct error *error);

/* Divides bodies, which are borrowed, over as many devices as are wanted. gpu_placement_clear()
 * takes the result even after an error. STATUS_CONFIG, STATUS_UNAVAILABLE, STATUS_MEMORY. */
enum status gpu_placement_init(struct gpu_placement *placement,
                               const struct backend_options *options, const struct physics *physics,
                               struct bodies *bodies, struct error *error);
void gpu_placement_clear(struct gpu_placement *placement);

/* A function that queues some work on a team of parts. */
typedef enum status gpu_queue(void *context, const struct gpu_team *team, struct error *error);

/* Calls `queue` with `context` for one team of parts after another, until work is queued for all
 * systems, and waits for it. Batches of streamed systems are copied to the device first.
 * *non_finite becomes true if a position or velocity is infinite or NaN. */
enum status gpu_placement_run(struct gpu_placement *placement, gpu_queue *queue, void *context,
                              bool *non_finite, struct error *error);

#endif
