/*
 * A backend has the bodies while they move: it implements the four verbs of an integrator (force,
 * kick, drift, combine), and observes the bodies for diagnostics.
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
 * make the same calls, each from one thread. Arrays are laid out like those of the bodies.
 */
struct backend_peers {
    void *context;
    /* Sends the values of a process's own bodies to all others, and receives those of the other
     * bodies. */
    void (*all_gather)(void *context, double *const arrays[], size_t count);
    /* Sends values from the process of part `from`, which has those of all bodies, to the owners of
     * the bodies. */
    void (*scatter)(void *context, size_t from, double *const arrays[], size_t count);
};

struct backend_options {
    /* threads = 0: as many as there are cores and work for. If the force has a share, the backend
     * moves and observes only the bodies of the share. */
    struct force_options force;
    const struct backend_peers *peers; /* borrowed; NULL without a share */
    int devices;                       /* number of GPUs; 0: as many as there are */
    int node_rank; /* number of this process among those on its machine, for its choice of GPUs */
    int ranks;     /* number of ranks that have to choose alike, so that `auto` may not change its
                      choice; 0 or 1: one process */
    const struct backend_class *within; /* the class on each rank of `backend_ranks` */
    /*
     * The integrator that advance() will name; NULL: one of stages, not known yet. If it chooses
     * its own steps, its state is created with the backend: from the group `time` of the config
     * with its keys (borrowed during create()), and with steps shorter by the factor `refinement`
     * (0: 1).
     */
    const struct integrator *integrator;
    const struct section *time;
    const double *values; /* values of its keys if `time` is NULL, see integrator_values(); NULL:
                             the defaults */
    double refinement;
    const double *others; /* see struct adaptive_options; borrowed during create(); NULL: none */
};

/* A description of the running backend, for run.json, the log and the summary. Strings live as long
 * as the backend. */
struct backend_description {
    const char *backend; /* "serial" */
    const char *kernel;  /* "reference" */
    const char *isa;     /* "avx512", "baseline", "sm_90" */
    const char *device;  /* a GPU's name, or "" */
    const char *choice;  /* why `auto` chose it, or "" */
    enum precision precision;
    enum origin origin;         /* origin from which kernels measure positions */
    struct force_options force; /* the resolved options, for force_traits() and force_work() */
    int threads;                /* number of threads of each rank */
    int ranks;                  /* number of ranks that work together; 0 or 1: one process */
};

/* Prints "1 thread" or "4 ranks of 2 threads" into the buffer, and returns it. */
enum { BACKEND_TEAM_SIZE = 48 };
const char *backend_team(const struct backend_description *description,
                         char buffer[BACKEND_TEAM_SIZE]);

struct backend; /* the first member of the struct of every backend */

/* The functions of a backend. `advance` and the observers may be called in any order; all report
 * STATUS_NUMERICAL, STATUS_MEMORY, or STATUS_UNAVAILABLE for a device that failed. */
struct backend_class {
    struct variant variant;
    /* Checks that the backend can run on this machine. STATUS_UNAVAILABLE with the reason. NULL: it
     * runs everywhere. */
    enum status (*probe)(struct error *error);
    /* Returns the most bytes that the forces on `systems` systems of `count` bodies take. NULL:
     * those of force_bytes(). */
    double (*force_bytes)(const struct force_options *force, double systems, double count);
    /* Creates the backend, which borrows bodies and physics until destroy(). The arrays of the
     * bodies are current on entry. */
    enum status (*create)(const struct backend_options *options, const struct physics *physics,
                          struct bodies *bodies, struct backend **backend, struct error *error);
    /* Advances by `steps` whole steps of dt, without synchronisation with the host inside.
     * advance(a) then advance(b) gives the bits of advance(a + b). An integrator that chooses its
     * own steps must be that of the options; it advances by the time `steps` dt. */
    enum status (*advance)(struct backend *backend, const struct integrator *integrator, double dt,
                           uint64_t steps, struct error *error);
    /* Copies positions and velocities to the arrays of the bodies, if they are elsewhere. */
    enum status (*fetch)(struct backend *backend, struct error *error);
    /* Evaluates a = a(x) at the present positions, into the arrays of the bodies as well, for
     * outputs that show forces. The motion is not changed by it. */
    enum status (*accelerations)(struct backend *backend, struct error *error);
    /* Sums phi and psi of all bodies into host arrays laid out and aligned like those of the
     * bodies. */
    enum status (*potentials)(struct backend *backend, double *phi, double *psi,
                              struct error *error);
    /* Sums the conserved quantities of every system into conserved[systems]. */
    enum status (*conserved)(struct backend *backend, struct conserved *conserved,
                             struct error *error);
    bool conserved_of_all; /* with a share, conserved() gives the sums over all bodies to every
                              process */
    void (*describe)(const struct backend *backend, struct backend_description *description);
    void (*destroy)(struct backend *backend); /* accepts NULL */
};

enum { BACKEND_CHOICE_SIZE = 256 };

struct backend {
    const struct backend_class *class_;
    char choice[BACKEND_CHOICE_SIZE]; /* set by `auto`, otherwise ""; describe() returns it */
    struct adaptive *adaptive; /* the state of an integrator that chooses its own steps, or NULL */
};

/* Copies the state of an integrator that chooses its own steps from system `from_system` of one
 * backend to `to_system` of another, whose bodies are copies already. Does nothing if they do not
 * have the same integrator of this kind. */
void backend_copy_state(struct backend *to, size_t to_system, const struct backend *from,
                        size_t from_system);

/* The rows of the table, each in the source file of its name; backend_cuda is in gpu/cuda.c or, in
 * a build without CUDA, in gpu/none.c, whose functions only report that. */
extern const struct backend_class backend_serial, backend_openmp, backend_cuda;

/* Return a row of the table by index, "auto" first, then serial, openmp, cuda; or by name. NULL if
 * there is none. A backend that "auto" creates is of the class that it chose: backend->class_. */
const struct backend_class *backend_at(size_t index);
const struct backend_class *backend_find(const char *name);
const struct variant *backend_variant(size_t index);

#endif
