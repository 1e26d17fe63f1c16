#include "base/interruption.h"

#include <stddef.h>

#include "base/clock.h"

/* The least time between two calls of asked(), each of which may make a system call or two: long
 * enough to cost nothing, short enough for a prompt answer. */
static const int64_t pause = 50000000; /* nanoseconds */

bool interruption_noticed(const struct interruption *interruption)
{
    return interruption && __atomic_load_n(&interruption->raised, __ATOMIC_RELAXED);
}

bool interruption_raised(struct interruption *interruption)
{
    if (!interruption || interruption_noticed(interruption))
        return interruption != NULL;
    const int64_t now = (int64_t)(1e9 * clock_seconds());
    if (now < __atomic_load_n(&interruption->next_look, __ATOMIC_RELAXED) ||
        __atomic_exchange_n(&interruption->looking, true, __ATOMIC_ACQUIRE))
        return false;
    __atomic_store_n(&interruption->next_look, now + pause, __ATOMIC_RELAXED);
    if (interruption->asked(interruption->context))
        __atomic_store_n(&interruption->raised, true, __ATOMIC_RELAXED);
    __atomic_store_n(&interruption->looking, false, __ATOMIC_RELEASE);
    return interruption_noticed(interruption);
}

bool interruption_agreed(struct interruption *interruption)
{
    if (interruption && interruption->agree && interruption->agree(interruption->context))
        __atomic_store_n(&interruption->raised, true, __ATOMIC_RELAXED);
    return interruption_noticed(interruption);
}

void interruption_lower(struct interruption *interruption)
{
    __atomic_store_n(&interruption->raised, false, __ATOMIC_RELAXED);
}

enum status interruption_status(const struct interruption *interruption, struct error *error)
{
    return interruption_noticed(interruption) ? error_set(error, STATUS_STOPPED, "interrupted")
                                              : STATUS_OK;
}
