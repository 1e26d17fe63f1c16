#include <stdbool.h>
#include <stddef.h>

#include "backend/rank-work.h"

/* --- interruption ----------------------------------------------------------------------------- */

/* Tells whether the work is to end; any thread may call it during the work. While another thread
 * calls MPI, the answer is no: that thread exchanges bodies with other ranks, in which all ranks
 * must take part. */
static bool asked(void *context)
{
    struct ranks *const ranks = context;
    if (ranks->callers)
        return interruption_raised(ranks->callers);
    if (pthread_mutex_trylock(&ranks->talking))
        return false;
    ranks->word_passed = mpi_told();
    pthread_mutex_unlock(&ranks->talking);
    return ranks->word_passed;
}

/* Called while this rank waits for another one, which may have much work left. On rank 0: if its
 * caller asks for the end of the work, tells all other ranks. */
static void look(void *context)
{
    struct ranks *const ranks = context;
    if (!ranks->callers || ranks->word_passed || !interruption_raised(&ranks->wish))
        return;
    mpi_tell();
    ranks->word_passed = true;
}

/* Returns on all ranks whether rank 0 was asked to end the work. If rank 0 has sent its word
 * (mpi_tell()), a rank that has not taken it during its work takes it here. */
static bool agree(void *context)
{
    struct ranks *const ranks = context;
    struct {
        bool raised, told;
    } word = { false, false };
    pthread_mutex_lock(&ranks->talking);
    mpi_meet(&ranks->meanwhile);
    if (mpi_rank() == 0) {
        word.raised = interruption_noticed(&ranks->wish);
        word.told = ranks->word_passed;
    }
    mpi_broadcast(&word, sizeof word);
    if (word.told && !ranks->word_passed)
        mpi_take_word();
    ranks->word_passed = word.told;
    pthread_mutex_unlock(&ranks->talking);
    return word.raised;
}

enum status rank_settle(struct ranks *ranks, enum status status, struct error *error)
{
    const bool interrupted = interruption_agreed(ranks->physics.interruption);
    return interrupted && !status ? interruption_status(&ranks->wish, error) : status;
}

/* --- all-gather and scatter ------------------------------------------------------------------- */

static void gather_everywhere(void *context, double *const arrays[], size_t count)
{
    struct ranks *ranks = context;
    pthread_mutex_lock(&ranks->talking);
    if (ranks->physics.interruption)
        mpi_meet(&ranks->meanwhile);
    for (size_t s = 0; s < ranks->own.systems; s++)
        for (size_t k = 0; k < count; k++)
            mpi_all_gather(arrays[k] + s * ranks->own.stride, &ranks->division);
    pthread_mutex_unlock(&ranks->talking);
}

static void scatter_to_owners(void *context, size_t from, double *const arrays[], size_t count)
{
    struct ranks *ranks = context;
    const size_t first = ranks->division.starts[mpi_rank()];
    pthread_mutex_lock(&ranks->talking);
    for (size_t s = 0; s < ranks->own.systems; s++)
        for (size_t k = 0; k < count; k++) {
            double *const system = arrays[k] + s * ranks->own.stride;
            mpi_scatter((int)from, system, system + first, &ranks->division, &ranks->meanwhile);
        }
    pthread_mutex_unlock(&ranks->talking);
}

static void send_sums(void *context, size_t part, double *const sums[3], size_t count)
{
    struct ranks *ranks = context;
    pthread_mutex_lock(&ranks->talking);
    mpi_send(sums, count, (int)part, &ranks->meanwhile);
    pthread_mutex_unlock(&ranks->talking);
}

static void receive_sums(void *context, size_t part, double *const sums[3], size_t count)
{
    struct ranks *ranks = context;
    pthread_mutex_lock(&ranks->talking);
    mpi_receive(sums, count, (int)part, &ranks->meanwhile);
    pthread_mutex_unlock(&ranks->talking);
}

/* Gathers the values of an array on rank 0 from the ranks that have moved the bodies. */
static void gather(const struct ranks *ranks, double *array)
{
    if (ranks->alike) /* rank 0 has computed the whole array itself */
        return;
    if (ranks->by_systems) {
        mpi_gather(array, array, &ranks->division);
        return;
    }
    const size_t first = ranks->division.starts[mpi_rank()];
    for (size_t s = 0; s < ranks->own.systems; s++) {
        double *const system = array + s * ranks->own.stride;
        mpi_gather(system, system + first, &ranks->division);
    }
}

enum status rank_gather(const struct ranks *ranks, enum status status, double *const arrays[],
                        size_t count, struct error *error)
{
    status = mpi_agree(status, error);
    for (size_t k = 0; k < count && !status; k++)
        gather(ranks, arrays[k]);
    return status;
}

void rank_distribute(const struct ranks *ranks, double *array)
{
    if (ranks->by_systems)
        mpi_scatter(0, array, array, &ranks->division, NULL);
    else
        mpi_broadcast(array, bodies_length(&ranks->own) * sizeof *array);
}

/* --- what the inner backends borrow ----------------------------------------------------------- */

void rank_connect(struct ranks *ranks, bool interruptible)
{
    ranks->wish = (struct interruption){ .asked = asked, .context = ranks, .agree = agree };
    ranks->meanwhile = (struct mpi_meanwhile){ look, ranks };
    ranks->physics.interruption = interruptible ? &ranks->wish : NULL;
    pthread_mutex_init(&ranks->talking, NULL);
    ranks->peers = (struct backend_peers){ ranks, gather_everywhere, scatter_to_owners };
    ranks->relay = (struct force_relay){ ranks, receive_sums, send_sums };
}
