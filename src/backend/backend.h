/*
 * A backend: where the bodies live while they move. It implements the four verbs of an
 * integrator (force, kick, drift, combine) and observes what diagnostics ask for.
 */
#ifndef ORRERY_BACKEND_BACKEND_H
#define ORRERY_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "config/parameter.h"
#include "force/method.h"
#include "integrator/integrator.h"
#include "model/bodies.h"
#include "model/conserved.h"
#include "model/physics.h"

/*
 * The exchange between processes that divide the bodies of every system (force.share). All of them
 * call alike, each from one thread. Arrays are laid out like the bodies.
 */
struct backend_peers {
    void *context;
    /* Everyone gives the values of its own bodies and gets those of the others. */
    void (*all_gather)(void *context, double *const arrays[], size_t count);
    /* One of them, part `from`, has the values of all bodies, and everyone gets those of its own.
     */
    void (*scatter)(void *context, size_t from, double *const arrays[], size_t count);
};

struct backend_options {
    /* threads = 0: as many as there are cores and as there is work for. With a share, the backend
     * moves and observes the bodies of the share alone. */
    struct force_options force;
    const struct backend_peers *peers; /* borrowed; NULL without a share */
    int devices;                       /* GPUs; 0: as many as there are */
    int node_rank; /* of this process among those on its machine: it takes the next GPUs */
    int ranks; /* that choose alike, so that `auto` may not change its mind; 0 or 1: one alone */
    const struct backend_class *within; /* what each rank of `backend_ranks` runs */
    /* Needed by integrators that choose their own steps alone, whose state is made with the
     * backend: the one that advance() will name (NULL: one of stages), the group `time` of the
     * config, borrowed during create(), and how much finer its steps are to be (0: as asked). */
    const struct integrator *integrator;
    const struct section *time;
    const double *values; /* where no config is at hand: what it says; see integrator_values() */
    double refinement;
    const double *others; /* see struct adaptive_options; borrowed during create(); NULL: none */
};

/* A description of the running backend in words, for run.json, the log and the summary. Strings
 * live as long as the backend. */
struct backend_description {
    const char *backend; /* "serial" */
    const char *kernel;  /* "reference" */
    const char *isa;     /* "avx512", "baseline", "sm_90" */
    const char *device;  /* a GPU's name, or "" */
    const char *choice;  /* why `auto` chose it, or "" */
    enum precision precision;
    enum origin origin;         /* of positions in the kernels */
    struct force_options force; /* as they are found, for force_traits() and force_work() */
    int threads;                /* of each rank */
    int ranks;                  /* that work together; 0 or 1: one process alone */
};

/* "1 thread", "4 ranks of 2 threads"; into buffer. */
enum { BACKEND_TEAM_SIZE = 48 };
const char *backend_team(const struct backend_description *description,
                         char buffer[BACKEND_TEAM_SIZE]);

struct backend; /* the first member of every backend's own struct */

/* `advance` and the observers may be called in any order; all report STATUS_NUMERICAL,
 * STATUS_MEMORY or STATUS_UNAVAILABLE for a device that failed. */
struct backend_class {
    struct variant variant;
    /* Checks that it can run here. STATUS_UNAVAILABLE with the reason. NULL: everywhere. */
    enum status (*probe)(struct error *error);
    /* Returns the most bytes of its forces on systems of `count` bodies. NULL: force_bytes(). */
    double (*force_bytes)(const struct force_options *force, double systems, double count);
    /* Borrows bodies and physics until destroy. Host arrays are current on entry. */
    enum status (*create)(const struct backend_options *options, const struct physics *physics,
                          struct bodies *bodies, struct backend **backend, struct error *error);
    /* Advances by `steps` whole steps of dt; no host synchronisation inside. advance(a) then
     * advance(b) gives the bits of advance(a + b). An integrator that chooses its own steps is that
     * of the options, and advances to the time `steps` dt later. */
    enum status (*advance)(struct backend *backend, const struct integrator *integrator, double dt,
                           uint64_t steps, struct error *error);
    /* Makes positions and velocities of the host's bodies current. */
    enum status (*fetch)(struct backend *backend, struct error *error);
    /* Evaluates a = a(x) now, into the host's bodies as well; for outputs that show forces. The
     * motion does not change by it. */
    enum status (*accelerations)(struct backend *backend, struct error *error);
    /* phi and psi of all bodies, to host arrays laid out and aligned like the bodies. */
    enum status (*potentials)(struct backend *backend, double *phi, double *psi,
                              struct error *error);
    /* The sums of every system: conserved[systems]. */
    enum status (*conserved)(struct backend *backend, struct conserved *conserved,
                             struct error *error);
    bool conserved_of_all; /* conserved() with a share gives the sums of all bodies, to all */
    void (*describe)(const struct backend *backend, struct backend_description *description);
    void (*destroy)(struct backend *backend); /* accepts NULL */
};

enum { BACKEND_CHOICE_SIZE = 256 };

struct backend {
    const struct backend_class *class_;
    char choice[BACKEND_CHOICE_SIZE]; /* filled in by auto, otherwise ""; describe() shows it */
    struct adaptive *adaptive; /* the state of an integrator that chooses its own steps, or NULL */
};

/* The bodies of system `to_system` are copies of `from_system`'s in the other backend, and go on
 * with the same state of an integrator that chooses its own steps; nothing where they do not have
 * the same one. */
void backend_copy_state(struct backend *to, size_t to_system, const struct backend *from,
                        size_t from_system);

/* The rows, each in the source named like it; backend_cuda in gpu/cuda.c, or in gpu/none.c, which
 * can only say that this build has none. */
extern const struct backend_class backend_serial, backend_openmp, backend_cuda;

/* The table: "auto" first, then serial, openmp, cuda. The backends that auto
 * creates are of the class that it chose: go on with backend->class_. */
const struct backend_class *backend_at(size_t index);
const struct backend_class *backend_find(const char *name);
const struct variant *backend_variant(size_t index);

#endif
