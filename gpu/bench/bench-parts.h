/* The parts of a benchmark of a GPU, the rows of results, and the function that measures them. */
#ifndef ORRERY_GPU_BENCH_PARTS_H
#define ORRERY_GPU_BENCH_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "gpu/kernels/catalog.h"

/* The parts, in the order in which they are measured. */
enum gpu_bench_part {
    GPU_BENCH_RATES,     /* operations per second: the upper limits of speed */
    GPU_BENCH_ACCURACY,  /* errors of the forces, by precision and kernel */
    GPU_BENCH_BLOCKS,    /* kernel `tiled`: sizes of tile and block */
    GPU_BENCH_TUNING,    /* kernel `blocked`: block, tile, bodies per thread */
    GPU_BENCH_LADDER,    /* from a textbook's kernel to the fastest, one idea at a time */
    GPU_BENCH_SIZES,     /* speed of the kernels for 1024, 2048, ... bodies */
    GPU_BENCH_ENSEMBLES, /* many systems in one launch */
    GPU_BENCH_STEPS,     /* whole steps of velocity Verlet */
    GPU_BENCH_PARTS
};

struct gpu_device; /* devices.h */

struct gpu_bench_options {
    const struct gpu_device *device;
    double seconds; /* seconds for all parts together; trials that would end later are skipped */
    size_t largest; /* number of bodies of the largest system */
    size_t bodies;  /* number of bodies of a system to tune for; 0: several numbers */
    bool store;     /* store the best launches in the user's cache (tuning.h) */
};

struct gpu_bench_row {
    enum gpu_bench_part part;
    const char *label; /* "blocked, 4 bodies per thread"; valid during the call of the sink */
    enum precision precision;
    size_t systems, count;
    struct gpu_tuning tuning;
    bool skipped; /* there was no time for this trial; what follows is 0 */
    bool best;    /* GPU_BENCH_TUNING: the fastest so far of its precision and number of bodies */
    double seconds, median; /* least and median time of one force evaluation, or of one step */
    double rate;  /* ordered pairs per second; in GPU_BENCH_RATES: operations per second */
    double limit; /* the rate at which the device could issue the instructions; 0: not known */
    double error; /* GPU_BENCH_ACCURACY: rms of |a - a_ref| / |a_ref|, fp64 reference */
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
