#include "external/external.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/vec3.h"

/* Finds what all fields keep. Two axes along k are one if the centres differ along k alone. */
static void find_kept(struct external *external)
{
    const struct field *reference = NULL;
    for (size_t f = external->count; f-- > 0;)
        if (!external->fields[f].class_->everywhere)
            reference = &external->fields[f];
    if (reference)
        memcpy(external->center, reference->center, sizeof external->center);
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        external->keeps_momentum[k] = external->keeps_angular_momentum[k] = true;
        for (size_t f = 0; f < external->count; f++) {
            const struct field *const field = &external->fields[f];
            const bool same_axis =
                field->class_->everywhere || (field->center[p] == external->center[p] &&
                                              field->center[q] == external->center[q]);
            external->keeps_momentum[k] &= field->class_->keeps_momentum(field, k);
            external->keeps_angular_momentum[k] &=
                same_axis && field->class_->keeps_angular_momentum(field, k);
        }
    }
}

static const struct field_class *class_of(const struct section *section)
{
    size_t index = 0;
    while (field_variant(index) != section_variant(section))
        index++;
    return field_at(index);
}

enum status external_create(const struct config *config, double gravitational_constant,
                            double rotation, struct external **result, struct error *error)
{
    const size_t listed = config_count(config, "external"), count = listed + (rotation != 0.0);
    *result = NULL;
    if (count == 0)
        return STATUS_OK;
    struct external *const external = calloc(1, sizeof *external);
    if (external)
        external->fields = calloc(count, sizeof *external->fields);
    if (!external || !external->fields) {
        free(external);
        return error_memory(error);
    }
    external->count = count;
    for (size_t f = 0; f < listed; f++) {
        const struct section *const section = config_item(config, "external", f);
        struct field *const field = &external->fields[f];
        size_t axes;
        section_read(section, field);
        memcpy(field->center, section_reals(section, "center", &axes), sizeof field->center);
        field->class_ = class_of(section);
        field->gravitational_constant = gravitational_constant;
    }
    if (listed < count)
        external->fields[listed] =
            (struct field){ .class_ = &field_centrifugal, .frequencies = { 0.0, 0.0, rotation } };
    find_kept(external);
    *result = external;
    return STATUS_OK;
}

void external_destroy(struct external *external)
{
    if (external)
        free(external->fields);
    free(external);
}

/* --- at a position ---------------------------------------------------------------------------- */

static void from_center(const struct field *field, const double x[3], double d[3])
{
    for (int k = 0; k < 3; k++)
        d[k] = x[k] - field->center[k];
}

double external_potential(const struct external *external, const double x[3])
{
    double sum = 0.0, d[3];
    for (size_t f = 0; f < external->count; f++) {
        from_center(&external->fields[f], x, d);
        sum += external->fields[f].class_->potential(&external->fields[f], d);
    }
    return sum;
}

static struct field_motion sum_of(const struct external *external, const double x[3],
                                  const double *v)
{
    struct field_motion sum = { { 0 }, { 0 } };
    double d[3];
    for (size_t f = 0; f < external->count; f++) {
        from_center(&external->fields[f], x, d);
        const struct field_motion one =
            external->fields[f].class_->motion(&external->fields[f], d, v);
        for (int k = 0; k < 3; k++) {
            sum.a[k] += one.a[k];
            sum.jerk[k] += one.jerk[k];
        }
    }
    return sum;
}

void external_acceleration(const struct external *external, const double x[3], double a[3])
{
    const struct field_motion sum = sum_of(external, x, NULL);
    memcpy(a, sum.a, sizeof sum.a);
}

struct field_motion external_motion(const struct external *external, const double x[3],
                                    const double v[3])
{
    return sum_of(external, x, v);
}

double external_time(const struct external *external, const double x[3], const double v[3])
{
    static const double unit[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double most = 0.0;
    for (int k = 0; k < 3; k++) {
        const struct field_motion along = sum_of(external, x, unit[k]);
        most = fmax(most, vec3_length(along.jerk));
    }
    const struct field_motion motion = sum_of(external, x, v);
    const double rate = vec3_length(motion.jerk);
    const double change = rate > 0.0 ? vec3_length(motion.a) / rate : INFINITY;
    const double tide = most > 0.0 ? 1.0 / sqrt(most) : INFINITY;
    return change > 0.0 && change < tide ? change : tide;
}

/* --- of bodies -------------------------------------------------------------------------------- */

void external_accelerate(const struct external *external, const struct bodies *b, size_t first,
                         size_t last)
{
    for (size_t i = first; i < last; i++) {
        double a[3];
        external_acceleration(external, (const double[3]){ b->x[i], b->y[i], b->z[i] }, a);
        b->ax[i] += a[0];
        b->ay[i] += a[1];
        b->az[i] += a[2];
    }
}

/*
 * v turns by -theta, theta = 2 Omega h, by three shears with t = tan(theta / 2) and s = sin theta,
 * which round without a bias: c^2 + s^2 = 1 + O(eps) of a matrix would make |v| grow at every step.
 * The positions follow from v_x - 2 Omega y and v_y + 2 Omega x, which are constant.
 */
void external_drift(double rotation, const struct bodies *b, double h, size_t first, size_t last)
{
    const double rate = 2.0 * rotation, t = tan(0.5 * rate * h), s = sin(rate * h);
    const double along_x = s / rate, along_y = t / rate;
    for (size_t i = first; i < last; i++) {
        const double middle = b->vx[i] + t * b->vy[i];
        const double vy = b->vy[i] - s * middle;
        b->x[i] += along_x * middle;
        b->y[i] += along_y * (b->vy[i] + vy);
        b->z[i] += h * b->vz[i];
        b->vx[i] = middle + t * vy;
        b->vy[i] = vy;
    }
}

void external_add_potentials(const struct external *external, const struct bodies *b, double weight,
                             double *phi, double *psi)
{
    for (size_t s = 0; s < b->systems; s++)
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++) {
            const double x[3] = { b->x[i], b->y[i], b->z[i] };
            double a[3], d[3];
            phi[i] += weight * external_potential(external, x);
            if (!psi)
                continue;
            external_acceleration(external, x, a);
            for (int k = 0; k < 3; k++)
                d[k] = x[k] - external->center[k];
            psi[i] += weight * vec3_dot(d, a);
        }
}

const char *external_act(const struct physics *physics)
{
    return physics->rotation != 0.0 ? "a rotating frame works" : "external fields act";
}

const char *external_frame_text(const struct physics *physics, char buffer[EXTERNAL_FRAME_SIZE])
{
    snprintf(buffer, EXTERNAL_FRAME_SIZE,
             "rotates by %g radians in a unit of time; energies are Jacobi's", physics->rotation);
    return physics->rotation != 0.0 ? buffer : NULL;
}

bool external_has_mass(const struct bodies *b, size_t system)
{
    bool any = false;
    for (size_t i = system * b->stride; i < system * b->stride + b->count; i++)
        any |= b->m[i] > 0.0;
    return any;
}

enum status external_masses(const struct bodies *b, double **masses, struct error *error)
{
    bool all = true;
    *masses = NULL;
    for (size_t s = 0; s < b->systems && all; s++)
        all = external_has_mass(b, s);
    if (all)
        return STATUS_OK;
    *masses = memory_array(bodies_length(b), sizeof **masses, error);
    for (size_t s = 0; s < b->systems && *masses; s++) {
        const bool own = external_has_mass(b, s);
        for (size_t i = s * b->stride; i < s * b->stride + b->count; i++)
            (*masses)[i] = own ? b->m[i] : 1.0;
    }
    return *masses ? STATUS_OK : error->status;
}

void external_refer(const struct external *external, struct conserved *conserved)
{
    double moved[3];
    vec3_cross(external->center, conserved->momentum, moved);
    for (int k = 0; k < 3; k++)
        conserved->angular_momentum[k] -= moved[k];
    conserved->internal = conserved->kinetic;
}

size_t external_find_singular(const struct external *external, const struct bodies *b, size_t first)
{
    size_t i = first;
    while (i < first + b->count &&
           isfinite(external_potential(external, (const double[3]){ b->x[i], b->y[i], b->z[i] })))
        i++;
    return i;
}
