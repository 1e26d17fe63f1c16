/* Running the members of a study: a process each, as many at a time as there are cores. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/result.h"
#include "run/need.h"
#include "run/run.h"
#include "run/signals.h"
#include "study/disk.h"
#include "study/existing.h"
#include "study/folder.h"
#include "study/member.h"
#include "study/study.h"

enum { PATH_SIZE = 4096 };

/* What one member has come to. */
struct member {
    pid_t process; /* 0: not at work */
    bool ended;
    int status; /* exit status, once ended */
    int signal; /* that killed it; or 0 */
};

struct work {
    const struct study *study;
    const struct study_options *options;
    struct member *members;
    int jobs, threads;
    size_t running, done;
    bool stopping;
};

static const char *member_path(const struct work *work, size_t member, char buffer[PATH_SIZE])
{
    char name[STUDY_NAME_SIZE];
    snprintf(buffer, PATH_SIZE, "%s/%s", work->options->directory, study_member_name(member, name));
    return buffer;
}

/* --- the config of a member --------------------------------------------------------------------
 */

static enum status load_member(const struct work *work, size_t member, struct config **config,
                               struct error *error)
{
    return member_load(work->study, work->options, work->threads, member, config, error);
}

/* Members that another job of an array takes are none of this one's business. */
static bool is_ours(const struct work *work, size_t member)
{
    return work->options->only == 0 || work->options->only == member + 1;
}

/* Of those that are not done: is there memory for as many as will be at work? */
static enum status check_memory(const struct work *work, struct error *error)
{
    size_t largest = 0, left = 0;
    double most = 0.0;
    struct config *config = NULL;
    struct memory_need need;
    for (size_t m = 0; m < work->study->member_count; m++) {
        if (work->members[m].ended || !is_ours(work, m))
            continue;
        left++;
        if (load_member(work, m, &config, error) || need_of_run(config, &need, error)) {
            config_free(config);
            return error->status;
        }
        if (need_bytes(&need) > most) {
            largest = m;
            most = need_bytes(&need);
        }
        config_free(config);
        config = NULL;
    }
    if (left == 0 || load_member(work, largest, &config, error))
        return error->status;
    const size_t runs = left < (size_t)work->jobs ? left : (size_t)work->jobs;
    enum status status = need_of_run(config, &need, error);
    if (!status)
        status = need_check(config, &need, runs, error);
    config_free(config);
    return status;
}

/* A slip in any of them must show before the first is run. */
static enum status check_all(const struct work *work, struct error *error)
{
    for (size_t m = 0; m < work->study->member_count; m++) {
        struct config *config = NULL;
        const enum status status = load_member(work, m, &config, error);
        config_free(config);
        if (status)
            return status;
    }
    return STATUS_OK;
}

/* --- one member, in a process of its own -------------------------------------------------------
 */

static void member_notice(void *context, bool loud, const char *line)
{
    (void)loud;
    const struct study_options *options = context;
    if (options->notice)
        options->notice(options->context, line);
}

/* Whose notices these are. */
struct source {
    const struct study_options *options;
    const char *path;
};

/* What a run has to say, with the run that says it: several are at work. */
static void pass_notice(void *context, bool loud, const char *line)
{
    const struct source *source = context;
    struct text named = { 0 };
    text_print(&named, "%s: %s", source->path, line);
    member_notice((void *)source->options, loud, named.failed ? line : named.bytes);
    text_free(&named);
}

static enum status run_member(const struct work *work, size_t member, struct error *error)
{
    char path[PATH_SIZE], manifest[PATH_SIZE + 16];
    snprintf(manifest, sizeof manifest, "%s/run.json", member_path(work, member, path));
    const bool begun = access(manifest, F_OK) == 0;
    struct source source = { work->options, path };
    const struct run_options options = { .directory = path,
                                         .force = work->options->force,
                                         .restart = begun && !work->options->force,
                                         .deadline = work->options->deadline,
                                         .notice = pass_notice,
                                         .context = &source };
    struct config *config = NULL;
    struct run *run = NULL;
    enum status status = load_member(work, member, &config, error);
    if (!status)
        status = run_prepare(config, &options, true, &run, error);
    if (!status)
        status = run_execute(run, error);
    run_destroy(run);
    config_free(config);
    return status;
}

/* Where the study is killed, its members stop in order and leave their directories to the next
 * command. */
static void end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(STATUS_STOPPED);
}

static void start_member(struct work *work, size_t member)
{
    const pid_t parent = getpid(), process = fork();
    if (process == 0) {
        end_with_parent(parent);
        struct error error = { 0 };
        const enum status status = run_member(work, member, &error);
        if (error.lines > 0 && status != STATUS_STOPPED)
            member_notice((void *)work->options, true, error.text);
        _exit((int)status);
    }
    struct member *slot = &work->members[member];
    if (process < 0) {
        slot->ended = true;
        slot->status = STATUS_MEMORY;
        work->done++;
        return;
    }
    slot->process = process;
    work->running++;
}

/* --- all of them, or one -----------------------------------------------------------------------
 */

/* What differs from the runs that are there, in lines of its own behind a first one. */
static enum status refuse(const struct work *work, const struct error *differences,
                          struct error *error)
{
    error_set(error, STATUS_CONFIG,
              "%s: its runs were made with another configuration; --force%s runs them anew, -o DIR "
              "writes elsewhere",
              work->options->directory,
              work->options->only && work->options->force ? " without --member" : "");
    for (const char *line = differences->text; *line;) {
        const int length = (int)strcspn(line, "\n");
        error_set(error, STATUS_CONFIG, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
    error->dropped += differences->dropped;
    return error->status;
}

/* A link in its place would be followed to a run of somebody else, and then replaced. */
static bool has_manifest(const char *path, struct error *error)
{
    struct stat about;
    if (lstat(path, &about) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            error_system(error, STATUS_IO, errno, path);
        return false;
    }
    if (S_ISREG(about.st_mode))
        return true;
    error_set(error, STATUS_CANT_CREATE, "%s: is not a regular file, and Orrery has not made it",
              path);
    return false;
}

/* A member, whatever its verdict, that an earlier command has finished. */
static void look_at(struct work *work, size_t member, const struct study *quiet_keys,
                    struct existing_input *input, struct error *differences)
{
    char path[PATH_SIZE], manifest[PATH_SIZE + 16];
    struct member *slot = &work->members[member];
    struct config *config = NULL;
    struct error broken = { 0 };
    snprintf(manifest, sizeof manifest, "%s/run.json", member_path(work, member, path));
    if (!has_manifest(manifest, differences))
        return;
    if (load_member(work, member, &config, &broken))
        error_set(differences, broken.status, "%s", broken.text);
    else
        existing_member(path, config, quiet_keys, input, &slot->ended, &slot->status, differences);
    work->done += slot->ended;
    config_free(config);
}

/* The rows of those that other jobs run must be known, or the table cannot be made. */
static enum status check_others(const struct work *work, struct error *error)
{
    for (size_t m = 0; m < work->study->member_count; m++) {
        char path[PATH_SIZE];
        struct result result;
        struct error problem = { 0 };
        if (is_ours(work, m))
            continue;
        const enum status status = existing_open(member_path(work, m, path), &result, &problem);
        result_close(&result);
        if (status && status != STATUS_NO_INPUT)
            return error_set(error, status == STATUS_DATA ? STATUS_CANT_CREATE : status, "%s",
                             problem.text);
    }
    return STATUS_OK;
}

/*
 * Finds the members that need not run again. The runs that are there must be those of the present
 * config (STATUS_CONFIG with all differences): a table of old and new ones would mean nothing.
 */
static enum status find_finished(struct work *work, struct error *error)
{
    struct existing_input input = { 0 };
    struct error differences = { 0 };
    const bool force = work->options->force;
    work->done = 0;
    if (check_others(work, error) || (force && !work->options->only))
        return error->status;
    json_t *now = folder_describe(work->study);
    if (!now)
        return error_set(error, STATUS_MEMORY, "out of memory");
    existing_grid(work->options->directory, work->study, now, &differences);
    const struct study *quiet_keys = differences.status ? work->study : NULL;
    /* One run that is forced may differ from the others, but not from the grid of the table. */
    for (size_t m = 0; m < work->study->member_count && !force; m++)
        look_at(work, m, quiet_keys, &input, &differences);
    free(input.path);
    json_decref(now);
    if (!differences.status)
        return STATUS_OK;
    return differences.status == STATUS_CONFIG
               ? refuse(work, &differences, error)
               : error_set(error, differences.status, "%s", differences.text);
}

/* One that will begin: what others write is there already, but for their last part. */
static bool is_new(const void *context, size_t member)
{
    const struct work *work = context;
    char path[PATH_SIZE], manifest[PATH_SIZE + 16];
    snprintf(manifest, sizeof manifest, "%s/run.json", member_path(work, member, path));
    return is_ours(work, member) && !work->members[member].ended &&
           (work->options->force || access(manifest, F_OK) != 0);
}

/* A member that died without a word; what it has saved is continued by the same command. */
static void tell_killed(const struct work *work, size_t member)
{
    char path[PATH_SIZE], line[PATH_SIZE + 64];
    snprintf(line, sizeof line, "%s: was killed by signal %d (%s)", member_path(work, member, path),
             work->members[member].signal, strsignal(work->members[member].signal));
    member_notice((void *)work->options, true, line);
}

static void collect(struct work *work)
{
    for (size_t m = 0; m < work->study->member_count; m++) {
        struct member *slot = &work->members[m];
        int code;
        const pid_t ended = slot->process ? waitpid(slot->process, &code, WNOHANG) : 0;
        if (ended == 0)
            continue;
        slot->process = 0;
        slot->ended = true;
        slot->status = ended > 0 && WIFEXITED(code) ? WEXITSTATUS(code) : STATUS_NUMERICAL;
        slot->signal = ended > 0 && WIFSIGNALED(code) ? WTERMSIG(code) : 0;
        if (slot->signal)
            tell_killed(work, m);
        /* The members look at the clock for themselves; when one ends for it, no other begins. */
        work->stopping |= slot->status == STATUS_STOPPED && work->options->deadline > 0.0;
        work->running--;
        work->done++;
        if (work->options->progress)
            work->options->progress(work->options->context, work->done, work->study->member_count);
    }
}

static void signal_members(const struct work *work, int number)
{
    for (size_t m = 0; m < work->study->member_count; m++)
        if (work->members[m].process)
            kill(work->members[m].process, number);
}

/* A checkpoint is asked of all members, to stop too. */
static void pass_on_signals(struct work *work)
{
    if (signals_checkpoint())
        signal_members(work, SIGUSR2);
    if (work->stopping || !signals_stop())
        return;
    work->stopping = true;
    signal_members(work, SIGTERM);
}

static void work_through(struct work *work)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    size_t next = 0;
    pass_on_signals(work);
    while (work->running > 0 || (next < work->study->member_count && !work->stopping)) {
        while (next < work->study->member_count && work->running < (size_t)work->jobs &&
               !work->stopping) {
            if (!work->members[next].ended && is_ours(work, next))
                start_member(work, next);
            next++;
        }
        nanosleep(&pause, NULL);
        pass_on_signals(work);
        collect(work);
    }
}

/* What is to be said of the whole. */
static enum status judge(const struct work *work, struct error *error)
{
    size_t failed = 0, first = 0;
    bool unexpected = false;
    if (work->stopping)
        return error_set(error, STATUS_STOPPED,
                         "%s: stopped with %zu of %zu runs ended; the same command goes on",
                         work->options->directory, work->done, work->study->member_count);
    for (size_t m = work->study->member_count; m-- > 0;) {
        if (!is_ours(work, m))
            continue;
        const int status = work->members[m].status;
        unexpected = unexpected || status == STATUS_EXPECT_FAILED;
        if (status == STATUS_OK || status == STATUS_EXPECT_FAILED)
            continue;
        failed++;
        first = m;
    }
    if (failed == 0)
        return unexpected ? STATUS_EXPECT_FAILED : STATUS_OK;
    char name[STUDY_NAME_SIZE], how[48];
    const struct member *slot = &work->members[first];
    snprintf(how, sizeof how, slot->signal ? ", killed by signal %d" : " with status %d",
             slot->signal ? slot->signal : slot->status);
    return error_set(error, (enum status)slot->status,
                     "%s: %zu of %zu runs went wrong, first %s%s; the same command tries them "
                     "again",
                     work->options->directory, failed, work->study->member_count,
                     study_member_name(first, name), how);
}

/* --- the study ---------------------------------------------------------------------------------
 */

/* One run that was forced may now stand beside others of another configuration. */
static void tell_of_others(struct work *work)
{
    struct existing_input input = { 0 };
    size_t others = 0;
    for (size_t m = 0; m < work->study->member_count; m++) {
        struct error differences = { 0 };
        if (!is_ours(work, m))
            look_at(work, m, NULL, &input, &differences);
        others += differences.status == STATUS_CONFIG;
    }
    free(input.path);
    char line[PATH_SIZE + 160];
    snprintf(line, sizeof line,
             "%s: WARNING: %zu other run%s made with another configuration; the table has both "
             "until --member --force makes them anew",
             work->options->directory, others, others == 1 ? " was" : "s were");
    if (others > 0)
        member_notice((void *)work->options, true, line);
}

/* Cores are shared among the members at work; whoever sets the threads decides how many these are.
 */
static void share_cores(struct work *work)
{
    const int cores = cores_available();
    const size_t left = work->options->only ? 1 : work->study->member_count - work->done;
    if (work->options->threads > 0) {
        work->threads = work->options->threads;
        work->jobs = cores > work->threads ? cores / work->threads : 1;
    } else {
        work->jobs = left < (size_t)cores ? (int)left : cores;
        work->jobs = work->jobs > 0 ? work->jobs : 1; /* all may have ended before */
        work->threads = cores / work->jobs;
    }
}

enum status study_run(const struct study *study, const struct study_options *options, bool *begun,
                      struct error *error)
{
    *begun = false;
    struct work work = { .study = study, .options = options, .threads = 1 };
    work.members = calloc(study->member_count + 1, sizeof *work.members);
    if (!work.members)
        return error_set(error, STATUS_MEMORY, "out of memory");
    enum status status = check_all(&work, error);
    if (!status && options->only > study->member_count)
        status = error_set(error, STATUS_USAGE, "there is no member %zu; the study has %zu",
                           options->only, study->member_count);
    struct directory *directory = NULL;
    double bytes = 0.0;
    if (!status)
        status = find_finished(&work, error);
    if (!status) {
        share_cores(&work);
        status = check_memory(&work, error);
    }
    if (!status)
        status = disk_needed(study, options, is_new, &work, &bytes, error);
    if (!status)
        status = disk_check(options->directory, bytes, error);
    signals_catch(); /* from here on there is something to leave in order */
    if (!status)
        status = folder_open(study, options, &directory, error);
    if (!status) /* again: others may have been at work until this one had the lock */
        status = find_finished(&work, error);
    if (!status) {
        *begun = true;
        share_cores(&work);
        work_through(&work);
        struct error table = { 0 };
        folder_write_table(study, directory, &table);
        if (options->only && options->force)
            tell_of_others(&work);
        status = judge(&work, error); /* what went wrong in a run may be why there is no table */
        if (table.status)
            error_set(error, table.status, "%s", table.text);
        status = error->status ? error->status : status;
    }
    directory_close(directory);
    signals_release();
    free(work.members);
    return status;
}

enum status study_check_memory(const struct study *study, const struct study_options *options,
                               struct error *error)
{
    struct work work = { .study = study, .options = options, .threads = 1 };
    work.members = calloc(study->member_count + 1, sizeof *work.members);
    if (!work.members)
        return error_set(error, STATUS_MEMORY, "out of memory");
    share_cores(&work);
    const enum status status = check_memory(&work, error);
    free(work.members);
    return status;
}
