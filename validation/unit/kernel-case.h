/* Bodies for tests of the CPU's force kernels, and functions that run a kernel on them. */
#ifndef ORRERY_VALIDATION_KERNEL_CASE_H
#define ORRERY_VALIDATION_KERNEL_CASE_H

#include <omp.h>
#include <stdlib.h>

#include "force/method.h"
#include "motion-case.h"
#include "unit.h"

static const char *const case_kernels[] = { "plain", "symmetric" };

static inline struct force_options case_options(enum precision precision, const char *kernel,
                                                const char *isa, int threads)
{
    return (struct force_options){
        .precision = precision, .kernel = kernel, .isa = isa, .threads = threads
    };
}

/* Returns the name of instruction set number `index`, not counting "auto"; NULL past the last. */
static inline const char *case_isa(size_t index)
{
    return force_isa_names[1 + index];
}

static inline bool case_isa_runs(const char *isa)
{
    static struct error error;
    const struct physics physics = { .gravitational_constant = 1 };
    const struct force_options options = case_options(PRECISION_DOUBLE, "plain", isa, 1);
    struct force *force = NULL;
    struct bodies *const bodies = motion_bodies(1, 2);
    const enum status status = force_create(&options, &physics, bodies, &force, &error);
    force_destroy(force);
    bodies_destroy(bodies);
    error_clear(&error);
    return status == STATUS_OK;
}

static inline void case_tell_skipped(void)
{
    for (size_t isa = 0; case_isa(isa); isa++)
        if (!case_isa_runs(case_isa(isa)))
            printf("# skipped: this machine does not run the %s kernels\n", case_isa(isa));
}

enum layout { UNIFORM, CLUSTERED, FAR_AWAY, LAYOUTS };
enum masses { EQUAL, RANDOM, SOME_ZERO, MASSES };

struct problem {
    size_t count;
    enum layout layout;
    enum masses masses;
    struct physics physics;
};

static inline double case_uniform(double least, double greatest)
{
    return least + (greatest - least) * (double)rand() / RAND_MAX;
}

/* Returns a coordinate of body i. In a clustered system half of the bodies are in a clump of a
 * thousandth of its size; in one that is far away half of the bodies are around 1000, half around
 * -1000. */
static inline double case_coordinate(enum layout layout, size_t i)
{
    const double x = case_uniform(-1, 1);
    switch (layout) {
    case CLUSTERED:
        return i % 2 ? x : 0.7 + 1e-3 * x;
    case FAR_AWAY:
        return i % 2 ? 1e3 + x : -1e3 + x;
    default:
        return x;
    }
}

static inline void case_fill(const struct problem *problem, struct bodies *bodies, unsigned seed)
{
    srand(seed);
    for (size_t s = 0; s < bodies->systems; s++)
        for (size_t k = 0; k < bodies->count; k++) {
            const size_t i = s * bodies->stride + k;
            bodies->m[i] = problem->masses == EQUAL ? 0.0385
                           : problem->masses == SOME_ZERO && k % 5 == 2
                               ? 0
                               : case_uniform(0.017, 2.385);
            bodies->x[i] = case_coordinate(problem->layout, k);
            bodies->y[i] = case_coordinate(problem->layout, k);
            bodies->z[i] = case_coordinate(problem->layout, k);
        }
}

static const double case_untouched = -7.25e77; /* the number with which case_guard() fills arrays */

static inline void case_guard(const struct bodies *bodies)
{
    for (size_t i = 0; i < bodies_length(bodies); i++)
        bodies->ax[i] = bodies->ay[i] = bodies->az[i] = case_untouched;
}

/* Returns one system of `bodies` as if it were all there is; arrays are shared. */
static inline struct bodies case_view(const struct bodies *bodies, size_t system)
{
    struct bodies one = *bodies;
    const size_t first = system * bodies->stride;
    one.systems = 1;
    one.m += first, one.x += first, one.y += first, one.z += first;
    one.ax += first, one.ay += first, one.az += first;
    return one;
}

static inline void case_run(const struct force_options *options, const struct physics *physics,
                            const struct bodies *bodies)
{
    static struct error error;
    struct force *force;
    if (force_create(options, physics, bodies, &force, &error))
        fail_msg("%s", error.text);
    if (options->threads == 1) {
        force_accelerations(force, bodies);
    } else {
#pragma omp parallel num_threads(options->threads)
        force_accelerations(force, bodies);
    }
    force_destroy(force);
}

#endif
