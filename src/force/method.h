/*
 * Forces, and the methods that find them. A method is a constant table of functions, a row of
 * FORCE_METHODS and a folder of its own beside this file; `direct` sums over all pairs. Whoever
 * needs forces creates them for some bodies by the options of the config, and asks here what they
 * cost and what they can be trusted with, whichever method it is.
 *
 * Every method works for a team of OpenMP threads. The result does not depend on the number of
 * threads, and a system's result does not depend on the systems beside it.
 */
#ifndef ORRERY_FORCE_METHOD_H
#define ORRERY_FORCE_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/barrier.h"
#include "base/status.h"
#include "config/configuration.h"
#include "force/force-options.h"
#include "force/isa.h"
#include "force/jerk.h"
#include "force/origin.h"
#include "model/bodies.h"
#include "model/physics.h"

/* The table: ROW(name, "a sentence"); the method itself is force_<name>. The first is the default.
 */
#define FORCE_METHODS(ROW)                                                                         \
    ROW(direct, "Sums over all pairs of bodies: O(N^2), as exact as their precision.")             \
    ROW(fmm, "Fast multipoles, in open space: O(N), to the error that compute.accuracy asks for.")

/* The properties of forces on which those who judge a run may rely. */
struct force_traits {
    double rounding;     /* of a force in its precision, relative, if that is not double; else 0 */
    double truncation;   /* what the method leaves out of a force, relative: the same on every
                            machine; 0: it sums over all pairs */
    double energy_noise; /* energies nearer to one another than this, relative, are not told
                            apart: what a good integrator was seen to leave after 10^6 steps, and
                            some ten times that */
    double momentum_noise; /* the same of momentum and angular momentum, relative to the sums of
                              their sizes over all bodies */
    bool kernels_agree;    /* another kernel, instruction set or backend changes forces by rounding
                              alone */
};

/* A work item: some systems of an evaluation, which one thread does, or all threads of the team
 * together. */
struct force_item {
    size_t first, last; /* systems */
    bool by_team; /* all threads of the team compute it together; else the calling one alone */
    /* The systems of an item that is a batch, between open and close: they are interleaved as one
     * system (without ids), whose bodies the caller may move. NULL: the item is no batch, and its
     * bodies stay where they are. */
    const struct bodies *batch;
};

/* The shares of its parts in the time of the last force, which add up to 1, and its pairs. */
struct force_profile {
    double tree;    /* building the tree and its multipoles, and limits for cells' errors */
    double control; /* the search for the tolerance, and the check of the final error */
    double far;     /* cells that act as a whole, with the choice of them */
    double near;    /* sums over pairs of bodies */
    double pairs;   /* pairs of the near sums for each body */
};

struct force; /* below */

struct force_method {
    const char *name;
    size_t size; /* bytes of its own struct, which begins with a struct force */
    /* Checks that the method can do what the options ask for. STATUS_CONFIG (a GPU's kernel),
     * STATUS_UNAVAILABLE (a forced instruction set that this machine has not). */
    enum status (*check)(const struct force_options *options, struct error *error);
    /* Returns the most bytes that the force on systems of `count` bodies takes. */
    double (*bytes)(const struct force_options *options, double systems, double count);
    /* Returns the work of one evaluation of all systems, in units of the work of one pair of a
     * direct sum. */
    double (*work)(const struct force_options *options, double systems, double count);
    struct force_traits (*traits)(const struct force_options *options);
    /* Completes a force that is zero but for method, options and physics. STATUS_MEMORY; it is
     * destroyed in any case. */
    enum status (*create)(struct force *force, const struct bodies *bodies, struct error *error);
    /* Interleave the systems of an item that is a batch, and copy them back: called before and
     * after whatever is done with the batch; never called if force->batch_systems is 0. */
    void (*open)(struct force *force, const struct bodies *bodies, struct force_item *item);
    void (*close)(struct force *force, const struct bodies *bodies, const struct force_item *item);
    /* Computes bodies->ax, ay, az of the systems of an open item. Every thread that works on the
     * item calls; if the team does, the call starts and ends with a barrier. Allocates nothing. */
    void (*accelerations)(struct force *force, const struct bodies *bodies,
                          const struct force_item *item);
    /* Computes phi and psi of force_potentials() for an item in the same way. */
    void (*potentials)(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi);
    /* Tells the parts of a force whose options are `profiled`; NULL: the method has none. */
    void (*profile)(const struct force *force, struct force_profile *profile);
    /* The forces on bodies that are due; NULL: the method serves no integrator that chooses its
     * steps. */
    const struct jerk_class *jerk;
    void (*destroy)(struct force *force); /* all that create() made, also if that failed */
};

#define DECLARE_METHOD(name, help) extern const struct force_method force_##name;
FORCE_METHODS(DECLARE_METHOD)
#undef DECLARE_METHOD

/* The first member of every method's own struct. A method's create() sets the members from
 * `precision` on. */
struct force {
    const struct force_method *method;
    struct force_options options; /* the share is part 0 of 1 if one process computes all */
    struct physics physics;
    enum precision precision; /* of pair terms: that of the options, or the method's choice */
    const char *kernel, *isa; /* in use, such as "plain", "avx512"; for run.json and the log */
    enum origin origin;       /* where kernels measure positions from */
    size_t alone;             /* the largest team whose threads each take systems of their own */
    size_t batch_systems;     /* systems that one thread takes as a batch; 0: no batches */
    /*
     * Tells which part has the accelerations with the bits of a single process. false: each part
     * has those of its own bodies. true: part `holder` has those of all bodies, and the others have
     * none (a kernel that uses Newton's third law).
     */
    bool held;
    size_t holder;
    struct barrier barrier; /* of the team */
};

/* --- asking, before there are any bodies ------------------------------------------------------ */

extern const char *const force_method_names[]; /* as the table has them; NULL-terminated */
extern const char *const force_method_help[];  /* a sentence for each */
const struct force_method *force_method_find(const char *name); /* NULL: there is none */

/* Returns the options that the group `compute` of the config asks for. */
struct force_options force_options_of(const struct section *compute);

/* Returns the options that have the method ("": the default) and the precision that the group
 * `compute` of a run.json names. */
struct force_options force_options_named(const char *method, const char *precision);

/* Returns the method that the options name. */
const struct force_method *force_method_of(const struct force_options *options);

/* Call bytes(), work() and traits() of the method that the options name. */
double force_bytes(const struct force_options *options, double systems, double count);
double force_work(const struct force_options *options, double systems, double count);
struct force_traits force_traits(const struct force_options *options);

/* Returns the same options, but for forces that are exact except for rounding in double: direct
 * sums. */
struct force_options force_exact(const struct force_options *options);

/* Fails with STATUS_CONFIG if the options name another method than direct sums. `who` is the
 * part of the program that has direct sums alone, as the subject of the message: "the serial
 * backend". */
enum status force_check_direct(const struct force_options *options, const char *who,
                               struct error *error);

/* --- forces of some bodies -------------------------------------------------------------------- */

/* Creates the force for bodies that are laid out as `bodies` are now. STATUS_MEMORY, and the errors
 * of the method's check(). */
enum status force_create(const struct force_options *options, const struct physics *physics,
                         const struct bodies *bodies, struct force **force, struct error *error);
void force_destroy(struct force *force); /* accepts NULL */

/*
 * Computes bodies->ax, ay, az from the positions and masses. To be called by every thread of a team
 * of `options.threads` (or fewer) or outside any team; starts and ends with a barrier, so positions
 * written by any thread before the call are seen, and accelerations are complete after it.
 * Allocates nothing.
 */
void force_accelerations(struct force *force, const struct bodies *bodies);

/* Computes phi and psi as conserved_measure() wants them, in fp64 and in arrays aligned like those
 * of the bodies; called and synchronised like force_accelerations(). With a share, it computes
 * those of its own bodies alone. */
void force_potentials(struct force *force, const struct bodies *bodies, double *phi, double *psi);

/*
 * Work items are for callers that have more to do with some systems than their forces before they
 * go on to the next: what one thread has at hand stays in its caches, and nobody waits. As many
 * systems as go evenly over the threads of the team are each done by one thread, one at a time or a
 * batch of them; all threads do the rest together. force_find_item() finds work item `number` = 0,
 * 1, ... of the calling thread, or returns false past its last one. Between force_open_item() and
 * force_close_item() the forces of an item are those of force->method->accelerations().
 */
bool force_find_item(const struct force *force, const struct bodies *bodies, size_t number,
                     struct force_item *item);
void force_open_item(struct force *force, const struct bodies *bodies, struct force_item *item);
void force_close_item(struct force *force, const struct bodies *bodies, struct force_item *item);

#endif
