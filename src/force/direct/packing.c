#include "config.h"

#include "force/direct/packing.h"

#include <stdlib.h>

#include "base/memory.h"
#include "force/origin.h"

void packed_create(struct packed *packed, enum precision precision, size_t length,
                   struct error *error)
{
    packed->m = memory_array(length, sizeof(double), error);
    for (int axis = 0; axis < 3; axis++) {
        packed->x[axis] = memory_array(length, sizeof(double), error);
        if (precision == PRECISION_MIXED && packed->x[axis])
            packed->x_low[axis] = (float *)packed->x[axis] + length;
    }
}

void packed_destroy(struct packed *packed)
{
    memory_free(packed->m);
    for (int axis = 0; axis < 3; axis++)
        memory_free(packed->x[axis]);
}

struct sums sums_create(enum precision precision, size_t length, struct error *error)
{
    const size_t size = precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
    return (struct sums){ memory_array(length, size, error), memory_array(length, size, error),
                          memory_array(length, size, error) };
}

void sums_destroy(const struct sums *sums)
{
    memory_free(sums->x);
    memory_free(sums->y);
    memory_free(sums->z);
}

/*
 * Lengths are scaled so that systems extend to 2^reach. least_r2 is the least value of the softened
 * r^2, such that 1/r^3 is finite: 2^-84 for float; 2^-120 for double, whose estimate of 1/r may
 * start in float. It acts like a softening length of 2^-42 or 2^-60, and a pair must be closer than
 * 2^-48 of the system for a float kernel, 2^-73 for a double one, to feel it in the last digit.
 */
static const struct limits {
    int reach;
    double least_r2;
    double least_mass; /* so that its square times the weakest 1/r^3 does not vanish */
} float_limits = { 18, 0x1p-84, 0x1p-30 }, double_limits = { 40, 0x1p-120, 0x1p-200 };

enum { GREATEST_EXPONENT = 400 };

/* In a periodic box the high part of a position in mixed precision is a whole multiple of this
 * step, so that differences of high parts are exact. 2^5 steps are a unit of length; the box, of
 * 2^18 units, has 2^23 steps. */
static const double high_step = 0x1p-5;

static const struct limits *limits_of(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? &double_limits : &float_limits;
}

/* Returns the power of two that scales `reach` to a number from 2^(exponent - 1) to 2^exponent. */
static double scale_to(double reach, int exponent)
{
    int e = 0;
    if (reach > 0 && isfinite(reach))
        frexp(reach, &e);
    e = exponent - e;
    if (abs(e) > GREATEST_EXPONENT)
        e = e > 0 ? GREATEST_EXPONENT : -GREATEST_EXPONENT;
    return ldexp(1, e);
}

CLONE_FOR_VECTORS
static struct bounds bounds_of(const double *restrict x, size_t count)
{
    double least = x[0], greatest = x[0];
#pragma omp simd reduction(min : least) reduction(max : greatest)
    for (size_t i = 0; i < count; i++) {
        least = x[i] < least ? x[i] : least;
        greatest = x[i] > greatest ? x[i] : greatest;
    }
    return (struct bounds){ least, greatest };
}

bool packing_has_origin(enum precision precision, const struct physics *physics)
{
    return precision != PRECISION_DOUBLE && physics->boundary == BOUNDARY_OPEN;
}

void packing_scale_lengths(struct packing *packing, const struct physics *physics,
                           const struct bounds box[3], const double origin[3])
{
    const struct limits *limits = limits_of(packing->precision);
    const bool is_float = packing->precision != PRECISION_DOUBLE;
    double reach = physics->softening;
    for (int axis = 0; axis < 3; axis++) {
        const double c = packing_has_origin(packing->precision, physics) ? origin[axis] : 0;
        packing->center[axis] = c;
        reach = fmax(reach, fmax(c - box[axis].least, box[axis].greatest - c));
    }
    if (physics->boundary == BOUNDARY_OPEN) {
        packing->length_scale = scale_to(reach, limits->reach);
        packing->packed.box = 0;
    } else if (is_float) {
        packing->length_scale = ldexp(1, limits->reach) / physics->box_length;
        packing->packed.box = ldexp(1, limits->reach);
    } else {
        packing->length_scale = scale_to(fmax(reach, physics->box_length), limits->reach);
        packing->packed.box = packing->length_scale * physics->box_length;
    }
    const double eps = physics->softening * packing->length_scale;
    packing->packed.eps2 = fmax(eps * eps, limits->least_r2);
    packing->packed.touching = physics->softening == 0;
}

void packing_scale_velocities(struct packing *packing, const double *const v[3], size_t count)
{
    double greatest = 0;
    for (int axis = 0; axis < 3; axis++) {
        const struct bounds bounds = bounds_of(v[axis], count);
        greatest = fmax(greatest, fmax(-bounds.least, bounds.greatest));
    }
    packing->velocity_scale = scale_to(greatest, -8);
}

/* Tells whether masses need no scale: kernels in double can use all masses of usual sizes as they
 * are. */
static bool need_no_scale(const struct packing *packing, struct bounds m)
{
    return packing->precision == PRECISION_DOUBLE && m.greatest > 0x1p-100 && m.greatest < 0x1p100;
}

void packing_scale_masses(struct packing *packing, struct bounds m)
{
    packing->packed.equal = m.least == m.greatest && m.least > 0;
    packing->mass_scale = scale_to(m.greatest, 0);
    if (packing->packed.equal)
        packing->mass_scale = 1 / m.greatest;
    else if (need_no_scale(packing, m))
        packing->mass_scale = 1;
    packing->massive = m.least * packing->mass_scale >= limits_of(packing->precision)->least_mass;
}

void packing_open(struct packing *packing, const struct physics *physics,
                  const struct bodies *bodies, size_t system)
{
    packing->first = system * bodies->stride;
    packing->packed.count = bodies->count;
    packing->packed.length = bodies->stride;
    const double *const x[3] = { bodies->x + packing->first, bodies->y + packing->first,
                                 bodies->z + packing->first };
    struct bounds box[3];
    double origin[3] = { 0 };
    for (int axis = 0; axis < 3; axis++)
        box[axis] = bounds_of(x[axis], bodies->count);
    if (packing_has_origin(packing->precision, physics))
        origin_find(x, bodies->count, origin);
    packing_scale_lengths(packing, physics, box, origin);
    packing_scale_masses(packing, bounds_of(bodies->m + packing->first, bodies->count));
    if (packing->precision == PRECISION_DOUBLE && packing->mass_scale == 1)
        packing->packed.m = bodies->m + packing->first;
}

void packing_lend(struct packing *packing, const struct physics *physics,
                  const struct bodies *bodies, size_t system)
{
    const size_t first = system * bodies->stride;
    *packing = (struct packing){ .first = first,
                                 .length_scale = 1,
                                 .mass_scale = 1,
                                 .packed = { .count = bodies->count,
                                             .length = bodies->stride,
                                             .m = bodies->m + first,
                                             .x = { bodies->x + first, bodies->y + first,
                                                    bodies->z + first },
                                             .eps2 = physics->softening * physics->softening,
                                             .box = physics->box_length } };
}

/* The functions fill_...() are loops over whole arrays, one for each way to pack, so that compilers
 * turn them into vector code. */
CLONE_FOR_VECTORS
static void fill_double(double *restrict packed, const double *restrict x, double scale,
                        struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++)
        packed[i] = packing_clamp(x[i] * scale);
}

CLONE_FOR_VECTORS
static void fill_float(float *restrict packed, const double *restrict x, double center,
                       double scale, struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++)
        packed[i] = (float)packing_clamp((x[i] - center) * scale);
}

CLONE_FOR_VECTORS
static void fill_high_low(float *restrict high, float *restrict low, const double *restrict x,
                          double center, double scale, struct range range)
{
#pragma omp simd
    for (size_t i = range.first; i < range.last; i++) {
        const double u = packing_clamp((x[i] - center) * scale);
        high[i] = (float)u;
        low[i] = (float)(u - (double)high[i]);
    }
}

static void fill_box(float *restrict high, float *restrict low, const double *restrict x,
                     double scale, double box, struct range range)
{
    for (size_t i = range.first; i < range.last; i++) {
        const double u = physics_nearest_image(x[i] * scale, box);
        high[i] = (float)(low ? high_step * rint(u / high_step) : u);
        if (low)
            low[i] = (float)(u - (double)high[i]);
    }
}

static void fill_axis(const struct packing *packing, const struct packed *packed, int axis,
                      const double *x, double center, double scale, struct range range)
{
    if (packing->precision == PRECISION_DOUBLE)
        fill_double(packed->x[axis], x, scale, range);
    else if (packed->box > 0)
        fill_box(packed->x[axis], packed->x_low[axis], x, scale, packed->box, range);
    else if (packing->precision == PRECISION_MIXED)
        fill_high_low(packed->x[axis], packed->x_low[axis], x, center, scale, range);
    else
        fill_float(packed->x[axis], x, center, scale, range);
}

void packing_fill_masses(const struct packing *packing, const double *m, struct range range)
{
    if (packing->precision == PRECISION_DOUBLE)
        fill_double(packing->packed.m, m, packing->mass_scale, range);
    else
        fill_float(packing->packed.m, m, 0, packing->mass_scale, range);
}

void packing_fill_positions(const struct packing *packing, const double *const x[3],
                            struct range range)
{
    for (int axis = 0; axis < 3; axis++)
        fill_axis(packing, &packing->packed, axis, x[axis], packing->center[axis],
                  packing->length_scale, range);
}

void packing_fill_velocities(const struct packing *packing, const double *const v[3],
                             const struct packed *velocity, struct range range)
{
    for (int axis = 0; axis < 3; axis++)
        fill_axis(packing, velocity, axis, v[axis], 0, packing->velocity_scale, range);
}

void packing_fill(const struct packing *packing, const struct bodies *bodies, struct range range)
{
    const double *const x[3] = { bodies->x + packing->first, bodies->y + packing->first,
                                 bodies->z + packing->first };
    const double *const m = bodies->m + packing->first;
    const struct packed *const packed = &packing->packed;
    const bool read = !packed->equal || packed->length > packed->count;
    if (read && packed->m != m)
        packing_fill_masses(packing, m, range);
    packing_fill_positions(packing, x, range);
}

double packing_force_unit(const struct packing *packing)
{
    return packing->length_scale * packing->length_scale / packing->mass_scale;
}

double packing_jerk_unit(const struct packing *packing)
{
    return packing_force_unit(packing) * (packing->length_scale / packing->velocity_scale);
}

double packing_potential_unit(const struct packing *packing)
{
    return packing->length_scale / packing->mass_scale;
}
