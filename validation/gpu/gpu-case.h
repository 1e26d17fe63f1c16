/* The common part of the tests of the GPU's kernels: bodies, and one evaluation on the executor. */
#ifndef ORRERY_VALIDATION_GPU_CASE_H
#define ORRERY_VALIDATION_GPU_CASE_H

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "executor.h"
#include "force/direct/reference.h"
#include "gpu/host/exchange.h"
#include "gpu/host/observe.h"
#include "gpu/host/steps.h"
#include "model/bodies.h"
#include "model/physics.h"

/* High-entropy numbers; eps is a few times the mean distance of 1000 bodies in the cube. */
static const struct physics case_soft = { .gravitational_constant = 1.0625, .softening = 0.1875 };
static const struct physics case_sharp = { .gravitational_constant = 1.0625 };
static const struct physics case_periodic = { .gravitational_constant = 1.0625,
                                              .softening = 0.0625,
                                              .boundary = BOUNDARY_PERIODIC,
                                              .box_length = 1.3719 };

/* `count` bodies in a cube of side 2 about the origin, of random masses and velocities. Positions
 * and masses have 20 bits, so that fp32 holds them exactly. */
static inline struct bodies *case_bodies(size_t systems, size_t count, unsigned long seed)
{
    struct error error = { 0 };
    struct bodies *b;
    assert_int_equal(bodies_create(systems, count, &b, &error), STATUS_OK);
    gsl_rng *random = random_create(seed, &error);
    assert_non_null(random);
    for (size_t s = 0; s < systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + count; i++) {
            double *const exact[] = { &b->x[i], &b->y[i], &b->z[i] };
            double *const velocity[] = { &b->vx[i], &b->vy[i], &b->vz[i] };
            for (int k = 0; k < 3; k++) {
                *exact[k] = ldexp(rint(ldexp(random_uniform(random, -1, 1), 20)), -20);
                *velocity[k] = random_uniform(random, -0.5, 0.5);
            }
            b->m[i] = ldexp(1 + rint(ldexp(random_uniform(random, 0, 1), 19)), -20);
        }
    random_destroy(random);
    return b;
}

static inline void case_equal_masses(struct bodies *b, double m)
{
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = 0; i < b->count; i++)
            b->m[s * b->stride + i] = m;
}

/* A device that computes bodies [0, last) of every system by one kernel. `tuning` NULL: the
 * device's. Ended by case_close(). */
struct case_device {
    struct gpu_setup setup;
    struct gpu_part *part;
    struct gpu_team team;
};

static inline enum gpu_kernel_id case_kernel(const char *name)
{
    const enum gpu_kernel_id id = gpu_catalog_find(name);
    return strcmp(name, "auto") == 0 ? gpu_catalog_choose(1, true) : id;
}

/* Tells whether kernel number k computes in precision p; false past the last one. */
static inline bool case_has(size_t k, int p)
{
    return p <= PRECISION_SINGLE && gpu_catalog[k].limits[p].block.most > 0;
}

/* Returns `wanted`, or double if kernel number k does not compute in that precision. */
static inline enum precision case_precision(size_t k, enum precision wanted)
{
    return case_has(k, wanted) ? wanted : PRECISION_DOUBLE;
}

/* The launches of the steps of what case_open() makes. */
static enum gpu_steps case_steps = GPU_STEPS_EARLY;
static int case_resident_bodies = 0;

/* The arithmetic of the potentials of what case_open() makes. */
static enum gpu_energies case_energies = GPU_ENERGIES_AUTO;

static inline void case_open_kernel(struct case_device *on, struct bodies *b,
                                    const struct physics *physics, const struct gpu_kernel *kernel,
                                    enum precision precision, const struct gpu_tuning *tuning,
                                    size_t last)
{
    struct error error = { 0 };
    struct gpu_device device;
    assert_int_equal(gpu_setup_init(kernel, precision, physics, b, &on->setup, &error), 0);
    on->setup.tuning = tuning;
    on->setup.steps = case_steps;
    on->setup.resident_bodies = case_resident_bodies;
    on->setup.energies = case_energies;
    on->setup.registers = true; /* whatever the integrator */
    assert_int_equal(gpu_device_find(0, &device, &error), 0);
    assert_int_equal(gpu_part_create(&on->setup, &device, b->systems, 0, last, &on->part, &error),
                     0);
    on->team = (struct gpu_team){ &on->part, 1 };
}

static inline void case_open(struct case_device *on, struct bodies *b,
                             const struct physics *physics, const char *kernel,
                             enum precision precision, const struct gpu_tuning *tuning, size_t last)
{
    case_open_kernel(on, b, physics, gpu_kernel_of(case_kernel(kernel)), precision, tuning, last);
}

/* Takes `systems` systems from the first one on. */
static inline void case_upload(struct case_device *on, size_t systems)
{
    struct error error = { 0 };
    assert_int_equal(gpu_exchange_upload(on->part, 0, systems, &error), 0);
}

/* Steps of bodies whose accelerations are not known. */
static inline void case_advance(struct case_device *on, const char *integrator, double dt,
                                uint64_t steps)
{
    struct error error = { 0 };
    struct stage_program program = { .count = 0 };
    stage_program_make(&program, integrator_find(integrator), dt);
    assert_int_equal(gpu_steps_advance(&on->team, &program, steps, false, &error), 0);
}

/* Everything comes back. */
static inline void case_fetch(struct case_device *on)
{
    struct error error = { 0 };
    assert_int_equal(gpu_exchange_download_state(on->part, &error), 0);
    assert_int_equal(gpu_exchange_download_accelerations(on->part, &error), 0);
    assert_int_equal(gpu_part_wait(on->part, NULL, &error), 0);
}

static inline void case_close(struct case_device *on)
{
    gpu_part_destroy(on->part);
    gpu_setup_free(&on->setup);
}

/* The accelerations of bodies [0, last) of all systems by one kernel, into b->ax, ay, az. */
static inline void case_some_accelerations(struct bodies *b, const struct physics *physics,
                                           const char *kernel, enum precision precision,
                                           const struct gpu_tuning *tuning, size_t last)
{
    struct error error = { 0 };
    struct case_device on;
    case_open(&on, b, physics, kernel, precision, tuning, last);
    case_upload(&on, b->systems);
    assert_int_equal(gpu_steps_accelerations(&on.team, &error), 0);
    case_fetch(&on);
    case_close(&on);
}

static inline void case_accelerations(struct bodies *b, const struct physics *physics,
                                      const char *kernel, enum precision precision,
                                      const struct gpu_tuning *tuning)
{
    case_some_accelerations(b, physics, kernel, precision, tuning, b->count);
}

/* Computes phi and psi of the bodies as they are now on an open device. */
static inline void case_potentials(struct case_device *on, const struct bodies *b, double *phi,
                                   double *psi)
{
    struct error error = { 0 };
    case_upload(on, b->systems);
    assert_int_equal(gpu_observe_potentials(&on->team, &error), 0);
    assert_int_equal(gpu_exchange_download_potentials(on->part, phi, psi, &error), 0);
    assert_int_equal(gpu_part_wait(on->part, NULL, &error), 0);
}

struct case_vectors {
    size_t length;
    double *a; /* x of all, y of all, z of all */
};

static inline struct case_vectors case_save(const struct bodies *b, const double *x,
                                            const double *y, const double *z)
{
    struct case_vectors saved = { bodies_length(b), NULL };
    saved.a = malloc(3 * saved.length * sizeof(double));
    memcpy(saved.a, x, saved.length * sizeof(double));
    memcpy(saved.a + saved.length, y, saved.length * sizeof(double));
    memcpy(saved.a + 2 * saved.length, z, saved.length * sizeof(double));
    return saved;
}

static inline struct case_vectors case_save_accelerations(const struct bodies *b)
{
    return case_save(b, b->ax, b->ay, b->az);
}

static inline bool case_same(struct case_vectors a, struct case_vectors b)
{
    return a.length == b.length && memcmp(a.a, b.a, 3 * a.length * sizeof(double)) == 0;
}

/* sum_j |a_ij|: what the error of the force on body i is measured against. */
static inline double case_scale(const struct bodies *b, const struct physics *physics, size_t i)
{
    const size_t first = i / b->stride * b->stride;
    const double eps2 = physics->softening * physics->softening;
    double sum = 0;
    for (size_t j = first; j < first + b->count; j++) {
        double d[3] = { b->x[j] - b->x[i], b->y[j] - b->y[i], b->z[j] - b->z[i] };
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            if (physics->boundary == BOUNDARY_PERIODIC)
                d[k] = physics_nearest_image(d[k], physics->box_length);
            r2 += d[k] * d[k];
        }
        if (r2 > 0)
            sum += b->m[j] * sqrt(r2) / pow(r2 + eps2, 1.5);
    }
    return physics->gravitational_constant * sum;
}

/* The largest |a - a_reference| / sum_j |a_ij|; b holds a, and the reference afterwards. */
static inline double case_error(struct bodies *b, const struct physics *physics)
{
    const struct case_vectors a = case_save_accelerations(b);
    reference_accelerations(physics, b);
    double worst = 0;
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++) {
            const double error =
                sqrt(pow(a.a[i] - b->ax[i], 2) + pow(a.a[a.length + i] - b->ay[i], 2) +
                     pow(a.a[2 * a.length + i] - b->az[i], 2));
            const double scale = case_scale(b, physics, i);
            if (error > 0 || isnan(error))
                worst = isnan(error) ? error : fmax(worst, error / scale);
        }
    free(a.a);
    return worst;
}

#endif
