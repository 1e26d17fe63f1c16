#include "integrator/stage-program.h"

#include <assert.h>

/* Adds a move to a pass. If the last move of the pass adds a multiple of the same rate to the same
 * vector, both become one move, which goes over memory once and gives the same bits. */
static void append(struct stage_pass *pass, const struct stage_move *move)
{
    struct stage_move *const last = pass->count > 0 ? &pass->moves[pass->count - 1] : NULL;
    if (last && last->times == 1 && move->times == 1 && last->to == move->to &&
        move->from == move->to && last->rate == move->rate && move->rate != move->to) {
        last->h[last->times++] = move->h[0];
    } else {
        assert(pass->count < STAGE_PASS_MOVES);
        pass->moves[pass->count++] = *move;
    }
    pass->drifts |= move->to == VECTOR_X;
    pass->registers |= move->to >= VECTOR_R || move->from >= VECTOR_R || move->rate >= VECTOR_R;
}

static struct stage_move move_of(const struct stage *stage, double dt)
{
    static const struct stage_move kick = { VECTOR_V, VECTOR_V, VECTOR_A, 1, { 0 } };
    static const struct stage_move drift = { VECTOR_X, VECTOR_X, VECTOR_V, 1, { 0 } };
    struct stage_move move = stage->verb == VERB_KICK ? kick : drift;
    unsigned power = 1;
    if (stage->verb == VERB_COMBINE) {
        move = (struct stage_move){
            stage->to, stage->from, stage->rate, stage->coefficient != 0, { 0 }
        };
        power = stage->power;
    }
    move.h[0] = stage->coefficient;
    for (unsigned k = 0; k < power; k++)
        move.h[0] *= dt;
    return move;
}

/* Tells whether an advance needs the forces at its start: the list begins with a force, or a move
 * before the first force reads accelerations. */
static bool starts_with_forces(const struct stage_pass *opening)
{
    bool reads = opening->count == 0;
    for (uint32_t k = 0; k < opening->count; k++)
        reads |= opening->moves[k].rate == VECTOR_A;
    return reads;
}

void stage_program_make(struct stage_program *program, const struct integrator *integrator,
                        double dt)
{
    if (program->integrator == integrator && program->dt == dt)
        return;
    *program = (struct stage_program){ .integrator = integrator, .dt = dt };
    for (size_t k = 0; k < integrator->stage_count; k++)
        if (integrator->stages[k].verb == VERB_FORCE)
            program->passes[program->count++].force = true;
        else {
            const struct stage_move move = move_of(&integrator->stages[k], dt);
            append(&program->passes[program->count], &move);
        }
    const struct stage_pass *const opening = &program->passes[0];
    struct stage_pass *const joined = &program->passes[program->count], *const closing = joined + 1;
    assert(program->count > 0 && program->count + 1 < STAGE_PASSES);
    *closing = *joined;
    for (uint32_t k = 0; k < opening->count; k++)
        append(joined, &opening->moves[k]);
    joined->force = true;
    program->registers = integrator_has_registers(integrator);
    program->first = opening->count == 0;
    program->needs_forces = starts_with_forces(opening);
    program->leaves_forces = !closing->drifts;
}
