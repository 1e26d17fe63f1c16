/* The diagnostic of escapers: how many bodies are bound to a cluster and how many are not, and the
 * radii and the virial ratio of the bound ones. */
#include <math.h>

#include "base/memory.h"
#include "diagnostics/bound-set.h"
#include "diagnostics/diagnostic.h"
#include "space/bound-pairs.h"
#include "space/sphere.h"

enum {
    BOUND,
    BOUND_MASS,
    UNBOUND,
    UNBOUND_MASS,
    RADIUS_10,
    RADIUS_50,
    RADIUS_90,
    VIRIAL_RATIO,
    COLUMNS
};

#define RADIUS_HELP(percent)                                                                       \
    "radius about the centre of the bound bodies that encloses " percent                           \
    " percent of their mass, a bound pair as one body at its centre of mass"

static const struct column columns[COLUMNS] = {
    { "bound", DIMENSION_NONE,
      "bodies with 1/2 |v - V|^2 / (1 - m / M) + phi < 0: phi is the potential of all other "
      "bodies, M and V are the mass and the mean velocity of the bound bodies together with this "
      "one; a bound pair is judged as one body, without the potential between its members, and "
      "counts here as two" },
    { "bound_mass", DIMENSION_MASS, "their mass" },
    { "unbound", DIMENSION_NONE, "all other bodies" },
    { "unbound_mass", DIMENSION_MASS, "their mass" },
    { "bound_radius_10", DIMENSION_LENGTH, RADIUS_HELP("10") },
    { "bound_radius_50", DIMENSION_LENGTH, RADIUS_HELP("50") },
    { "bound_radius_90", DIMENSION_LENGTH, RADIUS_HELP("90") },
    { "bound_virial_ratio", DIMENSION_NONE,
      "2 K / |W| of the bound bodies alone, in their own frame, without the energies "
      "inside bound pairs; empty for fewer than two" },
};

struct escapers {
    struct diagnostic base;
    enum sphere_center center;
};

/* A system with each of its bound pairs merged into one body. It owns what it points to. */
struct cluster {
    struct bound_pairs pairs;
    struct bodies *bodies;
    struct bound_search search; /* its phi is the potential at each body by all others */
    double *psi;                /* virial of each body by all others, over its mass */
    unsigned char *members;     /* number of bodies in each: 1, or 2 in a bound pair */
};

static void cluster_destroy(struct cluster *cluster)
{
    bound_pairs_destroy(&cluster->pairs);
    bodies_destroy(cluster->bodies);
    memory_free(cluster->search.bound);
    memory_free(cluster->search.phi);
    memory_free(cluster->search.changed);
    memory_free(cluster->psi);
    memory_free(cluster->members);
}

/* Fills phi, psi and `members`. A bound pair has the mean of the phi and psi of its members, by
 * mass, less what these have by each other: twice the potential and the virial of the pair, over
 * its mass. */
static void merge_potentials(struct cluster *cluster, const struct moment *now, size_t system)
{
    const size_t first = system * now->bodies->stride;
    const double *const m = now->bodies->m + first;
    const double *const phi = now->phi + first, *const psi = now->psi + first;
    for (size_t i = 0, k = 0; i < now->bodies->count; i++) {
        const struct bound_pair *pair = bound_pairs_of(&cluster->pairs, i);
        if (pair && i == pair->j)
            continue;
        cluster->search.phi[k] = phi[i];
        cluster->psi[k] = psi[i];
        if (pair) {
            const size_t j = pair->j;
            const double mass = m[i] + m[j];
            cluster->search.phi[k] = (m[i] * phi[i] + m[j] * phi[j] - 2.0 * pair->potential) / mass;
            cluster->psi[k] = (m[i] * psi[i] + m[j] * psi[j] - 2.0 * pair->virial) / mass;
        }
        cluster->members[k++] = pair ? 2 : 1;
    }
}

static enum status cluster_create(const struct moment *now, size_t system, struct cluster *cluster,
                                  struct error *error)
{
    *cluster = (struct cluster){ 0 };
    if (bound_pairs_create(now->physics, now->bodies, system, now->threads, &cluster->pairs,
                           error) ||
        bound_pairs_merge(&cluster->pairs, now->bodies, system, &cluster->bodies, error))
        goto fail;
    const size_t count = cluster->bodies->count;
    struct bound_search *const search = &cluster->search;
    search->bodies = cluster->bodies;
    search->bound = memory_array(count, sizeof *search->bound, error);
    search->phi = memory_array(count, sizeof *search->phi, error);
    search->changed = memory_array(count, sizeof *search->changed, error);
    cluster->psi = memory_array(count, sizeof *cluster->psi, error);
    cluster->members = memory_array(count, sizeof *cluster->members, error);
    if (error->status)
        goto fail;
    merge_potentials(cluster, now, system);
    for (size_t i = 0; i < count; i++) {
        search->bound[i] = true;
        search->mass += cluster->bodies->m[i];
    }
    return STATUS_OK;
fail:
    cluster_destroy(cluster);
    return error->status;
}

/* Finds the bound bodies. If nothing else is bound, the hardest pair is. */
static void find_bound(struct cluster *cluster)
{
    const struct bound_pair *hardest = bound_pairs_hardest(&cluster->pairs);
    size_t pairs = 0;
    bound_search_settle(&cluster->search);
    for (size_t i = 0; i < cluster->bodies->count; i++)
        if (cluster->search.bound[i])
            return;
    for (size_t k = 0; hardest && k < cluster->bodies->count; k++)
        if (cluster->members[k] == 2)
            cluster->search.bound[k] = &cluster->pairs.pairs[pairs++] == hardest;
}

static bool is_bound(const void *cluster, size_t number)
{
    return ((const struct cluster *)cluster)->search.bound[number];
}

/* Returns r^2 / s^3, the factor of the virial of a pair, with s^2 = r^2 + eps^2. */
static double pull(double r, double eps)
{
    const double s2 = r * r + eps * eps;
    return r > 0.0 ? r * r / (s2 * sqrt(s2)) : 0.0;
}

/*
 * Sums m_u m_b r^2 / s^3 over all unbound and all bound bodies, in O(N log N): the bound mass is
 * taken as shells about its centre, each of which acts on bodies outside as a point at the centre,
 * and on all bodies within alike (Newton; exact for spheres when eps = 0). The sum corrects W by
 * little, since unbound bodies are few or far away.
 */
static enum status sum_across(const struct cluster *cluster, const struct sphere *sphere,
                              double eps, double *sum, struct error *error)
{
    const struct bodies *b = cluster->bodies;
    double *outer = memory_array(sphere->count + 1, sizeof *outer, error);
    if (!outer)
        return error->status;
    for (size_t k = sphere->count; k-- > 0;) {
        const double mass = sphere->enclosed[k] - (k > 0 ? sphere->enclosed[k - 1] : 0.0);
        outer[k] = outer[k + 1] + mass * pull(sphere->r[k], eps);
    }
    *sum = 0.0;
    for (size_t i = 0; i < b->count; i++) {
        if (cluster->search.bound[i])
            continue;
        const double dx = b->x[i] - sphere->center[0], dy = b->y[i] - sphere->center[1],
                     dz = b->z[i] - sphere->center[2];
        const double r = sqrt(dx * dx + dy * dy + dz * dz);
        const size_t k = sphere_count_within(sphere, r);
        const double inner = k > 0 ? sphere->enclosed[k - 1] : 0.0;
        *sum += b->m[i] * (inner * pull(r, eps) + outer[k]);
    }
    memory_free(outer);
    return STATUS_OK;
}

/* Returns the virial W of the bound bodies. The psi of a bound body has its pairs with unbound
 * bodies too, which `across` (sum_across()) takes off again. */
static double bound_virial(const struct cluster *cluster, double G, double across)
{
    double sum = 0.0;
    for (size_t i = 0; i < cluster->bodies->count; i++)
        if (cluster->search.bound[i])
            sum += 0.5 * cluster->bodies->m[i] * cluster->psi[i];
    return sum + 0.5 * G * across;
}

static void fill_counts(const struct cluster *cluster, double *row)
{
    for (int k = BOUND; k <= UNBOUND_MASS; k++)
        row[k] = 0.0;
    for (size_t i = 0; i < cluster->bodies->count; i++) {
        const int k = cluster->search.bound[i] ? BOUND : UNBOUND;
        row[k] += (double)cluster->members[i];
        row[k + 1] += cluster->bodies->m[i];
    }
}

/* Fills the radii and the virial ratio, which stay NaN when nothing with mass is bound. */
static enum status fill_structure(const struct escapers *escapers, const struct moment *now,
                                  const struct cluster *cluster, double *row, struct error *error)
{
    struct bodies *bound;
    if (bodies_select(cluster->bodies, 0, is_bound, cluster, &bound, error))
        return error->status;
    if (!bound || !(row[BOUND_MASS] > 0.0)) {
        bodies_destroy(bound);
        return STATUS_OK;
    }
    struct sphere sphere;
    double across = 0.0;
    enum status status = sphere_create(bound, 0, escapers->center, now->threads, &sphere, error);
    if (status == STATUS_OK) {
        row[RADIUS_10] = sphere_radius(&sphere, 0.1);
        row[RADIUS_50] = sphere_radius(&sphere, 0.5);
        row[RADIUS_90] = sphere_radius(&sphere, 0.9);
        status = sum_across(cluster, &sphere, now->physics->softening, &across, error);
        if (status == STATUS_OK && bound->count > 1)
            row[VIRIAL_RATIO] =
                2.0 * bound_pairs_kinetic(bound) /
                fabs(bound_virial(cluster, now->physics->gravitational_constant, across));
        sphere_destroy(&sphere);
    }
    bodies_destroy(bound);
    return status;
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    struct cluster cluster;
    if (cluster_create(now, system, &cluster, error))
        return error->status;
    find_bound(&cluster);
    fill_counts(&cluster, row);
    const enum status status =
        fill_structure((const struct escapers *)diagnostic, now, &cluster, row, error);
    cluster_destroy(&cluster);
    return status;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    SPHERE_CENTER_PARAMETER(struct escapers),
};

static const struct drawing drawings[] = {
    { .name = "escapers",
      .title = "Bound and unbound mass",
      .y_label = "mass",
      .curves = { { "bound_mass", "bound" }, { "unbound_mass", "unbound" } },
      .caption = "Mass of the bodies that are bound to one another, and of those that are not. A "
                 "cluster evaporates slowly; a step from one row to the next is an escaper." },
    { .name = "escapers-radii",
      .title = "Lagrangian radii of the bound bodies",
      .y_label = "radius",
      .scale = SCALE_LOGARITHMIC,
      .compared = "bound_radius_50",
      .curves = { { "bound_radius_*", " %" } },
      .caption = "Radii about the centre of the bound bodies that hold fixed fractions of their "
                 "mass: bodies that have escaped do not pull them outwards." },
    { .name = "escapers-virial",
      .title = "Virial ratio of the bound bodies",
      .y_label = "2K/|W|",
      .curves = { { "bound_virial_ratio", "2K/|W|" } },
      .caption = "1 in equilibrium. Unbound bodies do not count, nor do the energies inside a "
                 "bound pair." },
};

const struct diagnostic_class diagnostic_escapers = {
    .variant = { "escapers", "Bound and unbound mass; radii and virial ratio of the bound bodies.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct escapers),
    .needs = NEED_STATE | NEED_POTENTIALS,
    .open_space = true,
    .measure_system = measure_system,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    /* Pairs, two copies of the bodies, five numbers for each, and what the radii take. */
    .body_bytes =
        BOUND_PAIRS_BODY_BYTES + SPHERE_BODY_BYTES + (2 * (BODIES_REALS + 1) + 5) * sizeof(double),
};
