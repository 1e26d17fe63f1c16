/*
 * Forces, and the methods that find them. A method is a constant table of functions, a row of
 * FORCE_METHODS and a folder of its own beside this file; `direct` sums over all pairs. Code that
 * needs forces creates an object for some bodies by the options of the config (force_create()), and
 * asks here what its forces cost and how exact they are, whichever method it is.
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

/* The table of methods: ROW(name, "a sentence of help"); the functions of a method are in the
 * struct force_<name>. The first method is the default. */
#define FORCE_METHODS(ROW)                                                                         \
    ROW(direct, "Sums over all pairs of bodies: O(N^2), as exact as their precision.")             \
    ROW(fmm, "Fast multipoles, in open space: O(N), to the error that compute.accuracy asks for.")

/* The properties of forces by which the program judges the errors of a run. */
struct force_traits {
    double rounding;   /* relative rounding error of a force; 0 if it is that of double arithmetic,
                          which counts as exact */
    double truncation; /* relative error of a force by what the method leaves out, which is the same
                          on every machine; 0: the method sums over all pairs */
    double energy_noise;   /* relative difference below which two energies count as equal: some ten
                              times what a good integrator was measured to leave after 10^6 steps */
    double momentum_noise; /* such a difference of momenta, over sum m |v|, or of angular momenta,
                              over sum m |r| |v| */
    bool kernels_agree;    /* another kernel, instruction set or backend changes forces by rounding
                              alone */
};

/* A work item: some systems of an evaluation of forces, which one thread computes, or all threads
 * of the team together. */
struct force_item {
    size_t first, last; /* numbers of the systems: [first, last) */
    bool by_team;       /* the whole team computes it; else the calling thread alone */
    /* If the systems are computed as a batch, side by side in the lanes of vectors: a copy of them
     * in which they are interleaved as one system (without ids), whose bodies the caller may move
     * between force_open_item() and force_close_item(). NULL: the item is no batch, and its bodies
     * stay where they are. */
    const struct bodies *batch;
};

/* The shares of the parts of the last evaluation of a force in its computing time, which add up to
 * 1, and its number of pairs. */
struct force_profile {
    double tree;    /* building the tree and its multipoles, and limits for cells' errors */
    double control; /* the search for the tolerance, and the check of the final error */
    double far;     /* expansions of cells that act as a whole, and the choice of these cells */
    double near;    /* sums over pairs of bodies */
    double pairs;   /* number of pairs in the near sums, for each body */
};

struct force; /* below */

struct force_method {
    const char *name;
    /* The keys of the group `compute` that this method takes and others may not, with NULL at the
     * end; NULL: none. A config may not give a key that belongs to other methods alone. */
    const char *const *keys;
    size_t size; /* bytes of the method's own struct, whose first member is a struct force */
    /* Checks that the method can do what the options ask for. STATUS_CONFIG, as for a kernel that
     * CPUs do not have; STATUS_UNAVAILABLE, as for an instruction set that this machine does not
     * have. */
    enum status (*check)(const struct force_options *options, struct error *error);
    /* Returns the most bytes that the object for the forces in `systems` systems of `count` bodies
     * takes. */
    double (*bytes)(const struct force_options *options, double systems, double count);
    /* Returns the work of one evaluation of all systems, in units of the work of one pair of a
     * direct sum. */
    double (*work)(const struct force_options *options, double systems, double count);
    struct force_traits (*traits)(const struct force_options *options);
    /* Completes a force whose members are zero but for method, options, physics and precision.
     * STATUS_MEMORY; destroy() is called after an error, too. */
    enum status (*create)(struct force *force, const struct bodies *bodies, struct error *error);
    /* Interleave the systems of an item that is a batch, and copy them back: called before and
     * after all work on the batch. Never called if force->batch_systems is 0. */
    void (*open)(struct force *force, const struct bodies *bodies, struct force_item *item);
    void (*close)(struct force *force, const struct bodies *bodies, const struct force_item *item);
    /* Computes bodies->ax, ay, az of the systems of an open item. Every thread that works on the
     * item calls it; if that is the whole team, the call starts and ends with a barrier. Allocates
     * nothing. */
    void (*accelerations)(struct force *force, const struct bodies *bodies,
                          const struct force_item *item);
    /* Computes phi and psi of force_potentials() for an open item; called like accelerations(). */
    void (*potentials)(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi);
    /* Tells the shares of the parts of the last evaluation, for a force with options.profiled;
     * NULL: the method has no such parts. */
    void (*profile)(const struct force *force, struct force_profile *profile);
    /* The functions for the forces on some of the bodies, those whose steps end; NULL: the method
     * cannot be used by integrators that need them. */
    const struct jerk_class *jerk;
    void (*destroy)(struct force *force); /* frees all that create() made, even if it failed */
};

#define DECLARE_METHOD(name, help) extern const struct force_method force_##name;
FORCE_METHODS(DECLARE_METHOD)
#undef DECLARE_METHOD

/* Forces on some bodies; the first member of every method's own struct. The method's create() sets
 * the members from `precision` on. */
struct force {
    const struct force_method *method;
    struct force_options options; /* the share is part 0 of 1 if one process computes all */
    struct physics physics;
    enum precision precision; /* of pair terms: that of the options, or the method's choice */
    const char *kernel, *isa; /* in use, such as "plain", "avx512"; for run.json and the log */
    enum origin origin;       /* the point from which kernels measure positions */
    size_t alone;             /* the largest team whose threads each take systems of their own */
    size_t batch_systems; /* number of systems that one thread takes as a batch; 0: no batches */
    /* If several processes (parts) divide the sums: which part has the complete accelerations.
     * false: each part has those of its own bodies. true: part number `holder` has those of all
     * bodies, and the other parts have none (a kernel that uses Newton's third law). */
    bool held;
    size_t holder;
    struct barrier barrier; /* of the team */
    struct error failure;   /* why a sum failed; accelerations are NaN then */
};

/* --- asking, before there are any bodies ------------------------------------------------------ */

extern const char *const force_method_names[]; /* in the order of FORCE_METHODS; NULL-terminated */
extern const char *const force_method_help[];  /* a sentence for each */
const struct force_method *force_method_find(const char *name); /* NULL: there is none */

/* Tells whether a method takes a key of the group `compute`: it has the key among its `keys`, or no
 * method has it. */
bool force_method_takes(const struct force_method *method, const char *key);

/* Returns the options that the group `compute` of the config asks for. */
struct force_options force_options_of(const struct section *compute);

/* Returns options with the method and the precision of these names, as the group `compute` of a
 * run.json has them; method "": the default. All other members are zero. */
struct force_options force_options_named(const char *method, const char *precision);

/* Returns the method that the options name. */
const struct force_method *force_method_of(const struct force_options *options);

/* Call the functions bytes(), work() and traits() of the method that the options name. */
double force_bytes(const struct force_options *options, double systems, double count);
double force_work(const struct force_options *options, double systems, double count);
struct force_traits force_traits(const struct force_options *options);

/* Returns these options changed so that the forces are exact but for rounding in double precision:
 * direct sums. */
struct force_options force_exact(const struct force_options *options);

/* Fails with STATUS_CONFIG if the options name another method than direct sums. `who` is the
 * part of the program that has direct sums alone, as the subject of the message: "the serial
 * backend". */
enum status force_check_direct(const struct force_options *options, const char *who,
                               struct error *error);

/* --- forces of some bodies -------------------------------------------------------------------- */

/* Creates the object that computes the forces on bodies that are laid out in their arrays as
 * `bodies` are now. STATUS_MEMORY, and the errors of the method's check(). */
enum status force_create(const struct force_options *options, const struct physics *physics,
                         const struct bodies *bodies, struct force **force, struct error *error);
void force_destroy(struct force *force); /* accepts NULL */

/*
 * Computes bodies->ax, ay, az from the positions and masses. Every thread of a team of
 * options.threads (or fewer) calls it, or one thread outside any team. It starts and ends with a
 * barrier, so positions that any thread has written before the call are seen, and accelerations are
 * complete after it. Allocates nothing.
 */
void force_accelerations(struct force *force, const struct bodies *bodies);

/* Computes the potential phi and the virial term psi of each body (see conserved_measure()), in
 * fp64 and in arrays aligned like those of the bodies; called and synchronised like
 * force_accelerations(). A process that has a share of the sums computes phi and psi of its own
 * bodies alone. */
void force_potentials(struct force *force, const struct bodies *bodies, double *phi, double *psi);

/*
 * Work items are for callers that compute the forces of some systems and move their bodies before
 * they go on to other systems: the numbers of a system then stay in the caches of one thread, and
 * no thread waits. As many systems as can be divided evenly among the threads of the team are each
 * computed by one thread, one system at a time or a batch of them; all threads compute the rest
 * together. force_find_item() finds work item `number` = 0, 1, ... of the calling thread, or
 * returns false past its last one. Between force_open_item() and force_close_item() the forces of
 * an item are those of force->method->accelerations().
 */
bool force_find_item(const struct force *force, const struct bodies *bodies, size_t number,
                     struct force_item *item);
void force_open_item(struct force *force, const struct bodies *bodies, struct force_item *item);
void force_close_item(struct force *force, const struct bodies *bodies, struct force_item *item);

#endif
