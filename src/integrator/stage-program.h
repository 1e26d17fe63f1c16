/*
 * The stages of an integrator in the form that every backend executes: passes. A pass moves the
 * bodies and then evaluates the forces at their new positions; the last pass only moves. The moves
 * at the end of a step and those at the start of the next are one pass. Each pass evaluates the
 * forces that the next pass needs; only before the first pass of an advance the caller has to know
 * whether the forces are current, that is, those of the present positions. With K for a kick, D for
 * a drift and F for a force:
 *
 *   a step      K(1/2) D F K(1/2)
 *   an advance  [F, unless they are current]  K D F | K K D F | K K D F | ... | K
 */
#ifndef ORRERY_INTEGRATOR_STAGE_PROGRAM_H
#define ORRERY_INTEGRATOR_STAGE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "integrator/integrator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The move to = from + h[0] rate + h[1] rate, with `times` (0 to 2) of the products; each product
 * and each sum is rounded. */
struct stage_move {
    enum vector to, from, rate;
    unsigned times;
    double h[2];
};

enum {
    STAGE_PASS_MOVES = 4,
    STAGE_PASSES = INTEGRATOR_MAX_STAGES / 2 /* enough for each force of a step, and two more */
};

struct stage_pass {
    bool drifts;    /* its moves change positions */
    bool registers; /* its moves read or write registers */
    bool force;     /* evaluates a(x) after the moves */
    uint32_t count;
    struct stage_move moves[STAGE_PASS_MOVES];
};

struct stage_program {
    const struct integrator *integrator; /* the program is made from it and the step dt */
    double dt;
    bool needs_forces;  /* an advance needs the forces at its start */
    bool leaves_forces; /* the forces are current at the end of an advance */
    bool registers; /* some move uses registers (VECTOR_R, VECTOR_S); if not, every move is a kick
                       or a drift */
    /* An advance takes passes [first, count); for each further step pass `count` (the end of a
     * step, and pass 0 of the next) and [1, count); at last pass count + 1, without a force.
     * `first` is 1 if pass 0 is only the force at the start, which needs_forces has made known. */
    uint32_t first, count;
    struct stage_pass passes[STAGE_PASSES];
};

/* Makes the program of an integrator of stages with the step dt, unless *program is this program
 * already. */
void stage_program_make(struct stage_program *program, const struct integrator *integrator,
                        double dt);

/* The place within the passes of an advance of several steps. The kernels of GPUs use this struct
 * too. */
struct stage_walk {
    uint32_t next;  /* number of the next pass */
    uint64_t steps; /* number of steps that have not ended */
};

DEVICE_INLINE struct stage_walk stage_walk_begin(const struct stage_program *program,
                                                 uint64_t steps)
{
    struct stage_walk walk;
    walk.next = program->first;
    walk.steps = steps;
    return walk;
}

/* Returns the next pass; NULL behind the last one. */
DEVICE_INLINE const struct stage_pass *stage_walk_next(const struct stage_program *program,
                                                       struct stage_walk *walk)
{
    if (walk->next < program->count && walk->steps > 0)
        return &program->passes[walk->next++];
    if (walk->steps == 0)
        return NULL;
    walk->next = 1;
    walk->steps--;
    return &program->passes[program->count + (walk->steps == 0)];
}

#ifdef __cplusplus
}
#endif

#endif
