/* The titles of the parts of `orrery bench --gpu`. They are compiled without CUDA, too, as is the
 * command that prints them. */
#include "bench-parts.h"

const char *const gpu_bench_parts[GPU_BENCH_PARTS] = {
    "operations of the device",
    "accuracy",
    "tiled: tile x block",
    "tuning of blocked",
    "ladder",
    "sizes",
    "ensembles",
    "steps of velocity Verlet",
};
