#include "study/study.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/run.h"
#include "run/signals.h"

const char *work_path(const struct work *work, size_t member, char buffer[STUDY_PATH_SIZE])
{
    return study_member_path(work->options->directory, member, buffer);
}

bool work_is_ours(const struct work *work, size_t member)
{
    return work->options->only == 0 || work->options->only == member + 1;
}

bool work_has_begun(const struct work *work, size_t member)
{
    char path[STUDY_PATH_SIZE], manifest[STUDY_PATH_SIZE + 16];
    snprintf(manifest, sizeof manifest, "%s/run.json", work_path(work, member, path));
    return access(manifest, F_OK) == 0;
}

void work_notice(const struct work *work, const char *line)
{
    if (work->options->notice)
        work->options->notice(work->options->context, line);
}

/* --- one member, in a process of its own ------------------------------------------------------ */

/* The context of pass_notice(): the study, and the directory of the run with the message. */
struct voice {
    const struct work *work;
    const char *path;
};

enum { MOST_NOTICES = 20 };

/* Passes a message of a run on to the user, after the name of the run. After MOST_NOTICES messages
 * of all runs the others are only counted. */
static void pass_notice(void *context, bool loud, const char *line)
{
    (void)loud;
    const struct voice *voice = context;
    struct text named = { 0 };
    if (voice->work->notices &&
        __atomic_fetch_add(voice->work->notices, 1, __ATOMIC_RELAXED) >= MOST_NOTICES)
        return;
    text_print(&named, "%s: %s", voice->path, line);
    work_notice(voice->work, named.failed ? line : named.bytes);
    text_free(&named);
}

static enum status run_member(const struct work *work, size_t member, struct error *error)
{
    char path[STUDY_PATH_SIZE];
    struct voice voice = { work, work_path(work, member, path) };
    const bool force = work->options->force;
    const struct run_options options = { .directory = path,
                                         .force = force,
                                         .restart = !force && work_has_begun(work, member),
                                         .deadline = work->options->deadline,
                                         .notice = pass_notice,
                                         .context = &voice };
    struct config *config = NULL;
    struct run *run = NULL;
    enum status status = study_load_member(work->study, work->threads, member, &config, error);
    if (!status)
        status = run_prepare(config, &options, true, &run, error);
    if (!status)
        status = run_execute(run, error);
    run_destroy(run);
    config_free(config);
    return status;
}

/* Handles SIGCHLD, which comes when a member ends, by doing nothing: with a handler the signal ends
 * the nanosleep() of work_run(). */
static void wake(int number)
{
    (void)number;
}

static void start_member(struct work *work, size_t member)
{
    const pid_t parent = getpid(), process = fork();
    if (process == 0) {
        signal(SIGCHLD, SIG_DFL);
        /* If the study's process is killed, the kernel sends SIGTERM to its members: they write a
         * checkpoint and end, so that the next command finds no process at work. */
        child_follow(parent, SIGTERM, STATUS_STOPPED);
        const double deadline = work->options->deadline;
        signals_leave_quietly(deadline > 0.0 ? deadline - clock_seconds() : INFINITY);
        struct error error = { 0 };
        const enum status status = run_member(work, member, &error);
        if (error.lines > 0 && status != STATUS_STOPPED)
            work_notice(work, error.text);
        _exit((int)status);
    }
    struct member *state = &work->members[member];
    if (process < 0) {
        state->ended = true;
        state->status = STATUS_MEMORY;
        work->done++;
        return;
    }
    state->process = process;
    work->running++;
}

/* --- all of them ------------------------------------------------------------------------------ */

static void tell_killed(const struct work *work, size_t member)
{
    char path[STUDY_PATH_SIZE], line[STUDY_PATH_SIZE + 64];
    snprintf(line, sizeof line, "%s: was killed by signal %d (%s)", work_path(work, member, path),
             work->members[member].signal, strsignal(work->members[member].signal));
    work_notice(work, line);
}

static void collect(struct work *work)
{
    for (size_t m = work->first; m < work->next; m++) {
        struct member *state = &work->members[m];
        int code;
        const pid_t ended = state->process ? waitpid(state->process, &code, WNOHANG) : 0;
        if (ended == 0)
            continue;
        state->process = 0;
        state->ended = true;
        state->status = ended > 0 && WIFEXITED(code) ? WEXITSTATUS(code) : STATUS_NUMERICAL;
        state->signal = ended > 0 && WIFSIGNALED(code) ? WTERMSIG(code) : 0;
        struct error unreadable = { 0 }; /* not reported: table_write() reads the run again */
        table_read(work->table, m, &unreadable);
        if (state->signal)
            tell_killed(work, m);
        /* Members check the time limit themselves: after one has stopped, no other begins. */
        work->stopping |= state->status == STATUS_STOPPED && work->options->deadline > 0.0;
        work->running--;
        work->done++;
        if (work->options->progress)
            work->options->progress(work->options->context, work->done, work->study->member_count);
    }
    while (work->first < work->next && !work->members[work->first].process)
        work->first++;
}

static void signal_members(const struct work *work, int number)
{
    for (size_t m = work->first; m < work->next; m++)
        if (work->members[m].process)
            kill(work->members[m].process, number);
}

/* Passes signals on to all members: the request for a checkpoint, and the one to stop. */
static void pass_on_signals(struct work *work)
{
    if (signals_checkpoint())
        signal_members(work, SIGUSR2);
    if (work->stopping || !signals_stop())
        return;
    work->stopping = true;
    signal_members(work, SIGTERM);
}

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS 0 /* mmap() fails with 0, and then all messages are shown */
#endif

static void open_notices(struct work *work)
{
    void *shared = mmap(NULL, sizeof *work->notices, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    work->notices = shared == MAP_FAILED ? NULL : shared; /* NULL: all messages are shown */
}

static void close_notices(struct work *work)
{
    char line[96];
    if (!work->notices)
        return;
    if (*work->notices > MOST_NOTICES) {
        snprintf(line, sizeof line, "%zu more messages of runs stand in the run.log of each",
                 *work->notices - MOST_NOTICES);
        work_notice(work, line);
    }
    munmap(work->notices, sizeof *work->notices);
    work->notices = NULL;
}

void work_run(struct work *work)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    const size_t members = work->study->member_count;
    const struct sigaction at_an_end = { .sa_handler = wake, .sa_flags = SA_RESTART };
    struct sigaction before;
    sigaction(SIGCHLD, &at_an_end, &before);
    open_notices(work);
    pass_on_signals(work);
    while (work->running > 0 || (work->next < members && !work->stopping)) {
        while (work->next < members && work->running < (size_t)work->jobs && !work->stopping) {
            if (!work->members[work->next].ended && work_is_ours(work, work->next))
                start_member(work, work->next);
            work->next++;
        }
        nanosleep(&pause, NULL);
        pass_on_signals(work);
        collect(work);
    }
    close_notices(work);
    sigaction(SIGCHLD, &before, NULL);
}
