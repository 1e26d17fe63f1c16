/*
 * The common part of the backends for CPUs, which keep the bodies in the arrays of the host:
 * fetch() has nothing to do, and forces that are current are not computed again.
 */
#ifndef ORRERY_BACKEND_HOST_H
#define ORRERY_BACKEND_HOST_H

#include <stdbool.h>

#include "backend/backend.h"
#include "integrator/stage-program.h"

struct host;

/* The two sums over pairs of bodies that a backend computes, for all systems. */
struct host_sums {
    void (*accelerations)(struct host *host); /* computes ax, ay, az of host->bodies */
    void (*potentials)(struct host *host, double *phi, double *psi); /* into arrays [bodies] */
};

/* The common part of a backend for CPUs, whose struct begins with a struct host. */
struct host {
    struct backend backend;
    const struct host_sums *sums;
    /* Copy of the caller's physics, but without the interruption if force evaluations are too short
     * to be interrupted and no other process must agree to stop. */
    struct physics own;
    const struct physics *physics; /* = &own */
    struct bodies *bodies;         /* borrowed, as `peers` is */
    size_t first, last; /* bodies of every system that this process moves, with padding */
    const struct backend_peers *peers; /* the processes that move other bodies, or NULL */
    int threads;
    bool forces_current;          /* bodies->ax, ay, az belong to the present positions */
    bool forces_before;           /* `forces_current` when the last advance began */
    struct stage_program program; /* passes of the last advance */
    double *registers;            /* [STAGE_REGISTERS][3][bodies]: registers of stages, or NULL */
    double *before; /* [HOST_BEFORE][bodies]: state for host_end() to restore, or NULL */
};

/* The number of arrays in host->before: positions, velocities and accelerations. */
enum { HOST_BEFORE = 9 };

/* The least number of ordered pairs in a force evaluation that may be interrupted: vector kernels
 * take milliseconds for it, plain loops a tenth of a second. */
#define HOST_LONG_SUM 0x1p24

/* Allocates a backend of `size` bytes that begins with a struct host, fills the struct host from
 * the arguments, and clears the rest. STATUS_CONFIG if the integrator cannot follow a rotating
 * frame; STATUS_MEMORY. */
enum status host_create(size_t size, const struct backend_class *class_,
                        const struct host_sums *sums, const struct backend_options *options,
                        const struct physics *physics, struct bodies *bodies, struct host **host,
                        struct error *error);
/* Creates the state of the integrator of the options if it chooses its own steps. The state borrows
 * `physics`, which is the caller's, and sums forces by `force` (NULL: by plain loops). Called last
 * in the creation of a backend. STATUS_CONFIG, STATUS_MEMORY. */
enum status host_create_adaptive(struct host *host, const struct backend_options *options,
                                 const struct physics *physics, struct force *force,
                                 struct error *error);
/* Creates the state of the integrator of the options, which chooses its own steps, for `bodies`.
 * `sums` are the options for its sums of forces (borrowed in this call); `kernels` sums the forces
 * on all bodies, NULL: plain loops do. Also used for a backend whose device only sums forces.
 * STATUS_CONFIG, STATUS_MEMORY. */
enum status host_create_steps(const struct backend_options *options,
                              const struct force_options *sums, struct force *kernels,
                              const struct physics *physics, struct bodies *bodies,
                              struct adaptive **adaptive, struct error *error);
/* Allocates registers if the integrator of the options has stages with registers, or is not yet
 * known (NULL). STATUS_MEMORY. */
enum status host_create_registers(struct host *host, const struct backend_options *options,
                                  struct error *error);
/* Allocates host->before if an advance by stages may be interrupted. STATUS_MEMORY. */
enum status host_create_before(struct host *host, struct error *error);
/* Returns the most bytes that host_create_before() allocates for `systems` systems of `count`
 * bodies. */
double host_before_bytes(const struct force_options *force, double systems, double count);
/* Frees the backend; accepts NULL. */
void host_destroy(struct host *host);

/* Begin and end an advance by stages. host_begin() remembers the state. If the advance was
 * interrupted, host_end() restores that state and returns STATUS_STOPPED; otherwise it returns
 * host_check(). */
void host_begin(struct host *host);
enum status host_end(struct host *host, struct error *error);

/* Advances as advance() of struct backend_class, for an integrator that chooses its own steps. */
enum status host_advance_adaptive(struct host *host, const struct integrator *integrator, double dt,
                                  uint64_t steps, struct error *error);

/* Returns the name of the kernel that computes the forces of the motion: that of the integrator if
 * it has one of its own, otherwise `kernel`. */
const char *host_kernel(const struct host *host, const char *kernel);

/* The arrays that the stages of an integrator read and write, by vector and axis: those of
 * `bodies`, and the registers. `bodies` are the bodies of the host, with first = 0, or a batch: a
 * copy of some of them, those from index `first` on. */
struct host_vectors {
    double *of[VECTORS][3];
};
struct host_vectors host_vectors(const struct host *host, const struct bodies *bodies,
                                 size_t first);

/* Returns the index within a system behind the last body that this process moves, without
 * padding. */
size_t host_last(const struct host *host);

/* Computes the forces, with external fields, into bodies->ax, ay, az unless they are current. */
void host_refresh(struct host *host);

/* Gathers the positions of the other bodies from the processes that move them, if there are such
 * processes. One thread calls it before forces or potentials are summed, when all bodies of this
 * process have moved. */
void host_gather_positions(const struct host *host);

/* Returns STATUS_NUMERICAL, with the number of the body, if a position or velocity is not
 * finite. */
enum status host_check(const struct host *host, struct error *error);

/* Computes the conserved quantities of all systems, by sums in the order of the bodies, from the
 * phi and psi of potentials(), in which external fields are included; changes phi and psi.
 * STATUS_MEMORY. */
enum status host_measure(const struct external *external, const struct bodies *bodies, int threads,
                         double *phi, double *psi, struct conserved *conserved,
                         struct error *error);

/* host_NAME() is the function NAME of struct backend_class. */
enum status host_fetch(struct backend *backend, struct error *error);
enum status host_accelerations(struct backend *backend, struct error *error);
enum status host_potentials(struct backend *backend, double *phi, double *psi, struct error *error);
enum status host_conserved(struct backend *backend, struct conserved *conserved,
                           struct error *error);

#endif
