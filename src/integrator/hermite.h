/*
 * Hermite's method of 4th order with block steps, for one system (Makino & Aarseth 1992, PASJ 44,
 * 141; Aarseth 2003, Gravitational N-Body Simulations, 2.1 and 2.6). Every body has a step of its
 * own: the grid step over a power of two. Those that are due at the same time make a block: all
 * bodies are predicted to that time, accelerations and jerks are summed for the block, and its
 * bodies are corrected and choose their next steps. At grid points all bodies are due.
 */
#ifndef ORRERY_INTEGRATOR_HERMITE_H
#define ORRERY_INTEGRATOR_HERMITE_H

#include "base/barrier.h"
#include "config/parameter.h"
#include "force/jerk.h"
#include "integrator/block-systems.h"
#include "integrator/hermite-corrector.h"

/* Memory for the steps of one system: of a thread, or of a team. */
struct hermite_workspace {
    struct jerk *forces;            /* what sums accelerations and jerks */
    double *at_x[3], *at_v[3];      /* predicted */
    double *sum_a[3], *sum_jerk[3]; /* of the block */
    /* The time of each body and the end of its step, in units of the grid step over
     * 2^BLOCK_DEEPEST; and the step that a body of the block wants next. */
    double *time, *next, *wanted;
    uint32_t *block;
    size_t block_size;
    size_t refined; /* pairs that the second evaluation of a small block took */
    double now;
    struct barrier barrier;
};

enum status hermite_workspace_create(struct hermite_workspace *work,
                                     const struct force_options *options,
                                     const struct physics *physics, size_t count,
                                     struct error *error);
void hermite_workspace_destroy(struct hermite_workspace *work);
double hermite_workspace_bytes(const struct force_options *options, double count);

/*
 * `steps` grid steps of dt. `bodies` are those that the system's x and v are part of. To be called
 * by every thread of a team of `threads`, or by one thread with 1; all find the same outcome, which
 * is in the clock too.
 */
enum adaptive_outcome hermite_advance(const struct hermite_system *system,
                                      const struct hermite_rule *rule,
                                      const struct physics *physics, const struct bodies *bodies,
                                      struct hermite_workspace *work, double dt, uint64_t steps,
                                      size_t threads);

/* --- the systems of a run, in hermite-systems.c; see adaptive.h ------------------------------- */

extern const struct adaptive_class hermite_class;

enum { HERMITE_PARAMETERS = 2 };
extern const struct parameter hermite_parameters[HERMITE_PARAMETERS];

#endif
