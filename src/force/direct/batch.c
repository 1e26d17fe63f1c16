#include "force/direct/batch.h"

enum status batch_create(struct batch *batch, const struct kernels *kernels,
                         enum precision precision, const struct bodies *bodies, struct error *error)
{
    const struct force_kernels *const sums = &kernels->force[precision];
    *batch = (struct batch){ .kernels = kernels, .sums = sums };
    if (bodies_create(1, bodies->stride * sums->lanes, &batch->bodies, error))
        return error->status;
    batch->bodies->count = bodies->count * sums->lanes;
    for (size_t k = 0; k < sums->lanes; k++)
        batch->packing[k].precision = precision;
    const struct bodies *const b = batch->bodies;
    struct packed_batch *const packed = &batch->packed;
    *packed =
        (struct packed_batch){ .x = { b->x, b->y, b->z },
                               .a = { b->ax, b->ay, b->az },
                               .system = { .count = bodies->count, .length = bodies->stride } };
    packed_create(&packed->system, precision, bodies->stride * sums->lanes, error);
    packed->sums = sums_create(precision, bodies->stride * sums->lanes, error);
    return error->status;
}

void batch_destroy(struct batch *batch)
{
    packed_destroy(&batch->packed.system);
    sums_destroy(&batch->packed.sums);
    bodies_destroy(batch->bodies);
}

/* Computes the bounds of one array in each of the systems. */
static void bounds_of_all(const struct batch *batch, const double *interleaved,
                          struct bounds *bounds)
{
    batch->kernels->bounds(interleaved, batch->packed.system.count, batch->sums->lanes, bounds);
}

/* Equal masses are packed as 1, which changes no bit of a product: systems of equal masses and
 * others go together. */
static void pack_masses(struct batch *batch)
{
    const size_t lanes = batch->sums->lanes;
    struct bounds m[BATCH_SYSTEMS];
    bounds_of_all(batch, batch->bodies->m, m);
    batch->masses = MASSES_EQUAL;
    for (size_t k = 0; k < lanes; k++) {
        packing_scale_masses(&batch->packing[k], m[k]);
        if (!batch->packing[k].packed.equal)
            batch->masses = MASSES_ANY;
    }
    for (size_t i = 0; i < batch->bodies->count && batch->masses == MASSES_ANY; i++) {
        const struct packing *const packing = &batch->packing[i % lanes];
        const double u =
            packing->packed.equal ? 1 : packing_clamp(batch->bodies->m[i] * packing->mass_scale);
        if (packing->precision == PRECISION_DOUBLE)
            ((double *)batch->packed.system.m)[i] = u;
        else
            ((float *)batch->packed.system.m)[i] = (float)u;
    }
}

void batch_open(struct batch *batch, const struct bodies *bodies, size_t first)
{
    double *systems[BODIES_REALS], *interleaved[BODIES_REALS];
    bodies_reals(bodies, systems);
    bodies_reals(batch->bodies, interleaved);
    for (size_t k = 0; k < BODIES_REALS; k++)
        batch->kernels->interleave(systems[k] + first * bodies->stride, bodies->stride,
                                   batch->sums->lanes, interleaved[k]);
    pack_masses(batch);
}

/* But for the masses: they have not changed. */
void batch_close(const struct batch *batch, const struct bodies *bodies, size_t first)
{
    double *systems[BODIES_REALS], *interleaved[BODIES_REALS];
    bodies_reals(bodies, systems);
    bodies_reals(batch->bodies, interleaved);
    for (size_t k = 1; k < BODIES_REALS; k++) /* the first are the masses */
        batch->kernels->deinterleave(interleaved[k], bodies->stride, batch->sums->lanes,
                                     systems[k] + first * bodies->stride);
}

void batch_accelerations(struct batch *batch, const struct physics *physics)
{
    struct packed_batch *const packed = &batch->packed;
    struct bounds bounds[3][BATCH_SYSTEMS];
    double origins[3][BATCH_SYSTEMS] = { { 0 } };
    for (int axis = 0; axis < 3; axis++) {
        bounds_of_all(batch, packed->x[axis], bounds[axis]);
        if (packing_has_origin(batch->packing->precision, physics))
            batch->kernels->origins(packed->x[axis], packed->system.count, batch->sums->lanes,
                                    origins[axis]);
    }
    for (size_t k = 0; k < batch->sums->lanes; k++) {
        struct packing *const packing = &batch->packing[k];
        const struct bounds box[3] = { bounds[0][k], bounds[1][k], bounds[2][k] };
        const double origin[3] = { origins[0][k], origins[1][k], origins[2][k] };
        packing_scale_lengths(packing, physics, box, origin);
        for (int axis = 0; axis < 3; axis++)
            packed->center[axis][k] = packing->center[axis];
        packed->scale[k] = packing->length_scale;
        packed->eps2[k] = packing->packed.eps2;
        packed->unit[k] =
            physics->gravitational_constant * batch->sums->factor * packing_force_unit(packing);
    }
    batch->sums->batch[batch->masses](packed);
}
