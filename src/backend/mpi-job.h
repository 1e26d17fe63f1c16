/*
 * The ranks of a job: the processes that mpirun started together. Of all sources only mpi-job.c
 * uses MPI. A program that was started without mpirun, or built without MPI, is a job of one rank.
 *
 * All ranks call each of the functions from mpi_node_rank() on together, except for those of the
 * word of rank 0 (mpi_tell() to mpi_take_word()), mpi_abandon(), and mpi_send() and mpi_receive().
 * If MPI itself fails, the whole job ends with a message, since ranks that wait for each other
 * could not go on.
 */
#ifndef ORRERY_BACKEND_MPI_JOB_H
#define ORRERY_BACKEND_MPI_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/*
 * Joins the job (MPI_Init()), and divides the cores of a machine among its ranks: a rank uses
 * OMP_NUM_THREADS threads if that is set, otherwise the cores that it may use, divided by the
 * number of ranks that may use them as well. STATUS_UNAVAILABLE if mpirun started several processes
 * that cannot find each other.
 */
enum status mpi_start(struct error *error);

int mpi_rank(void);  /* number of this process in the job, from 0; rank 0 leads */
int mpi_count(void); /* number of ranks in the job */

/* Prints the name of the MPI library, "Open MPI v4.1.4", or "no" without one, into the buffer;
 * returns the buffer. */
enum { MPI_LIBRARY_SIZE = 64 };
const char *mpi_library(char buffer[MPI_LIBRARY_SIZE]);

/* Leaves the job (MPI_Finalize()); after it the process can only exit. */
void mpi_end(void);

/* Returns the number of this rank, from 0, among those on its machine. */
int mpi_node_rank(void);

/* Returns, on each rank, the sum of `value` over all ranks on its machine, and sets *ranks to the
 * number of these ranks. */
double mpi_node_sum(double value, int *ranks);

/* Copies the bytes of rank 0 to all other ranks. */
void mpi_broadcast(void *bytes, size_t size);
/* Copies `size` bytes (at most INT_MAX) of rank 0 to all other ranks, as mpi_broadcast() does, but
 * the other ranks do not keep a core busy while they wait. */
void mpi_await(void *bytes, size_t size);

/*
 * Returns STATUS_OK on all ranks if each of them passes STATUS_OK; otherwise returns on all ranks
 * the status of the lowest rank that failed, with its message in *error, which names that rank
 * unless it is rank 0.
 */
enum status mpi_agree(enum status status, struct error *error);

/* A function that is called again and again while a rank waits for another. */
struct mpi_meanwhile {
    void (*look)(void *context);
    void *context;
};

/* Waits until all ranks have called this function; meanwhile calls *meanwhile again and again. */
void mpi_meet(const struct mpi_meanwhile *meanwhile);

/*
 * The word of rank 0: a message without content to all other ranks, which may come at any time.
 * Rank 0 sends it by mpi_tell(), which does not wait. Each other rank takes it once: by mpi_told(),
 * which tells whether it has come, or by mpi_take_word(), which waits for it. Any thread may call
 * these two while no other thread calls MPI.
 */
void mpi_tell(void);
bool mpi_told(void);
void mpi_take_word(void);

/* Ends the whole job at once with the message of *error, for failures of which the other ranks
 * cannot be told because they wait for this one. */
void mpi_abandon(enum status status, const struct error *error);

/* Send and receive `count` values, at most INT_MAX, of each of three arrays; `rank` is the rank at
 * the other end. Both ranks wait until the values have come, and call *meanwhile again and again
 * (NULL: nothing). */
void mpi_send(double *const arrays[3], size_t count, int rank,
              const struct mpi_meanwhile *meanwhile);
void mpi_receive(double *const arrays[3], size_t count, int rank,
                 const struct mpi_meanwhile *meanwhile);

/* The division of an array among ranks: rank r owns the values from starts[r] to before starts[r +
 * 1]. */
struct mpi_division {
    size_t *starts; /* [ranks + 1] */
    int *messages;  /* for MPI: two lists over ranks, the number of values and the offset of the
                       first; NULL without MPI */
};

/* Divides an array of `units` units of `size` values each among the ranks; their shares differ by
 * at most one unit. STATUS_MEMORY. */
enum status mpi_division_create(size_t units, size_t size, struct mpi_division *division,
                                struct error *error);
void mpi_division_destroy(struct mpi_division *division);

/* mpi_gather() collects an array on rank 0 from all ranks; mpi_scatter() sends the shares of an
 * array from rank `from` to their owners, and calls *meanwhile (unless NULL) while a rank waits.
 * `own` points to the first value that the calling rank owns, `all` to the whole array. */
void mpi_gather(double *all, const double *own, const struct mpi_division *division);
void mpi_scatter(int from, const double *all, double *own, const struct mpi_division *division,
                 const struct mpi_meanwhile *meanwhile);

/* Collects an array of at most INT_MAX values on every rank, from the ranks that own its values. */
void mpi_all_gather(double *array, const struct mpi_division *division);

#endif
