#include "config.h" /* _GNU_SOURCE, for F_SETPIPE_SZ */

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/descriptor.h"
#include "base/memory.h"

struct child {
    pid_t process;
    int from;
    struct child_limits limits;
};

/* --- in the child ----------------------------------------------------------------------------- */

/* Replaces the signal handlers that the child has inherited from the caller. The signals that ask a
 * run to stop are meant for the caller and are ignored; those of a crash, of too much CPU time and
 * of a pipe that nobody reads end the child. */
static void take_signals(void)
{
    static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
    static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGPIPE };
    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < COUNT_OF(deadly); i++)
        signal(deadly[i], SIG_DFL);
}

/* Lowers the limit of this process on a resource (RLIMIT_...) to `most`; a lower limit stays as it
 * is. */
static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most)
        now.rlim_cur = most;
    setrlimit(resource, &now);
}

/* Returns the size in bytes of the address space of this process; 0 if the system does not tell. */
static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#ifdef __SANITIZE_ADDRESS__ /* AddressSanitizer alone reserves more than any limit */
static const bool limits_memory = false;
#else
static const bool limits_memory = true;
#endif

static void take_limits(const struct child_limits *limits)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, limits->seconds);
    const uint64_t now = limits_memory ? address_space() : 0;
    if (now > 0)
        limit(RLIMIT_AS, now + limits->bytes);
}

void child_follow(pid_t parent, int signal, int status)
{
#ifdef PR_SET_PDEATHSIG
    prctl(PR_SET_PDEATHSIG, signal);
#else
    (void)signal;
#endif
    if (getppid() != parent)
        _exit(status);
}

static void be_child(pid_t parent, const struct child_limits *limits)
{
    child_follow(parent, SIGKILL, 1);
    take_signals();
    take_limits(limits);
    /* Standard error goes to /dev/null: the C library's messages about a damaged heap are not for
     * users. */
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
}

bool child_send(int to, const void *bytes, size_t length)
{
    return descriptor_write(to, bytes, length) == 0;
}

/* --- in the caller ---------------------------------------------------------------------------- */

static enum status no_child(struct child *child, const int ends[2], struct error *error)
{
    const int code = errno;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    free(child);
    return error_system(error, STATUS_MEMORY, code, "no process to read in");
}

enum status child_start(void (*work)(int to, void *context), void *context,
                        const struct child_limits *limits, struct child **result,
                        struct error *error)
{
    enum { ROOM = 1 << 20 };
    int ends[2] = { -1, -1 };
    *result = NULL;
    struct child *child = calloc(1, sizeof *child);
    if (!child || pipe(ends) != 0)
        return no_child(child, ends, error);
    /* Sets the flags here, since only Linux and the BSDs have pipe2(). A program that another
     * thread started between pipe() and fcntl() would inherit the pipe, but no other thread starts
     * programs. */
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
#ifdef F_SETPIPE_SZ
    /* A larger buffer saves switches between the two processes. */
    fcntl(ends[1], F_SETPIPE_SZ, ROOM);
#endif
    const pid_t parent = getpid();
    child->process = fork();
    if (child->process < 0)
        return no_child(child, ends, error);
    if (child->process == 0) {
        be_child(parent, limits);
        close(ends[0]);
        work(ends[1], context);
        _exit(0);
    }
    close(ends[1]);
    child->from = ends[0];
    child->limits = *limits;
    *result = child;
    return STATUS_OK;
}

bool child_has_news(const struct child *child)
{
    struct pollfd from = { .fd = child->from, .events = POLLIN };
    return poll(&from, 1, 0) > 0;
}

bool child_receive(struct child *child, void *bytes, size_t length)
{
    size_t got;
    return descriptor_read(child->from, bytes, length, &got) == 0 && got == length;
}

/* Sets the error that says why the child ended, from `code`, the result of waitpid(); `what` is the
 * file that the child read. */
static enum status tell_end(const struct child *child, int code, const char *what,
                            struct error *error)
{
    const int number = WIFSIGNALED(code) ? WTERMSIG(code) : 0;
    if (number == SIGXCPU)
        return error_set(error, STATUS_DATA,
                         "%s: is damaged: reading it took more than %llu s of CPU time", what,
                         (unsigned long long)child->limits.seconds);
    if (number == SIGKILL)
        return error_set(error, STATUS_MEMORY,
                         "%s: the process that read it was killed; is memory short?", what);
    if (number)
        return error_set(error, STATUS_DATA,
                         "%s: is damaged: the library that reads it crashed (signal %d, %s)", what,
                         number, strsignal(number));
    return error_set(error, STATUS_DATA, "%s: is damaged: the library that reads it gave up", what);
}

enum status child_end(struct child *child, bool whole, const char *what, struct error *error)
{
    int code = 0;
    if (!child)
        return error->status;
    close(child->from);
    if (whole)
        kill(child->process, SIGKILL);
    while (waitpid(child->process, &code, 0) < 0 && errno == EINTR)
        continue;
    if (!whole)
        tell_end(child, code, what, error);
    free(child);
    return error->status;
}
