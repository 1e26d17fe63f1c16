/*
 * aligned_alloc() leaves memory as it was, and clearing all of it makes all of it resident.
 * calloc() has large blocks from the system, which clears each page when it is first used. The
 * address of its block stands before each array.
 *
 * Large blocks all begin at the same place of a page, and a cache keeps but eight lines or so from
 * one place of all pages: a loop over ten arrays would push out its own. So arrays are staggered.
 */
#include "config.h"

#include "base/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Nine steps of seven lines are a page, but for a line. */
enum { PAGE = 4096, STEPS = 9, STEP = 7 * MEMORY_ALIGNMENT };

/* Returns the offset, within a page, at which the next array shall begin. */
static size_t next_offset(size_t bytes)
{
    static atomic_size_t arrays;
    return bytes < PAGE ? 0 : atomic_fetch_add(&arrays, 1) % STEPS * STEP;
}

size_t memory_bytes(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

void *memory_array(size_t count, size_t size, struct error *error)
{
    size_t bytes;
    const bool overflows = __builtin_mul_overflow(count, size, &bytes);
    if (bytes == 0)
        bytes = 1; /* an array outside of its block would look like a leak */
    size_t before = sizeof(void *) + MEMORY_ALIGNMENT + next_offset(bytes);
    char *const block = overflows || bytes > SIZE_MAX - before ? NULL : calloc(1, bytes + before);
    if (!block) {
        error_set(error, STATUS_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
        return NULL;
    }
    before -= ((uintptr_t)block + before) % MEMORY_ALIGNMENT;
    void **const array = (void **)(block + before);
    array[-1] = block;
    return array;
}

void memory_free(void *array)
{
    if (array)
        free(((void **)array)[-1]);
}

void memory_return_large(void)
{
#ifdef __GLIBC__
    /* Clearing a megabyte anew costs less than a tenth of a millisecond. */
    enum { LARGE = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

/* --- libraries -------------------------------------------------------------------------------- */

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
/* Without the status: whoever ends the process before memory_finish() is a library. */
static void on_library_exit(void)
{
    if (!finished)
        give_up();
}
#endif

void memory_watch_libraries(void)
{
#ifdef HAVE_ON_EXIT
    on_exit(on_library_exit, NULL);
#else
    atexit(on_library_exit);
#endif
}

void memory_finish(void)
{
    finished = true;
}
