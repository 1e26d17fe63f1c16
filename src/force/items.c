/* Which systems a thread takes, and with whom: the functions of force.h that are called in a step.
 */
#include <omp.h>

#include "force/direct/plan.h"
#include "force/direct/sums.h"
#include "force/force.h"

/* Does each thread of the team have a scratch of its own? */
static bool has_scratches(const struct force *force)
{
    return (size_t)omp_get_num_threads() <= force->scratches && force->kernel != FORCE_REFERENCE;
}

/* Are there sums for other processes? They take them system by system, from one thread. */
static bool passes_sums(const struct force *force)
{
    size_t holder;
    return force_has_holder(force, &holder);
}

bool force_find_item(const struct force *force, const struct bodies *bodies, size_t number,
                     struct force_item *item)
{
    const size_t rank = (size_t)omp_get_thread_num(), size = (size_t)omp_get_num_threads();
    const size_t alone = has_scratches(force) && !passes_sums(force) ? bodies->systems / size : 0;
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

static struct batch *own_batch(struct force *force)
{
    return &force->scratch[omp_get_thread_num()].batch;
}

void force_open_item(struct force *force, const struct bodies *bodies, struct force_item *item)
{
    if (item->by_team || item->last - item->first == 1)
        return;
    batch_open(own_batch(force), bodies, item->first);
    item->batch = own_batch(force)->bodies;
}

void force_close_item(struct force *force, const struct bodies *bodies, struct force_item *item)
{
    if (item->batch)
        batch_close(own_batch(force), bodies, item->first);
    item->batch = NULL;
}

void force_accelerations_of(struct force *force, const struct bodies *bodies,
                            const struct force_item *item)
{
    if (item->batch)
        batch_accelerations(own_batch(force), &force->physics);
    else
        direct_accelerations(force, bodies, item);
}

void force_accelerations(struct force *force, const struct bodies *bodies)
{
    struct force_item item;
    barrier_wait(&force->barrier);
    for (size_t k = 0; force_find_item(force, bodies, k, &item); k++) {
        force_open_item(force, bodies, &item);
        force_accelerations_of(force, bodies, &item);
        force_close_item(force, bodies, &item);
    }
    barrier_wait(&force->barrier);
}

void force_potentials(struct force *force, const struct bodies *bodies, double *phi, double *psi)
{
    struct force_item item;
    barrier_wait(&force->barrier);
    for (size_t k = 0; force_find_item(force, bodies, k, &item); k++)
        direct_potentials(force, bodies, &item, phi, psi);
    barrier_wait(&force->barrier);
}
