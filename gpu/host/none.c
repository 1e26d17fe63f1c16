/* The functions on GPUs in a build without the CUDA toolkit: each fails with STATUS_UNAVAILABLE. */
#include "backend/backend.h"
#include "devices.h"
#include "gpu/bench/bench-parts.h"

static enum status cuda_probe(struct error *error)
{
    return error_set(error, STATUS_UNAVAILABLE,
                     "this build has no GPU backend: configure found no CUDA toolkit");
}

enum status gpu_device_count(int *count, struct error *error)
{
    *count = 0;
    return cuda_probe(error);
}

enum status gpu_device_find(int index, struct gpu_device *device, struct error *error)
{
    (void)index;
    (void)device;
    return cuda_probe(error);
}

enum status gpu_bench(const struct gpu_bench_options *options, const struct gpu_bench_sink *sink,
                      struct error *error)
{
    (void)options;
    (void)sink;
    return cuda_probe(error);
}

static enum status cuda_create(const struct backend_options *options, const struct physics *physics,
                               struct bodies *bodies, struct backend **backend, struct error *error)
{
    (void)options;
    (void)physics;
    (void)bodies;
    *backend = NULL;
    return cuda_probe(error);
}

const struct backend_class backend_cuda = {
    .variant = { .name = "cuda", .help = "NVIDIA GPUs: all systems in one launch" },
    .probe = cuda_probe,
    .create = cuda_create,
};
