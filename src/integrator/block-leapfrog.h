/*
 * The leapfrog with block steps, for one system (Quinn, Katz, Stadel & Lake 1997,
 * astro-ph/9710043; Springel 2005, MNRAS 364, 1105, 3.1 and 4.1). Every body is kicked, drifts and
 * is kicked, over a step of its own: the grid step over the least power of two that makes it no
 * longer than
 *   dt = eta sqrt(eps / |a|),
 * with the softening length eps and the acceleration a at the beginning of the step. All bodies are
 * drifted to the times at which some are due, and accelerations are summed for these alone. Steps
 * become shorter at any time, and longer where the time is a multiple of the longer one.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H
#define ORRERY_INTEGRATOR_BLOCK_LEAPFROG_H

#include "config/parameter.h"
#include "force/jerk.h"
#include "integrator/block-systems.h"

/* One system. Arrays of `count` numbers. */
struct leapfrog_system {
    size_t count;
    size_t index;        /* in the bodies */
    double *x[3], *v[3]; /* of the bodies. Within a grid step: the position where a body's step
                            begins, and the velocity in the middle of that step */
    double *a[3];        /* acceleration at x; a grid step leaves it beside x and v */
    double *step;        /* that the body takes next: dt over a power of two */
    struct adaptive_clock *clock;
};

/* Memory for the steps of one system: of a thread, or of a team. */
struct leapfrog_workspace {
    struct jerk *forces; /* what sums accelerations */
    double *at_x[3];     /* where all bodies are now */
    double *sum_a[3];    /* of the block */
    /* The time at which the step of each body begins, and ends, in units of the grid step over
     * 2^BLOCK_DEEPEST. */
    double *time, *next;
    uint32_t *block;
    size_t block_size;
    double now;
    struct barrier barrier;
};

enum status leapfrog_workspace_create(struct leapfrog_workspace *work,
                                      const struct force_options *options,
                                      const struct physics *physics, size_t count,
                                      struct error *error);
void leapfrog_workspace_destroy(struct leapfrog_workspace *work);
double leapfrog_workspace_bytes(const struct force_options *options, double count);

/*
 * `steps` grid steps of dt. `bodies` are those that the system's x and v are part of; `eta` is that
 * of the criterion. To be called by every thread of a team of `threads`, or by one thread with 1.
 * All find the same outcome in the clock.
 */
void leapfrog_advance(const struct leapfrog_system *system, double eta,
                      const struct physics *physics, const struct bodies *bodies,
                      struct leapfrog_workspace *work, double dt, uint64_t steps, size_t threads);

/* --- the systems of a run, in block-leapfrog-systems.c; see adaptive.h ------------------------ */

extern const struct adaptive_class block_leapfrog_class;

enum { BLOCK_LEAPFROG_PARAMETERS = 2 };
extern const struct parameter block_leapfrog_parameters[BLOCK_LEAPFROG_PARAMETERS];

#endif
