/*
 * The stages of an integrator as every backend takes them: passes, each of which moves the bodies
 * and then, but for the last, evaluates the forces where they have come to. The moves at the end of
 * a step and those at the start of the next one are one pass. Whether forces are current is
 * resolved here: a pass that evaluates them needs them, and only the start of an advance may find
 * them done.
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

/* to = from, + h[0] rate and + h[1] rate, as many of them as `times` says, each product and each
 * sum rounded. */
struct stage_move {
    enum vector to, from, rate;
    unsigned times;
    double h[2];
};

enum {
    STAGE_PASS_MOVES = 4,
    STAGE_PASSES = INTEGRATOR_MAX_STAGES / 2 /* of which some two thirds are no force */
};

struct stage_pass {
    bool drifts;    /* positions change */
    bool registers; /* its moves read or write some */
    bool force;     /* then evaluates a(x) */
    uint32_t count;
    struct stage_move moves[STAGE_PASS_MOVES];
};

struct stage_program {
    const struct integrator *integrator; /* made of these */
    double dt;
    bool needs_forces;  /* those of the positions at the start of an advance */
    bool leaves_forces; /* those of the positions at its end are current */
    bool registers;     /* are used; where they are not, every move is a kick or a drift */
    /* An advance takes passes [first, count); then for every further step `count`, which joins the
     * end of a step and the start of the next, and [1, count); and last count + 1, without a
     * force. */
    uint32_t first, count;
    struct stage_pass passes[STAGE_PASSES];
};

/* Makes the program of an integrator of stages with this dt, unless it is that already. */
void stage_program_make(struct stage_program *program, const struct integrator *integrator,
                        double dt);

/* Kernels for GPUs go through a program by the same lines. */
#ifdef __CUDACC__
#define STAGE_PROGRAM_INLINE static inline __host__ __device__
#else
#define STAGE_PROGRAM_INLINE static inline
#endif

/* The state of an advance of several steps. */
struct stage_walk {
    uint32_t next;  /* pass of the present step */
    uint64_t steps; /* not yet ended */
};

STAGE_PROGRAM_INLINE struct stage_walk stage_walk_begin(const struct stage_program *program,
                                                        uint64_t steps)
{
    struct stage_walk walk;
    walk.next = program->first;
    walk.steps = steps;
    return walk;
}

/* The next pass; NULL behind the last one. */
STAGE_PROGRAM_INLINE const struct stage_pass *stage_walk_next(const struct stage_program *program,
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
