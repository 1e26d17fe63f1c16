/*
 * The ranks of a job: the processes that mpirun started together. Only mpi-job.c uses MPI. A
 * program started without mpirun, or built without MPI, is a job of one rank.
 *
 * From mpi_node_rank() on, all ranks call each function together; the exceptions are the word of
 * rank 0 (mpi_tell() to mpi_take_word()), mpi_abandon(), and messages between two ranks. If MPI
 * itself fails, the whole job ends with a message: ranks that wait for each other could not go on.
 */
#ifndef ORRERY_BACKEND_MPI_JOB_H
#define ORRERY_BACKEND_MPI_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/*
 * Joins the job, and divides the cores of a machine among its ranks: a rank uses OMP_NUM_THREADS
 * threads if that is set, otherwise the cores that it may use, divided by the number of ranks that
 * may use them as well. STATUS_UNAVAILABLE if mpirun started several processes that cannot find
 * each other.
 */
enum status mpi_start(struct error *error);

int mpi_rank(void);  /* number of this process; 0 leads */
int mpi_count(void); /* number of ranks */

/* Prints the name of the library, "Open MPI v4.1.4" or "no", into the buffer, and returns it. */
enum { MPI_LIBRARY_SIZE = 64 };
const char *mpi_library(char buffer[MPI_LIBRARY_SIZE]);

/* Leaves the job; afterwards the process can only exit. */
void mpi_end(void);

/* Returns the number of this rank among those on this machine. */
int mpi_node_rank(void);

/* Returns the sum of the values of all ranks on this machine, to each of them, and sets *ranks to
 * their number. */
double mpi_node_sum(double value, int *ranks);

/* Copies the bytes of rank 0 to all other ranks. */
void mpi_broadcast(void *bytes, size_t size);
/* Does the same; ranks wait for it without keeping a core busy. */
void mpi_await(void *bytes, size_t size);

/*
 * Returns, to all ranks, STATUS_OK if each of them passes STATUS_OK; otherwise the status of the
 * first rank that failed, with its text in *error, which names the rank if it is not rank 0.
 */
enum status mpi_agree(enum status status, struct error *error);

/* A function that is called again and again while a rank waits for another. */
struct mpi_meanwhile {
    void (*look)(void *context);
    void *context;
};

/* Waits until all ranks have called it; calls *meanwhile again and again until then. */
void mpi_meet(const struct mpi_meanwhile *meanwhile);

/*
 * A word of rank 0 to all others, which may come at any time. Rank 0 calls mpi_tell(), which does
 * not wait. Each other rank takes the word once: by mpi_told(), which tells whether it has come, or
 * by mpi_take_word(), which waits for it. These two may be called by any thread while no other
 * thread calls MPI.
 */
void mpi_tell(void);
bool mpi_told(void);
void mpi_take_word(void);

/* Ends the whole job at once with the text of *error, if the other ranks cannot be told. */
void mpi_abandon(enum status status, const struct error *error);

/* Send and receive `count` values, at most INT_MAX, of each of three arrays; `rank` is the other
 * rank. The two ranks wait for each other. */
void mpi_send(double *const arrays[3], size_t count, int rank,
              const struct mpi_meanwhile *meanwhile);
void mpi_receive(double *const arrays[3], size_t count, int rank,
                 const struct mpi_meanwhile *meanwhile);

/* The division of an array among ranks: rank r owns [starts[r], starts[r + 1]). */
struct mpi_division {
    size_t *starts; /* [ranks + 1] */
    int *messages;  /* numbers and offsets of the values, as MPI wants them */
};

/* Divides `units` units of `size` values each into shares that differ by at most one unit.
 * STATUS_MEMORY. */
enum status mpi_division_create(size_t units, size_t size, struct mpi_division *division,
                                struct error *error);
void mpi_division_destroy(struct mpi_division *division);

/* The first collects an array on rank 0: `own` begins with the first value that a rank owns. The
 * second sends the shares of an array from rank `from` to their owners; *meanwhile, which may be
 * NULL, is called while they wait. */
void mpi_gather(double *all, const double *own, const struct mpi_division *division);
void mpi_scatter(int from, const double *all, double *own, const struct mpi_division *division,
                 const struct mpi_meanwhile *meanwhile);

/* Collects an array on every rank, from the owners. At most INT_MAX values. */
void mpi_all_gather(double *array, const struct mpi_division *division);

#endif
