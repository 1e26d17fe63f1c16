/*
 * Accelerations of the bodies that are due, with fast multipoles. The tree has all bodies; the walk
 * goes down only to leaves with bodies that are due, whose sums are those of a force on all. The
 * tolerance is found where all bodies are due, and holds for the blocks until that happens again.
 *
 * Few bodies have direct sums: they take less time than the tree does.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "force/fmm/fmm-plain.h"
#include "force/fmm/fmm.h"

/* Bodies whose direct sums take as long as a tree of all bodies: both grow with that number. Of
 * 100,000 bodies a tree takes 70 ms and the sums of each body 0.087 ms (one thread, AVX2, accuracy
 * 1e-3, 2026-11-26). */
enum { FEW = 800 };

struct due {
    struct jerk base;
    struct fmm *fmm;      /* owned, as are the others */
    struct jerk *direct;  /* the direct sums for few bodies */
    size_t count;         /* number of all bodies */
    double work;          /* work of each body with a tree */
    struct bodies bodies; /* the system, with borrowed positions and masses */
    uint32_t *slot;       /* of each body: 1 + its number among those that are due; 0: it is not */
    uint32_t *due, *due_before; /* lent to struct fmm_field */
};

/* Returns the options of the direct sums for few bodies: their pair terms are not in float alone,
 * so that they are more exact than the accuracy anywhere. */
static struct force_options direct_options(const struct force_options *options)
{
    struct force_options direct = *options;
    direct.method = NULL;
    direct.kernel = "auto";
    direct.precision = fmm_in_double(options) ? PRECISION_DOUBLE : PRECISION_MIXED;
    return direct;
}

/* Returns the work of one body over that of a sum over all pairs. */
static double work_of(const struct force_options *options, size_t count)
{
    const double all = (double)count;
    return force_work(options, 1, all) / (all * all);
}

static void destroy(struct jerk *base)
{
    struct due *const due = (struct due *)base;
    memory_free(due->due_before);
    memory_free(due->due);
    memory_free(due->slot);
    jerk_destroy(due->direct);
    force_destroy((struct force *)due->fmm);
    free(due);
}

static enum status create_fast(const struct force_options *options, const struct physics *physics,
                               size_t count, struct jerk **result, struct error *error)
{
    const struct force_options direct = direct_options(options);
    const struct bodies bodies = { .systems = 1, .count = count };
    struct force *force = NULL;
    struct due *const due = calloc(1, sizeof *due);
    if (!due)
        return error_memory(error);
    due->base = (struct jerk){ .class_ = &fmm_due, .kernel = "fmm" };
    due->work = work_of(options, count);
    due->count = count;
    if (force_create(options, physics, &bodies, &force, error) ||
        jerk_create(&direct, physics, count, false, &due->direct, error) ||
        !(due->slot = memory_array(count, sizeof *due->slot, error)) ||
        !(due->due = memory_array(count, sizeof *due->due, error)) ||
        !(due->due_before = memory_array(count + 1, sizeof *due->due_before, error))) {
        due->fmm = (struct fmm *)force;
        destroy(&due->base);
        return error->status;
    }
    due->fmm = (struct fmm *)force;
    due->fmm->lone = options->threads <= 1;
    *result = &due->base;
    return STATUS_OK;
}

static double bytes_of_fast(const struct force_options *options, double count)
{
    const struct force_options direct = direct_options(options);
    return force_bytes(options, 1, count) + jerk_bytes(&direct, count) +
           3 * count * sizeof(uint32_t) + sizeof(struct due);
}

/* Takes a system by itself: its masses, which are borrowed. */
static void take_system(struct bodies *own, const struct bodies *bodies, size_t system)
{
    *own = (struct bodies){ .systems = 1,
                            .count = bodies->count,
                            .stride = bodies->stride,
                            .m = bodies->m + system * bodies->stride };
}

/* Borrows positions, which forces only read. */
static void take_positions(struct bodies *own, const double *const x[3])
{
    own->x = (double *)x[0];
    own->y = (double *)x[1];
    own->z = (double *)x[2];
}

static void open_system(struct jerk *base, const struct bodies *bodies, size_t system)
{
    struct due *const due = (struct due *)base;
    take_system(&due->bodies, bodies, system);
    jerk_open(due->direct, bodies, system);
}

static void pack_bodies(struct jerk *base, const double *const x[3], const double *const v[3],
                        size_t first, size_t last)
{
    struct due *const due = (struct due *)base;
    jerk_pack(due->direct, x, v, first, last);
    if (first == 0)
        take_positions(&due->bodies, x);
}

/* Lists the bodies that are due in the order of the tree. */
static void list_due(struct due *due, const uint32_t *active, size_t count)
{
    const struct body_tree_key *const keys = due->fmm->tree->keys;
    uint32_t listed = 0;
    memset(due->slot, 0, due->count * sizeof *due->slot);
    for (size_t k = 0; k < count; k++)
        due->slot[active[k]] = (uint32_t)k + 1;
    for (size_t i = 0; i < due->count; i++) {
        due->due_before[i] = listed;
        due->due[listed] = (uint32_t)i;
        listed += due->slot[keys[i].index] > 0;
    }
    due->due_before[due->count] = listed;
}

static void sum_bodies(struct due *due, const uint32_t *active, size_t count, double *const a[3])
{
    struct fmm *const fmm = due->fmm;
    const bool finds = count == due->count || due->base.tolerance == 0;
    if (!fmm_grow(fmm, &due->bodies, 0))
        return;
    if (fmm_thread(fmm) == 0) {
        list_due(due, active, count);
        fmm->field.due = finds ? NULL : due->due;
        fmm->field.due_before = due->due_before;
        fmm->field.tolerance = (float)due->base.tolerance;
    }
    fmm_next_phase(fmm);
    if (finds)
        fmm_sum_all(fmm);
    else
        fmm_sum_due(fmm);
    const double unit = fmm_unit(fmm);
    for (size_t i = fmm_share(fmm, 0); i < fmm_share(fmm, 1); i++) {
        const uint32_t slot = due->slot[fmm->tree->keys[i].index];
        for (int d = 0; d < 3 && slot; d++)
            a[d][slot - 1] = unit * fmm->field.sums[d][i];
    }
    if (fmm_thread(fmm) == 0)
        due->base.tolerance = (double)fmm->field.tolerance;
    fmm_wait(fmm);
}

static void sum(struct jerk *base, const uint32_t *active, size_t count, double *const a[3],
                double *const rate[3])
{
    struct due *const due = (struct due *)base;
    if (fmm_thread(due->fmm) == 0)
        base->work = count <= FEW ? 1 : due->work;
    if (count <= FEW) {
        jerk_sum(due->direct, active, count, a, rate);
        return;
    }
    sum_bodies(due, active, count, a);
}

/* --- the plain form --------------------------------------------------------------------------- */

struct plain_due {
    struct jerk base;
    struct fmm_plain *plain;
    struct bodies bodies;
};

static void destroy_plain(struct jerk *base)
{
    struct plain_due *const due = (struct plain_due *)base;
    fmm_plain_destroy(due->plain);
    free(due);
}

static void open_plain(struct jerk *base, const struct bodies *bodies, size_t system)
{
    take_system(&((struct plain_due *)base)->bodies, bodies, system);
}

static void pack_plain(struct jerk *base, const double *const x[3], const double *const v[3],
                       size_t first, size_t last)
{
    (void)v, (void)first, (void)last;
    take_positions(&((struct plain_due *)base)->bodies, x);
}

static void sum_plain(struct jerk *base, const uint32_t *active, size_t count, double *const a[3],
                      double *const rate[3])
{
    struct plain_due *const due = (struct plain_due *)base;
    (void)rate;
    fmm_plain_sum_due(due->plain, &due->bodies, active, count, a);
}

static const struct jerk_class plain_class = {
    .open = open_plain,
    .pack = pack_plain,
    .sum = sum_plain,
    .destroy = destroy_plain,
};

static enum status create_plain(const struct force_options *options, const struct physics *physics,
                                size_t count, struct jerk **result, struct error *error)
{
    const struct bodies bodies = { .systems = 1, .count = count };
    struct plain_due *const due = calloc(1, sizeof *due);
    if (!due)
        return error_memory(error);
    due->base =
        (struct jerk){ .class_ = &plain_class, .kernel = "fmm", .work = work_of(options, count) };
    if (fmm_plain_create(physics, &bodies, options->accuracy, &due->plain, error)) {
        free(due);
        return error->status;
    }
    *result = &due->base;
    return STATUS_OK;
}

/* --- both ------------------------------------------------------------------------------------- */

static bool is_plain(const struct force_options *options)
{
    return strcmp(options->kernel, "reference") == 0;
}

static enum status create(const struct force_options *options, const struct physics *physics,
                          size_t count, bool rates, struct jerk **result, struct error *error)
{
    if (rates)
        return error_set(error, STATUS_CONFIG, "compute.method = \"fmm\" has no jerks");
    return is_plain(options) ? create_plain(options, physics, count, result, error)
                             : create_fast(options, physics, count, result, error);
}

static double bytes(const struct force_options *options, double count)
{
    return is_plain(options) ? fmm_plain_bytes(count) + sizeof(struct plain_due)
                             : bytes_of_fast(options, count);
}

const struct jerk_class fmm_due = {
    .create = create,
    .bytes = bytes,
    .open = open_system,
    .pack = pack_bodies,
    .sum = sum,
    .destroy = destroy,
};
