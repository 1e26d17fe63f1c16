#include "setup.h"

#include <math.h>

#include "base/memory.h"
#include "external/external.h"

const struct gpu_kernel *gpu_kernel_of(enum gpu_kernel_id id)
{
    static const struct gpu_kernel kernels[GPU_KERNELS] = {
#define GPU_KERNEL(id, name, ...) { GPU_##id, &gpu_catalog[GPU_##id], gpu_##name, 3 },
#include "gpu/kernels/catalog.inc"
    };
    return &kernels[id];
}

double gpu_inverse_power(size_t count, const double *x, const double *y, const double *z)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fmax(fabs(x[i]), fmax(fabs(y[i]), fabs(z[i]))));
    int exponent = 0;
    if (largest > 0 && isfinite(largest))
        frexp(largest, &exponent);
    return ldexp(1, -exponent);
}

/*
 * Returns 1 over the unit of length of the pair terms in the precisions `single` and `mixed`. fp32
 * reaches from 1e-38 to 1e38, and r^-3 needs the cube of the range of r, so the unit is the bodies'
 * own size: in open space a power of two, which changes no bit of the result; in a periodic box its
 * side.
 */
static double inverse_length(const struct physics *physics, const struct bodies *bodies)
{
    if (physics->boundary == BOUNDARY_PERIODIC)
        return 1 / physics->box_length;
    return gpu_inverse_power(bodies_length(bodies), bodies->x, bodies->y, bodies->z);
}

static double largest_mass(const struct bodies *bodies, size_t system)
{
    double largest = 0;
    for (size_t i = 0; i < bodies->count; i++)
        largest = fmax(largest, bodies->m[system * bodies->stride + i]);
    return largest > 0 ? largest : 1;
}

static bool masses_are(const struct bodies *bodies, size_t system, double m)
{
    for (size_t i = 0; i < bodies->count; i++)
        if (bodies->m[system * bodies->stride + i] != m)
            return false;
    return true;
}

/* Finds the unit of mass of each system: its largest mass, so that equal masses are exactly 1. In
 * fp64, whose range needs no unit, this holds for equal masses only; else the unit is 1, as it
 * always is for the kernel `portable`. No system's unit depends on the masses of another. Returns
 * true if in every system the masses are equal and the kernel is not `portable`. */
static bool find_units(struct gpu_setup *setup)
{
    const struct bodies *bodies = setup->bodies;
    const struct gpu_interaction *interaction = &setup->interaction;
    const bool full = interaction->precision == PRECISION_DOUBLE;
    const double G = setup->physics->gravitational_constant;
    const bool portable = setup->kernel && setup->kernel->facts->portable;
    bool all = !portable;
    for (size_t s = 0; s < bodies->systems; s++) {
        const double largest = largest_mass(bodies, s);
        const bool equal = masses_are(bodies, s, largest);
        setup->unit_mass[s] = portable || (full && !equal) ? 1 : largest;
        setup->factor[s] = G * setup->unit_mass[s];
        if (!full)
            setup->factor[s] *= interaction->inverse_length * interaction->inverse_length;
        all &= equal;
    }
    return all;
}

/* Returns the constants of terms in pairs of floats, for positions up to 1 / inverse_length. */
static struct gpu_interaction_floats floats_of(double eps, double inverse_length)
{
    static const double LARGEST_AT_FIRST = 0x1p20;
    const double scale = LARGEST_AT_FIRST * inverse_length, scaled = eps * scale;
    if (!(isfinite(scale) && scaled <= GPU_FLOATS_LARGEST))
        return (struct gpu_interaction_floats){ .inverse_length = 0 };
    const float eps2 = (float)(scaled * scaled);
    return (struct gpu_interaction_floats){ eps2, (float)(scaled * scaled - eps2), scale };
}

static void find_interaction(struct gpu_setup *setup, enum precision precision)
{
    const struct physics *physics = setup->physics;
    struct gpu_interaction *interaction = &setup->interaction;
    const double eps = physics->softening, box = physics->box_length;
    interaction->precision = precision;
    interaction->inverse_length = inverse_length(physics, setup->bodies);
    const double eps_scaled = eps * interaction->inverse_length;
    interaction->full.eps2 = eps * eps;
    interaction->scaled.eps2 = (float)(eps_scaled * eps_scaled);
    interaction->space = eps_scaled >= 0x1p-40 ? GPU_SPACE_SOFT : GPU_SPACE_SHARP;
    interaction->floats = floats_of(eps, interaction->inverse_length);
    if (physics->boundary == BOUNDARY_PERIODIC) {
        interaction->space = GPU_SPACE_PERIODIC;
        interaction->full.box = box;
        interaction->full.inverse_box = 1 / box;
        interaction->scaled.box = interaction->scaled.inverse_box = 1;
        interaction->floats.inverse_length = 0;
    }
}

void gpu_setup_measure(struct gpu_setup *setup, enum precision precision)
{
    find_interaction(setup, precision);
    struct gpu_interaction *interaction = &setup->interaction;
    interaction->equal_masses = find_units(setup) && interaction->space == GPU_SPACE_SOFT;
    if (interaction->equal_masses) /* bodies of the padding act although they have no mass: so far
                                      away that r^-3 is 0 */
        interaction->padding = precision == PRECISION_DOUBLE ? 0x1p400 : 0x1p60;
}

enum status gpu_setup_init(const struct gpu_kernel *kernel, enum precision precision,
                           const struct physics *physics, struct bodies *bodies,
                           struct gpu_setup *setup, struct error *error)
{
    *setup = (struct gpu_setup){ .kernel = kernel, .physics = physics, .bodies = bodies };
    setup->unit_mass = memory_array(bodies->systems, sizeof(double), error);
    setup->factor = memory_array(bodies->systems, sizeof(double), error);
    setup->largest_mass = memory_array(bodies->systems, sizeof(double), error);
    if (!setup->unit_mass || !setup->factor || !setup->largest_mass ||
        (physics->external && external_masses(bodies, &setup->masses, error))) {
        gpu_setup_free(setup);
        return error->status;
    }
    gpu_setup_measure(setup, precision);
    for (size_t s = 0; s < bodies->systems; s++)
        setup->largest_mass[s] = largest_mass(bodies, s);
    return STATUS_OK;
}

enum status gpu_setup_share(struct gpu_setup *setup, const struct backend_peers *peers,
                            struct error *error)
{
    const size_t length = bodies_length(setup->bodies);
    setup->peers = peers;
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
    memory_free(setup->largest_mass);
    memory_free(setup->masses);
    *setup = (struct gpu_setup){ 0 };
}
