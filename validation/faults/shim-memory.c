/*
 * Preloaded into orrery by the fault harness: lets allocations fail.
 *
 * ORRERY_FAULT_MEMORY="N T"  the Nth allocation of the program fails, and T - 1 after it
 * ORRERY_FAULT_LOG=FILE      gets a line for each that failed: who asked for it
 *
 * libconfig writes to address 0 where it gets no memory, and so has all that it may need asked for
 * beforehand (src/config/tree.c). What has been granted once is granted again: its allocations fail
 * only where the process would then hold more than it ever did.
 *
 * Counted from main() on: what libraries allocate before it is not the program's, and CUDA's
 * runtime does not survive a failure there. A process and those that it forks count together.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The C library's own functions, so that none of them has to be looked up, which allocates. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *old);

static atomic_ulong alone, *calls = &alone;
static atomic_bool begun; /* main() */
static unsigned long nth, times;
static const char *log_path;
static atomic_size_t held, most_held; /* bytes of this process */

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("ORRERY_FAULT_MEMORY");
    log_path = getenv("ORRERY_FAULT_LOG");
    if (!fault || sscanf(fault, "%lu %lu", &nth, &times) != 2)
        nth = times = 0;
    void *page =
        mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
        calls = page;
}

static int (*program)(int argc, char **argv, char **environment);

static int begin_program(int argc, char **argv, char **environment)
{
    begun = true;
    return program(argc, argv, environment);
}

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                       void (*)(void), void *);
start_main __libc_start_main;

/* The start of the C library, which shows when main() begins. */
int __libc_start_main(int (*given)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end)
{
    start_main *next = (start_main *)dlsym(RTLD_NEXT, "__libc_start_main");
    program = given;
    return next(begin_program, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Without stdio, which allocates: "libconfig.so.9 1f3a\n". */
static void note(const char *caller)
{
    Dl_info where;
    if (!log_path || !dladdr(caller, &where))
        return;
    const int fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    const char *slash = strrchr(where.dli_fname, '/');
    char line[128];
    const int length =
        snprintf(line, sizeof line, "%.80s %tx\n", slash ? slash + 1 : where.dli_fname,
                 caller - (const char *)where.dli_fbase);
    if (write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

/* It has been granted as much before. */
static bool is_granted(const void *caller, size_t size)
{
    Dl_info where;
    return dladdr(caller, &where) && strstr(where.dli_fname, "/libconfig.so") &&
           held + size <= most_held;
}

static bool fails(const void *caller, size_t size)
{
    if (!begun)
        return false;
    const unsigned long n = atomic_fetch_add(calls, 1) + 1;
    if (n < nth || n >= nth + times || is_granted(caller, size))
        return false;
    note(caller);
    errno = ENOMEM;
    return true;
}

static void *hold(void *block)
{
    const size_t now =
        atomic_fetch_add(&held, malloc_usable_size(block)) + malloc_usable_size(block);
    size_t most = most_held;
    while (now > most && !atomic_compare_exchange_weak(&most_held, &most, now))
        ;
    return block;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : hold(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0), count * size) ? NULL
                                                            : hold(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    const size_t before = malloc_usable_size(old);
    if (fails(__builtin_return_address(0), size))
        return NULL;
    void *block = __libc_realloc(old, size);
    if (block || !size)
        held -= before;
    return hold(block);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : hold(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0), size) ? NULL : hold(__libc_memalign(alignment, size));
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (fails(__builtin_return_address(0), size))
        return ENOMEM;
    *result = hold(__libc_memalign(alignment, size));
    return *result ? 0 : ENOMEM;
}

void free(void *old)
{
    held -= malloc_usable_size(old);
    __libc_free(old);
}

/* How many there were, for the harness; the last word of the process. */
__attribute__((destructor)) static void end(void)
{
    if (!log_path || nth)
        return;
    const int fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    char line[32];
    const int length = snprintf(line, sizeof line, "%lu\n", atomic_load(calls));
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        abort();
}
