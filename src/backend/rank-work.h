/*
 * The work that every rank does at an order of rank 0: its share of the bodies, the backend that
 * computes them, and how results are gathered. All ranks call these functions, in the same order.
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

/* The properties of the backend to create, in values that mean the same to every rank: names and
 * numbers, no pointers. */
struct rank_plan {
    char backend[RANK_NAME_SIZE], method[RANK_NAME_SIZE], kernel[RANK_NAME_SIZE],
        isa[RANK_NAME_SIZE], units[RANK_NAME_SIZE];
    char integrator[RANK_NAME_SIZE];            /* "" if the options name none */
    struct stage stages[INTEGRATOR_MAX_STAGES]; /* of an integrator that a config spells out */
    size_t stage_count;
    double values[INTEGRATOR_VALUES]; /* values of the integrator's keys, if `valued` */
    bool valued;
    double refinement, accuracy;
    enum precision precision;
    int threads, devices;
    struct physics physics;
    size_t fields; /* number of fields in physics.external, which only rank 0 has */
    size_t systems, count;
    bool by_systems; /* each rank has whole systems; else some bodies of every system */
    bool interruptible;
    bool alike; /* each rank moves all bodies: an integrator that chooses its steps cannot be
                   divided */
};

enum order_verb {
    ORDER_CREATE,
    ORDER_ADVANCE,
    ORDER_FETCH,
    ORDER_ACCELERATIONS,
    ORDER_POTENTIALS,
    ORDER_CONSERVED,
    ORDER_DESTROY,
    ORDER_ROOM,
    ORDER_DISMISS,
    ORDER_COUNT
};

struct rank_order {
    enum order_verb verb;
    uint64_t backend; /* address of the backend on rank 0, its name for all ranks */
    struct rank_plan plan;
    size_t integrator; /* row of the table; past the last one: the stages of the plan */
    double dt;
    uint64_t steps;
    double first_bytes, each_bytes; /* bytes for ORDER_ROOM, see ranks_check_room() */
};

struct ranks {
    struct backend backend;
    uint64_t name;      /* name of the backend in orders: rank_order.backend */
    struct ranks *next; /* next one in the list of those that this rank serves */
    struct backend *inner;
    struct integrator listed; /* integrator made of the stages of the plan */
    struct physics physics;
    struct external *external; /* ranks other than 0: their own copy, to which physics points */
    int node_rank;
    /* Interrupts the work of all ranks. Rank 0 looks at the interruption of its caller, `callers`,
     * and tells the others, which look for its word as often. */
    struct interruption wish;
    struct interruption *callers;
    bool word_passed; /* in this order, rank 0 has told the others or this rank has heard it */
    struct mpi_meanwhile meanwhile;
    pthread_mutex_t talking; /* held by the thread that calls MPI */
    struct bodies *bodies; /* rank 0: the caller's. Others: own ones, of their systems or of all */
    struct bodies own; /* the bodies that `inner` moves: the first systems of `bodies`, or all */
    bool by_systems, alike;
    struct mpi_division division; /* division of an array of all systems, or of one system */
    struct backend_peers peers;   /* if bodies are divided */
    struct force_relay relay;     /* if bodies are divided */
    double *phi, *psi;            /* of all bodies that `inner` knows */
    struct conserved *conserved;  /* of the systems that `inner` knows */
    struct mpi_division conserved_division;               /* in doubles; if systems are divided */
    struct mpi_division arrays_division, clocks_division; /* of struct adaptive_systems, likewise */
};

/*
 * Creates the backends for ranks->bodies of rank 0. Rank 0 has set `backend`, `name`, `callers` and
 * `bodies`; the other ranks get their bodies from it. Changes `plan` to what rank 0's inner backend
 * has chosen. Returns, to all ranks alike, STATUS_MEMORY or the error of creating that backend;
 * rank_work_destroy() must be called in any case.
 */
enum status rank_work_create(struct ranks *ranks, struct rank_plan *plan, struct error *error);
void rank_work_destroy(struct ranks *ranks);

/* Executes an order, one of ORDER_ADVANCE to ORDER_CONSERVED. The status is the same on all
 * ranks. */
enum status rank_work_do(struct ranks *ranks, const struct rank_order *order, struct error *error);

/* --- between ranks: rank-exchange.c ----------------------------------------------------------- */

/* Sets the parts of *ranks that the inner backends borrow: the interruption, if the work is long
 * enough to be interrupted, and the exchange of bodies and sums with the other ranks. */
void rank_connect(struct ranks *ranks, bool interruptible);

/* Returns the status of a call that all ranks make: that of an interruption if one of them left its
 * work, since the result is void then; otherwise `status`. */
enum status rank_settle(struct ranks *ranks, enum status status, struct error *error);

/* Gathers the shares of `count` arrays of all ranks on rank 0, unless a rank passes a `status` of
 * failure. Returns the status on which all ranks agree. */
enum status rank_gather(const struct ranks *ranks, enum status status, double *const arrays[],
                        size_t count, struct error *error);

/* Sends an array of rank 0 to all ranks: to each the part of its systems, or the values of all
 * bodies. */
void rank_distribute(const struct ranks *ranks, double *array);

#endif
