/* The parts of a bench of a GPU, its rows, and the function that takes them. */
#ifndef ORRERY_GPU_BENCH_PARTS_H
#define ORRERY_GPU_BENCH_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "catalog.h"

/* The parts, in the order in which they are measured. */
enum gpu_bench_part {
    GPU_BENCH_RATES,     /* operations a second: the roofline */
    GPU_BENCH_ACCURACY,  /* of the precisions and kernels */
    GPU_BENCH_BLOCKS,    /* tiled: every tile x block */
    GPU_BENCH_TUNING,    /* blocked: block, tile, bodies per thread, split */
    GPU_BENCH_LADDER,    /* from the textbook's kernel to ours */
    GPU_BENCH_SIZES,     /* speed for numbers of bodies */
    GPU_BENCH_ENSEMBLES, /* many systems in one launch */
    GPU_BENCH_STEPS,     /* whole steps of velocity Verlet */
    GPU_BENCH_PARTS
};

extern const char *const gpu_bench_parts[GPU_BENCH_PARTS]; /* titles */

struct gpu_device; /* devices.h */

struct gpu_bench_options {
    const struct gpu_device *device;
    double seconds; /* all parts together; what comes later is skipped */
    size_t largest; /* bodies of the largest system */
    size_t bodies;  /* tune for systems of this size alone; 0: for small and large ones */
    bool store;     /* put the best tuning into the user's cache */
};

struct gpu_bench_row {
    enum gpu_bench_part part;
    const char *label; /* "blocked, 4 bodies per thread"; lives during the call */
    enum precision precision;
    size_t systems, count;
    struct gpu_tuning tuning;
    bool skipped;           /* there was no time; what follows is 0 */
    bool best;              /* GPU_BENCH_TUNING: the fastest so far, of its precision and size */
    double seconds, median; /* of one force evaluation, or of one step: the least and the median */
    double rate;            /* ordered pairs a second; in GPU_BENCH_RATES: operations a second */
    double limit;           /* the rate that the device's operations allow; 0: not known */
    double error;           /* GPU_BENCH_ACCURACY: rms of |a - a_ref| / |a_ref|, fp64 reference */
};

struct gpu_bench_sink {
    enum status (*row)(void *context, const struct gpu_bench_row *row, struct error *error);
    void *context;
};

/*
 * Measures the speed of a device, and its best tuning: `orrery bench --gpu`. Times are taken by the
 * device's own events around several launches, after a warm-up. STATUS_UNAVAILABLE, STATUS_MEMORY,
 * and what the sink returns.
 */
enum status gpu_bench(const struct gpu_bench_options *options, const struct gpu_bench_sink *sink,
                      struct error *error);

#endif
