/*
 * Kernels for systems of few bodies: one thread moves a whole system through a whole advance, with
 * its state in the registers of the CPU or in the first-level cache. Within a step there are no
 * barriers and no choices. These kernels always compute in double precision. Only the number of
 * bodies decides whether a system is small, so the bits of its motion depend on nothing else.
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
    const char *isa; /* name of the instruction set, such as "avx512" */
    /*
     * Moves system number `system` by `steps` steps of the program. `current` says that bodies->ax,
     * ay, az are the accelerations at the start; at the end they are those that were computed last.
     */
    void (*advance)(const struct physics *physics, const struct bodies *bodies, size_t system,
                    const struct stage_program *program, uint64_t steps, bool current);
    void (*accelerations)(const struct physics *physics, const struct bodies *bodies,
                          size_t system);
};

#define DECLARED(registers) extern const struct small_kernels small_##registers;
FORCE_ISA_REGISTERS(DECLARED)
#undef DECLARED

#endif
