/*
 * Direct-sum gravity on the CPU, by the best kernel that this machine has, for a team of OpenMP
 * threads. The result does not depend on the number of threads, and a system's result does not
 * depend on the systems beside it.
 */
#ifndef ORRERY_FORCE_FORCE_H
#define ORRERY_FORCE_FORCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "force/force-options.h"
#include "force/origin.h"
#include "model/bodies.h"
#include "model/physics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Has this build kernels of that name for this CPU and its operating system? "auto" always. */
bool force_isa_runs(const char *name);
/* And are they made for such a CPU? "avx512-zen" runs wherever "avx512" does. */
bool force_isa_suits(const char *name);

/* Are kernels of the set `name` those for `isa`, as force_isa() says it, where bodies are few? What
 * comes after a dash there is a matter of many. */
bool force_isa_is(const char *isa, const char *name);

struct force; /* opaque: the chosen kernel, its tile schedule and its scratch memory */

/* For `bodies` as they are laid out now. STATUS_MEMORY, STATUS_CONFIG (a GPU's kernel),
 * STATUS_UNAVAILABLE (a forced instruction set that this machine has not). */
enum status force_create(const struct force_options *options, const struct physics *physics,
                         const struct bodies *bodies, struct force **force, struct error *error);
void force_destroy(struct force *force);

/* The bytes that it will take at most for so many bodies; options->threads are those of the
 * team. */
double force_bytes(const struct force_options *options, double systems, double count);

/*
 * bodies->ax, ay, az from the positions and masses. To be called by every thread of a team of
 * `options.threads` (or fewer) or outside any team; starts and ends with a barrier, so positions
 * written by any thread before the call are seen, and accelerations are complete after it.
 * Allocates nothing.
 */
void force_accelerations(struct force *force, const struct bodies *bodies);

/*
 * The same by work items, for callers that have more to do with the systems of one item before they
 * go on to the next: what one thread has at hand stays in its caches, and nobody waits. As many
 * systems as go evenly over the threads of the team are each done by one thread, one at a time or a
 * batch of them; all threads do the rest together.
 */
struct force_item {
    size_t first, last; /* systems */
    bool by_team;       /* all threads of the team do it together; else the calling one alone */
    /* Between open and close of an item whose systems make a batch (batch.h): these, as one system
     * that may be moved (without ids). NULL: they stay where they are. */
    const struct bodies *batch;
};

/* Work item `number` = 0, 1, ... of the calling thread; false past its last one. */
bool force_find_item(const struct force *force, const struct bodies *bodies, size_t number,
                     struct force_item *item);

/* Around whatever is done with an item's systems; closing brings back what was moved and summed. */
void force_open_item(struct force *force, const struct bodies *bodies, struct force_item *item);
void force_close_item(struct force *force, const struct bodies *bodies, struct force_item *item);

/* Accelerations of an open item's systems. What the team does starts and ends with a barrier. */
void force_accelerations_of(struct force *force, const struct bodies *bodies,
                            const struct force_item *item);

/*
 * Where parts find the accelerations, whose bits are those of the whole. false: each has those of
 * its own bodies. true: part `holder` has those of all bodies, and the others have none (a kernel
 * that uses Newton's third law).
 */
bool force_has_holder(const struct force *force, size_t *holder);

/* phi and psi as conserved_measure() wants them, fp64, in arrays aligned like those of the bodies;
 * called and synchronised like force_accelerations(). Those of its own bodies alone where there is
 * a share. */
void force_potentials(struct force *force, const struct bodies *bodies, double *phi, double *psi);

/* Where its kernels measure positions from. */
enum origin force_origin(const struct force *force);

/* What was chosen: "plain", "avx512", ...; for run.json and the log. */
const char *force_kernel(const struct force *force);
const char *force_isa(const struct force *force);

#ifdef __cplusplus
}
#endif

#endif
