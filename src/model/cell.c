#include "model/cell.h"

#include <math.h>

#include "base/memory.h"

static void coordinate_range(const struct bodies *bodies, double *lowest, double *highest)
{
    *lowest = INFINITY;
    *highest = -INFINITY;
    const double *const axes[] = { bodies->x, bodies->y, bodies->z };
    for (size_t k = 0; k < 3; k++)
        for (size_t s = 0; s < bodies->systems; s++)
            for (size_t i = 0; i < bodies->count; i++) {
                const double x = axes[k][s * bodies->stride + i];
                *lowest = fmin(*lowest, x);
                *highest = fmax(*highest, x);
            }
}

/* The ranges of coordinates that some versions of OVITO take for fractions of the cell, see
 * cell_of(). A cell in open space is then the unit cube whose lowest corner is at `origin`. */
static const struct {
    double lowest, highest, origin;
} reduced_ranges[] = { { -0.51, 0.51, -0.5 }, { -0.01, 1.01, 0.0 } };

static struct cell open_cell(double lowest, double highest)
{
    for (size_t r = 0; r < COUNT_OF(reduced_ranges); r++)
        if (lowest >= reduced_ranges[r].lowest && highest <= reduced_ranges[r].highest)
            return (struct cell){ reduced_ranges[r].origin, 1.0, false };
    int exponent;
    const double reach = fmax(fabs(lowest), fabs(highest));
    const double half = frexp(reach, &exponent) == 0.5 ? reach : ldexp(1.0, exponent);
    return (struct cell){ -half, 2.0 * half, false };
}

struct cell cell_of(const struct physics *physics, const struct bodies *bodies)
{
    double lowest, highest;
    if (physics->boundary == BOUNDARY_PERIODIC)
        return cell_about_origin(physics);
    coordinate_range(bodies, &lowest, &highest);
    return open_cell(lowest, highest);
}

struct cell cell_about_origin(const struct physics *physics)
{
    const bool periodic = physics->boundary == BOUNDARY_PERIODIC;
    const double L = periodic ? physics->box_length : 0.0;
    return (struct cell){ -0.5 * L, L, periodic };
}

double cell_wrap(const struct cell *cell, double x)
{
    const double end = cell->origin + cell->side;
    if (!cell->periodic || (x >= cell->origin && x < end))
        return x;
    x -= cell->side * floor((x - cell->origin) / cell->side);
    if (x < cell->origin)
        x += cell->side;
    return x < end ? x : cell->origin; /* rounding may have put x at the end */
}
