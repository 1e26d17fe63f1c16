/*
 * The fast multipole method: forces of a system in a time that grows as the number of its bodies,
 * with an error that is asked for. docs/theory.md has the equations. The order of reading: this
 * file, which says what is done and in which order; fmm.h; space/body-tree.h; expansion.h;
 * fmm-walk.inc. The specification is fmm-plain.c, which has one thread and plain loops.
 *
 * The sums depend on positions, masses, softening and accuracy, and on the instruction set: not on
 * threads, which take branches of the tree, nor on the systems beside it.
 */
#include "config.h"

#include "force/fmm/fmm.h"

#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "force/fmm/fmm-plain.h"

/* The order and the arithmetic for each accuracy, and the cost of a force with them: the number of
 * pairs of a direct sum in double that take as long as one body. Measured, see docs/performance.md.
 * The orders are those that translations.py writes. */
static const struct fmm_setting settings[] = {
    /* accuracy, order, leaf, refine, precision, pairs_per_body */
    { 1e-2, 3, 32, false, PRECISION_SINGLE, 5800 }, { 1e-3, 5, 48, false, PRECISION_SINGLE, 7000 },
    { 3e-4, 5, 48, true, PRECISION_SINGLE, 12000 }, { 1e-4, 6, 64, true, PRECISION_SINGLE, 16000 },
    { 3e-6, 8, 64, true, PRECISION_SINGLE, 24000 }, { 1e-7, 8, 64, true, PRECISION_DOUBLE, 100000 },
    { 0, 10, 64, true, PRECISION_DOUBLE, 130000 },
};

/* The kernels of the instruction sets, for float and for double, and the registers that they are
 * named after: sets for some makers alone do not differ here. */
static const struct {
    const char *isa;
    const struct fmm_kernels *kernels;
} all_kernels[] = {
#define ROW(family, set, registers, ...) { #registers, FORCE_ISA_##family(fmm_##registers) },
    FORCE_ISAS(ROW)
#undef ROW
};

/* The most that fmm_field.close may be. Pairs that are closer than `close` times the unit of a near
 * sum are summed in double. In float it is 1e-6 / accuracy, and coordinates are right to 1e-7 of
 * the unit, so that the pull of other pairs is wrong by a tenth of the accuracy at most. */
static const double farthest_close = 1.0 / 16;

/* --- choices, memory -------------------------------------------------------------------------- */

static const struct fmm_setting *setting_of(const struct force_options *options)
{
    const struct fmm_setting *setting = settings;
    while (options->accuracy < setting->accuracy * (1 - 1e-9))
        setting++;
    return setting;
}

bool fmm_in_double(const struct force_options *options)
{
    return setting_of(options)->precision == PRECISION_DOUBLE;
}

static size_t real_size(const struct fmm_setting *setting)
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

/* Returns the bytes. Leaves have eight bodies on average where bodies are many, and no fewer than
 * two. */
static double bytes_of(const struct force_options *options, double systems, double count)
{
    const struct fmm_setting *const setting = setting_of(options);
    const double cell = sizeof(struct fmm_cell) + sizeof(struct body_tree_cell) + sizeof(uint32_t) +
                        coefficients_of(setting->order) * (double)real_size(setting);
    (void)systems; /* one system after another */
    return count * (2 * sizeof(struct body_tree_body) + sizeof(struct body_tree_key) +
                    4 * sizeof(double)) +
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
    if (fmm_check_space(&force->physics, error) || force_isa_find(force->options.isa, &isa, error))
        return error->status;
    const int k = force_isa_row(isa);
    f->setting = setting_of(&force->options);
    const bool in_double = f->setting->precision == PRECISION_DOUBLE;
    f->kernels = &all_kernels[k].kernels[in_double];
    const size_t marks = in_double ? FMM_SAMPLED : 96;
    for (int which = 0; which < FMM_SAMPLES; which++)
        f->samples[which].wanted = n / 4 < marks ? n / 4 : marks;
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
        !(f->parents = memory_array(BODY_TREE_TRUNK, sizeof *f->parents, error)) ||
        !(f->squares = memory_array(BODY_TREE_TRUNK, sizeof *f->squares, error)) ||
        !(f->field.estimate = memory_array(cells, sizeof *f->field.estimate, error)))
        return error->status;
    for (int d = 0; d < 4; d++)
        if (!(f->field.sums[d] = memory_array(n, sizeof(double), error)))
            return error->status;
    f->field.expansion = f->expansion;
    f->field.tree = f->tree;
    f->field.refine = f->setting->refine || !f->kernels->estimate_is_fine;
    f->field.touching = force->physics.softening == 0;
    f->field.accuracy = force->options.accuracy;
    f->field.profiled = force->options.profiled;
    f->field.close = fmin((in_double ? 1e-15 : 1e-6) / force->options.accuracy, farthest_close);
    return STATUS_OK;
}

static void destroy(struct force *force)
{
    struct fmm *const f = (struct fmm *)force;
    for (int d = 0; d < 4; d++)
        memory_free(f->field.sums[d]);
    memory_free(f->field.estimate);
    memory_free(f->squares);
    memory_free(f->parents);
    memory_free(f->extents);
    memory_free(f->walks);
    memory_free(f->field.multipoles);
    memory_free(f->field.cells);
    body_tree_destroy(f->tree);
    expansion_destroy(f->expansion);
}

/* --- units and tree --------------------------------------------------------------------------- */

static void find_extent(struct fmm *fmm, const struct bodies *bodies, size_t base)
{
    const size_t thread = fmm_thread(fmm);
    const double *const x[3] = { bodies->x + base, bodies->y + base, bodies->z + base };
    struct fmm_extent b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    const size_t first = fmm_share(fmm, 0), last = fmm_share(fmm, 1);
    for (int d = 0; d < 3; d++)
        for (size_t i = first; i < last; i++) {
            b.low[d] = x[d][i] < b.low[d] ? x[d][i] : b.low[d];
            b.high[d] = x[d][i] > b.high[d] ? x[d][i] : b.high[d];
        }
    fmm->extents[thread] = b;
}

/* Finds the units of the tree: powers of two, so that nothing is rounded but by the origin, and a
 * system twice as large has the same bits. */
static void find_units(struct fmm *fmm, const struct bodies *bodies, size_t base)
{
    const size_t threads = fmm_threads(fmm);
    double size = 0, mass = 0;
    for (int d = 0; d < 3; d++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t t = 0; t < threads; t++) {
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
    struct body_tree_body *const to = fmm->tree->bodies;
    const double *const x[3] = { bodies->x + base, bodies->y + base, bodies->z + base };
    const double inverse = 1 / fmm->mass;
    for (size_t i = fmm_share(fmm, 0); i < fmm_share(fmm, 1); i++) {
        for (int d = 0; d < 3; d++)
            to[i].x[d] = (x[d][i] - fmm->origin[d]) * fmm->scale;
        to[i].m = bodies->m[base + i] * inverse;
    }
}

size_t fmm_path_to(const struct fmm *fmm, uint32_t cell, uint32_t path[FMM_DEPTH])
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
        if (fmm_thread(fmm) == 0) {
            if (tree->levels == 0)
                body_tree_plant(tree);
            fmm->done = !body_tree_plan_level(tree, &fmm->level[0], &fmm->level[1]);
        }
        fmm_next_phase(fmm);
        if (fmm->done)
            break;
        size_t item;
        while (fmm_take_item(fmm, fmm->level[1] - fmm->level[0], &item)) {
            const size_t c = fmm->level[0] + item;
            body_tree_cut(tree, c);
            for (int k = 0; k < 2 && tree->cells[c].child[0]; k++)
                fmm->parents[tree->cells[c].child[k]] = (uint32_t)c;
        }
        fmm_next_phase(fmm);
    }
}

/* Grows the branches, puts the bodies in the order of the tree, and finds the multipoles of all
 * cells, those of the trunk last. */
static void grow_branches(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    size_t item;
    while (fmm_take_item(fmm, tree->branches, &item))
        body_tree_grow_branch(tree, item);
    fmm_next_phase(fmm);
    if (fmm_thread(fmm) == 0)
        body_tree_finish(tree);
    fmm_next_phase(fmm);
    while (fmm_take_item(fmm, tree->branches, &item)) {
        const struct body_tree_branch *const branch = &tree->branch[item];
        const uint32_t cells = body_tree_cells_below(branch);
        for (uint32_t k = 0; k < cells; k++) /* leaves in the order of their bodies */
            if (!tree->cells[body_tree_cell_below(branch, k)].child[0])
                fmm->kernels->gather(&fmm->field, body_tree_cell_below(branch, k));
        for (uint32_t k = cells; k-- > 0;)
            if (tree->cells[body_tree_cell_below(branch, k)].child[0])
                fmm->kernels->gather(&fmm->field, body_tree_cell_below(branch, k));
    }
    fmm_next_phase(fmm);
    if (fmm_thread(fmm) == 0)
        for (size_t c = tree->trunk; c-- > 0;)
            if (tree->cells[c].child[0] && tree->cells[c].child[0] < tree->trunk)
                fmm->kernels->gather(&fmm->field, (uint32_t)c);
    fmm_next_phase(fmm);
}

/* --- sums ------------------------------------------------------------------------------------- */

void fmm_sum_due(struct fmm *fmm)
{
    struct body_tree *const tree = fmm->tree;
    uint32_t path[FMM_DEPTH];
    size_t item;
    while (fmm_take_sum(fmm, tree->branches, &item)) {
        const uint32_t root = tree->branch[item].root;
        const struct body_tree_cell *const cell = &tree->cells[root];
        if (!fmm_count_due(&fmm->field, cell->first, cell->last))
            continue;
        fmm_clear_sums(fmm, cell->first, cell->last);
        fmm->kernels->sum(&fmm->field, &fmm->walks[fmm_thread(fmm)], path,
                          fmm_path_to(fmm, root, path), root, cell->first, cell->last);
        fmm_tally_branch(fmm, item);
    }
    fmm_next_phase(fmm);
}

/* Ends a part of the force: the time since the part before ended belongs to `part`. */
static void end_part(struct fmm *fmm, enum fmm_part part)
{
    if (fmm_thread(fmm) == 0 && fmm->field.profiled) {
        const double now = clock_seconds();
        fmm->seconds[part] += now - fmm->since;
        fmm->since = now;
    }
}

/* Begins the sums of all bodies. The near sums of samples, and sums that missed the accuracy,
 * belong to the control of the error. */
static void begin_sums(struct fmm *fmm)
{
    end_part(fmm, FMM_CONTROL);
    if (fmm_thread(fmm) == 0) {
        fmm->seconds[FMM_CONTROL] += fmm->seconds[FMM_SUMS];
        fmm->seconds[FMM_SUMS] = 0;
    }
    fmm->walks[fmm_thread(fmm)].near_seconds = fmm->walks[fmm_thread(fmm)].near_pairs = 0;
}

static void begin_parts(struct fmm *fmm)
{
    if (fmm_thread(fmm) == 0 && fmm->field.profiled) {
        memset(fmm->seconds, 0, sizeof fmm->seconds);
        fmm->since = clock_seconds();
        fmm->team = (int)fmm_threads(fmm);
    }
}

bool fmm_grow(struct fmm *fmm, const struct bodies *bodies, size_t system)
{
    const size_t base = system * bodies->stride;
    begin_parts(fmm);
    fmm_next_phase(fmm);
    find_extent(fmm, bodies, base);
    fmm_next_phase(fmm);
    if (fmm_thread(fmm) == 0) {
        find_units(fmm, bodies, base);
        fmm->tree->levels = 0;
        fmm->done = interruption_noticed(fmm->base.physics.interruption);
    }
    fmm_next_phase(fmm);
    if (fmm->done)
        return false;
    take_bodies(fmm, bodies, base);
    fmm_next_phase(fmm);
    grow_trunk(fmm);
    grow_branches(fmm);
    fmm_find_scales(fmm);
    end_part(fmm, FMM_TREE);
    return true;
}

void fmm_sum_all(struct fmm *fmm)
{
    fmm_find_tolerance(fmm);
    do {
        begin_sums(fmm);
        fmm_sum_due(fmm);
        end_part(fmm, FMM_SUMS);
    } while (fmm_misses_accuracy(fmm));
    end_part(fmm, FMM_CONTROL);
}

static void sum_system(struct fmm *fmm, const struct bodies *bodies, size_t system)
{
    if (fmm_grow(fmm, bodies, system))
        fmm_sum_all(fmm);
}

/* Tells the parts of the last force. All threads work on the sums at the same time, and each has
 * timed its own near sums: their mean is taken. */
static void profile(const struct force *force, struct force_profile *profile)
{
    const struct fmm *const fmm = (const struct fmm *)force;
    double whole = 0, near = 0, pairs = 0;
    for (int part = 0; part < FMM_PARTS; part++)
        whole += fmm->seconds[part];
    for (int t = 0; t < fmm->team; t++) {
        near += fmm->walks[t].near_seconds / fmm->team;
        pairs += fmm->walks[t].near_pairs;
    }
    near = fmin(near, fmm->seconds[FMM_SUMS]);
    whole = whole > 0 ? whole : 1;
    *profile = (struct force_profile){
        .tree = fmm->seconds[FMM_TREE] / whole,
        .control = fmm->seconds[FMM_CONTROL] / whole,
        .far = (fmm->seconds[FMM_SUMS] - near) / whole,
        .near = near / whole,
        .pairs = pairs / (double)fmm->tree->count,
    };
}

/* --- the verbs -------------------------------------------------------------------------------- */

double fmm_unit(const struct fmm *fmm)
{
    return fmm->base.physics.gravitational_constant * fmm->mass * fmm->scale * fmm->scale;
}

static void accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item)
{
    enum { AHEAD = 16 }; /* bodies whose places are on their way from the memory */
    struct fmm *const fmm = (struct fmm *)force;
    double *const a[3] = { bodies->ax, bodies->ay, bodies->az };
    for (size_t s = item->first; s < item->last; s++) {
        sum_system(fmm, bodies, s);
        const double unit = fmm_unit(fmm);
        const struct body_tree_key *const keys = fmm->tree->keys;
        const size_t first = fmm_share(fmm, 0), last = fmm_share(fmm, 1);
        for (size_t i = first; i < last; i++)
            for (int d = 0; d < 3; d++) {
                double *const to = a[d] + s * bodies->stride;
                __builtin_prefetch(&to[keys[i + AHEAD < last ? i + AHEAD : i].index], 1);
                to[keys[i].index] = unit * fmm->field.sums[d][i];
            }
        fmm_next_phase(fmm);
    }
}

/* Computes phi and psi. psi is each body's share of sum r_ij . a_ij. Since forces sum to zero in
 * open space, the total is also that of 2 m x . a from any origin: psi_i = 2 x_i . a_i. Rounding
 * leaves a small sum of forces, so the origin is the center of mass; the middle of the box may be
 * far away, by an escaper. */
static void potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi)
{
    struct fmm *const fmm = (struct fmm *)force;
    for (size_t s = item->first; s < item->last; s++) {
        sum_system(fmm, bodies, s);
        const double unit = force->physics.gravitational_constant * fmm->mass * fmm->scale;
        double center[3];
        fmm_center(&fmm->field.cells[0], center);
        for (size_t i = fmm_share(fmm, 0); i < fmm_share(fmm, 1); i++) {
            const size_t at = s * bodies->stride + fmm->tree->keys[i].index;
            double xa = 0;
            for (int d = 0; d < 3; d++)
                xa += (fmm->tree->bodies[i].x[d] - center[d]) * fmm->field.sums[d][i];
            phi[at] = -unit * fmm->field.sums[3][i];
            psi[at] = 2 * unit * xa;
        }
        fmm_next_phase(fmm);
    }
}

static const char *const keys[] = { "accuracy", NULL };

const struct force_method force_fmm = {
    .name = "fmm",
    .keys = keys,
    .size = sizeof(struct fmm),
    .check = check_options,
    .bytes = bytes_of,
    .work = work_of,
    .traits = traits_of,
    .create = create,
    .accelerations = accelerations,
    .potentials = potentials,
    .profile = profile,
    .jerk = &fmm_due,
    .destroy = destroy,
};
