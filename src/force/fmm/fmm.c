/*
 * The fast multipole method: forces of a system in a time that grows as the number of its bodies,
 * with an error that is asked for. docs/theory.md has the equations. The order of reading: this
 * file, which says what is done and in which order; space/body-tree.h; expansion.h; fmm-walk.inc.
 *
 * The sums depend on positions, masses, softening and accuracy, and on the instruction set: not on
 * threads, which take branches of the tree, nor on the systems beside it.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <string.h>

#include "base/barrier.h"
#include "base/interruption.h"
#include "base/memory.h"
#include "base/share.h"
#include "force/fmm/fmm-kernel.h"
#include "force/method.h"

/* Which order and which arithmetic an accuracy wants, and what a force costs then: pairs of a
 * direct sum in double that take as long as one body. Measured, see docs/performance.md. */
static const struct setting {
    double accuracy; /* down to this one */
    int order;
    size_t leaf; /* bodies at most */
    bool refine; /* 1/r by a step of Newton's after the estimate */
    enum precision precision;
    double pairs_per_body;
} settings[] = {
    { 3e-3, 3, 32, false, PRECISION_SINGLE, 4000 }, { 1e-3, 5, 48, false, PRECISION_SINGLE, 5000 },
    { 3e-4, 5, 48, true, PRECISION_SINGLE, 6500 },  { 1e-4, 6, 64, true, PRECISION_SINGLE, 9000 },
    { 3e-6, 8, 64, true, PRECISION_SINGLE, 16000 }, { 1e-7, 8, 64, true, PRECISION_DOUBLE, 100000 },
    { 0, 10, 64, true, PRECISION_DOUBLE, 200000 },
};

/* Kernels of every instruction set of isa.h; those for some makers alone do not differ here. */
static const struct {
    const char *isa;
    const struct fmm_kernels *kernels; /* for float and for double */
} all_kernels[] = {
#ifdef HAVE_X86_KERNELS
    { "avx512", fmm_avx512 },
    { "avx2", fmm_avx2 },
#endif
#ifdef HAVE_NEON_KERNELS
    { "neon", fmm_neon },
#endif
    { "baseline", fmm_baseline },
};

enum { MOST_SAMPLES = 512, SAMPLES_TOGETHER = 16, MOST_ROUNDS = 6 };

/* The error that is aimed at, of the one that was asked for; between which it is taken; and how the
 * error follows the tolerance: as its power 0.85 (measured). */
static const double aim = 0.6, least = 0.4, greatest = 0.75, exponent = 0.85;

/* The range of the coordinates that one thread has looked at. */
struct extent {
    double low[3], high[3];
};

struct fmm {
    struct force base;
    const struct setting *setting;
    const struct fmm_kernels *kernels;
    struct expansion *expansion;
    struct body_tree *tree;
    struct fmm_field field;
    struct fmm_walk *walks;         /* one of each thread */
    struct extent *extents;         /* likewise */
    uint32_t *parents;              /* of the cells of the trunk */
    double origin[3], scale, mass;  /* units of the tree: (x - origin) scale, m / mass */
    size_t samples;                 /* bodies whose errors are measured */
    uint32_t sampled[MOST_SAMPLES]; /* in the order of the tree */
    double exact[MOST_SAMPLES][4];  /* direct sums: acceleration, and sum m / (r^2 + eps^2) */
    int rounds;                     /* of the search for the tolerance */
    size_t next;                    /* work item of a phase */
    size_t level[2];                /* cells of the trunk that are cut */
    bool done;
};

/* --- choices, memory ----------------------------------------------------------------------------
 */

static const struct setting *setting_of(const struct force_options *options)
{
    const struct setting *setting = settings;
    while (options->accuracy < setting->accuracy * (1 - 1e-9))
        setting++;
    return setting;
}

static size_t real_size(const struct setting *setting)
{
    return setting->precision == PRECISION_DOUBLE ? sizeof(double) : sizeof(float);
}

static enum status check_options(const struct force_options *options, struct error *error)
{
    const char *isa = NULL;
    return force_isa_find(options->isa, &isa, error);
}

static double coefficients_of(int order)
{
    return (order + 1.0) * (order + 2.0) * (order + 3.0) / 6;
}

/* Cells have eight bodies on average where bodies are many, and no fewer than two. */
static double bytes_of(const struct force_options *options, double systems, double count)
{
    const struct setting *const setting = setting_of(options);
    const double cell = sizeof(struct fmm_cell) + sizeof(struct body_tree_cell) + sizeof(uint32_t) +
                        coefficients_of(setting->order) * (double)real_size(setting);
    (void)systems; /* one after another */
    return count * (2 * (sizeof(struct body_tree_body) + sizeof(uint32_t)) + 4 * sizeof(double)) +
           (count / 4 + 4096) * cell +
           (options->threads > 0 ? options->threads : 1) * (double)sizeof(struct fmm_walk);
}

static double work_of(const struct force_options *options, double systems, double count)
{
    return systems * count * fmin(setting_of(options)->pairs_per_body, count);
}

static struct force_traits traits_of(const struct force_options *options)
{
    const bool in_double = setting_of(options)->precision == PRECISION_DOUBLE;
    return (struct force_traits){
        .rounding = in_double ? 0 : 1e-7,
        .truncation = options->accuracy,
        .energy_noise = fmax(options->accuracy, 1e-9),
        .momentum_noise = in_double ? 1e-12 : 1e-6,
        .kernels_agree = false,
    };
}

static enum status create(struct force *force, const struct bodies *bodies, struct error *error)
{
    struct fmm *const f = (struct fmm *)force;
    const size_t n = bodies->count, cells = body_tree_cells_of(n);
    const size_t threads = (size_t)(force->options.threads > 0 ? force->options.threads : 1);
    const char *isa = NULL;
    if (force->physics.boundary == BOUNDARY_PERIODIC)
        return error_set(error, STATUS_CONFIG,
                         "compute.method = \"fmm\": expansions are those of open space; use "
                         "\"direct\" in a periodic box");
    if (force_isa_find(force->options.isa, &isa, error))
        return error->status;
    size_t k = 0;
    while (!force_isa_is(isa, all_kernels[k].isa))
        k++;
    f->setting = setting_of(&force->options);
    f->kernels = &all_kernels[k].kernels[f->setting->precision == PRECISION_DOUBLE];
    f->samples = f->setting->precision == PRECISION_DOUBLE ? MOST_SAMPLES : MOST_SAMPLES / 4;
    f->samples = n / 4 < f->samples ? n / 4 : f->samples;
    force->precision = f->setting->precision;
    force->kernel = "fmm";
    force->isa = all_kernels[k].isa;
    force->origin = ORIGIN_EXACT;
    if (expansion_create(f->setting->order, &f->expansion, error) ||
        body_tree_create(n, f->setting->leaf, &f->tree, error) ||
        !(f->field.cells = memory_array(cells, sizeof *f->field.cells, error)) ||
        !(f->field.multipoles = memory_array(
              cells, memory_bytes(f->expansion->count, real_size(f->setting)), error)) ||
        !(f->walks = memory_array(threads, sizeof *f->walks, error)) ||
        !(f->extents = memory_array(threads, sizeof *f->extents, error)) ||
        !(f->parents = memory_array(cells, sizeof *f->parents, error)))
        return error->status;
    for (int d = 0; d < 4; d++)
        if (!(f->field.sums[d] = memory_array(n, sizeof(double), error)))
            return error->status;
    f->field.expansion = f->expansion;
    f->field.tree = f->tree;
    f->field.refine = f->setting->refine || !f->kernels->estimate_is_fine;
    f->field.touching = force->physics.softening == 0;
    return STATUS_OK;
}

static void destroy(struct force *force)
{
    struct fmm *const f = (struct fmm *)force;
    for (int d = 0; d < 4; d++)
        memory_free(f->field.sums[d]);
    memory_free(f->parents);
    memory_free(f->extents);
    memory_free(f->walks);
    memory_free(f->field.multipoles);
    memory_free(f->field.cells);
    body_tree_destroy(f->tree);
    expansion_destroy(f->expansion);
}

/* --- a team ------------------------------------------------------------------------------------
 */

static int thread_number(void)
{
    return omp_get_thread_num();
}

/* The next of `count` work items, or false. Items do not depend on each other, so it does not
 * matter who takes which. */
static bool take_item(struct fmm *fmm, size_t count, size_t *item)
{
    *item = __atomic_fetch_add(&fmm->next, 1, __ATOMIC_RELAXED);
    return *item < count;
}

/* The same of what may be left out where the run is interrupted: the sums then mean nothing. */
static bool take_sum(struct fmm *fmm, size_t count, size_t *item)
{
    return !interruption_raised(fmm->base.physics.interruption) && take_item(fmm, count, item);
}

/* All threads come to the next phase, whose items begin at 0. */
static void next_phase(struct fmm *fmm)
{
    barrier_wait(&fmm->base.barrier);
    if (thread_number() == 0)
        fmm->next = 0;
    barrier_wait(&fmm->base.barrier);
}

/* --- units and tree ----------------------------------------------------------------------------
 */

static void find_extent(struct fmm *fmm, const struct bodies *bodies, size_t base)
{
    const int thread = thread_number(), threads = omp_get_num_threads();
    const double *const x[3] = { bodies->x + base, bodies->y + base, bodies->z + base };
    struct extent b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    const size_t first = share_start(bodies->count, (size_t)threads, (size_t)thread);
    const size_t last = share_start(bodies->count, (size_t)threads, (size_t)thread + 1);
    for (int d = 0; d < 3; d++)
        for (size_t i = first; i < last; i++) {
            b.low[d] = x[d][i] < b.low[d] ? x[d][i] : b.low[d];
            b.high[d] = x[d][i] > b.high[d] ? x[d][i] : b.high[d];
        }
    fmm->extents[thread] = b;
}

/* Units of the tree: powers of two, so that nothing is rounded but by the origin, and a system
 * twice as large has the same bits. */
static void find_units(struct fmm *fmm, const struct bodies *bodies, size_t base)
{
    const int threads = omp_get_num_threads();
    double size = 0, mass = 0;
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int t = 0; t < threads; t++) {
            low = fmm->extents[t].low[d] < low ? fmm->extents[t].low[d] : low;
            high = fmm->extents[t].high[d] > high ? fmm->extents[t].high[d] : high;
        }
        fmm->origin[d] = 0.5 * low + 0.5 * high;
        size = fmax(size, high - low);
    }
    for (size_t i = 0; i < bodies->count; i++)
        mass = fmax(mass, bodies->m[base + i]);
    mass *= (double)bodies->count;
    fmm->scale = size > 0 && size <= DBL_MAX ? ldexp(1, -ilogb(size)) : 1;
    fmm->mass = mass > 0 ? ldexp(1, ilogb(mass)) : 1;
    const double eps = fmm->base.physics.softening * fmm->scale;
    fmm->field.eps2 = eps * eps;
}

static void take_bodies(struct fmm *fmm, const struct bodies *bodies, size_t base)
{
    const size_t threads = (size_t)omp_get_num_threads(), thread = (size_t)thread_number();
    struct body_tree_body *const to = fmm->tree->bodies;
    const double *const x[3] = { bodies->x + base, bodies->y + base, bodies->z + base };
    const double inverse = 1 / fmm->mass;
    for (size_t i = share_start(bodies->count, threads, thread);
         i < share_start(bodies->count, threads, thread + 1); i++) {
        for (int d = 0; d < 3; d++)
            to[i].x[d] = (x[d][i] - fmm->origin[d]) * fmm->scale;
        to[i].m = bodies->m[base + i] * inverse;
        fmm->tree->index[i] = (uint32_t)i;
    }
}

/* The way from the root to a cell of the trunk, without it. */
static size_t path_to(const struct fmm *fmm, uint32_t cell, uint32_t path[FMM_DEPTH])
{
    size_t length = 0;
    for (uint32_t c = cell; c != 0; c = fmm->parents[c])
        length++;
    size_t at = length;
    for (uint32_t c = cell; c != 0; c = fmm->parents[c])
        path[--at] = fmm->parents[c];
    return length;
}

static void grow_trunk(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    for (;;) {
        if (thread_number() == 0) {
            if (tree->levels == 0)
                body_tree_plant(tree);
            fmm->done = !body_tree_plan_level(tree, &fmm->level[0], &fmm->level[1]);
        }
        next_phase(fmm);
        if (fmm->done)
            break;
        size_t item;
        while (take_item(fmm, fmm->level[1] - fmm->level[0], &item)) {
            const size_t c = fmm->level[0] + item;
            body_tree_cut(tree, c);
            for (int k = 0; k < 2 && tree->cells[c].child[0]; k++)
                fmm->parents[tree->cells[c].child[k]] = (uint32_t)c;
        }
        next_phase(fmm);
    }
}

/* Branches with their multipoles, then those of the trunk. */
static void grow_branches(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    size_t item;
    while (take_item(fmm, tree->branches, &item)) {
        const struct body_tree_branch *const branch = &tree->branch[item];
        body_tree_grow_branch(tree, item);
        for (uint32_t c = branch->last; c-- > branch->first;)
            fmm->kernels->gather(&fmm->field, c);
        fmm->kernels->gather(&fmm->field, branch->root);
    }
    next_phase(fmm);
    if (thread_number() == 0)
        for (size_t c = tree->trunk; c-- > 0;)
            if (tree->cells[c].child[0] && tree->cells[c].child[0] < tree->trunk)
                fmm->kernels->gather(&fmm->field, (uint32_t)c);
    next_phase(fmm);
}

static void find_scales(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    struct fmm_cell *const cells = fmm->field.cells;
    uint32_t path[FMM_DEPTH];
    size_t item;
    while (take_item(fmm, tree->branches, &item)) {
        const uint32_t root = tree->branch[item].root;
        fmm->kernels->scale(&fmm->field, &fmm->walks[thread_number()], path,
                            path_to(fmm, root, path), root);
    }
    next_phase(fmm);
    if (thread_number() == 0)
        for (size_t c = tree->trunk; c-- > 0;)
            if (tree->cells[c].child[0] && tree->cells[c].child[0] < tree->trunk)
                fmm_weigh_parent(cells, (uint32_t)c);
    next_phase(fmm);
}

/* --- the tolerance -----------------------------------------------------------------------------
 */

/* Direct sums at bodies that stand evenly along the order of the tree. */
static void sum_samples(struct fmm *fmm)
{
    size_t item;
    const size_t items = (fmm->samples + SAMPLES_TOGETHER - 1) / SAMPLES_TOGETHER;
    while (take_sum(fmm, items, &item)) {
        const size_t first = item * SAMPLES_TOGETHER;
        const size_t count =
            fmm->samples - first < SAMPLES_TOGETHER ? fmm->samples - first : SAMPLES_TOGETHER;
        for (size_t s = first; s < first + count; s++)
            fmm->sampled[s] =
                (uint32_t)((double)fmm->tree->count * ((double)s + 0.5) / (double)fmm->samples);
        fmm->kernels->direct(&fmm->field, &fmm->sampled[first], count, &fmm->exact[first]);
    }
    next_phase(fmm);
}

static void clear_sums(const struct fmm *fmm, size_t first, size_t last)
{
    for (int d = 0; d < 4; d++)
        memset(fmm->field.sums[d] + first, 0, (last - first) * sizeof(double));
}

/* The same by expansions. */
static void expand_samples(struct fmm *fmm)
{
    size_t item;
    while (take_sum(fmm, fmm->samples, &item)) {
        uint32_t path[FMM_DEPTH];
        const struct fmm_cell *const cells = fmm->field.cells;
        const uint32_t body = fmm->sampled[item];
        uint32_t leaf = 0;
        size_t length = 0;
        while (cells[leaf].child[0]) {
            path[length++] = leaf;
            leaf = cells[leaf].child[body >= cells[cells[leaf].child[1]].first];
        }
        clear_sums(fmm, body, body + 1);
        fmm->kernels->sum(&fmm->field, &fmm->walks[thread_number()], path, length, leaf, body,
                          body + 1);
    }
    next_phase(fmm);
}

/*
 * The error over the rms acceleration, from the samples: the larger of two estimates. The first is
 * the ratio of both rms. A few bodies that are pulled most may decide it, and may not be among the
 * samples. The second is the rms of |error| / f with the scale f = sum m / (r^2 + eps^2) of each
 * body, in which bodies weigh as f, times the rms of f over that of |a|.
 */
static double sampled_error(const struct fmm *fmm)
{
    double error2 = 0, a2 = 0, weighted2 = 0, weight = 0, scale2 = 0;
    for (size_t s = 0; s < fmm->samples; s++) {
        const double *const exact = fmm->exact[s], scale = exact[3];
        double here2 = 0;
        for (int d = 0; d < 3; d++) {
            const double error = fmm->field.sums[d][fmm->sampled[s]] - exact[d];
            here2 += error * error;
            a2 += exact[d] * exact[d];
        }
        error2 += here2;
        if (scale > 0)
            weighted2 += here2 / scale;
        weight += scale;
        scale2 += scale * scale;
    }
    return a2 > 0 && weight > 0 ? sqrt(fmax(error2, weighted2 / weight * scale2) / a2) : 0;
}

/* Judges the tolerance by the samples: true when it is found, else the next one to try. The error
 * follows the tolerance as its power `exponent`. */
static bool judge_tolerance(struct fmm *fmm)
{
    const double ratio = sampled_error(fmm) / fmm->base.options.accuracy;
    fmm->rounds++;
    if ((ratio >= least && ratio <= greatest) || ratio == 0 ||
        (fmm->rounds >= MOST_ROUNDS && ratio < 1) || fmm->rounds >= 2 * MOST_ROUNDS)
        return true;
    const double factor = pow(aim / ratio, 1 / exponent);
    fmm->field.tolerance *= (float)fmin(fmax(factor, 0.02), 20);
    return false;
}

static void find_tolerance(struct fmm *fmm)
{
    if (thread_number() == 0) {
        fmm->field.tolerance = (float)(0.2 * fmm->base.options.accuracy);
        fmm->rounds = 0;
        fmm->done = fmm->samples == 0;
    }
    next_phase(fmm);
    if (fmm->samples)
        sum_samples(fmm);
    while (!fmm->done) {
        expand_samples(fmm);
        if (thread_number() == 0)
            fmm->done =
                interruption_noticed(fmm->base.physics.interruption) || judge_tolerance(fmm);
        next_phase(fmm);
    }
}

/* --- sums --------------------------------------------------------------------------------------
 */

static void sum_branches(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    uint32_t path[FMM_DEPTH];
    size_t item;
    while (take_sum(fmm, tree->branches, &item)) {
        const uint32_t root = tree->branch[item].root;
        const struct body_tree_cell *const cell = &tree->cells[root];
        clear_sums(fmm, cell->first, cell->last);
        fmm->kernels->sum(&fmm->field, &fmm->walks[thread_number()], path, path_to(fmm, root, path),
                          root, cell->first, cell->last);
    }
    next_phase(fmm);
}

static void sum_system(struct fmm *fmm, const struct bodies *bodies, size_t system)
{
    const size_t base = system * bodies->stride;
    next_phase(fmm);
    find_extent(fmm, bodies, base);
    next_phase(fmm);
    if (thread_number() == 0) {
        find_units(fmm, bodies, base);
        fmm->tree->levels = 0;
        fmm->done = interruption_noticed(fmm->base.physics.interruption);
    }
    next_phase(fmm);
    if (fmm->done)
        return;
    take_bodies(fmm, bodies, base);
    next_phase(fmm);
    grow_trunk(fmm);
    grow_branches(fmm);
    find_scales(fmm);
    find_tolerance(fmm);
    sum_branches(fmm);
}

/* --- the verbs ----------------------------------------------------------------------------------
 */

/* This thread's share of the bodies, in the order of the tree. */
static size_t share_of(size_t count, size_t part)
{
    return share_start(count, (size_t)omp_get_num_threads(), (size_t)thread_number() + part);
}

static void accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item)
{
    struct fmm *const fmm = (struct fmm *)force;
    double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    for (size_t s = item->first; s < item->last; s++) {
        sum_system(fmm, bodies, s);
        const double unit =
            force->physics.gravitational_constant * fmm->mass * fmm->scale * fmm->scale;
        for (size_t i = share_of(bodies->count, 0); i < share_of(bodies->count, 1); i++)
            for (int d = 0; d < 3; d++)
                a[d][s * bodies->stride + fmm->tree->index[i]] = unit * fmm->field.sums[d][i];
        next_phase(fmm);
    }
}

/* psi is each body's share of sum r_ij . a_ij. Forces sum to zero, so that in open space the total
 * is also that of 2 m x . a, from any origin. */
static void potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi)
{
    struct fmm *const fmm = (struct fmm *)force;
    for (size_t s = item->first; s < item->last; s++) {
        sum_system(fmm, bodies, s);
        const double unit = force->physics.gravitational_constant * fmm->mass * fmm->scale;
        for (size_t i = share_of(bodies->count, 0); i < share_of(bodies->count, 1); i++) {
            const size_t at = s * bodies->stride + fmm->tree->index[i];
            double xa = 0;
            for (int d = 0; d < 3; d++)
                xa += fmm->tree->bodies[i].x[d] * fmm->field.sums[d][i];
            phi[at] = -unit * fmm->field.sums[3][i];
            psi[at] = 2 * unit * xa;
        }
        next_phase(fmm);
    }
}

const struct force_method force_fmm = {
    .name = "fmm",
    .size = sizeof(struct fmm),
    .check = check_options,
    .bytes = bytes_of,
    .work = work_of,
    .traits = traits_of,
    .create = create,
    .accelerations = accelerations,
    .potentials = potentials,
    .destroy = destroy,
};
