#include "config.h"

#include "base/library.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/status.h"

/* Only the handler reads it; it has no other way to know. */
static bool finished;

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
#else
/* Without the status: whoever ends the process before library_finish() is a library. */
static void on_library_exit(void)
{
    if (!finished)
        give_up();
}
#endif

void library_watch(void)
{
#ifdef HAVE_ON_EXIT
    on_exit(on_library_exit, NULL);
#else
    atexit(on_library_exit);
#endif
}

void library_finish(void)
{
    finished = true;
}
