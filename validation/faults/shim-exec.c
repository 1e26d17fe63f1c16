/*
 * Preloaded into orrery and into the gnuplot that it starts: no program but gnuplot is ever begun.
 * ORRERY_EXEC_LOG=FILE gets a line for each attempt to begin another one, which ends there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHIM __attribute__((visibility("default")))

static void refuse(const char *path)
{
    const char *log = getenv("ORRERY_EXEC_LOG");
    const int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd >= 0) {
        dprintf(fd, "%s\n", path);
        close(fd);
    }
    _exit(99);
}

static void judge(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "gnuplot") != 0)
        refuse(path);
}

/* The real call, so that nothing is asked twice. */
static int begin(const char *path, char *const arguments[], char *const environment[])
{
    judge(path);
    return (int)syscall(SYS_execve, path, arguments, environment);
}

SHIM int execve(const char *path, char *const arguments[], char *const environment[])
{
    return begin(path, arguments, environment);
}

SHIM int execv(const char *path, char *const arguments[])
{
    return begin(path, arguments, environ);
}

SHIM int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    const char *path = getenv("PATH");
    judge(name);
    if (strchr(name, '/'))
        return begin(name, arguments, environment);
    for (const char *from = path ? path : ""; *from;) {
        char whole[4096];
        const size_t length = strcspn(from, ":");
        snprintf(whole, sizeof whole, "%.*s/%s", (int)length, from, name);
        begin(whole, arguments, environment);
        from += length + (from[length] == ':');
    }
    return -1;
}

SHIM int execvp(const char *name, char *const arguments[])
{
    return execvpe(name, arguments, environ);
}

/* Calls that take their arguments one by one, and those that fork by themselves, never begin
 * gnuplot. */
SHIM int execl(const char *path, const char *argument, ...)
{
    (void)argument;
    refuse(path);
    return -1;
}

SHIM int execlp(const char *path, const char *argument, ...)
{
    (void)argument;
    refuse(path);
    return -1;
}

SHIM int execle(const char *path, const char *argument, ...)
{
    (void)argument;
    refuse(path);
    return -1;
}

SHIM int system(const char *command)
{
    refuse(command ? command : "");
    return -1;
}

SHIM FILE *popen(const char *command, const char *mode)
{
    (void)mode;
    refuse(command);
    return NULL;
}

SHIM int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const arguments[],
                     char *const environment[])
{
    (void)process, (void)actions, (void)attributes, (void)arguments, (void)environment;
    refuse(path);
    return -1;
}

SHIM int posix_spawnp(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes, char *const arguments[],
                      char *const environment[])
{
    (void)process, (void)actions, (void)attributes, (void)arguments, (void)environment;
    refuse(path);
    return -1;
}
