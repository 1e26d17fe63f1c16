/*
 * The common part of the backends that keep the bodies in the host's own arrays: nothing has to be
 * fetched, and a force that is still current is not evaluated again.
 */
#ifndef ORRERY_BACKEND_HOST_H
#define ORRERY_BACKEND_HOST_H

#include <stdbool.h>

#include "backend/backend.h"
#include "integrator/stage-program.h"

struct host;

/* The two sums over pairs, as the backend does them for all systems. */
struct host_sums {
    void (*accelerations)(struct host *host); /* into host->bodies */
    void (*potentials)(struct host *host, double *phi, double *psi);
};

/* The first member of such a backend. */
struct host {
    struct backend backend;
    const struct host_sums *sums;
    struct physics own; /* that of the caller; without its interruption where sums are short,
                         * unless processes agree on it */
    const struct physics *physics;     /* &own */
    struct bodies *bodies;             /* borrowed, as are the peers */
    size_t first, last;                /* of every system's padded bodies: those it moves */
    const struct backend_peers *peers; /* with those that move the others, or NULL */
    int threads;
    bool forces_current;          /* bodies->ax, ay, az are a(x) of the positions now */
    bool forces_before;           /* the same when the last advance began */
    struct stage_program program; /* of the last advance */
    double *registers;            /* of stages, [STAGE_REGISTERS][3][bodies], or NULL */
    double *before; /* [HOST_BEFORE][bodies], to which an interrupted advance goes back, or NULL */
};

/* Positions, velocities and accelerations. */
enum { HOST_BEFORE = 9 };

/* The work of a force from which it may be interrupted, in ordered pairs: vector kernels do it in
 * milliseconds, and the plain loops in a tenth of a second. */
#define HOST_LONG_SUM 0x1p24

/* Allocates a backend of `size` bytes that starts with a struct host, zero but for it; with the
 * threads of the options. STATUS_MEMORY. */
enum status host_create(size_t size, const struct backend_class *class_,
                        const struct host_sums *sums, const struct backend_options *options,
                        const struct physics *physics, struct bodies *bodies, struct host **host,
                        struct error *error);
/* Creates the state of an integrator that chooses its own steps, if that of the options does: with
 * the physics of the caller, borrowed, and the kernels of `force` or without (NULL). Must be called
 * last. STATUS_CONFIG, STATUS_MEMORY. */
enum status host_create_adaptive(struct host *host, const struct backend_options *options,
                                 const struct physics *physics, struct force *force,
                                 struct error *error);
/* Allocates registers, if the integrator of the options has stages with registers, or may have.
 * STATUS_MEMORY. */
enum status host_create_registers(struct host *host, const struct backend_options *options,
                                  struct error *error);
/* Allocates the state before an advance, if sums are long and something may interrupt them.
 * STATUS_MEMORY. */
enum status host_create_before(struct host *host, struct error *error);
/* Bytes that this takes at most. */
double host_before_bytes(const struct force_options *force, double systems, double count);
/* Accepts NULL. */
void host_destroy(struct host *host);

/* Around an advance by stages: remembers the state; and where the advance was interrupted brings it
 * back, with STATUS_STOPPED. Otherwise the result is that of host_check(). */
void host_begin(struct host *host);
enum status host_end(struct host *host, struct error *error);

/* advance() of struct backend_class for an integrator that chooses its own steps. */
enum status host_advance_adaptive(struct host *host, const struct integrator *integrator, double dt,
                                  uint64_t steps, struct error *error);

/* Returns the name of the kernel that sums the forces of the motion: the integrator's own kernel if
 * it has one, or `kernel`. */
const char *host_kernel(const struct host *host, const char *kernel);

/* The arrays that stages read and write: those of the bodies, which may be a batch of the host's
 * from the body with index `first` on, and the registers. */
struct host_vectors {
    double *of[VECTORS][3];
};
struct host_vectors host_vectors(const struct host *host, const struct bodies *bodies,
                                 size_t first);

/* Evaluates the forces unless they are current. */
void host_refresh(struct host *host);

/* With the others that move bodies, if there are any: to be called by one thread before the sums
 * over pairs, when all of its bodies have moved. */
void host_gather_positions(const struct host *host);

/* STATUS_NUMERICAL, naming the first body whose position or velocity is not finite. */
enum status host_check(const struct host *host, struct error *error);

/* The observers of struct backend_class. */
enum status host_fetch(struct backend *backend, struct error *error);
enum status host_accelerations(struct backend *backend, struct error *error);
enum status host_potentials(struct backend *backend, double *phi, double *psi, struct error *error);
enum status host_conserved(struct backend *backend, struct conserved *conserved,
                           struct error *error);

#endif
