#include "force/fmm/fmm-plain.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "force/fmm/expansion.h"
#include "space/body-tree.h"

enum { ORDER = 8, COEFFICIENTS = (ORDER + 1) * (ORDER + 2) * (ORDER + 3) / 6, LEAF = 16 };

/* A cell: its bodies lie within `radius` about `center`. */
struct cell {
    double center[3], radius;
    bool due; /* the sums of some of its bodies are wanted */
    double multipoles[COEFFICIENTS], local[COEFFICIENTS];
};

/* The sums of one body: acceleration and potential, without G. */
struct sum {
    double a[3], phi;
};

struct fmm_plain {
    struct physics physics;
    double angle; /* two cells act as wholes if their radii are at most this part of the distance */
    struct expansion *expansion;
    struct body_tree *tree;
    struct cell *cells; /* the cells of the tree */
    struct sum *sums;   /* sums of each body, in the order of the tree */
    uint32_t *slot; /* of each body of the system: 1 + its number among those whose sums are wanted;
                       0: it is none of them */
    int n[COEFFICIENTS][3];        /* the multi-index of each coefficient */
    size_t lower[3][COEFFICIENTS]; /* where n - e_axis stands, if n[axis] > 0 */
    double derivatives[ORDER + 2][COEFFICIENTS];
    double done; /* work since the last look at the interruption */
    bool ended;  /* the sums are interrupted: what is left of them is left out */
};

/* --- memory ----------------------------------------------------------------------------------- */

static void number_coefficients(struct fmm_plain *p)
{
    for (int x = 0; x <= ORDER; x++)
        for (int y = 0; x + y <= ORDER; y++)
            for (int z = 0; x + y + z <= ORDER; z++) {
                const size_t at = p->expansion->index[x][y][z];
                p->n[at][0] = x;
                p->n[at][1] = y;
                p->n[at][2] = z;
                p->lower[0][at] = x ? p->expansion->index[x - 1][y][z] : at;
                p->lower[1][at] = y ? p->expansion->index[x][y - 1][z] : at;
                p->lower[2][at] = z ? p->expansion->index[x][y][z - 1] : at;
            }
}

enum status fmm_check_space(const struct physics *physics, struct error *error)
{
    if (physics->boundary == BOUNDARY_PERIODIC)
        return error_set(error, STATUS_CONFIG,
                         "compute.method = \"fmm\": expansions are those of open space; use "
                         "\"direct\" in a periodic box");
    return STATUS_OK;
}

enum status fmm_plain_create(const struct physics *physics, const struct bodies *bodies,
                             double accuracy, struct fmm_plain **plain, struct error *error)
{
    *plain = NULL;
    if (fmm_check_space(physics, error))
        return error->status;
    struct fmm_plain *const p = memory_array(1, sizeof *p, error);
    if (!p)
        return error->status;
    p->physics = *physics;
    /* The error of a cell of mass m is below m/r^2 angle^(order + 1), but for a factor. */
    p->angle = fmin(0.6, pow(accuracy, 1.0 / (ORDER + 1)));
    if (expansion_create(ORDER, &p->expansion, error) ||
        body_tree_create(bodies->count, LEAF, &p->tree, error) ||
        !(p->cells = memory_array(body_tree_cells_of(bodies->count), sizeof *p->cells, error)) ||
        !(p->sums = memory_array(bodies->count, sizeof *p->sums, error)) ||
        !(p->slot = memory_array(bodies->count, sizeof *p->slot, error))) {
        fmm_plain_destroy(p);
        return error->status;
    }
    number_coefficients(p);
    *plain = p;
    return STATUS_OK;
}

/* Returns the bytes. Leaves have four tenths of LEAF bodies on average, or more, and as many cells
 * are above them (measured). */
double fmm_plain_bytes(double count)
{
    const double cells = 5.0 * count / LEAF + 64.0;
    return count * (2.0 * sizeof(struct body_tree_body) + sizeof(struct body_tree_key) +
                    sizeof(struct sum)) +
           cells * (double)(sizeof(struct cell) + sizeof(struct body_tree_cell));
}

void fmm_plain_destroy(struct fmm_plain *plain)
{
    if (!plain)
        return;
    memory_free(plain->slot);
    memory_free(plain->sums);
    memory_free(plain->cells);
    body_tree_destroy(plain->tree);
    expansion_destroy(plain->expansion);
    memory_free(plain);
}

/* Adds work, in coefficients or pairs. Tells whether the sums are to end. */
static bool work(struct fmm_plain *p, double amount)
{
    if (interruption_after(p->physics.interruption, &p->done, amount))
        p->ended = true;
    return p->ended;
}

/* --- the tree --------------------------------------------------------------------------------- */

static void grow_tree(struct fmm_plain *p, const struct bodies *bodies, size_t system)
{
    struct body_tree *const tree = p->tree;
    const size_t base = system * bodies->stride;
    size_t first, last;
    for (size_t i = 0; i < bodies->count; i++) {
        tree->bodies[i] = (struct body_tree_body){
            { bodies->x[base + i], bodies->y[base + i], bodies->z[base + i] }, bodies->m[base + i]
        };
    }
    body_tree_plant(tree);
    while (body_tree_plan_level(tree, &first, &last))
        for (size_t c = first; c < last; c++)
            body_tree_cut(tree, c);
    for (size_t b = 0; b < tree->branches; b++)
        body_tree_grow_branch(tree, b);
    body_tree_finish(tree);
}

static bool is_due(const struct fmm_plain *p, uint32_t body)
{
    return p->slot[p->tree->keys[body].index] > 0;
}

/* Puts y^n/n! for all n into `powers`. */
static void monomials(const struct expansion *e, const double y[3], double *powers)
{
    powers[0] = 1;
    for (size_t k = 1; k < e->count; k++) {
        const size_t n = e->in_order[k];
        const struct expansion_monomial m = e->monomial[n];
        powers[n] = powers[m.from] * y[m.axis] / m.power;
    }
}

/* Finds center, radius and multipoles of a cell and of all below it: M_n = sum m (z - x)^n/n!. */
static void gather(struct fmm_plain *p, uint32_t c)
{
    const struct body_tree_cell *const box = &p->tree->cells[c];
    const struct body_tree_body *const bodies = p->tree->bodies;
    struct cell *const cell = &p->cells[c];
    double mass = 0, moment[3] = { 0 }, powers[COEFFICIENTS];
    memset(cell, 0, sizeof *cell);
    for (uint32_t i = box->first; i < box->last; i++) {
        cell->due |= is_due(p, i);
        mass += bodies[i].m;
        for (int d = 0; d < 3; d++)
            moment[d] += bodies[i].m * bodies[i].x[d];
    }
    for (int d = 0; d < 3; d++)
        cell->center[d] = mass > 0 ? moment[d] / mass : 0.5 * (box->low[d] + box->high[d]);
    for (uint32_t i = box->first; i < box->last && !work(p, COEFFICIENTS); i++) {
        double y[3], r2 = 0;
        for (int d = 0; d < 3; d++) {
            y[d] = cell->center[d] - bodies[i].x[d];
            r2 += y[d] * y[d];
        }
        cell->radius = fmax(cell->radius, sqrt(r2));
        monomials(p->expansion, y, powers);
        for (size_t n = 0; n < COEFFICIENTS; n++)
            cell->multipoles[n] += bodies[i].m * powers[n];
    }
    for (int k = 0; k < 2 && box->child[0] && !p->ended; k++)
        gather(p, box->child[k]);
}

/* --- interactions ----------------------------------------------------------------------------- */

/*
 * Finds derivatives[0][n] = d^n/dR^n (R^2 + eps^2)^(-1/2), with
 * D^(m)_0 = (-1)^m (2m - 1)!! s^(2m + 1), D^(m)_(n+e) = R_e D^(m+1)_n + n_e D^(m+1)_(n-e).
 * (McMurchie & Davidson 1978)
 */
static void differentiate(struct fmm_plain *p, const double R[3])
{
    const struct expansion *const e = p->expansion;
    const double eps = p->physics.softening;
    const double s2 = 1 / (R[0] * R[0] + R[1] * R[1] + R[2] * R[2] + eps * eps);
    double g[ORDER + 1] = { sqrt(s2) };
    for (int m = 1; m <= ORDER; m++)
        g[m] = -(2 * m - 1) * s2 * g[m - 1];
    for (int m = ORDER; m >= 0; m--) {
        const double *const above = p->derivatives[m + 1];
        double *const D = p->derivatives[m];
        D[0] = g[m];
        for (size_t k = 1; k < e->count && e->degree[e->in_order[k]] <= ORDER - m; k++) {
            const size_t n = e->in_order[k], from = e->monomial[n].from;
            const int axis = e->monomial[n].axis, power = p->n[from][axis];
            D[n] = R[axis] * above[from] + power * above[p->lower[axis][from]];
        }
    }
}

/* Adds the field of one cell to the local expansion of another: F_n += sum_k M_k D_(n+k). */
static void translate(struct fmm_plain *p, const struct cell *from, struct cell *to)
{
    const struct expansion *const e = p->expansion;
    double R[3];
    if (work(p, 0.5 * COEFFICIENTS * COEFFICIENTS))
        return;
    for (int d = 0; d < 3; d++)
        R[d] = to->center[d] - from->center[d];
    differentiate(p, R);
    for (size_t n = 0; n < COEFFICIENTS; n++)
        for (size_t k = 0; k < COEFFICIENTS; k++)
            if (e->degree[n] + e->degree[k] <= ORDER)
                to->local[n] +=
                    from->multipoles[k] *
                    p->derivatives[0][e->index[p->n[n][0] + p->n[k][0]][p->n[n][1] + p->n[k][1]]
                                              [p->n[n][2] + p->n[k][2]]];
}

/* Adds the pull of the bodies of one cell to those of another, pair by pair. */
static void pull(struct fmm_plain *p, const struct body_tree_cell *from,
                 const struct body_tree_cell *to)
{
    const struct body_tree_body *const bodies = p->tree->bodies;
    const double eps = p->physics.softening;
    for (uint32_t i = to->first; i < to->last && !work(p, from->last - from->first); i++)
        for (uint32_t j = from->first; j < from->last && is_due(p, i); j++) {
            double d[3], r2 = eps * eps;
            for (int k = 0; k < 3; k++) {
                d[k] = bodies[j].x[k] - bodies[i].x[k];
                r2 += d[k] * d[k];
            }
            if (i == j || !(r2 > 0))
                continue;
            const double s = 1 / sqrt(r2);
            for (int k = 0; k < 3; k++)
                p->sums[i].a[k] += bodies[j].m * s * s * s * d[k];
            p->sums[i].phi += bodies[j].m * s;
        }
}

/* Adds the field of the bodies of one cell to those bodies of another that are due, or to local
 * expansions there. If two cells are too near each other, the larger one is opened. */
static void act(struct fmm_plain *p, uint32_t from, uint32_t to)
{
    if (p->ended || !p->cells[to].due)
        return;
    const struct body_tree_cell *const source = &p->tree->cells[from];
    const struct body_tree_cell *const target = &p->tree->cells[to];
    const struct cell *const a = &p->cells[from], *const b = &p->cells[to];
    double r2 = 0;
    for (int d = 0; d < 3; d++)
        r2 += (a->center[d] - b->center[d]) * (a->center[d] - b->center[d]);
    if (a->radius + b->radius < p->angle * sqrt(r2)) {
        translate(p, a, &p->cells[to]);
    } else if (!source->child[0] && !target->child[0]) {
        pull(p, source, target);
    } else if (source->child[0] && (!target->child[0] || a->radius >= b->radius)) {
        act(p, source->child[0], to);
        act(p, source->child[1], to);
    } else {
        act(p, from, target->child[0]);
        act(p, from, target->child[1]);
    }
}

/* Passes local expansions from a cell down to its bodies: phi(z + y) = sum_n F_n y^n/n!. */
static void pass_down(struct fmm_plain *p, uint32_t c)
{
    const struct body_tree_cell *const box = &p->tree->cells[c];
    const struct expansion *const e = p->expansion;
    const struct cell *const cell = &p->cells[c];
    double y[3], values[COEFFICIENTS];
    for (int k = 0; k < 2 && box->child[0] && cell->due && !p->ended; k++) {
        struct cell *const child = &p->cells[box->child[k]];
        for (int d = 0; d < 3; d++)
            y[d] = child->center[d] - cell->center[d];
        memcpy(values, cell->local, sizeof values);
        expansion_shift_local(e, y, values);
        for (size_t n = 0; n < COEFFICIENTS; n++)
            child->local[n] += values[n];
        pass_down(p, box->child[k]);
    }
    for (uint32_t i = box->first; i < box->last && !box->child[0] && !work(p, COEFFICIENTS); i++) {
        if (!is_due(p, i))
            continue;
        for (int d = 0; d < 3; d++)
            y[d] = p->tree->bodies[i].x[d] - cell->center[d];
        monomials(e, y, values);
        for (size_t n = 0; n < COEFFICIENTS; n++) {
            p->sums[i].phi += values[n] * cell->local[n];
            for (int d = 0; d < 3 && e->degree[n] < ORDER; d++)
                p->sums[i].a[d] += values[n] * cell->local[e->raise[d][n]];
        }
    }
}

/* Finds the sums of those bodies of a system that are due. */
static void sum_system(struct fmm_plain *p, const struct bodies *bodies, size_t system)
{
    p->ended = false;
    grow_tree(p, bodies, system);
    gather(p, 0);
    memset(p->sums, 0, bodies->count * sizeof *p->sums);
    act(p, 0, 0);
    pass_down(p, 0);
}

void fmm_plain_sum_due(struct fmm_plain *plain, const struct bodies *bodies, const uint32_t *active,
                       size_t count, double *const a[3])
{
    const double G = plain->physics.gravitational_constant;
    memset(plain->slot, 0, bodies->count * sizeof *plain->slot);
    for (size_t k = 0; k < count; k++)
        plain->slot[active[k]] = (uint32_t)k + 1;
    sum_system(plain, bodies, 0);
    for (size_t i = 0; i < bodies->count; i++) {
        const uint32_t slot = plain->slot[plain->tree->keys[i].index];
        for (int d = 0; d < 3 && slot; d++)
            a[d][slot - 1] = G * plain->sums[i].a[d];
    }
}

void fmm_plain_sum(struct fmm_plain *plain, const struct bodies *bodies, size_t system, double *phi,
                   double *psi)
{
    const double G = plain->physics.gravitational_constant;
    for (size_t i = 0; i < bodies->count; i++)
        plain->slot[i] = (uint32_t)i + 1;
    sum_system(plain, bodies, system);
    for (size_t i = 0; i < bodies->count; i++) {
        const size_t at = system * bodies->stride + plain->tree->keys[i].index;
        const struct sum *const sum = &plain->sums[i];
        const double *const x = plain->tree->bodies[i].x;
        if (phi) {
            phi[at] = -G * sum->phi;
            psi[at] = 2 * G * (x[0] * sum->a[0] + x[1] * sum->a[1] + x[2] * sum->a[2]);
        } else {
            bodies->ax[at] = G * sum->a[0];
            bodies->ay[at] = G * sum->a[1];
            bodies->az[at] = G * sum->a[2];
        }
    }
}
