/*
 * The setup that all devices share: the kernel, the interaction, and the units in which the terms
 * of pairs are computed.
 */
#ifndef ORRERY_GPU_SETUP_H
#define ORRERY_GPU_SETUP_H

#include <stdbool.h>

#include "gpu/kernels/kernels.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "tuning.h"

struct backend_peers; /* backend/backend.h */

struct gpu_kernel {
    enum gpu_kernel_id id;
    const struct gpu_kernel_facts *facts;
    cudaError_t (*sum)(const struct gpu_sum_call *call, unsigned *slots);
    int components; /* number of sums of a body that it computes */
};

const struct gpu_kernel *gpu_kernel_of(enum gpu_kernel_id id);

/* The launches of a step in small systems (gpu_step()). */
enum gpu_steps {
    GPU_STEPS_EARLY,    /* one for a force and the moves after it, which may begin before the one
                           before it ends; if gpu_tuning_step() takes systems for small */
    GPU_STEPS_IN_ORDER, /* the same, but it does not begin earlier */
    GPU_STEPS_APART     /* one for the force, and one for the moves */
};

/* The arithmetic of potentials, and so of energies. */
enum gpu_energies {
    GPU_ENERGIES_AUTO, /* pairs of floats on devices that have few units for fp64 */
    GPU_ENERGIES_DOUBLE,
    GPU_ENERGIES_FLOATS /* gpu_potentials_in_floats(), wherever its terms can be used */
};

/* The values that all parts share. */
struct gpu_setup {
    const struct gpu_kernel *kernel;
    const struct physics *physics;
    struct bodies *bodies;
    struct gpu_interaction interaction;
    double *unit_mass, *factor; /* arrays of struct gpu_units on the host, by system */
    double *largest_mass;       /* by system; 1 if all masses are 0 */
    double *masses;             /* masses for energies and momenta; NULL: the bodies' own */
    /* The launch of the force kernel: `tuning` as it is; or, if that is NULL, `row` fitted to the
     * number of bodies (gpu_tuning_fit()). If both are NULL, the row that was measured for the
     * device is fitted. */
    const struct gpu_tuning *tuning;
    const struct gpu_tuning_row *row;
    enum gpu_steps steps;
    int resident_bodies; /* bodies of a thread of gpu_resident(); 0: those of the model */
    enum gpu_energies energies;
    /* The processes that move other bodies of the same systems, or NULL. */
    const struct backend_peers *peers;
    double *phi, *psi; /* potentials on the host, laid out like the bodies; NULL without peers */
    /* Interrupts a step whose forces take long; NULL: a step is not interrupted. */
    struct interruption *interruption;
    bool registers; /* the integrator keeps vectors between stages: parts have room for them */
};

/* Fills the setup for bodies and physics, which are borrowed. STATUS_MEMORY. */
enum status gpu_setup_init(const struct gpu_kernel *kernel, enum precision precision,
                           const struct physics *physics, struct bodies *bodies,
                           struct gpu_setup *setup, struct error *error);
/* Fills the interaction and the units of setup->bodies, for setup->physics. */
void gpu_setup_measure(struct gpu_setup *setup, enum precision precision);
/* Returns 1 over a power of two that is greater than each component of all `count` vectors; 1 if
 * all are zero, or one is not finite. */
double gpu_inverse_power(size_t count, const double *x, const double *y, const double *z);
/* Adapts the setup to bodies of each system that are divided among processes: keeps `peers` and
 * makes room for all potentials. STATUS_MEMORY. */
enum status gpu_setup_share(struct gpu_setup *setup, const struct backend_peers *peers,
                            struct error *error);
void gpu_setup_free(struct gpu_setup *setup);

#endif
