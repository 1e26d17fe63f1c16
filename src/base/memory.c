/*
 * Arrays come from calloc(), not from aligned_alloc(): clearing all of an array would make all of
 * it resident, while calloc() has large blocks from the system, which clears each page when it is
 * first used. To align an array, memory_array() lets it begin some bytes behind the beginning of
 * its block, whose address stands just before the array.
 *
 * All large blocks begin at the same offset in a page, and a cache keeps only about eight lines
 * with one offset: a loop over ten arrays would evict its own data. So the arrays begin at
 * staggered offsets.
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

/* Arrays begin at nine offsets, seven cache lines apart: nine such steps are one line less than a
 * page. */
enum { PAGE = 4096, STEPS = 9, STEP = 7 * MEMORY_ALIGNMENT };

/* Returns how far behind the beginning of its block the next array of `bytes` bytes shall begin:
 * each array of a page or more takes the next of the nine offsets in turn. */
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
        bytes = 1; /* an empty array behind the end of its block would look like a leak */
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
    /* Blocks of this size or more go back to the system when they are freed. The system clears a
     * new one of a megabyte in less than a tenth of a millisecond, so the cost is small. */
    enum { LARGE = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
#endif
}

/* --- libraries -------------------------------------------------------------------------------- */

/* True as soon as main() is about to return. A global, because the handler of exit() has no other
 * way to know it. */
static bool finished;

/* Reports, without an allocation, that memory is exhausted, and ends the process at once. This is
 * safe: the system drops the lock of the run directory, and a restart cuts off what the files hold
 * beyond the last checkpoint. */
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
/* Without on_exit() the exit status is unknown: any exit() before memory_finish() counts as a
 * library's. */
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
