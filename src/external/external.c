#include "external/external.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "external/field-formulas.h"
#include "model/vec3.h"

/* Component k of the angular momentum is conserved only if all fields conserve it about one common
 * axis along k, so their centres may differ only along k. */
void external_find_kept(struct external *external)
{
    const struct field *reference = NULL;
    for (size_t f = external->count; f-- > 0;)
        if (!field_class_of(external->fields[f].kind)->everywhere)
            reference = &external->fields[f];
    if (reference)
        memcpy(external->center, reference->center, sizeof external->center);
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        external->keeps_momentum[k] = external->keeps_angular_momentum[k] = true;
        for (size_t f = 0; f < external->count; f++) {
            const struct field *const field = &external->fields[f];
            const struct field_class *const class_ = field_class_of(field->kind);
            const bool same_axis = class_->everywhere || (field->center[p] == external->center[p] &&
                                                          field->center[q] == external->center[q]);
            external->keeps_momentum[k] &= class_->keeps_momentum(field, k);
            external->keeps_angular_momentum[k] &=
                same_axis && class_->keeps_angular_momentum(field, k);
        }
    }
}

static enum field_kind kind_of(const struct section *section)
{
    size_t kind = 0;
    while (field_variant(kind) != section_variant(section))
        kind++;
    return (enum field_kind)kind;
}

enum status external_allocate(size_t count, struct external **result, struct error *error)
{
    struct external *const external = calloc(1, sizeof *external);
    *result = NULL;
    if (external)
        external->fields = calloc(count, sizeof *external->fields);
    if (!external || !external->fields) {
        free(external);
        return error_memory(error);
    }
    external->count = count;
    *result = external;
    return STATUS_OK;
}

enum status external_create(const struct config *config, double gravitational_constant,
                            double rotation, struct external **result, struct error *error)
{
    const size_t listed = config_count(config, "external"), count = listed + (rotation != 0.0);
    *result = NULL;
    if (count == 0)
        return STATUS_OK;
    struct external *external;
    if (external_allocate(count, &external, error))
        return error->status;
    for (size_t f = 0; f < listed; f++) {
        const struct section *const section = config_item(config, "external", f);
        struct field *const field = &external->fields[f];
        size_t axes;
        section_read(section, field);
        memcpy(field->center, section_reals(section, "center", &axes), sizeof field->center);
        field->kind = kind_of(section);
        field->gravitational_constant = gravitational_constant;
    }
    if (listed < count)
        external->fields[listed] =
            (struct field){ .kind = FIELD_CENTRIFUGAL, .frequencies = { 0.0, 0.0, rotation } };
    external_find_kept(external);
    *result = external;
    return STATUS_OK;
}

void external_destroy(struct external *external)
{
    if (external)
        free(external->fields);
    free(external);
}

/* --- the fields at one position --------------------------------------------------------------- */

double external_potential(const struct external *external, const double x[3])
{
    return fields_potential(external->fields, external->count, x);
}

void external_acceleration(const struct external *external, const double x[3], double a[3])
{
    const struct field_motion sum = fields_motion(external->fields, external->count, x, NULL);
    memcpy(a, sum.a, sizeof sum.a);
}

struct field_motion external_motion(const struct external *external, const double x[3],
                                    const double v[3])
{
    return fields_motion(external->fields, external->count, x, v);
}

double external_pulls(const struct external *external, const double x[3])
{
    double sum = 0.0;
    for (size_t f = 0; f < external->count; f++)
        sum += vec3_length(fields_motion(&external->fields[f], 1, x, NULL).a);
    return sum;
}

double external_time(const struct external *external, const double x[3], const double v[3])
{
    static const double unit[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double most = 0.0;
    for (int k = 0; k < 3; k++) {
        const struct field_motion along = external_motion(external, x, unit[k]);
        most = fmax(most, vec3_length(along.jerk));
    }
    const struct field_motion motion = external_motion(external, x, v);
    const double rate = vec3_length(motion.jerk);
    const double change = rate > 0.0 ? vec3_length(motion.a) / rate : INFINITY;
    const double tide = most > 0.0 ? 1.0 / sqrt(most) : INFINITY;
    return change > 0.0 && change < tide ? change : tide;
}

/* --- ranges of bodies ------------------------------------------------------------------------- */

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

void external_add_coriolis(double rotation, const struct bodies *b, size_t first, size_t last)
{
    for (size_t i = first; i < last && rotation != 0.0; i++) {
        b->ax[i] += 2.0 * rotation * b->vy[i];
        b->ay[i] -= 2.0 * rotation * b->vx[i];
    }
}

struct field_drift external_drift_of(double rotation, double h)
{
    const double rate = 2.0 * rotation, t = tan(0.5 * rate * h), s = sin(rate * h);
    return (struct field_drift){ .h = h, .t = t, .s = s, .along_x = s / rate, .along_y = t / rate };
}

void external_drift(double rotation, const struct bodies *b, double h, size_t first, size_t last)
{
    const struct field_drift by = external_drift_of(rotation, h);
    for (size_t i = first; i < last; i++) {
        double x[3] = { b->x[i], b->y[i], b->z[i] }, v[3] = { b->vx[i], b->vy[i], b->vz[i] };
        field_drift(&by, x, v);
        b->x[i] = x[0];
        b->y[i] = x[1];
        b->z[i] = x[2];
        b->vx[i] = v[0];
        b->vy[i] = v[1];
    }
}

void external_add_potentials(const struct external *external, const struct bodies *b, size_t first,
                             size_t last, double *phi, double *psi)
{
    for (size_t i = first; i < last; i++) {
        const double x[3] = { b->x[i], b->y[i], b->z[i] };
        double a[3], d[3];
        phi[i] += external_potential(external, x);
        if (!psi)
            continue;
        external_acceleration(external, x, a);
        field_from_center(external->center, x, d);
        psi[i] += vec3_dot(d, a);
    }
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
