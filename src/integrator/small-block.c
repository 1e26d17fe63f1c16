#include "config.h"

#include "integrator/small-block.h"

#include "force/reference.h"

void small_block_add_forces(const struct physics *physics, const struct small_block *block,
                            double sign, double *const a[3], double *const rate[3])
{
    double seen[3][SMALL_BLOCK]; /* positions, from body k */
    const struct reference_motion motion = { block->m,
                                             { seen[0], seen[1], seen[2] },
                                             { block->v[0], block->v[1], block->v[2] },
                                             block->count };
    for (size_t k = 0; k < block->count; k++) {
        double pull[3], change[3];
        for (int axis = 0; axis < 3; axis++) {
            const double *const x = block->x[axis], *const shift = block->shift[axis];
            for (size_t j = 0; j < block->count; j++)
                seen[axis][j] = (x[j] - x[k]) + (shift[j] - shift[k]);
        }
        reference_jerk(physics, &motion, k, pull, change);
        for (int axis = 0; axis < 3; axis++) {
            a[axis][k] += sign * pull[axis];
            rate[axis][k] += sign * change[axis];
        }
    }
}
