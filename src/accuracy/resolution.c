#include "accuracy/resolution.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "force/accuracy.h"
#include "space/nearest.h"
#include "space/neighbours.h"

/* Binary digits of a position in a kernel, by precision. PRECISION_MIXED has a position as the sum
 * of two floats, which has one digit more or fewer, by the sign of the second float. */
static const int digits_of[] = {
    [PRECISION_DOUBLE] = 53, [PRECISION_MIXED] = 48, [PRECISION_SINGLE] = 24
};

/* Returns the spacing of neighbouring numbers near `size`; 0 if that is 0 or not finite. */
static double spacing_at(double size, enum precision precision)
{
    int exponent;
    if (!(size > 0.0) || !isfinite(size))
        return 0.0;
    frexp(size, &exponent);
    return ldexp(1.0, exponent - digits_of[precision]);
}

/* The system that is measured, and the origin from which the kernel measures its positions. */
struct subject {
    const struct physics *physics;
    const struct bodies *bodies;
    enum precision precision;
    size_t system, first;
    double origin[3];
};

static void find_origin(struct subject *subject, enum origin origin)
{
    const struct bodies *const b = subject->bodies;
    const double *const x[3] = { b->x + subject->first, b->y + subject->first,
                                 b->z + subject->first };
    for (int k = 0; k < 3; k++)
        subject->origin[k] = 0.0;
    if (origin == ORIGIN_MEDIAN && subject->physics->boundary == BOUNDARY_OPEN)
        origin_find(x, b->count, subject->origin);
}

static double offset_of(const struct subject *subject, size_t i)
{
    const struct bodies *const b = subject->bodies;
    const double *const axes[3] = { b->x, b->y, b->z };
    double offset = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = axes[k][subject->first + i] - subject->origin[k];
        if (subject->physics->boundary == BOUNDARY_PERIODIC)
            d = physics_nearest_image(d, subject->physics->box_length);
        offset = fmax(offset, fabs(d));
    }
    return offset;
}

/* Returns the spacing of the positions that a kernel computes with at this offset. In a periodic
 * box it is the same for all bodies, that of the outer half of the box, and a part of the side:
 * kernels scale the side to a power of two (packing_scale_lengths()). */
static double spacing_of(const struct subject *subject, double offset, enum precision precision)
{
    const struct physics *const physics = subject->physics;
    return physics->boundary == BOUNDARY_PERIODIC
               ? physics->box_length * spacing_at(0.25, precision)
               : spacing_at(offset, precision);
}

static void consider(const struct subject *subject, size_t i, size_t j, double r2,
                     struct resolution *worst)
{
    const double eps = subject->physics->softening;
    const double offset = fmax(offset_of(subject, i), offset_of(subject, j));
    const double spacing = spacing_of(subject, offset, subject->precision);
    const double softened = sqrt(r2 + eps * eps);
    if (!(r2 > 0.0) || !(spacing > 0.0) || !isfinite(softened) ||
        (worst->found && softened / spacing >= worst->steps))
        return;
    const int64_t *const id = subject->bodies->id + subject->first;
    const double mixed = spacing_of(subject, offset, PRECISION_MIXED);
    *worst = (struct resolution){ .found = true,
                                  .system = subject->system,
                                  .id_i = id[i < j ? i : j],
                                  .id_j = id[i < j ? j : i],
                                  .distance = sqrt(r2),
                                  .offset = offset,
                                  .spacing = spacing,
                                  .steps = softened / spacing };
    worst->enough = worst->steps >= RESOLUTION_STEPS       ? subject->precision
                    : softened >= RESOLUTION_STEPS * mixed ? PRECISION_MIXED
                                                           : PRECISION_DOUBLE;
}

static enum status measure_open(const struct subject *subject, struct resolution *worst,
                                struct error *error)
{
    struct neighbours *neighbours;
    if (neighbours_create(subject->bodies, subject->system, 0, &neighbours, error)) {
        if (error->status == STATUS_NUMERICAL)
            error_clear(error);
        return error->status;
    }
    const size_t count = subject->bodies->count;
    for (size_t i = 0; i < count && !interruption_raised(subject->physics->interruption);
         i += NEIGHBOURS_BLOCK) {
        size_t j[NEIGHBOURS_BLOCK];
        double r2[NEIGHBOURS_BLOCK];
        const size_t block = count - i < NEIGHBOURS_BLOCK ? count - i : NEIGHBOURS_BLOCK;
        neighbours_find_block(neighbours, i, block, 1, j, r2);
        for (size_t k = 0; k < block; k++)
            if (j[k] != NO_NEIGHBOUR)
                consider(subject, i + k, j[k], r2[k], worst);
    }
    neighbours_destroy(neighbours);
    return interruption_status(subject->physics->interruption, error);
}

static enum status measure_periodic(const struct subject *subject, struct resolution *worst,
                                    struct error *error)
{
    struct nearest_pair pair;
    if (nearest_pair(subject->physics, subject->bodies, subject->system, NEAREST_IN_SPACE, &pair,
                     error))
        return error->status;
    if (pair.found)
        consider(subject, pair.i, pair.j, pair.distance * pair.distance, worst);
    return STATUS_OK;
}

enum status resolution_measure(const struct physics *physics, const struct bodies *bodies,
                               const struct backend_description *backend,
                               struct resolution *resolution, struct error *error)
{
    *resolution = (struct resolution){ .found = false, .steps = INFINITY };
    struct subject subject = { physics, bodies, backend->precision, 0, 0, { 0 } };
    enum status status = STATUS_OK;
    for (size_t s = 0; s < bodies->systems && backend->origin != ORIGIN_EXACT && !status; s++) {
        subject.system = s;
        subject.first = s * bodies->stride;
        find_origin(&subject, backend->origin);
        status = (physics->boundary == BOUNDARY_PERIODIC ? measure_periodic : measure_open)(
            &subject, resolution, error);
    }
    return status;
}

const char *resolution_text(const struct resolution *resolution, const struct bodies *bodies,
                            enum precision precision, char buffer[RESOLUTION_TEXT_SIZE])
{
    char pair[BODIES_PAIR_SIZE];
    buffer[0] = '\0';
    if (!resolution->found || resolution->steps >= RESOLUTION_STEPS)
        return buffer;
    snprintf(buffer, RESOLUTION_TEXT_SIZE,
             "%s precision does not resolve %s of system %zu: they are %.3g apart, and its numbers "
             "are %.2g apart where they "
             "are, %.3g from where positions are measured; compute.precision = \"%s\" would "
             "resolve them",
             precision_names[precision],
             bodies_pair(bodies, resolution->id_i, resolution->id_j, pair), resolution->system + 1,
             resolution->distance, resolution->spacing, resolution->offset,
             precision_names[resolution->enough]);
    return buffer;
}

/* --- the error of the forces ------------------------------------------------------------------ */

/* The most pairs whose forces are summed in long double, which takes some 0.1 s. */
static const double most_pairs = 4e6;

static size_t sample_of(const struct bodies *bodies)
{
    static const double least = 8.0;
    return (size_t)fmax(least, fmin(ACCURACY_SAMPLE, most_pairs / (double)bodies->count));
}

bool kernel_error_counts(const struct simulation *simulation)
{
    const struct force_traits traits = force_traits(&simulation->description.force);
    return traits.rounding > 0.0 || traits.truncation > 0.0;
}

enum status kernel_error_measure(struct simulation *simulation, struct kernel_error *kernel_error,
                                 struct error *error)
{
    const struct bodies *bodies = simulation->bodies;
    struct accuracy *accuracy;
    if (accuracy_create(&simulation->physics, bodies, sample_of(bodies), &accuracy, error))
        return error->status;
    const enum status status = simulation_accelerations(simulation, error);
    if (!status)
        *kernel_error = (struct kernel_error){ .whole = accuracy_error(accuracy, bodies),
                                               .bias = accuracy_bias(accuracy, bodies) };
    accuracy_destroy(accuracy);
    return status;
}
