/* The titles of what is measured; in every build, as the command that prints them is. */
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
