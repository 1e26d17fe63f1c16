/* The functions of mpi-job.h for builds without MPI, in which a job has one rank. */
#include <stdlib.h>

#include "backend/mpi-job.h"
#include "base/memory.h"

/* The environment variables by which Open MPI and other libraries (PMI) tell a process how many
 * processes were started together. */
static const char *const size_variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };

enum status mpi_start(struct error *error)
{
    for (size_t k = 0; k < COUNT_OF(size_variables); k++) {
        const char *size = getenv(size_variables[k]);
        if (size && atoi(size) > 1)
            return error_set(error, STATUS_UNAVAILABLE,
                             "orrery: mpirun started %s processes (%s), but this build has no "
                             "MPI; configure it with --with-mpi",
                             size, size_variables[k]);
    }
    return STATUS_OK;
}

int mpi_rank(void)
{
    return 0;
}

int mpi_count(void)
{
    return 1;
}

const char *mpi_library(char buffer[MPI_LIBRARY_SIZE])
{
    (void)buffer;
    return "no";
}

void mpi_end(void)
{
}

int mpi_node_rank(void)
{
    return 0;
}

double mpi_node_sum(double value, int *ranks)
{
    *ranks = 1;
    return value;
}

void mpi_broadcast(void *bytes, size_t size)
{
    (void)bytes, (void)size;
}

void mpi_await(void *bytes, size_t size)
{
    (void)bytes, (void)size;
}

enum status mpi_agree(enum status status, struct error *error)
{
    (void)error;
    return status;
}

void mpi_abandon(enum status status, const struct error *error)
{
    (void)status, (void)error;
}

void mpi_meet(const struct mpi_meanwhile *meanwhile)
{
    (void)meanwhile;
}

void mpi_tell(void)
{
}

bool mpi_told(void)
{
    return false;
}

void mpi_take_word(void)
{
}

void mpi_send(double *const arrays[3], size_t count, int rank,
              const struct mpi_meanwhile *meanwhile)
{
    (void)meanwhile, (void)arrays, (void)count, (void)rank;
}

void mpi_receive(double *const arrays[3], size_t count, int rank,
                 const struct mpi_meanwhile *meanwhile)
{
    (void)meanwhile, (void)arrays, (void)count, (void)rank;
}

enum status mpi_division_create(size_t units, size_t size, struct mpi_division *division,
                                struct error *error)
{
    *division = (struct mpi_division){ .starts = malloc(2 * sizeof(size_t)) };
    if (!division->starts)
        return error_memory(error);
    division->starts[0] = 0;
    division->starts[1] = units * size;
    return STATUS_OK;
}

void mpi_division_destroy(struct mpi_division *division)
{
    free(division->starts);
}

void mpi_gather(double *all, const double *own, const struct mpi_division *division)
{
    (void)all, (void)own, (void)division;
}

void mpi_scatter(int from, const double *all, double *own, const struct mpi_division *division,
                 const struct mpi_meanwhile *meanwhile)
{
    (void)meanwhile, (void)from, (void)all, (void)own, (void)division;
}

void mpi_all_gather(double *array, const struct mpi_division *division)
{
    (void)array, (void)division;
}
