/*
 * The ranks of a job: the processes that mpirun started together. The only place that sees MPI; a
 * program started without mpirun, or built without MPI, is a job of one rank.
 *
 * From mpi_node_rank() on, functions are to be called by all ranks alike, but for those between
 * two. MPI itself failing ends the whole job with a message: ranks that wait for each other could
 * not go on.
 */
#ifndef ORRERY_BACKEND_MPI_JOB_H
#define ORRERY_BACKEND_MPI_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/*
 * Joins the job, and shares the cores of a node out among its ranks: OMP_NUM_THREADS where it is
 * set, otherwise the cores that a rank may use, divided by the ranks that may use them as well.
 * STATUS_UNAVAILABLE where mpirun started several processes that cannot find each other.
 */
enum status mpi_start(struct error *error);

int mpi_rank(void);  /* of this process; 0 leads */
int mpi_count(void); /* of ranks */

/* "Open MPI v4.1.4", or "no"; into buffer. */
enum { MPI_LIBRARY_SIZE = 64 };
const char *mpi_library(char buffer[MPI_LIBRARY_SIZE]);

/* Leaves the job; after it the process can only exit. */
void mpi_end(void);

/* Returns the number of this rank among those on this machine. */
int mpi_node_rank(void);

/* The sum over the ranks on this machine, to all of them, and how many these are. */
double mpi_node_sum(double value, int *ranks);

/* The bytes of rank 0, for all. */
void mpi_broadcast(void *bytes, size_t size);
/* The same; ranks wait for it without keeping a core busy. */
void mpi_await(void *bytes, size_t size);

/*
 * Did a rank fail? Returns the status of the first one that did, with its text, which names the
 * rank, in *error; STATUS_OK if all bring STATUS_OK.
 */
enum status mpi_agree(enum status status, struct error *error);

/* Called again and again while a rank waits for another. */
struct mpi_meanwhile {
    void (*look)(void *context);
    void *context;
};

/* Waits for all ranks to come here. */
void mpi_meet(const struct mpi_meanwhile *meanwhile);

/*
 * A word of rank 0 to all others, whatever they do: mpi_tell() does not wait, and each of them
 * takes it once, by mpi_told(), which tells whether it is there, or by mpi_take_word(), which
 * waits. The latter two may be called by any thread, while no other one calls MPI.
 */
void mpi_tell(void);
bool mpi_told(void);
void mpi_take_word(void);

/* Ends the whole job at once with the text of *error, where the other ranks cannot be told. */
void mpi_abandon(enum status status, const struct error *error);

/* Between two ranks, one of which sends what the other receives: `count` values, at most INT_MAX,
 * of each of three arrays. They wait for one another. */
void mpi_send(double *const arrays[3], size_t count, int rank,
              const struct mpi_meanwhile *meanwhile);
void mpi_receive(double *const arrays[3], size_t count, int rank,
                 const struct mpi_meanwhile *meanwhile);

/* The division of an array among ranks: rank r owns [starts[r], starts[r + 1]). */
struct mpi_division {
    size_t *starts; /* [ranks + 1] */
    int *messages;  /* counts and offsets of messages, as MPI wants them */
};

/* `units` of `size` values each, in shares that differ by one unit at most. STATUS_MEMORY. */
enum status mpi_division_create(size_t units, size_t size, struct mpi_division *division,
                                struct error *error);
void mpi_division_destroy(struct mpi_division *division);

/* Rank 0 gets all of an array, from what the others have in `own`, which begins with the first
 * value that a rank owns; and the other way, from any rank, whom the others may have to wait for
 * (`meanwhile` may be NULL). */
void mpi_gather(double *all, const double *own, const struct mpi_division *division);
void mpi_scatter(int from, const double *all, double *own, const struct mpi_division *division,
                 const struct mpi_meanwhile *meanwhile);

/* Every rank gets all of an array, from the owners. At most INT_MAX values. */
void mpi_all_gather(double *array, const struct mpi_division *division);

#endif
