#include "space/bound-pairs.h"

#include <math.h>

#include "base/memory.h"
#include "model/vec3.h"

/* Returns the energies of the pair of bodies at the indices i and j of the arrays; the member
 * `energy` is NaN if the pair is not bound. */
static struct bound_pair energies(const struct physics *physics, const struct bodies *b, size_t i,
                                  size_t j)
{
    double x[3], v[3];
    pair_separation(physics, b, i, j, x);
    pair_velocity(b, i, j, v);
    const double r2 = vec3_dot(x, x);
    const double s2 = r2 + physics->softening * physics->softening;
    const double G = physics->gravitational_constant, m = b->m[i] + b->m[j];
    const double energy = 0.5 * vec3_dot(v, v) - G * m / sqrt(s2);
    const double both = G * b->m[i] * b->m[j];
    /* The energy is infinite for bodies at one place without softening, and not below 0 if neither
     * has mass. */
    if (!(energy < 0.0) || !isfinite(energy))
        return (struct bound_pair){ .energy = NAN };
    return (struct bound_pair){ .energy = -energy * (b->m[i] * b->m[j] / m),
                                .potential = -both / sqrt(s2),
                                .virial = -both * r2 / (s2 * sqrt(s2)) };
}

/* Collects the pairs i < j of bodies that are nearest to each other and bound, by ascending i. */
static void collect(const struct physics *physics, const struct bodies *bodies, size_t system,
                    const size_t *nearest, struct bound_pairs *found)
{
    const size_t first = system * bodies->stride;
    for (size_t i = 0; i < bodies->count; i++)
        found->pair_of[i] = NO_BOUND_PAIR;
    for (size_t i = 0; i < bodies->count; i++) {
        const size_t j = nearest[i];
        if (j == NO_BOUND_PAIR || i > j || nearest[j] != i)
            continue;
        struct bound_pair pair = energies(physics, bodies, first + i, first + j);
        if (isnan(pair.energy))
            continue;
        pair.i = i;
        pair.j = j;
        found->pair_of[i] = found->pair_of[j] = found->count;
        found->pairs[found->count++] = pair;
    }
}

enum status bound_pairs_create(const struct physics *physics, const struct bodies *bodies,
                               size_t system, int threads, struct bound_pairs *found,
                               struct error *error)
{
    const size_t count = bodies->count;
    *found = (struct bound_pairs){ 0 };
    struct neighbours *tree;
    enum status status = neighbours_create(bodies, system, threads, &tree, error);
    if (status != STATUS_OK)
        return status;
    size_t *nearest = memory_array(count, sizeof *nearest, error);
    found->pairs = memory_array(count / 2 + 1, sizeof *found->pairs, error);
    found->pair_of = memory_array(count, sizeof *found->pair_of, error);
    if (!nearest || !found->pairs || !found->pair_of) {
        status = error->status;
        bound_pairs_destroy(found);
    } else {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256)
        for (size_t i = 0; i < count; i++) {
            double r2;
            nearest[i] = NO_BOUND_PAIR;
            if (interruption_raised(physics->interruption))
                continue;
            if (neighbours_find(tree, i, 1, &nearest[i], &r2) == 0)
                nearest[i] = NO_BOUND_PAIR;
        }
        collect(physics, bodies, system, nearest, found);
    }
    memory_free(nearest);
    neighbours_destroy(tree);
    return status;
}

void bound_pairs_destroy(struct bound_pairs *found)
{
    memory_free(found->pairs);
    memory_free(found->pair_of);
    *found = (struct bound_pairs){ 0 };
}

const struct bound_pair *bound_pairs_of(const struct bound_pairs *found, size_t i)
{
    return found->pair_of[i] == NO_BOUND_PAIR ? NULL : &found->pairs[found->pair_of[i]];
}

const struct bound_pair *bound_pairs_hardest(const struct bound_pairs *found)
{
    const struct bound_pair *hardest = NULL;
    for (size_t k = 0; k < found->count; k++)
        if (!hardest || found->pairs[k].energy > hardest->energy)
            hardest = &found->pairs[k];
    return hardest;
}

enum status bound_pairs_merge(const struct bound_pairs *found, const struct bodies *bodies,
                              size_t system, struct bodies **merged, struct error *error)
{
    const size_t first = system * bodies->stride;
    if (bodies_create(1, bodies->count - found->count, merged, error))
        return error->status;
    double *from[BODIES_REALS], *to[BODIES_REALS];
    bodies_reals(bodies, from);
    bodies_reals(*merged, to);
    for (size_t i = 0, k = 0; i < bodies->count; i++) {
        const size_t at = first + i;
        const struct bound_pair *pair = bound_pairs_of(found, i);
        if (pair && i == pair->j)
            continue;
        const size_t other = pair ? first + pair->j : at;
        const double share = pair ? bodies->m[other] / (bodies->m[at] + bodies->m[other]) : 0.0;
        for (size_t axis = 1; axis < BODIES_REALS; axis++)
            to[axis][k] = from[axis][at] + share * (from[axis][other] - from[axis][at]);
        (*merged)->m[k] = pair ? bodies->m[at] + bodies->m[other] : bodies->m[at];
        (*merged)->id[k++] = bodies->id[at];
    }
    return STATUS_OK;
}

double bound_pairs_kinetic(const struct bodies *b)
{
    double mass = 0.0, momentum[3] = { 0 }, kinetic = 0.0;
    for (size_t i = 0; i < b->count; i++) {
        mass += b->m[i];
        momentum[0] += b->m[i] * b->vx[i];
        momentum[1] += b->m[i] * b->vy[i];
        momentum[2] += b->m[i] * b->vz[i];
    }
    for (size_t i = 0; i < b->count; i++) {
        const double v[] = { b->vx[i] - momentum[0] / mass, b->vy[i] - momentum[1] / mass,
                             b->vz[i] - momentum[2] / mass };
        kinetic += 0.5 * b->m[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return kinetic;
}
