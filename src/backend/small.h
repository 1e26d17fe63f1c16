/*
 * Systems of few bodies: one thread moves a whole system through a whole advance, with its state in
 * registers or the first-level cache. Within a step there is no team, no barrier and no choice of a
 * kernel. These kernels always compute in double precision. Whether a system is small depends on
 * its bodies alone, so its bits depend on nothing else.
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

/* The most bodies of a small system. */
enum { SMALL_COUNT = 32 };

struct small_kernels {
    const char *isa; /* instruction set, as force->isa names it */
    /*
     * Moves system number `system` by `steps` steps of the program. `current` says that bodies->ax,
     * ay, az are the forces at the start. At the end they are the last forces that were summed.
     */
    void (*advance)(const struct physics *physics, const struct bodies *bodies, size_t system,
                    const struct stage_program *program, uint64_t steps, bool current);
    /* Evaluates bodies->ax, ay, az of one system. */
    void (*accelerations)(const struct physics *physics, const struct bodies *bodies,
                          size_t system);
};

#define DECLARED(registers) extern const struct small_kernels small_##registers;
FORCE_ISA_REGISTERS(DECLARED)
#undef DECLARED

/* Returns the kernels of an instruction set; NULL if there are none or a system has more than
 * SMALL_COUNT bodies. */
const struct small_kernels *small_find(const char *isa, const struct bodies *bodies);

#endif
