/* Runs a study: finds the members (single runs) that have finished already, checks that memory and
 * disk suffice for the others, runs these, and judges the result. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "estimate/need.h"
#include "machine/cores.h"
#include "report/result.h"
#include "run/signals.h"
#include "study/study.h"

/* The lines of the errors of several members. */
struct common {
    struct text lines; /* each once, with a newline behind it */
    size_t dropped;    /* most lines that one member has dropped */
};

static bool has_line(const struct common *common, const char *line, size_t length)
{
    for (const char *at = common->lines.bytes; at && *at; at += strcspn(at, "\n") + 1)
        if (strcspn(at, "\n") == length && strncmp(at, line, length) == 0)
            return true;
    return false;
}

/* Adds the lines of other->text that `common` does not have yet to it and to *error. Lines that a
 * member has dropped count as the same in all members. */
static void add_lines(struct error *error, const struct error *other, struct common *common)
{
    for (const char *line = other->text; *line;) {
        const size_t length = strcspn(line, "\n");
        if (!has_line(common, line, length)) {
            error_set(error, other->status, "%.*s", (int)length, line);
            text_print(&common->lines, "%.*s\n", (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
    if (other->dropped > common->dropped) {
        error->dropped += other->dropped - common->dropped;
        common->dropped = other->dropped;
    }
}

/* --- before any begins ------------------------------------------------------------------------ */

/* Loads the config of a member; an error that many members have is reported once. */
static bool load_member(const struct work *work, size_t member, struct config **config,
                        struct common *common, struct error *error)
{
    struct error own = { 0 };
    const bool loaded = !study_load_member(work->study, work->threads, member, config, &own);
    add_lines(error, &own, common);
    return loaded;
}

/* Checks that there is memory for all members that will run at the same time, if each needs as much
 * as the largest unfinished one. */
static enum status check_memory(const struct work *work, struct error *error)
{
    size_t left = 0;
    struct common common = { 0 };
    struct config *largest = NULL;
    struct memory_need most = { 0 };
    for (size_t m = 0; m < work->study->member_count; m++) {
        struct config *config = NULL;
        struct memory_need need;
        if (work->members[m].ended || !work_is_ours(work, m))
            continue;
        left++;
        if (load_member(work, m, &config, &common, error) && !error->status &&
            !need_of_run(config, &need, error) && need_bytes(&need) > need_bytes(&most)) {
            struct config *const smaller = largest;
            largest = config;
            config = smaller;
            most = need;
        }
        config_free(config);
    }
    text_free(&common.lines);
    const size_t runs = left < (size_t)work->jobs ? left : (size_t)work->jobs;
    if (left > 0 && !error->status)
        need_check(largest, &most, runs, error);
    config_free(largest);
    return error->status;
}

/* Loads the config of every member, to report all errors before the first is run. */
static enum status check_all(const struct work *work, struct error *error)
{
    struct common common = { 0 };
    for (size_t m = 0; m < work->study->member_count; m++) {
        struct config *config = NULL;
        load_member(work, m, &config, &common, error);
        config_free(config);
    }
    text_free(&common.lines);
    return error->status;
}

/* --- what is there already -------------------------------------------------------------------- */

/* Refuses to continue a study: reports why, then each of the `differences` in a line. */
static enum status refuse(const struct work *work, const struct error *differences,
                          struct error *error)
{
    struct common common = { 0 };
    error_set(error, STATUS_CONFIG,
              "%s: its runs were made with another configuration; --force%s runs them anew, -o DIR "
              "writes elsewhere",
              work->options->directory,
              work->options->only && work->options->force ? " without --member" : "");
    add_lines(error, differences, &common);
    text_free(&common.lines);
    return error->status;
}

/* Tells whether there is a run.json at `path`, with its file status in *about. A symbolic link is
 * an error: it would lead to the run of somebody else, and then be replaced. */
static bool has_manifest(const char *path, struct stat *about, struct error *error)
{
    if (lstat(path, about) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            error_system(error, STATUS_IO, errno, path);
        return false;
    }
    if (S_ISREG(about->st_mode))
        return true;
    error_set(error, STATUS_CANT_CREATE, "%s: is not a regular file, and Orrery has not made it",
              path);
    return false;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Compares the run that a member has left with its config; unless a single member is to run, takes
 * its row of study.csv. */
static void check_run(struct work *work, size_t member, const struct result *result,
                      const struct study *quiet_keys, struct existing_input *input,
                      struct error *differences)
{
    char path[STUDY_PATH_SIZE];
    struct member *state = &work->members[member];
    struct config *config = NULL;
    struct error broken = { 0 }, no_row = { 0 }; /* no_row: table_write() tries again */
    if (!work->options->only)
        table_take(work->table, member, result, &no_row);
    if (study_load_member(work->study, work->threads, member, &config, &broken))
        error_set(differences, broken.status, "%s", broken.text);
    else
        existing_member(work_path(work, member, path), result, config, quiet_keys, input,
                        &state->ended, &state->status, differences);
    work->done += state->ended;
    config_free(config);
}

/* Finds whether the member has finished, by an earlier command or another job, whatever its
 * verdict, and takes its row of study.csv. A run that is known to have finished is read again only
 * if its run.json was replaced. */
static void check_member(struct work *work, size_t member, const struct study *quiet_keys,
                         struct existing_input *input, struct error *differences)
{
    char path[STUDY_PATH_SIZE], manifest[STUDY_PATH_SIZE + 16];
    struct member *state = &work->members[member];
    struct result result;
    struct error broken = { 0 };
    struct stat about;
    const bool known = state->ended;
    state->ended = false;
    snprintf(manifest, sizeof manifest, "%s/run.json", work_path(work, member, path));
    if (!has_manifest(manifest, &about, differences)) {
        table_forget(work->table, member);
        return;
    }
    if (known && is_same_file(&about, &state->manifest)) {
        state->ended = true;
        work->done++;
        return;
    }
    state->manifest = about;
    const enum status status = existing_open(path, work->study, &result, &broken);
    if (!status) {
        check_run(work, member, &result, quiet_keys, input, differences);
        result_close(&result);
    } else if (status != STATUS_NO_INPUT && status != STATUS_DATA) {
        /* A damaged run.json (STATUS_DATA) counts as none: a restart mends it. */
        error_set(differences, status, "%s", broken.text);
    }
}

/* Checks that the runs of other processes' members, whose rows the table needs, can be read. */
static enum status check_others(const struct work *work, struct error *error)
{
    for (size_t m = 0; m < work->study->member_count; m++) {
        char path[STUDY_PATH_SIZE];
        struct result result;
        struct error problem = { 0 };
        if (work_is_ours(work, m))
            continue;
        const enum status status =
            existing_open(work_path(work, m, path), work->study, &result, &problem);
        result_close(&result);
        if (status && status != STATUS_NO_INPUT)
            return error_set(error, status == STATUS_DATA ? STATUS_CANT_CREATE : status, "%s",
                             problem.text);
    }
    return STATUS_OK;
}

/*
 * Finds the members that need not run again; with --force there are none. All runs must have been
 * made with the present config (else STATUS_CONFIG, with all differences), since a table of the
 * runs of two configs would mean nothing.
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
        return error_memory(error);
    existing_grid(work->options->directory, work->study, now, &differences);
    const struct study *quiet_keys = differences.status ? work->study : NULL;
    /* --force replaces the run of the one member: only the grid must be the same. */
    for (size_t m = 0; m < work->study->member_count && !force && !signals_stop(); m++)
        check_member(work, m, quiet_keys, &input, &differences);
    free(input.path);
    json_decref(now);
    if (signals_stop())
        return error_set(error, STATUS_STOPPED,
                         "%s: stopped by signal %d before it went on; nothing was changed",
                         work->options->directory, signals_stop());
    if (!differences.status)
        return STATUS_OK;
    return differences.status == STATUS_CONFIG
               ? refuse(work, &differences, error)
               : error_set(error, differences.status, "%s", differences.text);
}

/* Tells whether a member will begin anew. Only such members count in the need of disk space: one
 * that continues has written a part of its files already. */
static bool is_new(const void *context, size_t member)
{
    const struct work *work = context;
    return work_is_ours(work, member) && !work->members[member].ended &&
           (work->options->force || !work_has_begun(work, member));
}

/* Returns the status of the whole study, with an error if it was stopped or runs went wrong. */
static enum status judge_members(const struct work *work, struct error *error)
{
    size_t failed = 0, first = 0, ended = 0;
    bool unexpected = false, open = false;
    for (size_t m = 0; m < work->study->member_count; m++) {
        const struct member *state = &work->members[m];
        const bool has_ended = state->ended && state->status != STATUS_STOPPED;
        ended += has_ended && !state->signal;
        if (!work_is_ours(work, m))
            continue;
        open |= !has_ended;
        unexpected |= state->status == STATUS_EXPECT_FAILED;
        if (has_ended && state->status != STATUS_OK && state->status != STATUS_EXPECT_FAILED &&
            failed++ == 0)
            first = m;
    }
    /* A study whose members have all ended is complete, even if it was to stop meanwhile. If a
     * member has not, and the study was not to stop, a signal has stopped that member alone. */
    if (open && (work->stopping || failed == 0))
        return error_set(error, STATUS_STOPPED,
                         "%s: stopped with %zu of %zu runs ended; the same command goes on",
                         work->options->directory, ended, work->study->member_count);
    if (failed == 0)
        return unexpected ? STATUS_EXPECT_FAILED : STATUS_OK;
    char name[STUDY_NAME_SIZE], how[48];
    const struct member *state = &work->members[first];
    snprintf(how, sizeof how, state->signal ? ", killed by signal %d" : " with status %d",
             state->signal ? state->signal : state->status);
    return error_set(error, (enum status)state->status,
                     "%s: %zu of %zu runs went wrong, first %s%s; the same command tries them "
                     "again",
                     work->options->directory, failed, work->study->member_count,
                     study_member_name(first, name), how);
}

/* --- the study -------------------------------------------------------------------------------- */

/* Warns, after one member was run with --force, of other members' runs with another config. */
static void tell_of_others(struct work *work)
{
    struct existing_input input = { 0 };
    size_t others = 0;
    for (size_t m = 0; m < work->study->member_count; m++) {
        struct error differences = { 0 };
        if (!work_is_ours(work, m))
            check_member(work, m, NULL, &input, &differences);
        others += differences.status == STATUS_CONFIG;
    }
    free(input.path);
    char line[STUDY_PATH_SIZE + 160];
    snprintf(line, sizeof line,
             "%s: WARNING: %zu other run%s made with another configuration; the table has both "
             "until --member --force makes them anew",
             work->options->directory, others, others == 1 ? " was" : "s were");
    if (others > 0)
        work_notice(work, line);
}

/* Chooses how many members run at a time (jobs), and the threads of each: as many members as there
 * are cores or, if the user has set the threads, as many as have cores for them. */
static void share_cores(struct work *work)
{
    const int cores = cores_available();
    const size_t left = work->options->only ? 1 : work->study->member_count - work->done;
    if (work->options->threads > 0) {
        work->threads = work->options->threads;
        work->jobs = cores > work->threads ? cores / work->threads : 1;
    } else {
        work->jobs = left < (size_t)cores ? (int)left : cores;
        work->jobs = work->jobs > 0 ? work->jobs : 1;
        work->threads = cores / work->jobs;
    }
}

/* Warns of values from the command line (-P) that those of the sweep replace. */
static void tell_overridden(const struct work *work)
{
    const struct study *study = work->study;
    for (size_t i = 0; !study->convergence && i < work->options->override_count; i++)
        for (size_t k = 0; k < study->key_count; k++) {
            const char *override = work->options->overrides[i], *key = study->keys[k];
            const size_t length = strlen(key);
            char line[512];
            if (strncmp(override, key, length) != 0 ||
                override[length + strspn(override + length, " ")] != '=')
                continue;
            snprintf(line, sizeof line,
                     "WARNING: -P %.200s reaches no run, since the sweep varies %.200s", override,
                     key);
            work_notice(work, line);
        }
}

/* Checks that the study can be run before anything is written. */
static enum status get_ready(struct work *work, struct error *error)
{
    const struct study *study = work->study;
    const struct study_options *options = work->options;
    double bytes;
    if (check_all(work, error))
        return error->status;
    if (options->only > study->member_count)
        return error_set(error, STATUS_USAGE, "there is no member %zu; the study has %zu",
                         options->only, study->member_count);
    if (find_finished(work, error))
        return error->status;
    tell_overridden(work);
    share_cores(work);
    if (check_memory(work, error) || disk_needed(study, options, is_new, work, &bytes, error))
        return error->status;
    return disk_check(options->directory, bytes, error);
}

static enum status run_members(struct work *work, struct directory *directory, struct error *error)
{
    struct error table = { 0 };
    share_cores(work);
    work_run(work);
    table_write(work->table, directory, &table);
    if (work->options->only && work->options->force)
        tell_of_others(work);
    const enum status status = judge_members(work, error);
    if (table.status) /* after the error of a run, which may have caused this one */
        error_set(error, table.status, "%s", table.text);
    return error->status ? error->status : status;
}

enum status study_run(const struct study *study, const struct study_options *options,
                      enum outcome **outcomes, struct error *error)
{
    enum outcome *const found = calloc(study->member_count + 1, sizeof *found);
    *outcomes = NULL;
    struct work work = { .study = study, .options = options, .threads = 1 };
    struct directory *directory = NULL;
    work.members = calloc(study->member_count + 1, sizeof *work.members);
    work.table = table_create(study, options->directory);
    enum status status =
        work.members && work.table && found ? get_ready(&work, error) : error_memory(error);
    signals_catch();
    if (!status)
        status = folder_open(study, options, &directory, error);
    if (!status) /* again: others may have been at work before the lock */
        status = find_finished(&work, error);
    if (!status) {
        status = run_members(&work, directory, error);
        for (size_t m = 0; m < study->member_count; m++)
            found[m] = table_outcome(work.table, m);
        *outcomes = found;
    } else {
        free(found);
    }
    directory_close(directory);
    signals_release();
    table_destroy(work.table);
    free(work.members);
    return status;
}

enum status study_check_memory(const struct study *study, const struct study_options *options,
                               struct error *error)
{
    struct work work = { .study = study, .options = options, .threads = 1 };
    work.members = calloc(study->member_count + 1, sizeof *work.members);
    if (!work.members)
        return error_memory(error);
    share_cores(&work);
    const enum status status = check_memory(&work, error);
    free(work.members);
    return status;
}
