/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names */
#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/name.h"
#include "fuzz.h"

static struct guard_counts *counts; /* also of the processes that play gnuplot */
static const char *scratch;         /* where all directories are */
static enum guard_state state;

struct guard_counts *guard_begin(const char *folder)
{
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fuzz_demand(counts != MAP_FAILED, "memory");
    scratch = folder;
    return counts;
}

void guard_set(enum guard_state now)
{
    state = now;
}

/* --- gnuplot ---------- */

static bool is_one_of(const char *word, size_t length, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == length && strncmp(*words, word, length) == 0)
            return true;
    return false;
}

/* Goes behind a string in quotes; NULL where it holds what gnuplot would take for more than words.
 */
static const char *behind_string(const char *at)
{
    const char quote = *at++;
    for (; *at && *at != quote; at++) {
        if (*at == '`' || *at == '\n' || (quote == '\'' ? *at == '\\' : *at == '\'' || *at == '@'))
            return NULL;
        if (*at == '\\') {
            if (strspn(at + 1, "01234567") < 3)
                return NULL;
            at += 3;
        }
    }
    return *at ? at + 1 : NULL;
}

/* Is a line of a script a statement of the templates, and what is not in quotes of it theirs? */
static bool is_ours(const char *line)
{
    static const char *const first[] = { "set",    "unset",    "plot", "splot",
                                         "replot", "keyentry", "",     NULL };
    static const char *const styles[] = { "line",   "dashed", "path", "points", "discs", "dots",
                                          "starts", "focus",  "ring", "band",   NULL };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    line += strspn(line, " ");
    const size_t word = strspn(line, letters);
    const bool assigns = word > 0 && strncmp(line + word, " = '", 4) == 0;
    if (!assigns && *line != '\'' && !is_one_of(line, word, first))
        return false;
    if (strncmp(line, "set output ", 11) == 0 || *line == '\'' || strncmp(line, "plot '", 6) == 0) {
        const char *name = strchr(line, '\'') + 1;
        char plain[512];
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "'"), name);
        if (!name_is_word(plain))
            return false;
    }
    while (*line) {
        if (*line == '\'' || *line == '"') {
            line = behind_string(line);
            if (!line)
                return false;
        } else if (*line == '@') {
            const size_t length = strspn(line + 1, letters);
            if (!is_one_of(line + 1, length, styles))
                return false;
            line += 1 + length;
        } else if (strchr("`!|<>$;{}", *line)) {
            return false;
        } else {
            line++;
        }
    }
    return true;
}

static void draw(const char *name, const char *suffix, const char *bytes)
{
    char file[600];
    snprintf(file, sizeof file, "%.*s%s", (int)strlen(name) - 3, name, suffix);
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd < 0 || write(fd, bytes, strlen(bytes)) < 0)
        _exit(2);
    close(fd);
}

/* In the process that would become gnuplot: reads the script, and leaves pictures. */
static void play_gnuplot(char *const arguments[])
{
    char *line = NULL;
    size_t size = 0;
    if (!arguments[1] || strcmp(arguments[1], "-d") != 0 || getenv("HOME"))
        counts->commands++;
    if (arguments[2] && strcmp(arguments[2], "--version") == 0)
        _exit(0);
    FILE *script = arguments[2] ? fopen(arguments[2], "r") : NULL;
    if (!script || strlen(arguments[2]) < 4)
        _exit(1);
    state = GUARD_OFF;
    counts->scripts++;
    while (getline(&line, &size, script) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (!is_ours(line)) {
            fprintf(stderr, "a script: %s\n", line);
            counts->commands++;
        }
    }
    draw(arguments[2], ".svg", "<svg ><g id=\"gnuplot_plot_1\" ></g></svg>");
    draw(arguments[2], ".png", "png");
    draw(arguments[2], ".gif", "gif");
    _exit(0);
}

int __wrap_execvp(const char *name, char *const arguments[]);
int __wrap_execvp(const char *name, char *const arguments[])
{
    if (strcmp(name, "gnuplot") == 0)
        play_gnuplot(arguments);
    counts->others++;
    _exit(99);
}

int __wrap_system(const char *command);
int __wrap_system(const char *command)
{
    (void)command;
    counts->commands++;
    return 0;
}

FILE *__wrap_popen(const char *command, const char *mode);
FILE *__wrap_popen(const char *command, const char *mode)
{
    (void)command, (void)mode;
    counts->commands++;
    return NULL;
}

int __wrap_execve(const char *path, char *const arguments[], char *const environment[]);
int __wrap_execve(const char *path, char *const arguments[], char *const environment[])
{
    (void)path, (void)arguments, (void)environment;
    counts->others++;
    _exit(99);
}

/* --- files ---------- */

/* The path below the scratch directory of what a call names, its folder without links; false where
 * that is elsewhere. */
static bool find_below(int folder, const char *path, char below[1024])
{
    char whole[2048], link[64], base[1024] = "";
    if (path[0] != '/' && folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base))
            return false;
    } else if (path[0] != '/') {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        const ssize_t got = readlink(link, base, sizeof base - 1);
        if (got < 0)
            return false;
        base[got] = '\0';
    }
    snprintf(whole, sizeof whole, "%s/%.900s", base, path);
    char *last = strrchr(whole, '/');
    *last = '\0';
    char *real = realpath(whole[0] ? whole : "/", NULL);
    const bool inside = real && strncmp(real, scratch, strlen(scratch)) == 0;
    snprintf(below, 1024, "%.700s/%.300s", inside ? real + strlen(scratch) : "", last + 1);
    free(real);
    return inside;
}

/* A file of a report, or of its folder of work; of a run that is replaced any file of it. */
static bool may_change(const char *below)
{
    static const char *const own[] = { "/in/report.json",      "/in/report.html", "/in/report.lock",
                                       "/in/report.html.lock", "/in/plots",       "/in" };
    static const char work[] = "/in/report.orrery-", plots[] = "/in/plots/";
    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (strncmp(below, own[i], strlen(own[i])) == 0 &&
            (below[strlen(own[i])] == '\0' || strcmp(below + strlen(own[i]), ".orrery.tmp") == 0))
            return true;
    if (strncmp(below, work, strlen(work)) == 0)
        return !strstr(below, "/../");
    if (strncmp(below, plots, strlen(plots)) == 0)
        return name_is_word(below + strlen(plots));
    return state == GUARD_FORCE && strncmp(below, "/in/", 4) == 0 && !strchr(below + 4, '/');
}

static void judge(int folder, const char *path, const char *call)
{
    char below[1024];
    if (state == GUARD_OFF)
        return;
    if (find_below(folder, path, below) && may_change(below))
        return;
    fprintf(stderr, "%s of %s\n", call, path);
    counts->outside++;
}

int __real_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (flags & O_CREAT)
        judge(folder, path, "open");
    return __real_openat(folder, path, flags, mode);
}

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (flags & (O_CREAT | O_WRONLY | O_RDWR))
        judge(AT_FDCWD, path, "open");
    return __real_open(path, flags, mode);
}

int __real_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags)
{
    judge(folder, path, "unlink");
    return __real_unlinkat(folder, path, flags);
}

int __real_renameat(int folder, const char *path, int to, const char *as);
int __wrap_renameat(int folder, const char *path, int to, const char *as);
int __wrap_renameat(int folder, const char *path, int to, const char *as)
{
    judge(folder, path, "rename");
    judge(to, as, "rename");
    return __real_renameat(folder, path, to, as);
}

int __real_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
    judge(folder, path, "mkdir");
    return __real_mkdirat(folder, path, mode);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    judge(AT_FDCWD, path, "mkdir");
    return __real_mkdir(path, mode);
}

int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path);
int __wrap_rmdir(const char *path)
{
    judge(AT_FDCWD, path, "rmdir");
    return __real_rmdir(path);
}

/* These are of no interest here, and take time. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

int __wrap_nice(int by);
int __wrap_nice(int by)
{
    return by;
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
