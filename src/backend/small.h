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

#include "force/isa.h"
#include "integrator/stage-program.h"
#include "model/bodies.h"
#include "model/physics.h"

/* Bodies up to which a system is small. */
enum { SMALL_COUNT = 32 };

struct small_kernels {
    const char *isa; /* as force->isa names it */
    /*
     * Moves system `system` by `steps` steps of the program. `current`: bodies->ax, ay, az are the
     * forces at the start. They are left there as this kernel sums them.
     */
    void (*advance)(const struct physics *physics, const struct bodies *bodies, size_t system,
                    const struct stage_program *program, uint64_t steps, bool current);
    /* bodies->ax, ay, az of one system. */
    void (*accelerations)(const struct physics *physics, const struct bodies *bodies,
                          size_t system);
};

#define DECLARED(registers) extern const struct small_kernels small_##registers;
FORCE_ISA_REGISTERS(DECLARED)
#undef DECLARED

/* The kernels of an instruction set, or NULL where the bodies are not so few. */
const struct small_kernels *small_find(const char *isa, const struct bodies *bodies);

#endif
