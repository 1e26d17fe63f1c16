/*
 * The common part of the backends that keep the bodies in the host's own arrays: nothing has to be
 * fetched, and a force that is current is not evaluated again.
 */
#ifndef ORRERY_BACKEND_HOST_H
#define ORRERY_BACKEND_HOST_H

#include <stdbool.h>

#include "backend/backend.h"
#include "integrator/stage-program.h"

struct host;

/* The two sums over pairs that a backend does for all systems. */
struct host_sums {
    void (*accelerations)(struct host *host); /* sums into ax, ay, az of host->bodies */
    void (*potentials)(struct host *host, double *phi, double *psi);
};

/* The first member of the struct of such a backend. */
struct host {
    struct backend backend;
    const struct host_sums *sums;
    struct physics own; /* the caller's physics, but without its interruption if sums are short and
                           no other processes have to agree on it */
    const struct physics *physics; /* &own */
    struct bodies *bodies;         /* borrowed, as are the peers */
    size_t first, last; /* the bodies of every system, padding included, that this process moves */
    const struct backend_peers *peers; /* the processes that move the other bodies, or NULL */
    int threads;
    bool forces_current;          /* bodies->ax, ay, az are those of the present positions */
    bool forces_before;           /* value of forces_current when the last advance began */
    struct stage_program program; /* program of the last advance */
    double *registers;            /* registers of stages, [STAGE_REGISTERS][3][bodies], or NULL */
    double *before; /* [HOST_BEFORE][bodies] state that an interruption restores, or NULL */
};

/* The number of arrays of this state: positions, velocities and accelerations. */
enum { HOST_BEFORE = 9 };

/* The work of one force evaluation, in ordered pairs, from which it may be interrupted: vector
 * kernels take milliseconds for it, plain loops a tenth of a second. */
#define HOST_LONG_SUM 0x1p24

/* Allocates a backend of `size` bytes that begins with a struct host, and clears the rest; takes
 * the threads of the options. STATUS_CONFIG if the integrator cannot follow a frame that turns;
 * STATUS_MEMORY. */
enum status host_create(size_t size, const struct backend_class *class_,
                        const struct host_sums *sums, const struct backend_options *options,
                        const struct physics *physics, struct bodies *bodies, struct host **host,
                        struct error *error);
/* Creates the state of the integrator of the options if it chooses its own steps, with the caller's
 * physics, borrowed, and the kernels of `force` (NULL: the reference). It must be the last part
 * that is created. STATUS_CONFIG, STATUS_MEMORY. */
enum status host_create_adaptive(struct host *host, const struct backend_options *options,
                                 const struct physics *physics, struct force *force,
                                 struct error *error);
/* Allocates registers if the integrator of the options has, or (NULL) may have, stages with
 * registers. STATUS_MEMORY. */
enum status host_create_registers(struct host *host, const struct backend_options *options,
                                  struct error *error);
/* Allocates memory for the state before an advance, if sums are long and something may interrupt
 * them. STATUS_MEMORY. */
enum status host_create_before(struct host *host, struct error *error);
/* Returns the most bytes that host_create_before() allocates. */
double host_before_bytes(const struct force_options *force, double systems, double count);
/* Frees the backend; accepts NULL. */
void host_destroy(struct host *host);

/* Begin and end an advance by stages. The first remembers the state; the second, if the advance was
 * interrupted, restores it and returns STATUS_STOPPED, and otherwise returns host_check(). */
void host_begin(struct host *host);
enum status host_end(struct host *host, struct error *error);

/* Is advance() of struct backend_class for an integrator that chooses its own steps. */
enum status host_advance_adaptive(struct host *host, const struct integrator *integrator, double dt,
                                  uint64_t steps, struct error *error);

/* Returns the name of the kernel that sums the forces of the motion: the integrator's own kernel if
 * it has one, or `kernel`. */
const char *host_kernel(const struct host *host, const char *kernel);

/* The arrays that stages read and write: those of `bodies` and the registers. `bodies` may be a
 * batch, whose first body has the index `first` in the host's bodies. */
struct host_vectors {
    double *of[VECTORS][3];
};
struct host_vectors host_vectors(const struct host *host, const struct bodies *bodies,
                                 size_t first);

/* Returns the end of the bodies of a system that this process moves, without padding. */
size_t host_last(const struct host *host);

/* Evaluates the forces unless they are current. */
void host_refresh(struct host *host);

/* Gathers the positions from the processes that move the other bodies, if there are any. One thread
 * calls it before the sums over pairs, when all of its own bodies have moved. */
void host_gather_positions(const struct host *host);

/* Returns STATUS_NUMERICAL with the first body whose position or velocity is not finite. */
enum status host_check(const struct host *host, struct error *error);

/* Sums the conserved quantities of all systems, in the order of the bodies, from phi and psi with
 * external fields in them; changes phi and psi. STATUS_MEMORY. */
enum status host_measure(const struct external *external, const struct bodies *bodies, int threads,
                         double *phi, double *psi, struct conserved *conserved,
                         struct error *error);

/* Observers for struct backend_class. */
enum status host_fetch(struct backend *backend, struct error *error);
enum status host_accelerations(struct backend *backend, struct error *error);
enum status host_potentials(struct backend *backend, double *phi, double *psi, struct error *error);
enum status host_conserved(struct backend *backend, struct conserved *conserved,
                           struct error *error);

#endif
