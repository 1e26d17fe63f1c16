/*
 * The speed of a device, and its best tuning: `orrery bench --gpu`. Times are taken by the device's
 * own events around several launches, after a warm-up.
 */
#ifndef ORRERY_GPU_GPU_BENCH_H
#define ORRERY_GPU_GPU_BENCH_H

#include "bench-parts.h"

/* STATUS_UNAVAILABLE, STATUS_MEMORY, and what the sink returns. */
enum status gpu_bench(const struct gpu_bench_options *options, const struct gpu_bench_sink *sink,
                      struct error *error);

#endif
