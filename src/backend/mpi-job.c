#include <config.h>

#include "backend/mpi-job.h"

#include <limits.h>
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/barrier.h"
#include "base/clock.h"
#include "base/memory.h"
#include "machine/cores.h"

enum {
    TAG_PIECE = 1,
    TAG_WORD = 2,
    PIECE = 1 << 27 /* doubles, or bytes, in a message: MPI counts in int */
};

/* The seconds for which a rank tests without a pause whether the next order of rank 0 has come, and
 * the pause between tests after that. */
static const double spin_seconds = 1e-3;
static const struct timespec pause_time = { .tv_nsec = 50000 };

/* --- joining and leaving ---------------------------------------------------------------------- */

/* The environment variables by which Open MPI and other libraries (PMI) mark a process that belongs
 * to a job; the first two hold the number of processes of the job. */
static const char *const job_variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                             "PMI_FD", "PMIX_RANK" };
enum { SIZE_VARIABLES = 2 };

/* Tells whether mpirun started this process. If it did not, there is no job, and MPI_Init() would
 * cost a tenth of a second. */
static bool in_a_job(void)
{
    for (size_t k = 0; k < COUNT_OF(job_variables); k++)
        if (getenv(job_variables[k]))
            return true;
    return false;
}

static int expected_ranks(void)
{
    for (size_t k = 0; k < SIZE_VARIABLES; k++)
        if (getenv(job_variables[k]))
            return atoi(getenv(job_variables[k]));
    return 1;
}

static bool is_started(void)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended;
}

static void abandon(enum status status, const char *text)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    MPI_Get_processor_name(host, &length);
    fprintf(stderr, "orrery: rank %d of %d (%s): %s\n", mpi_rank(), mpi_count(), host, text);
    MPI_Abort(MPI_COMM_WORLD, (int)status);
}

void mpi_abandon(enum status status, const struct error *error)
{
    abandon(status, error->text);
}

/* The handler that MPI calls if it fails: ends the job, since other ranks cannot be told of the
 * failure. */
static void fail(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    abandon(STATUS_UNAVAILABLE, text);
}

/* Returns the number of ranks on this machine, with this one, that may run on at least one of the
 * cores of this rank. */
static int ranks_on_same_cores(void)
{
    MPI_Comm node;
    int count, rank, found = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &count);
    MPI_Comm_rank(node, &rank);
#ifdef HAVE_SCHED_GETAFFINITY
    cpu_set_t *const cores = calloc((size_t)count, sizeof *cores);
    if (cores) {
        sched_getaffinity(0, sizeof *cores, &cores[rank]);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, cores, sizeof *cores, MPI_BYTE, node);
        for (int k = 0; k < count; k++) {
            cpu_set_t both;
            CPU_AND(&both, &cores[k], &cores[rank]);
            found += CPU_COUNT(&both) > 0;
        }
    }
    free(cores);
#else
    found = count; /* unknown: it is assumed that all ranks may use all cores */
#endif
    MPI_Comm_free(&node);
    return found > 0 ? found : 1;
}

enum status mpi_start(struct error *error)
{
    if (!in_a_job())
        return STATUS_OK;
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(fail, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    char library[MPI_LIBRARY_SIZE];
    if (mpi_count() == 1 && expected_ranks() > 1)
        return error_set(error, STATUS_UNAVAILABLE,
                         "orrery: mpirun started %d processes that do not find each other: it is "
                         "not the mpirun of %s, with which this program was built",
                         expected_ranks(), mpi_library(library));
    const int shared_by = ranks_on_same_cores();
    if (!getenv("OMP_NUM_THREADS"))
        omp_set_num_threads(cores_available() > shared_by ? cores_available() / shared_by : 1);
    return STATUS_OK;
}

void mpi_end(void)
{
    if (is_started())
        MPI_Finalize();
}

int mpi_rank(void)
{
    int rank = 0;
    if (is_started())
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int mpi_count(void)
{
    int count = 1;
    if (is_started())
        MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

int mpi_node_rank(void)
{
    MPI_Comm node;
    int rank = 0;
    if (!is_started())
        return 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return rank;
}

double mpi_node_sum(double value, int *ranks)
{
    MPI_Comm node;
    *ranks = 1;
    if (!is_started())
        return value;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, ranks);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    return value;
}

/* Takes the beginning of the description that the library gives of itself: its name and version. */
const char *mpi_library(char buffer[MPI_LIBRARY_SIZE])
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(all, &length);
    const size_t words = strcspn(all, ",\n");
    snprintf(buffer, MPI_LIBRARY_SIZE, "%.*s", (int)words, all);
    for (char *c = buffer; *c; c++)
        if (*c == '\t')
            *c = ' ';
    return buffer;
}

/* --- words ------------------------------------------------------------------------------------ */

void mpi_broadcast(void *bytes, size_t size)
{
    if (!is_started())
        return;
    for (size_t done = 0; done < size;) {
        const size_t left = size - done, piece = left < PIECE ? left : PIECE;
        MPI_Bcast((char *)bytes + done, (int)piece, MPI_BYTE, 0, MPI_COMM_WORLD);
        done += piece;
    }
}

void mpi_await(void *bytes, size_t size)
{
    if (!is_started())
        return;
    MPI_Request request;
    MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    const double start = clock_seconds();
    int here = 0;
    for (MPI_Test(&request, &here, MPI_STATUS_IGNORE); !here;
         MPI_Test(&request, &here, MPI_STATUS_IGNORE))
        if (clock_seconds() - start < spin_seconds)
            sched_yield();
        else
            nanosleep(&pause_time, NULL);
}

/* A failure, as it is sent between ranks. */
struct report {
    int status;
    char text[ERROR_TEXT_SIZE];
};

/* Sends the status and the message of the rank `failed` to all ranks; *error becomes that of the
 * failed rank everywhere. */
static enum status spread_error(int failed, enum status status, struct error *error)
{
    struct report report = { .status = status };
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    if (mpi_rank() == failed) {
        MPI_Get_processor_name(host, &length);
        if (failed == 0)
            snprintf(report.text, sizeof report.text, "%s", error->text);
        else
            snprintf(report.text, sizeof report.text, "rank %d of %d (%s): %.*s", failed,
                     mpi_count(), host, ERROR_TEXT_SIZE - 512, error->text);
    }
    MPI_Bcast(&report, sizeof report, MPI_BYTE, failed, MPI_COMM_WORLD);
    error_clear(error);
    return error_set(error, (enum status)report.status, "%s", report.text);
}

enum status mpi_agree(enum status status, struct error *error)
{
    if (!is_started())
        return status;
    const int mine = status ? mpi_rank() : INT_MAX;
    int failed;
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return failed == INT_MAX ? STATUS_OK : spread_error(failed, status, error);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Waits until MPI has completed the requests; meanwhile calls *meanwhile again and again, unless it
 * is NULL. */
static void wait_for(MPI_Request *requests, int count, const struct mpi_meanwhile *meanwhile)
{
    int done = 0;
    if (!meanwhile)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    while (meanwhile && !done) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done)
            meanwhile->look(meanwhile->context);
    }
}

void mpi_meet(const struct mpi_meanwhile *meanwhile)
{
    MPI_Request request;
    if (!is_started())
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(&request, 1, meanwhile);
}

void mpi_tell(void)
{
    for (int r = 1; r < mpi_count(); r++) {
        MPI_Request request;
        MPI_Isend(NULL, 0, MPI_BYTE, r, TAG_WORD, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
}

bool mpi_told(void)
{
    int level, is_main, here = 0;
    MPI_Query_thread(&level);
    MPI_Is_thread_main(&is_main);
    if (is_main || level >= MPI_THREAD_SERIALIZED)
        MPI_Iprobe(0, TAG_WORD, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
    if (here)
        mpi_take_word();
    return here;
}

void mpi_take_word(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* The two parts of division->messages, each with a number for each rank: how many values of an
 * array the rank owns, and the offset of the first. */
enum { OWNER_COUNTS, OWNER_OFFSETS, MESSAGE_ARRAYS };

static const int *messages(const struct mpi_division *division, int which)
{
    return division->messages + which * mpi_count();
}

static size_t owned_by(const struct mpi_division *division, int rank)
{
    return division->starts[rank + 1] - division->starts[rank];
}

enum status mpi_division_create(size_t units, size_t size, struct mpi_division *division,
                                struct error *error)
{
    const size_t ranks = (size_t)mpi_count();
    *division = (struct mpi_division){
        .starts = calloc(ranks + 1, sizeof *division->starts),
        .messages = calloc(ranks, MESSAGE_ARRAYS * sizeof *division->messages),
    };
    if (!division->starts || !division->messages) {
        mpi_division_destroy(division);
        return error_memory(error);
    }
    for (size_t r = 0; r < ranks; r++)
        division->starts[r + 1] = share_start(units, ranks, r + 1) * size;
    for (size_t r = 0; r < ranks; r++) {
        division->messages[OWNER_COUNTS * ranks + r] = (int)owned_by(division, (int)r);
        division->messages[OWNER_OFFSETS * ranks + r] = (int)division->starts[r];
    }
    return STATUS_OK;
}

void mpi_division_destroy(struct mpi_division *division)
{
    free(division->starts);
    free(division->messages);
    *division = (struct mpi_division){ 0 };
}

static void send(const double *values, size_t count, int rank)
{
    for (size_t done = 0; done < count; done += PIECE)
        MPI_Send(values + done, (int)(count - done < PIECE ? count - done : PIECE), MPI_DOUBLE,
                 rank, TAG_PIECE, MPI_COMM_WORLD);
}

static void receive(double *values, size_t count, int rank, const struct mpi_meanwhile *meanwhile)
{
    for (size_t done = 0; done < count; done += PIECE) {
        MPI_Request request;
        MPI_Irecv(values + done, (int)(count - done < PIECE ? count - done : PIECE), MPI_DOUBLE,
                  rank, TAG_PIECE, MPI_COMM_WORLD, &request);
        wait_for(&request, 1, meanwhile);
    }
}

void mpi_send(double *const arrays[3], size_t count, int rank,
              const struct mpi_meanwhile *meanwhile)
{
    MPI_Request requests[3];
    for (int k = 0; k < 3; k++)
        MPI_Isend(arrays[k], (int)count, MPI_DOUBLE, rank, TAG_PIECE, MPI_COMM_WORLD, &requests[k]);
    wait_for(requests, 3, meanwhile);
}

void mpi_receive(double *const arrays[3], size_t count, int rank,
                 const struct mpi_meanwhile *meanwhile)
{
    MPI_Request requests[3];
    for (int k = 0; k < 3; k++)
        MPI_Irecv(arrays[k], (int)count, MPI_DOUBLE, rank, TAG_PIECE, MPI_COMM_WORLD, &requests[k]);
    wait_for(requests, 3, meanwhile);
}

void mpi_gather(double *all, const double *own, const struct mpi_division *division)
{
    const int rank = mpi_rank();
    if (rank > 0)
        send(own, owned_by(division, rank), 0);
    for (int r = 1; r < mpi_count() && rank == 0; r++)
        receive(all + division->starts[r], owned_by(division, r), r, NULL);
}

void mpi_scatter(int from, const double *all, double *own, const struct mpi_division *division,
                 const struct mpi_meanwhile *meanwhile)
{
    const int rank = mpi_rank();
    if (rank != from)
        receive(own, owned_by(division, rank), from, meanwhile);
    for (int r = 0; r < mpi_count() && rank == from; r++)
        if (r != from)
            send(all + division->starts[r], owned_by(division, r), r);
}

void mpi_all_gather(double *array, const struct mpi_division *division)
{
    if (is_started())
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, array, messages(division, OWNER_COUNTS),
                       messages(division, OWNER_OFFSETS), MPI_DOUBLE, MPI_COMM_WORLD);
}
