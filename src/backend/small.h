/*
 * Systems of few bodies: one thread moves a whole system through a whole advance, with its state
 * in registers or the first-level cache. No team, no barrier, no choice of a kernel in a step.
 * Always double precision, by kernels of their own: whether a system is small is a matter of its
 * bodies alone, so that its bits depend on nothing else.
 */
#ifndef ORRERY_BACKEND_SMALL_H
#define ORRERY_BACKEND_SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "integrator/integrator.h"
#include "model/bodies.h"
#include "model/physics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bodies up to which a system is small. */
enum { SMALL_COUNT = 32 };

struct small_kernels {
    const char *isa; /* as force_isa() says it */
    /*
     * Moves system `system` by `steps` steps of dt, as the stages of the integrator say. `current`:
     * bodies->ax, ay, az are the forces at the start; the result says so of the end. They are
     * left there as this kernel sums them.
     */
    bool (*advance)(const struct physics *physics, const struct bodies *bodies, size_t system,
                    const struct integrator *integrator, double dt, uint64_t steps, bool current);
    /* bodies->ax, ay, az of one system. */
    void (*accelerations)(const struct physics *physics, const struct bodies *bodies,
                          size_t system);
};

extern const struct small_kernels small_avx512, small_avx2, small_baseline;

/* The kernels of an instruction set, or NULL where the bodies are not so few. */
const struct small_kernels *small_find(const char *isa, const struct bodies *bodies);

#ifdef __cplusplus
}
#endif

#endif
