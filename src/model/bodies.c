#include "model/bodies.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"

static void real_arrays(struct bodies *bodies, double **arrays[BODIES_REALS])
{
    double **all[BODIES_REALS] = {
        &bodies->m,  &bodies->x,  &bodies->y,  &bodies->z,  &bodies->vx,
        &bodies->vy, &bodies->vz, &bodies->ax, &bodies->ay, &bodies->az
    };
    for (size_t k = 0; k < BODIES_REALS; k++)
        arrays[k] = all[k];
}

enum status bodies_create(size_t systems, size_t count, struct bodies **result, struct error *error)
{
    *result = NULL;
    size_t stride, length;
    if (__builtin_add_overflow(count, BODIES_PADDING - 1, &stride) ||
        __builtin_mul_overflow(systems, stride, &length))
        return error_set(error, STATUS_MEMORY, "out of memory: %zu systems of %zu bodies", systems,
                         count);
    struct bodies *bodies = calloc(1, sizeof *bodies);
    if (!bodies)
        return error_memory(error);
    bodies->systems = systems;
    bodies->count = count;
    bodies->stride = stride / BODIES_PADDING * BODIES_PADDING;

    double **arrays[BODIES_REALS];
    real_arrays(bodies, arrays);
    for (size_t k = 0; k < BODIES_REALS; k++) {
        *arrays[k] = memory_array(bodies_length(bodies), sizeof(double), error);
        if (!*arrays[k])
            goto fail;
    }
    bodies->id = memory_array(bodies_length(bodies), sizeof *bodies->id, error);
    if (!bodies->id)
        goto fail;
    for (size_t s = 0; s < systems; s++)
        for (size_t i = 0; i < count; i++)
            bodies->id[s * bodies->stride + i] = (int64_t)i + 1;
    *result = bodies;
    return STATUS_OK;
fail:
    bodies_destroy(bodies);
    return error->status;
}

void bodies_destroy(struct bodies *bodies)
{
    if (!bodies)
        return;
    double **arrays[BODIES_REALS];
    real_arrays(bodies, arrays);
    for (size_t k = 0; k < BODIES_REALS; k++)
        memory_free(*arrays[k]);
    memory_free(bodies->id);
    free(bodies);
}

double bodies_length_of(double systems, double count)
{
    return systems * ceil(count / BODIES_PADDING) * BODIES_PADDING;
}

double bodies_bytes(double systems, double count)
{
    return bodies_length_of(systems, count) * (BODIES_REALS * sizeof(double) + sizeof(int64_t));
}

void bodies_reals(const struct bodies *bodies, double *arrays[BODIES_REALS])
{
    struct bodies own = *bodies;
    double **all[BODIES_REALS];
    real_arrays(&own, all);
    for (size_t k = 0; k < BODIES_REALS; k++)
        arrays[k] = *all[k];
}

struct bodies bodies_alone(const struct bodies *bodies, size_t first)
{
    struct bodies one = *bodies;
    double **arrays[BODIES_REALS];
    real_arrays(&one, arrays);
    one.systems = 1;
    one.id += first;
    for (size_t k = 0; k < BODIES_REALS; k++)
        *arrays[k] += first;
    return one;
}

size_t bodies_species(const struct bodies *bodies, size_t i)
{
    const size_t body = i % bodies->stride;
    size_t k = 0;
    while (k < bodies->species_count && body >= bodies->species[k].end)
        k++;
    return k;
}

const char *bodies_species_name(const struct bodies *bodies, size_t i)
{
    const size_t k = bodies_species(bodies, i);
    return k < bodies->species_count ? bodies->species[k].name : "X";
}

void bodies_copy_part(struct bodies *to, size_t first, const struct bodies *from, size_t source,
                      size_t count)
{
    double *const into[] = { to->m, to->x, to->y, to->z, to->vx, to->vy, to->vz };
    const double *const out_of[] = { from->m,  from->x,  from->y, from->z,
                                     from->vx, from->vy, from->vz };
    for (size_t k = 0; k < COUNT_OF(into); k++)
        memcpy(into[k] + first, out_of[k] + source, count * sizeof(double));
}

enum status bodies_select(const struct bodies *bodies, size_t first,
                          bool (*takes)(const void *context, size_t number), const void *context,
                          struct bodies **selected, struct error *error)
{
    size_t count = 0;
    *selected = NULL;
    for (size_t i = 0; i < bodies->count; i++)
        count += takes(context, i);
    if (count == 0 || bodies_create(1, count, selected, error))
        return error->status;
    for (size_t i = 0, k = 0; i < bodies->count; i++) {
        if (!takes(context, i))
            continue;
        bodies_copy_part(*selected, k, bodies, first + i, 1);
        (*selected)->id[k++] = bodies->id[first + i];
    }
    return STATUS_OK;
}

bool bodies_is_species(const char *name)
{
    const size_t length = strlen(name);
    size_t end = 0, next;
    while (end < length && !strchr(" \"\\=,", name[end]) && (next = text_character(name + end)) > 0)
        end += next;
    return length > 0 && end == length && length < SPECIES_NAME_SIZE && name_is_shown(name);
}

/* Returns the name of the species whose only body, in every system, is the one with this id; NULL
 * if there is none. */
static const char *find_name(const struct bodies *b, int64_t id)
{
    for (size_t k = 0; k < b->species_count; k++) {
        const size_t i = k > 0 ? b->species[k - 1].end : 0;
        size_t s = 0;
        if (b->species[k].end != i + 1)
            continue;
        while (s < b->systems && b->id[s * b->stride + i] == id)
            s++;
        if (s == b->systems)
            return b->species[k].name;
    }
    return NULL;
}

const char *bodies_name(const struct bodies *bodies, int64_t id, char buffer[BODIES_NAME_SIZE])
{
    const char *const name = find_name(bodies, id);
    if (name)
        snprintf(buffer, BODIES_NAME_SIZE, "%s", name);
    else
        snprintf(buffer, BODIES_NAME_SIZE, "body %" PRId64, id);
    return buffer;
}

const char *bodies_pair(const struct bodies *bodies, int64_t id_1, int64_t id_2,
                        char buffer[BODIES_PAIR_SIZE])
{
    char one[BODIES_NAME_SIZE], other[BODIES_NAME_SIZE];
    if (!find_name(bodies, id_1) && !find_name(bodies, id_2))
        snprintf(buffer, BODIES_PAIR_SIZE, "bodies %" PRId64 " and %" PRId64, id_1, id_2);
    else
        snprintf(buffer, BODIES_PAIR_SIZE, "%s and %s", bodies_name(bodies, id_1, one),
                 bodies_name(bodies, id_2, other));
    return buffer;
}

bool bodies_add_species(struct bodies *bodies, const char *name, size_t end)
{
    if (bodies->species_count == SPECIES_MOST)
        return false;
    struct species *const species = &bodies->species[bodies->species_count++];
    snprintf(species->name, sizeof species->name, "%s", name);
    species->end = end;
    return true;
}

bool bodies_note_species(struct bodies *bodies, size_t system, size_t body, const char *name)
{
    const size_t count = bodies->species_count, of = bodies_species(bodies, body);
    struct species *const last = count > 0 ? &bodies->species[count - 1] : NULL;
    name = *name ? name : "X";
    if (system > 0)
        return of < count && strcmp(bodies->species[of].name, name) == 0;
    if (!last || strcmp(last->name, name) != 0)
        return bodies_is_species(name) && bodies_add_species(bodies, name, body + 1);
    last->end = body + 1;
    return true;
}

void bodies_copy_system(struct bodies *to, size_t system, const struct bodies *from, size_t source)
{
    const size_t first = system * to->stride, other = source * from->stride;
    to->species_count = from->species_count;
    memcpy(to->species, from->species, sizeof to->species);
    bodies_copy_part(to, first, from, other, to->count);
    memcpy(to->id + first, from->id + other, to->count * sizeof *to->id);
}

size_t bodies_length(const struct bodies *bodies)
{
    return bodies->systems * bodies->stride;
}

/* Returns 0 if position and velocity of body i are finite, otherwise NaN: 0 times x is NaN if x is
 * infinite or NaN. (A sum of the numbers themselves could be infinite although each is finite.) */
static double defect(const struct bodies *b, size_t i)
{
    return 0 * b->x[i] + 0 * b->y[i] + 0 * b->z[i] + 0 * b->vx[i] + 0 * b->vy[i] + 0 * b->vz[i];
}

bool bodies_finite(const struct bodies *bodies, size_t i)
{
    return defect(bodies, i) == 0;
}

static bool is_infinite(const struct bodies *b, size_t i)
{
    return isinf(b->x[i]) || isinf(b->y[i]) || isinf(b->z[i]) || isinf(b->vx[i]) ||
           isinf(b->vy[i]) || isinf(b->vz[i]);
}

size_t bodies_not_finite(const struct bodies *bodies, size_t first, size_t last)
{
    double sum = 0;
    for (size_t i = first; i < last; i++)
        sum += defect(bodies, i);
    if (sum == 0)
        return last;
    while (bodies_finite(bodies, first))
        first++;
    for (size_t i = first; i < last; i++)
        if (is_infinite(bodies, i))
            return i;
    return first;
}

enum status bodies_report(const struct bodies *b, size_t i, const char *when, struct error *error)
{
    char name[BODIES_NAME_SIZE];
    return error_set(error, STATUS_NUMERICAL,
                     "system %zu, %s%s: position (%g, %g, %g) or velocity "
                     "(%g, %g, %g) is not finite",
                     i / b->stride + 1, bodies_name(b, b->id[i], name), when, text_plain(b->x[i]),
                     text_plain(b->y[i]), text_plain(b->z[i]), text_plain(b->vx[i]),
                     text_plain(b->vy[i]), text_plain(b->vz[i]));
}

/* --- changes of one system -------------------------------------------------------------------- */

static void subtract_mean(const double *m, double *x, size_t count)
{
    double mass = 0, moment = 0;
    for (size_t i = 0; i < count; i++) {
        mass += m[i];
        moment += m[i] * x[i];
    }
    const double mean = moment / mass;
    for (size_t i = 0; i < count; i++)
        x[i] -= mean;
}

void bodies_center(struct bodies *bodies, size_t first)
{
    double *const arrays[] = {
        bodies->x, bodies->y, bodies->z, bodies->vx, bodies->vy, bodies->vz
    };
    for (size_t k = 0; k < 6; k++)
        subtract_mean(bodies->m + first, arrays[k] + first, bodies->count);
}

void bodies_scale(struct bodies *bodies, size_t first, double positions, double velocities)
{
    for (size_t i = first; i < first + bodies->count; i++) {
        bodies->x[i] *= positions;
        bodies->y[i] *= positions;
        bodies->z[i] *= positions;
        bodies->vx[i] *= velocities;
        bodies->vy[i] *= velocities;
        bodies->vz[i] *= velocities;
    }
}

void bodies_scale_velocities(struct bodies *bodies, size_t first, const double V[3], double factor)
{
    double *const arrays[] = { bodies->vx, bodies->vy, bodies->vz };
    for (int k = 0; k < 3; k++)
        for (size_t i = first; i < first + bodies->count; i++)
            arrays[k][i] = V[k] != 0 ? V[k] + factor * (arrays[k][i] - V[k])
                                     : arrays[k][i] * factor; /* keeps the sign of -0 */
}
