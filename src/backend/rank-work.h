/*
 * The work that every rank does at an order of rank 0: each has a share of the bodies and a backend
 * that moves them, and results are gathered on rank 0. All ranks call these functions, in the same
 * order.
 */
#ifndef ORRERY_BACKEND_RANK_WORK_H
#define ORRERY_BACKEND_RANK_WORK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "backend/mpi-job.h"

enum { RANK_NAME_SIZE = 32 };

/* The properties of the backend that an order creates, in values that mean the same on every rank:
 * names and numbers, no pointers (those in `physics` are replaced). */
struct rank_plan {
    char backend[RANK_NAME_SIZE], method[RANK_NAME_SIZE], kernel[RANK_NAME_SIZE],
        isa[RANK_NAME_SIZE], units[RANK_NAME_SIZE];
    char integrator[RANK_NAME_SIZE];            /* "" if the options name no integrator */
    struct stage stages[INTEGRATOR_MAX_STAGES]; /* if the config lists the stages itself */
    size_t stage_count;
    double values[INTEGRATOR_VALUES]; /* values of the keys of the integrator, if `valued` */
    bool valued;
    double refinement, accuracy;
    enum precision precision;
    int threads, devices;
    bool stream;
    struct physics physics;
    size_t fields;         /* number of external fields; only rank 0 has them at first */
    size_t systems, count; /* number of systems, and of bodies of each */
    bool by_systems;       /* each rank has whole systems; otherwise some bodies of each system */
    bool interruptible;    /* the work is long enough to be interrupted */
    bool alike; /* each rank moves all bodies, since an integrator that chooses its own steps cannot
                   divide them */
};

/* The orders of rank 0; most have the names of the functions of struct backend_class that all ranks
 * then call. */
enum order_verb {
    ORDER_CREATE,
    ORDER_ADVANCE,
    ORDER_FETCH,
    ORDER_ACCELERATIONS,
    ORDER_POTENTIALS,
    ORDER_CONSERVED,
    ORDER_DESTROY,
    ORDER_ROOM,    /* check that there is memory */
    ORDER_DISMISS, /* end of the work of the other ranks */
    ORDER_COUNT
};

/* An order of rank 0 to all other ranks. */
struct rank_order {
    enum order_verb verb;
    uint64_t backend;      /* address on rank 0 of the backend: its name on all ranks */
    struct rank_plan plan; /* for ORDER_CREATE */
    size_t integrator;     /* index for integrator_at(); past the last: plan.stages */
    double dt;
    uint64_t steps;
    double first_bytes, each_bytes; /* for ORDER_ROOM: bytes that rank 0 and each other rank need */
};

/* One backend over all ranks, as each rank has it. */
struct ranks {
    struct backend backend;
    uint64_t name;         /* the number that names this backend in orders (rank_order.backend) */
    struct ranks *next;    /* next of the backends that this rank serves; not used on rank 0 */
    struct backend *inner; /* the backend that computes on this rank */
    struct integrator listed; /* made of plan.stages, if the config lists them */
    struct physics physics;
    struct external *external; /* external fields, to which `physics` points; NULL on rank 0, which
                                  uses the caller's */
    int node_rank;             /* number of this rank among those on its machine */
    /* `wish` interrupts the work of all ranks. Rank 0 tests `callers`, the interruption of its
     * caller, and then sends its word (mpi-job.h) to the other ranks, which test as often whether
     * the word has come. */
    struct interruption wish;
    struct interruption *callers;
    bool word_passed; /* during this order, rank 0 has sent its word, or this rank has got it */
    struct mpi_meanwhile meanwhile; /* called while this rank waits for others */
    pthread_mutex_t talking;        /* held by the thread that calls MPI at the moment */
    struct bodies *bodies; /* on rank 0 the caller's bodies; on other ranks copies of the bodies
                              that the rank moves or needs */
    struct bodies own;     /* the bodies that `inner` gets: the first systems of `bodies`, or all */
    bool by_systems, alike;       /* whole systems on each rank; all ranks move all bodies */
    struct mpi_division division; /* division among ranks of an array over all systems or, if ranks
                                     divide bodies, over one system */
    struct backend_peers peers;   /* for inner backends that divide bodies: exchange of bodies */
    struct force_relay relay;     /* for inner backends that divide bodies: exchange of sums */
    double *phi, *psi;            /* for all bodies in `bodies` */
    struct conserved *conserved;  /* [systems of `bodies`] */
    struct mpi_division conserved_division;               /* division of `conserved`, in doubles */
    struct mpi_division arrays_division, clocks_division; /* division of the integrator's state */
};

/*
 * Creates the inner backends of all ranks for the bodies of rank 0. On rank 0 the caller has set
 * `backend`, `name`, `callers` and `bodies`; the other ranks get their bodies from rank 0. Changes
 * `plan` to what the inner backend of rank 0 has chosen. Returns the same on all ranks:
 * STATUS_MEMORY or the error of creating an inner backend. rank_work_destroy() must be called in
 * any case.
 */
enum status rank_work_create(struct ranks *ranks, struct rank_plan *plan, struct error *error);
void rank_work_destroy(struct ranks *ranks);

/* Executes an order, one of ORDER_ADVANCE to ORDER_CONSERVED, on this rank. Returns the same status
 * on all ranks. */
enum status rank_work_do(struct ranks *ranks, const struct rank_order *order, struct error *error);

/* --- between ranks: ranks.c ------------------------------------------------------------------- */

/* Sets the members of *ranks that inner backends borrow: the interruption, if `interruptible`, and
 * the functions that exchange bodies and sums with other ranks. */
void rank_connect(struct ranks *ranks, bool interruptible);

/* Returns the status of a call that all ranks make: STATUS_STOPPED if a rank has left its work
 * because of an interruption, so that there is no result; otherwise `status`. */
enum status rank_settle(struct ranks *ranks, enum status status, struct error *error);

/* Gathers the values of `count` arrays on rank 0 from all ranks, unless the `status` of some rank
 * is a failure. Returns the status on which all ranks agree. */
enum status rank_gather(const struct ranks *ranks, enum status status, double *const arrays[],
                        size_t count, struct error *error);

/* Sends an array of rank 0 to the other ranks: to each the part of its systems or, if ranks divide
 * bodies, all of it. */
void rank_distribute(const struct ranks *ranks, double *array);

#endif
