#include "setup.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* The first is what "auto" takes: the best that has the same bits as the baseline. */
static const struct gpu_kernel kernels[] = {
    { "blocked", gpu_blocked, GPU_GRANULE, 3, false, true },
    { "tiled", gpu_tiled, GPU_GRANULE, 3, false, false },
    { "simt", gpu_simt, GPU_GRANULE, 3, false, false },
    { "symmetric", gpu_symmetric, GPU_SYMMETRIC_TILE, 3, true, false },
};

const struct gpu_kernel *gpu_kernel_find(const char *name)
{
    if (strcmp(name, "auto") == 0)
        return &kernels[0];
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        if (strcmp(kernels[k].name, name) == 0)
            return &kernels[k];
    return NULL;
}

/*
 * fp32 reaches from 1e-38 to 1e38, and r^-3 needs the cube of the range of r. So the pair terms of
 * `single` and `mixed` are computed in units of the bodies' own size: in open space a power of two,
 * which changes no bit of the result; in a periodic box its side.
 */
static double inverse_length(const struct physics *physics, const struct bodies *bodies)
{
    if (physics->boundary == BOUNDARY_PERIODIC)
        return 1 / physics->box_length;
    double largest = 0;
    for (size_t i = 0; i < bodies_length(bodies); i++)
        largest =
            fmax(largest, fmax(fabs(bodies->x[i]), fmax(fabs(bodies->y[i]), fabs(bodies->z[i]))));
    int exponent = 0;
    if (largest > 0 && isfinite(largest))
        frexp(largest, &exponent);
    return ldexp(1, -exponent);
}

/* Masses in units of the largest of their system, so that equal masses are exactly 1. */
static void find_units(struct gpu_setup *setup)
{
    const struct bodies *bodies = setup->bodies;
    const struct gpu_law *law = &setup->law;
    const bool full = law->precision == PRECISION_DOUBLE;
    const double G = setup->physics->gravitational_constant;
    for (size_t s = 0; s < bodies->systems; s++) {
        double largest = 0;
        for (size_t i = 0; i < bodies->count && !full; i++)
            largest = fmax(largest, bodies->m[s * bodies->stride + i]);
        setup->unit_mass[s] = largest > 0 ? largest : 1;
        setup->factor[s] =
            full ? G : G * setup->unit_mass[s] * law->inverse_length * law->inverse_length;
    }
}

static bool masses_equal(const struct gpu_setup *setup)
{
    const struct bodies *bodies = setup->bodies;
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t i = 0; i < bodies->count; i++)
            if (bodies->m[s * bodies->stride + i] != setup->unit_mass[s])
                return false;
    return true;
}

static void find_law(struct gpu_setup *setup, enum precision precision)
{
    const struct physics *physics = setup->physics;
    struct gpu_law *law = &setup->law;
    const double eps = physics->softening, box = physics->box_length;
    law->precision = precision;
    law->inverse_length = inverse_length(physics, setup->bodies);
    const double eps_scaled = eps * law->inverse_length;
    law->full.eps2 = eps * eps;
    law->scaled.eps2 = (float)(eps_scaled * eps_scaled);
    law->space = eps_scaled >= 0x1p-40 ? GPU_SPACE_SOFT : GPU_SPACE_SHARP;
    if (physics->boundary == BOUNDARY_PERIODIC) {
        law->space = GPU_SPACE_PERIODIC;
        law->full.box = box;
        law->full.inverse_box = 1 / box;
        law->scaled.box = law->scaled.inverse_box = 1;
    }
}

enum status gpu_setup_init(const struct gpu_kernel *kernel, enum precision precision,
                           const struct physics *physics, struct bodies *bodies,
                           struct gpu_setup *setup, struct error *error)
{
    *setup = (struct gpu_setup){ .kernel = kernel, .physics = physics, .bodies = bodies };
    setup->unit_mass = memory_array(bodies->systems, sizeof(double), error);
    setup->factor = memory_array(bodies->systems, sizeof(double), error);
    if (!setup->unit_mass || !setup->factor) {
        gpu_setup_free(setup);
        return error->status;
    }
    find_law(setup, precision);
    find_units(setup);
    struct gpu_law *law = &setup->law;
    law->equal_masses =
        precision == PRECISION_SINGLE && law->space == GPU_SPACE_SOFT && masses_equal(setup);
    law->padding = law->equal_masses ? 0x1p60 : 0; /* so far that r^-3 is 0 */
    return STATUS_OK;
}

enum status gpu_setup_share(struct gpu_setup *setup, const struct backend_exchange *exchange,
                            struct error *error)
{
    const size_t length = bodies_length(setup->bodies);
    setup->exchange = exchange;
    setup->phi = memory_array(length, sizeof(double), error);
    setup->psi = memory_array(length, sizeof(double), error);
    return setup->phi && setup->psi ? STATUS_OK : error->status;
}

void gpu_setup_free(struct gpu_setup *setup)
{
    memory_free(setup->phi);
    memory_free(setup->psi);
    memory_free(setup->unit_mass);
    memory_free(setup->factor);
    *setup = (struct gpu_setup){ 0 };
}
