/*
 * The work that every rank does at an order of rank 0: its share of the bodies, the backend that it
 * computes with, and how results are gathered. All ranks call these functions, in the same order.
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

/* The properties of the backend to create, in values that mean the same to every rank. */
struct rank_plan {
    char backend[RANK_NAME_SIZE], method[RANK_NAME_SIZE], kernel[RANK_NAME_SIZE],
        isa[RANK_NAME_SIZE], units[RANK_NAME_SIZE];
    char integrator[RANK_NAME_SIZE];  /* "" where the options name none */
    double values[INTEGRATOR_VALUES]; /* of its own keys, if it has any */
    bool valued;
    double refinement, accuracy;
    enum precision precision;
    int threads, devices;
    struct physics physics;
    size_t systems, count;
    bool by_systems; /* each rank has whole systems; else each moves some bodies of all of them */
    bool interruptible;
    bool alike; /* or all bodies: a state that chooses its own steps is not divided */
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
    uint64_t backend; /* rank 0's address of it, which the other ranks know it by */
    struct rank_plan plan;
    size_t integrator; /* row of the table */
    double dt;
    uint64_t steps;
    double first_bytes, each_bytes; /* of ORDER_ROOM */
};

struct ranks {
    struct backend backend;
    uint64_t name;      /* order.backend */
    struct ranks *next; /* of those that this rank serves */
    struct backend *inner;
    struct physics physics;
    int node_rank;
    /* Interrupts the work of all ranks: rank 0 looks at that of its caller, `callers`, and tells
     * the others, who listen whenever they would look. */
    struct interruption wish;
    struct interruption *callers;
    bool word_passed; /* at this order: rank 0 has told the others, or this one took its word */
    struct mpi_meanwhile meanwhile;
    pthread_mutex_t talking; /* held by the thread that calls MPI */
    struct bodies *bodies; /* rank 0: the caller's. Others: own ones, of their systems or of all */
    struct bodies own;     /* what inner moves: their first systems, or all */
    bool by_systems, alike;
    struct mpi_division division;           /* of an array of all systems, or of one system */
    struct backend_peers peers;             /* by bodies */
    struct force_relay relay;               /* the same */
    double *phi, *psi;                      /* of all that inner knows */
    struct conserved *conserved;            /* of the systems that inner knows */
    struct mpi_division conserved_division; /* in doubles; by systems */
    struct mpi_division arrays_division, clocks_division; /* of struct adaptive_systems; likewise */
};

/*
 * For ranks->bodies on rank 0, which has `backend`, `name`, `callers` and `bodies` set; the others'
 * come from there. `plan` becomes what rank 0's inner backend has chosen. STATUS_MEMORY, and what
 * creating that backend comes to, on all ranks alike; ranks are to be destroyed in any case.
 */
enum status rank_work_create(struct ranks *ranks, struct rank_plan *plan, struct error *error);
void rank_work_destroy(struct ranks *ranks);

/* From ORDER_ADVANCE to ORDER_CONSERVED; the same status on all ranks. */
enum status rank_work_do(struct ranks *ranks, const struct rank_order *order, struct error *error);

#endif
