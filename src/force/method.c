#include "config.h"

#include "force/method.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- names ------------------------------------------------------------------------------------ */

const char *const precision_names[] = { "double", "mixed", "single", NULL };
const char *const precision_help[] = {
    "Pair terms in fp64: forces to about 1e-15 of their size.",
    "Pair terms in fp32 from positions in two parts, sums in fp64: forces to about 1e-7, also far "
    "from the origin.",
    "Pair terms in fp32 from rounded positions: the fastest; forces to about 1e-7 "
    "if separations are well above the rounding of the positions.",
    NULL
};

#define KERNEL_NAME(id, name, help) #name,
const char *const force_kernel_names[] = { FORCE_KERNEL_ROWS(KERNEL_NAME) NULL };

/* --- the table -------------------------------------------------------------------------------- */

#define METHOD_NAME(name, help) #name,
const char *const force_method_names[] = { FORCE_METHODS(METHOD_NAME) NULL };
#define METHOD_HELP(name, help) help,
const char *const force_method_help[] = { FORCE_METHODS(METHOD_HELP) NULL };
#define METHOD(name, help) &force_##name,
static const struct force_method *const methods[] = { FORCE_METHODS(METHOD) };

const struct force_method *force_method_find(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(methods); k++)
        if (strcmp(methods[k]->name, name) == 0)
            return methods[k];
    return NULL;
}

static bool has_key(const struct force_method *method, const char *key)
{
    bool found = false;
    for (const char *const *own = method->keys; own && *own && !found; own++)
        found = strcmp(*own, key) == 0;
    return found;
}

bool force_method_takes(const struct force_method *method, const char *key)
{
    bool special = false;
    for (size_t k = 0; k < COUNT_OF(methods) && !special; k++)
        special = has_key(methods[k], key);
    return !special || has_key(method, key);
}

struct force_options force_options_of(const struct section *compute)
{
    struct force_options options = { 0 };
    section_read(compute, &options);
    options.method = methods[section_choice(compute, "method")];
    return options;
}

struct force_options force_options_named(const char *method, const char *precision)
{
    struct force_options options = { .method = force_method_find(method) };
    for (size_t k = 0; precision_names[k]; k++)
        if (strcmp(precision_names[k], precision) == 0)
            options.precision = (enum precision)k;
    return options;
}

const struct force_method *force_method_of(const struct force_options *options)
{
    return options->method ? options->method : &force_direct;
}

double force_bytes(const struct force_options *options, double systems, double count)
{
    return force_method_of(options)->bytes(options, systems, count);
}

double force_work(const struct force_options *options, double systems, double count)
{
    return force_method_of(options)->work(options, systems, count);
}

struct force_traits force_traits(const struct force_options *options)
{
    return force_method_of(options)->traits(options);
}

struct force_options force_exact(const struct force_options *options)
{
    struct force_options exact = *options;
    exact.method = &force_direct;
    exact.precision = PRECISION_DOUBLE;
    return exact;
}

enum status force_check_direct(const struct force_options *options, const char *who,
                               struct error *error)
{
    const struct force_method *const method = force_method_of(options);
    if (method == &force_direct)
        return STATUS_OK;
    return error_set(error, STATUS_CONFIG,
                     "compute.method = \"%s\": %s sums over all pairs, by \"%s\" alone",
                     method->name, who, force_direct.name);
}

/* --- forces of some bodies -------------------------------------------------------------------- */

enum status force_create(const struct force_options *options, const struct physics *physics,
                         const struct bodies *bodies, struct force **result, struct error *error)
{
    const struct force_method *const method = force_method_of(options);
    *result = NULL;
    if (method->check(options, error))
        return error->status;
    struct force *const force = calloc(1, method->size);
    if (!force)
        return error_memory(error);
    force->method = method;
    force->options = *options;
    if (force->options.share.parts == 0)
        force->options.share = (struct force_share){ .parts = 1, .last = bodies->stride };
    force->physics = *physics;
    force->precision = options->precision;
    if (method->create(force, bodies, error)) {
        force_destroy(force);
        return error->status;
    }
    *result = force;
    return STATUS_OK;
}

void force_destroy(struct force *force)
{
    if (force)
        force->method->destroy(force);
    free(force);
}

void force_accelerations(struct force *force, const struct bodies *bodies)
{
    struct force_item item;
    barrier_wait(&force->barrier);
    for (size_t k = 0; force_find_item(force, bodies, k, &item); k++) {
        force_open_item(force, bodies, &item);
        force->method->accelerations(force, bodies, &item);
        force_close_item(force, bodies, &item);
    }
    barrier_wait(&force->barrier);
}

void force_potentials(struct force *force, const struct bodies *bodies, double *phi, double *psi)
{
    struct force_item item;
    barrier_wait(&force->barrier);
    for (size_t k = 0; force_find_item(force, bodies, k, &item); k++)
        force->method->potentials(force, bodies, &item, phi, psi);
    barrier_wait(&force->barrier);
}

/* --- who does which systems ------------------------------------------------------------------- */

bool force_find_item(const struct force *force, const struct bodies *bodies, size_t number,
                     struct force_item *item)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const size_t alone = size <= force->alone ? bodies->systems / size : 0;
    const size_t batches = force->batch_systems ? alone / force->batch_systems : 0;
    const size_t batched = batches * force->batch_systems, last = batches + alone - batched;
    const size_t first =
        number < batches ? number * force->batch_systems : batched + number - batches;
    const size_t count = number < batches ? force->batch_systems : 1;
    *item = (struct force_item){ rank * alone + first, rank * alone + first + count, false, NULL };
    if (number < last)
        return true;
    *item = (struct force_item){ size * alone, bodies->systems, true, NULL };
    return number == last && item->first < item->last;
}

void force_open_item(struct force *force, const struct bodies *bodies, struct force_item *item)
{
    if (!item->by_team && item->last - item->first > 1)
        force->method->open(force, bodies, item);
}

void force_close_item(struct force *force, const struct bodies *bodies, struct force_item *item)
{
    if (item->batch)
        force->method->close(force, bodies, item);
    item->batch = NULL;
}

/* --- bodies that are due ---------------------------------------------------------------------- */

enum status jerk_create(const struct force_options *options, const struct physics *physics,
                        size_t count, bool rates, struct jerk **jerk, struct error *error)
{
    const struct force_method *const method = force_method_of(options);
    *jerk = NULL;
    if (!method->jerk)
        return error_set(error, STATUS_CONFIG, "compute.method = \"%s\" has no jerks",
                         method->name);
    return method->check(options, error)
               ? error->status
               : method->jerk->create(options, physics, count, rates, jerk, error);
}

double jerk_bytes(const struct force_options *options, double count)
{
    const struct jerk_class *const class_ = force_method_of(options)->jerk;
    return class_ ? class_->bytes(options, count) : 0;
}
