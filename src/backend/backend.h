/*
 * A backend keeps the bodies while they move: it executes the operations of an integrator (force,
 * kick, drift, combinations of registers), and computes the quantities that diagnostics need.
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

/* The communication between processes that divide the bodies of every system among them
 * (force_options.share). All processes make the same calls in the same order, each from one thread.
 * Each of the `count` arrays is laid out like the arrays of the bodies; every process has room for
 * all bodies, but until a gathering only the values of its own bodies are right. */
struct backend_peers {
    void *context;
    /* Sends the values of the process's own bodies to all other processes, and receives those of
     * the other bodies. */
    void (*all_gather)(void *context, double *const arrays[], size_t count);
    /* Sends values from process number `from`, which has those of all bodies, to the processes that
     * own the bodies. */
    void (*scatter)(void *context, size_t from, double *const arrays[], size_t count);
};

struct backend_options {
    /* threads = 0 stands for as many threads as there are cores and work for. If the force has a
     * share, the backend moves and observes only the bodies of the share. */
    struct force_options force;
    const struct backend_peers *peers; /* borrowed; NULL if processes do not divide bodies */
    int devices;                       /* number of GPUs; 0: as many as there are */
    bool stream;   /* systems pass through the memory of GPUs in batches, even if all fit into it */
    int node_rank; /* number of this process on its machine, by which it chooses GPUs */
    int ranks;     /* number of ranks (processes), which must all choose alike; 0 or 1: one */
    const struct backend_class *within; /* for backend_ranks: class of each rank's own backend */
    /*
     * The integrator that advance() will get; NULL: one of stages that is not yet known. If it
     * chooses its own steps, its state is created with the backend: with its keys in the group
     * `time` of the config (borrowed during create()), and with steps that are shorter by the
     * factor `refinement` (0 means 1).
     */
    const struct integrator *integrator;
    const struct section *time;
    const double *values; /* if `time` is NULL: values of the integrator's keys, as
                             integrator_values() gives them; NULL: defaults */
    double refinement;
    const double *others; /* others[k]: bodies outside a sample, with steps of dt / 2^k, as
                             adaptive.h says; borrowed in create(), or NULL */
};

/* A description of a backend, for run.json, the log and the summary. The strings live as long as
 * the backend. */
struct backend_description {
    const char *backend; /* "serial" */
    const char *kernel;  /* name of the kernel that sums forces, "reference" */
    const char *isa;     /* instruction set: "avx512", "baseline", "sm_90" */
    const char *device;  /* name of the GPU, or "" */
    const char *choice;  /* why the class "auto" chose it, or "" */
    enum precision precision;
    enum origin origin;         /* origin from which kernels measure positions */
    struct force_options force; /* the options with all choices made */
    int threads;                /* number of threads of each rank */
    int ranks;                  /* number of ranks that work together; 0 or 1: one process */
};

/* Prints "1 thread" or "4 ranks of 2 threads" into the buffer; returns the buffer. */
enum { BACKEND_TEAM_SIZE = 48 };
const char *backend_team(const struct backend_description *description,
                         char buffer[BACKEND_TEAM_SIZE]);

struct backend; /* the first member of the struct of every backend */

/* The functions of a backend. advance() and those that observe bodies may be called in any order;
 * all of them may return STATUS_NUMERICAL, STATUS_MEMORY, STATUS_STOPPED, or STATUS_UNAVAILABLE for
 * a device that failed. */
struct backend_class {
    struct variant variant;
    /* Checks that the backend can run on this machine: STATUS_UNAVAILABLE, with the reason, if it
     * cannot. NULL: it runs everywhere. */
    enum status (*probe)(struct error *error);
    /* Returns the most bytes of memory that the forces on `systems` systems of `count` bodies take.
     * NULL: the function force_bytes() of the force returns them. */
    double (*force_bytes)(const struct force_options *force, double systems, double count);
    /* Creates the backend, which borrows bodies and physics until destroy(). The arrays of the
     * bodies have the present state. */
    enum status (*create)(const struct backend_options *options, const struct physics *physics,
                          struct bodies *bodies, struct backend **backend, struct error *error);
    /* Advances by `steps` whole steps of length dt, on a GPU without waiting for it between steps.
     * advance(a) and then advance(b) give the same bits as advance(a + b). An integrator that
     * chooses its own steps must be that of the options; it advances by the time steps x dt. */
    enum status (*advance)(struct backend *backend, const struct integrator *integrator, double dt,
                           uint64_t steps, struct error *error);
    /* Copies positions and velocities into the arrays of the bodies, if the backend keeps them
     * elsewhere, as on a GPU. */
    enum status (*fetch)(struct backend *backend, struct error *error);
    /* Computes the accelerations at the present positions into ax, ay, az of the bodies, for
     * outputs that show forces; the motion does not change. */
    enum status (*accelerations)(struct backend *backend, struct error *error);
    /* Computes for every body the potential phi and the number psi (half the sum of m psi over the
     * bodies is the Clausius virial), into arrays of the host, laid out and aligned like those of
     * the bodies. */
    enum status (*potentials)(struct backend *backend, double *phi, double *psi,
                              struct error *error);
    /* Computes the conserved quantities (energies, momenta, centre of mass) of every system into
     * conserved[systems]. */
    enum status (*conserved)(struct backend *backend, struct conserved *conserved,
                             struct error *error);
    bool conserved_of_all; /* if processes divide the bodies, conserved() of each gives the sums
                              over all bodies */
    void (*describe)(const struct backend *backend, struct backend_description *description);
    void (*destroy)(struct backend *backend);
};

enum { BACKEND_CHOICE_SIZE = 256 };

struct backend {
    const struct backend_class *class_;
    char choice[BACKEND_CHOICE_SIZE]; /* reason set by the class "auto", otherwise "" */
    struct adaptive *adaptive; /* state of an integrator that chooses its own steps, or NULL */
};

/* Copies the state of an integrator that chooses its own steps from system `from_system` of one
 * backend to `to_system` of another, whose bodies have been copied before. Does nothing unless both
 * have the same such integrator. */
void backend_copy_state(struct backend *to, size_t to_system, const struct backend *from,
                        size_t from_system);

/* The classes of the table in backend.c, each in the source file of its name. backend_cuda is in
 * gpu/host/cuda.c or, in a build without CUDA, in gpu/host/none.c, which only reports that there is
 * no CUDA. */
extern const struct backend_class backend_serial, backend_openmp, backend_cuda;

/* Return a class of the table by its index ("auto" first, then serial, openmp, cuda) or by its
 * name; NULL if there is none. A backend that "auto" creates has the class that it chose in
 * backend->class_. */
const struct backend_class *backend_at(size_t index);
const struct backend_class *backend_find(const char *name);
const struct variant *backend_variant(size_t index);

#endif
