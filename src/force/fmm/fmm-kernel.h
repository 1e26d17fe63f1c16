/* The work of the fast multipole method on the cells of one tree, which fmm.c plans and the kernels
 * of an instruction set do. */
#ifndef ORRERY_FORCE_FMM_KERNEL_H
#define ORRERY_FORCE_FMM_KERNEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "force/fmm/expansion.h"
#include "force/isa.h"
#include "space/body-tree.h"

/*
 * A cell of the tree as the walk sees it: one cache line. Lengths and masses are in the units of
 * the tree. Its center is that of its mass (the middle of the box where that is 0), in two parts,
 * whose differences are exact to some 48 bits.
 */
struct fmm_cell {
    float high[3], mass;
    float low[3], radius;   /* all bodies lie within it about the center */
    float multipole_radius; /* s of fmm-upward.inc, without traces */
    float full_radius;      /* the same with the traces, which count if eps > 0 */
    float allowed_error;    /* the error that one other cell may make here, over the tolerance */
    float rank;             /* -1 - first of a leaf, 1 + first elsewhere: decides ties */
    uint32_t first, last;   /* bodies, in the order of the tree */
    uint32_t child[2];      /* both 0: a leaf */
};

static inline void fmm_center(const struct fmm_cell *cell, double center[3])
{
    for (int d = 0; d < 3; d++)
        center[d] = (double)cell->high[d] + (double)cell->low[d];
}

/* Returns the factor by which the size of a target lessens its allowed error, since more cells act
 * on each body below a larger one. */
static inline float fmm_size_factor(const struct fmm_cell *cell)
{
    return powf(fmaxf((float)(cell->last - cell->first) / 32, 1), -0.36f);
}

/*
 * Sets the allowed error of cell c. That of a leaf follows from its scale f and from the root mean
 * square F of the scales of all bodies. The scale of a leaf is an acceleration: the least sum of
 * m / (r^2 + eps^2) over all other bodies at any body of the leaf. Before the call it stands in
 * allowed_error of the leaf, whose value the call replaces. The accuracy is one of root mean
 * squares, to which weakly pulled bodies add little: they may have a larger part of their own
 * acceleration wrong, as sqrt(F / f), but at most FMM_MOST_LENIENT times as much. A parent takes
 * the least of its children.
 */
#define FMM_MOST_LENIENT 4.0f

static inline void fmm_set_allowed_error(struct fmm_cell *cells, uint32_t c, float mean_scale)
{
    struct fmm_cell *const cell = &cells[c];
    const struct fmm_cell *const one = &cells[cell->child[0]], *const two = one + 1;
    const float f = cell->allowed_error;
    const float least = cell->child[0] ? fminf(one->allowed_error / fmm_size_factor(one),
                                               two->allowed_error / fmm_size_factor(two))
                                       : fminf(sqrtf(f * mean_scale), FMM_MOST_LENIENT * f);
    cell->allowed_error = least * fmm_size_factor(cell);
}

/* The field of one tree. The multipoles are float or double, as the kernels that work on them. */
struct fmm_field {
    const struct expansion *expansion;
    const struct body_tree *tree;
    struct fmm_cell *cells;
    void *multipoles; /* [cell][coefficient], over radius^k */
    double eps2;
    float tolerance; /* the most error of one cell, over the allowed_error of another */
    bool refine;     /* 1/r by a step of Newton's after the estimate */
    double close;    /* distance below which pairs need more digits, over the unit of a near sum */
    double accuracy; /* the error that is asked for */
    bool touching;   /* the true eps is 0 */
    bool profiled;   /* near sums are timed, and their pairs counted */
    double *sums[4]; /* acceleration and potential of every body, in the order of the tree */
    /* The bodies whose sums are wanted, in the order of the tree, and how many of them stand before
     * each body. NULL: all are wanted. */
    const uint32_t *due, *due_before;
    float *estimate; /* for every leaf, the error of a body's acceleration: see accept_cells() */
};

/* Returns how many of the bodies [first, last) of the tree are due. */
static inline uint32_t fmm_count_due(const struct fmm_field *field, uint32_t first, uint32_t last)
{
    return field->due ? field->due_before[last] - field->due_before[first] : last - first;
}

enum {
    FMM_DEPTH = 96,     /* levels of a tree at most */
    FMM_LIST = 1 << 16, /* candidates on the way from the root to a leaf */
    FMM_OPENED = 512,   /* cells that were opened and wait */
    FMM_NEAR = 2048,    /* bodies of a near sum that are loaded at a time */
    FMM_LANES = 16      /* most lanes of a vector */
};

/* One cell on the way from the root to a leaf, and what the walk has found for it and for the cells
 * above it. */
struct fmm_step {
    uint32_t cell;
    float scale;        /* the sum for the scales of the leaves below */
    double unit;        /* unit of lengths in its local expansion */
    double error2;      /* sum of the squares of the errors of all that acts on it as a whole */
    size_t first, last; /* the candidates list[first, last) that it left to its children */
    bool crowded; /* the lists had no room: some candidates were summed body by body, for the bodies
                     that were wanted then */
};

/* The room of one thread for a walk. A candidate is a cell that may act on a target, and the mass
 * of what was opened for it (`opened_mass`): see accept_cells() in fmm-kernel.c. */
struct fmm_walk {
    struct fmm_step way[FMM_DEPTH];
    size_t known; /* number of steps of `way` that are of use to the next target: fmm_known_steps()
                   */
    uint32_t list[FMM_LIST];
    float list_mass[FMM_LIST];
    uint32_t opened[FMM_OPENED];
    float opened_mass[FMM_OPENED];
    uint32_t first, last; /* the bodies whose sums are wanted */
    double near_seconds;  /* time of the near sums, and their pairs, since both were set to 0 */
    double near_pairs;
    _Alignas(64) unsigned char local[FMM_DEPTH * EXPANSION_COEFFICIENTS * sizeof(double)];
    _Alignas(64) unsigned char scratch[2 * EXPANSION_COEFFICIENTS * 64];
    uint32_t near_numbers[FMM_NEAR];
    _Alignas(64) unsigned char near[4 * (FMM_NEAR + FMM_LANES) * sizeof(double)];
};

/* Returns how many of the cells of a path the walk has done for the target before, so that their
 * lists and local expansions are still there. */
static inline size_t fmm_known_steps(const struct fmm_walk *walk, const uint32_t *path,
                                     size_t length)
{
    size_t k = 0;
    while (k < walk->known && k < length && walk->way[k].cell == path[k] && !walk->way[k].crowded)
        k++;
    return k;
}

struct fmm_kernels {
    bool estimate_is_fine; /* the estimate of 1/r is right to some 6e-5 */
    /* Finds the scales of all leaves below `target`, which is reached by `path` as in sum(), and
     * leaves them in allowed_error. */
    void (*scale)(const struct fmm_field *field, struct fmm_walk *walk, const uint32_t *path,
                  size_t length, uint32_t target);
    /* Finds center, radius, multipoles and their radii of one cell, from its bodies or from its
     * children, which have theirs. */
    void (*gather)(struct fmm_field *field, uint32_t cell);
    /* Adds to the sums of those bodies of [first, last) below cell `target` that are due. The cell
     * is reached by `path` from the root (the root first, `length` cells without the target). */
    void (*sum)(const struct fmm_field *field, struct fmm_walk *walk, const uint32_t *path,
                size_t length, uint32_t target, uint32_t first, uint32_t last);
    /* Sums the accelerations of `count` bodies, given by their numbers in the order of the tree,
     * directly over all bodies. */
    void (*direct)(const struct fmm_field *field, const uint32_t *targets, size_t count,
                   double (*sums)[3]);
};

/* The kernels for float and for double, in this order. */
#define DECLARED(registers) extern const struct fmm_kernels fmm_##registers[2];
FORCE_ISA_REGISTERS(DECLARED)
#undef DECLARED

#endif
