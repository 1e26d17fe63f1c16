#include "config.h"

#include "base/library.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

/* Only handlers read these; they have no other way to know. */
static bool finished;
static struct sigaction before[2];

static const int fatal[COUNT_OF(before)] = { SIGSEGV, SIGABRT };

/* Nothing here may allocate. The lock of the run directory goes with the process, and what its
 * files hold beyond the last checkpoint is trimmed by the restart. */
static void give_up(void)
{
    static const char text[] = "orrery: out of memory\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(STATUS_MEMORY);
}

#ifdef HAVE_ON_EXIT
static void on_library_exit(int status, void *unused)
{
    (void)unused;
    if (!finished && (status == 1 || status == 2))
        give_up();
}
#endif

void library_watch(void)
{
#ifdef HAVE_ON_EXIT
    on_exit(on_library_exit, NULL);
#endif
}

void library_finish(void)
{
    finished = true;
}

/* A member of a structure at address 0; anything else is a fault of another kind. */
static const uintptr_t near_null = 65536;

static void on_fatal(int number, siginfo_t *about, void *unused)
{
    (void)unused;
    if (number == SIGABRT || (uintptr_t)about->si_addr < near_null)
        give_up();
    signal(number, SIG_DFL); /* and the instruction is tried again */
}

void library_guard(void)
{
    struct sigaction action = { .sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT_OF(fatal); i++)
        sigaction(fatal[i], &action, &before[i]);
}

void library_unguard(void)
{
    for (size_t i = 0; i < COUNT_OF(fatal); i++)
        sigaction(fatal[i], &before[i], NULL);
}
