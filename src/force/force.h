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
#include "force/origin.h"
#include "model/bodies.h"
#include "model/physics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the pair terms of the force. State, sums over many bodies and energies are always fp64. */
enum precision {
    PRECISION_DOUBLE,
    PRECISION_MIXED, /* fp32 pair terms from hi+lo positions, fp64 accumulation */
    PRECISION_SINGLE /* fp32 pair terms; partial sums flushed so that errors do not grow with N */
};

extern const char *const precision_names[]; /* in the order of enum precision; NULL-terminated */
extern const char *const precision_help[];  /* a sentence for each */
/* "auto", those of CPUs, those of GPUs ("symmetric" is both); NULL-terminated. A backend refuses
 * the names that it has no kernel for with STATUS_CONFIG. */
extern const char *const force_kernel_names[];
extern const char *const force_kernel_help[]; /* a sentence for each */
extern const char *const force_isa_names[];   /* "auto", ...; NULL-terminated */
extern const char *const force_isa_help[];    /* a sentence for each */

/*
 * Processes may divide the sums over pairs. Each holds the masses and positions of all bodies, and
 * part k of n owns the bodies [first, last) of every system, counted with the padding: multiples of
 * BODIES_PADDING, which together make up the stride. All zero: one process does it all.
 */
struct force_share {
    size_t part, parts;
    size_t first, last;
    const struct force_relay *relay; /* borrowed; for kernels that use Newton's third law */
};

/*
 * How one part hands sums to another: three arrays of `count` numbers. The first thread of the team
 * calls, and what one part sends another receives, in the same order. send() may wait for that.
 */
struct force_relay {
    void *context;
    void (*receive)(void *context, size_t part, double *const sums[3], size_t count);
    void (*send)(void *context, size_t part, double *const sums[3], size_t count);
};

/* Has this build kernels of that name for this CPU and its operating system? "auto" always. */
bool force_isa_runs(const char *name);
/* And are they made for such a CPU? "avx512-zen" runs wherever "avx512" does. */
bool force_isa_suits(const char *name);

struct force_options {
    enum precision precision;
    const char *kernel; /* one of force_kernel_names */
    const char *isa;    /* one of force_isa_names */
    int threads;        /* of the team that will call; at least 1 */
    struct force_share share;
};

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
 * The same in turns, for callers that have more to do with the systems of one turn before they go
 * on to the next: what one thread has at hand stays in its caches, and nobody waits. As many
 * systems as go evenly over the threads of the team are each done by one thread, some at a time;
 * all threads do the rest together.
 */
struct force_turn {
    size_t first, last; /* systems */
    bool together;      /* of all threads; else of the calling one alone */
    /* Between open and close of a turn that keeps its systems side by side: these, as one system
     * that may be moved (without ids). NULL: they stay where they are. */
    const struct bodies *abreast;
};

/* Turn `number` = 0, 1, ... of the calling thread; false past its last one. */
bool force_turn(const struct force *force, const struct bodies *bodies, size_t number,
                struct force_turn *turn);

/* Around whatever is done with a turn's systems; closing brings back what was moved and summed. */
void force_open_turn(struct force *force, const struct bodies *bodies, struct force_turn *turn);
void force_close_turn(struct force *force, const struct bodies *bodies, struct force_turn *turn);

/* Accelerations of an open turn's systems. A turn together starts and ends with a barrier. */
void force_accelerations_of(struct force *force, const struct bodies *bodies,
                            const struct force_turn *turn);

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
