#include "backend/backend.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/host/devices.h"
#include "gpu/kernels/catalog.h"

/* With fewer ordered pairs of bodies per force evaluation than this, a CPU is done before a GPU has
 * started. */
static const double DEVICE_PAIRS = 1e6;

/* The number of bodies of a system from which a GPU is faster if the integrator chooses its own
 * steps. An H200 took 0.019 s with this number and hermite4, and 16 cores 0.042 s; with 1024 bodies
 * it took 0.009 s, and the cores 0.005 s (docs/gpu.md; docs/performance/gpu-nvidia-h200.md has the
 * experiment with more bodies). One thread moves the systems of an ensemble, each at a time, so
 * that many cores may be faster for those. */
static const size_t DEVICE_OWN_STEPS = 4096;

static const struct backend_class backend_auto;

static const struct backend_class *const table[] = {
    &backend_auto,
    &backend_serial,
    &backend_openmp,
    &backend_cuda,
};

const struct backend_class *backend_at(size_t index)
{
    return index < COUNT_OF(table) ? table[index] : NULL;
}

const struct backend_class *backend_find(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(table); k++)
        if (strcmp(table[k]->variant.name, name) == 0)
            return table[k];
    return NULL;
}

const struct variant *backend_variant(size_t index)
{
    return index < COUNT_OF(table) ? &table[index]->variant : NULL;
}

const char *backend_team(const struct backend_description *description,
                         char buffer[BACKEND_TEAM_SIZE])
{
    const int threads = description->threads, ranks = description->ranks;
    int length = 0;
    if (ranks > 1)
        length = snprintf(buffer, BACKEND_TEAM_SIZE, "%d ranks of ", ranks);
    snprintf(buffer + length, BACKEND_TEAM_SIZE - (size_t)length, "%d thread%s", threads,
             threads == 1 ? "" : "s");
    return buffer;
}

void backend_copy_state(struct backend *to, size_t to_system, const struct backend *from,
                        size_t from_system)
{
    if (to->adaptive && from->adaptive && to->adaptive->class_ == from->adaptive->class_)
        to->adaptive->class_->copy_system(to->adaptive, to_system, from->adaptive, from_system);
}

/* Tells whether a GPU is the better choice; `reason` becomes a sentence that says why, or why
 * not. */
static bool prefer_device(const struct backend_options *options, const struct bodies *bodies,
                          char reason[BACKEND_CHOICE_SIZE])
{
    const double pairs =
        force_work(&options->force, (double)bodies->systems, (double)bodies->count);
    const char *kernel = options->force.kernel;
    const enum gpu_kernel_id id = gpu_catalog_find(kernel);
    struct gpu_device device;
    struct error error = { 0 };
    const bool own = integrator_chooses_steps(options->integrator);
    if (own && (options->ranks > 1 || bodies->systems > 1 || bodies->count < DEVICE_OWN_STEPS))
        snprintf(reason, BACKEND_CHOICE_SIZE,
                 "%s chooses its own steps, for which auto takes a GPU if one process has one "
                 "system of at least %zu bodies",
                 options->integrator->variant.name, DEVICE_OWN_STEPS);
    else if (force_check_direct(&options->force, "a GPU", &error))
        /* NOLINTNEXTLINE(bugprone-branch-clone): another reason */
        snprintf(reason, BACKEND_CHOICE_SIZE, "%.*s", BACKEND_CHOICE_SIZE - 1, error.text);
    else if (id == GPU_KERNELS && strcmp(kernel, "auto") != 0)
        snprintf(reason, BACKEND_CHOICE_SIZE, "compute.kernel names a kernel of a CPU");
    else if (strcmp(options->force.isa, "auto") != 0)
        snprintf(reason, BACKEND_CHOICE_SIZE, "compute.isa names instructions of a CPU");
    else if (options->peers && id != GPU_KERNELS &&
             (gpu_catalog[id].third_law || gpu_catalog[id].portable))
        snprintf(reason, BACKEND_CHOICE_SIZE, "%s on a GPU needs all bodies of a system", kernel);
    else if (pairs < DEVICE_PAIRS)
        snprintf(reason, BACKEND_CHOICE_SIZE,
                 "%.3g interactions per force evaluation, N^2 of each system, do not fill a GPU",
                 pairs);
    else if (backend_cuda.probe(&error))
        snprintf(reason, BACKEND_CHOICE_SIZE, "%.*s", BACKEND_CHOICE_SIZE - 1, error.text);
    else if (gpu_device_find(0, &device, &error))
        /* NOLINTNEXTLINE(bugprone-branch-clone): another reason */
        snprintf(reason, BACKEND_CHOICE_SIZE, "%.*s", BACKEND_CHOICE_SIZE - 1, error.text);
    else if (device.emulated)
        snprintf(reason, BACKEND_CHOICE_SIZE, "the GPU is emulated, which is slower than the CPU");
    else if (own && options->force.precision == PRECISION_DOUBLE &&
             device.fp64_ratio >= GPU_FP64_SLOW)
        snprintf(reason, BACKEND_CHOICE_SIZE,
                 "%s in double: this GPU computes in fp64 at 1/%d of its rate in fp32",
                 options->integrator->variant.name, device.fp64_ratio);
    else {
        snprintf(reason, BACKEND_CHOICE_SIZE, "a GPU is here");
        return true;
    }
    return false;
}

/*
 * Creates a backend on the GPU if that is preferred, otherwise on the CPU, and keeps the reason. A
 * GPU may refuse (too little memory, in use by another user, too new for this build); then the CPU
 * does the work. With several ranks the refusal is an error, since all ranks must have the same
 * backend.
 */
static enum status auto_create(const struct backend_options *options, const struct physics *physics,
                               struct bodies *bodies, struct backend **backend, struct error *error)
{
    char reason[BACKEND_CHOICE_SIZE];
    struct error refused = { 0 };
    enum status status = STATUS_UNAVAILABLE;
    if (prefer_device(options, bodies, reason)) {
        status = backend_cuda.create(options, physics, bodies, backend, &refused);
        if (status && options->ranks > 1)
            return error_set(error, status, "%s", refused.text);
        if (status)
            snprintf(reason, sizeof reason, "%.*s", BACKEND_CHOICE_SIZE - 1, refused.text);
    }
    if (status)
        status = backend_openmp.create(options, physics, bodies, backend, error);
    if (!status)
        memcpy((*backend)->choice, reason, sizeof reason);
    return status;
}

/* The class "auto". It creates backends of other classes and needs no other function. */
static const struct backend_class backend_auto = {
    .variant = { .name = "auto",
                 .help =
                     "A GPU, if there is one and the problem fills it; otherwise all CPU cores." },
    .create = auto_create,
};
