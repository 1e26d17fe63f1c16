#include "output/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The seconds to wait for the lock of a directory before the directory counts as in use, since a
 * process that was killed lives on while the disk takes its last writes; and the seconds to wait
 * for the lock of shared files. */
static const double patience = 3.0, files_patience = 600.0;

enum status directory_lock_files(struct directory *directory, struct error *error)
{
    return lock_take(directory->fd, directory->path, directory->kind->files_lock, LOCK_ALONE,
                     files_patience, &directory->files_lock, error);
}

void directory_unlock_files(struct directory *directory)
{
    if (directory->files_lock >= 0)
        lock_release(directory->fd, directory->kind->files_lock, directory->files_lock);
    directory->files_lock = -1;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Checks that a restart may replace the manifest (run.json, say): it may if Orrery wrote the
 * manifest or if it is damaged, but not if another program wrote it. */
static enum status check_resumable(const struct directory *directory, struct error *error)
{
    const struct directory_kind *kind = directory->kind;
    struct error damaged = { 0 };
    if (directory_replaceable(directory, kind->manifest, error))
        return error->status;
    const bool foreign = manifest_is_foreign(directory, kind, &damaged);
    if (damaged.status == STATUS_MEMORY)
        return error_pass(error, &damaged);
    return foreign ? manifest_refuse(directory, kind, error) : STATUS_OK;
}

static enum status holds_one_already(const struct directory *directory, struct error *error)
{
    struct error damaged = { 0 };
    if (manifest_is_foreign(directory, directory->kind, &damaged))
        return error_set(error, STATUS_CANT_CREATE,
                         "%s: holds the %s of another program; -o DIR writes elsewhere",
                         directory->path, directory->kind->manifest);
    return error_set(error, STATUS_CANT_CREATE,
                     "%s: holds a %s already; --restart continues it, --force replaces it, "
                     "-o DIR writes elsewhere",
                     directory->path, directory->kind->noun);
}

static bool creates(enum directory_mode mode)
{
    return mode == DIRECTORY_NEW || mode == DIRECTORY_FORCE || mode == DIRECTORY_SHARED;
}

/* Waits until the disk has the name of a new directory, since otherwise a loss of power could take
 * the directory with all that is in it. If the parent directory may not be read, that cannot be
 * done. */
static enum status keep_name(const struct directory *directory, enum status status,
                             struct error *error)
{
    const int parent = openat(directory->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0 && errno == EACCES)
        return STATUS_OK;
    const int code = parent < 0 ? errno : directory_flush_names(parent);
    if (parent >= 0)
        close(parent);
    return code ? error_system(error, status, code, directory->path) : STATUS_OK;
}

/* Makes the directory if the mode says so, and opens it. A link in its place is refused, since
 * another person may have chosen where it leads; a slash behind the name says that the user means
 * the link. */
static enum status open_folder(struct directory *directory, enum directory_mode mode,
                               struct error *error)
{
    const bool any = mode == DIRECTORY_ANY;
    const enum status status = creates(mode) || any ? STATUS_CANT_CREATE : STATUS_NO_INPUT;
    directory->created = creates(mode) && mkdir(directory->path, 0777) == 0;
    if (creates(mode) && !directory->created && errno != EEXIST)
        return error_system(error, status, errno, directory->path);
    directory->fd =
        open(directory->path, O_RDONLY | O_DIRECTORY | (any ? 0 : O_NOFOLLOW) | O_CLOEXEC);
    struct stat about;
    if (directory->fd < 0 && lstat(directory->path, &about) == 0 && S_ISLNK(about.st_mode))
        return error_set(error, status, "%s: is a link; write %s/ to follow it", directory->path,
                         directory->path);
    if (directory->fd < 0)
        return error_system(error, status, errno, directory->path);
    return directory->created ? keep_name(directory, status, error) : STATUS_OK;
}

/* Tells whether the directory holds a directory of the kind that its own kind excludes: a study in
 * the place of a run, or a run in that of a study. A study.json of another program does not count;
 * any run.json does, since a study there would be taken for the run. */
static bool holds_excluded(const struct directory *directory)
{
    const struct directory_kind *excluded = directory->kind->excluded;
    if (!excluded || !directory_has(directory, excluded->manifest))
        return false;
    struct error ignored = { 0 };
    json_t *manifest = manifest_parse(directory, excluded, &ignored);
    const bool holds = excluded == &directory_run || manifest_is_ours(manifest, excluded);
    json_decref(manifest);
    return holds;
}

static enum status check_content(const struct directory *directory, enum directory_mode mode,
                                 struct error *error)
{
    const struct directory_kind *kind = directory->kind;
    const bool holds_one = directory_has(directory, kind->manifest);
    if (!creates(mode) && !holds_one)
        return error_set(error, STATUS_NO_INPUT, "%s: holds no %s (no %s)", directory->path,
                         kind->noun, kind->manifest);
    if (mode == DIRECTORY_NEW && holds_one)
        return holds_one_already(directory, error);
    if (creates(mode) && holds_excluded(directory))
        return error_set(error, STATUS_CANT_CREATE, "%s: holds a %s (%s); -o DIR writes elsewhere",
                         directory->path, kind->excluded->noun, kind->excluded->manifest);
    return mode == DIRECTORY_RESUME ? check_resumable(directory, error) : STATUS_OK;
}

/* Removes a lock of the report that is left from a process killed while it removed a run. */
static void remove_dead_lock(const struct directory *directory)
{
    struct error ignored = { 0 };
    int lock;
    if (directory_has(directory, directory_report.files_lock) &&
        lock_take(directory->fd, directory->path, directory_report.files_lock, LOCK_ALONE, 0.0,
                  &lock, &ignored) == STATUS_OK)
        lock_release(directory->fd, directory_report.files_lock, lock);
}

static enum status enter(struct directory *directory, enum directory_mode mode, struct error *error)
{
    if (open_folder(directory, mode, error) || mode == DIRECTORY_ANY ||
        check_content(directory, mode, error))
        return error->status;
    const enum lock_kind lock = mode == DIRECTORY_SHARED ? LOCK_SHARED : LOCK_ALONE;
    if (lock_take(directory->fd, directory->path, directory->kind->lock, lock, patience,
                  &directory->lock, error))
        return error->status;
    /* Checks once more: another process may have begun and ended a run while this one waited for
     * the lock. */
    if (check_content(directory, mode, error) == STATUS_OK && directory->kind == &directory_run &&
        lock == LOCK_ALONE)
        remove_dead_lock(directory);
    return error->status;
}

enum status directory_open_kind(const char *path, const struct directory_kind *kind,
                                enum directory_mode mode, struct directory **result,
                                struct error *error)
{
    *result = NULL;
    struct directory *directory = calloc(1, sizeof *directory);
    if (!directory)
        return error_memory(error);
    directory->kind = kind;
    directory->fd = directory->lock = directory->files_lock = -1;
    directory->path = strdup(path);
    const enum status status =
        directory->path ? enter(directory, mode, error) : error_memory(error);
    if (status)
        directory_close(directory);
    else
        *result = directory;
    return status;
}

enum status directory_open(const char *path, enum directory_mode mode, struct directory **result,
                           struct error *error)
{
    return directory_open_kind(path, &directory_run, mode, result, error);
}

void directory_close(struct directory *directory)
{
    if (!directory)
        return;
    directory_unlock_files(directory);
    if (directory->lock >= 0)
        lock_release(directory->fd, directory->kind->lock, directory->lock);
    if (directory->fd >= 0)
        close(directory->fd);
    if (directory->created)
        rmdir(directory->path); /* fails if anything was written */
    free(directory->path);
    free(directory);
}

void directory_lend(struct directory *directory, struct interruption *interruption)
{
    directory->interruption = interruption;
}

bool directory_interrupted(const struct directory *directory)
{
    return interruption_raised(directory->interruption);
}

const char *directory_path(const struct directory *directory)
{
    return directory->path;
}

/* --- progress --------------------------------------------------------------------------------- */

/* The line of progress in the file of a lock. It has a fixed length, so that each line replaces all
 * of the one before. */
static const char form[] =
    "step %20" PRIu64 " of %20" PRIu64 " from %20" PRIu64 " in %14.3f s at %12.6e /s";
static const char scan_form[] =
    "step %" SCNu64 " of %" SCNu64 " from %" SCNu64 " in %lf s at %lf /s";

void progress_write(const struct directory *directory, const struct progress *progress)
{
    char note[LOCK_TEXT_SIZE];
    snprintf(note, sizeof note, form, progress->step, progress->last, progress->first_step,
             progress->seconds, progress->rate);
    lock_note(directory->lock, note);
}

struct progress progress_read(const char *path, const struct directory_kind *kind)
{
    struct progress progress = { 0 };
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return progress;
    const struct lock_view view = lock_look(folder, kind->lock);
    close(folder);
    progress.held = view.held;
    snprintf(progress.owner, sizeof progress.owner, "%s", view.owner);
    progress.known = sscanf(view.note, scan_form, &progress.step, &progress.last,
                            &progress.first_step, &progress.seconds, &progress.rate) == 5 &&
                     progress.first_step <= progress.step && progress.step <= progress.last;
    clock_stamp_of(view.written, progress.stamp);
    return progress;
}

/* --- the kinds of directory ------------------------------------------------------------------- */

const struct directory_kind directory_run = {
    .noun = "run",
    .manifest = "run.json",
    .lock = "run.lock",
    .format = "orrery run",
    .excluded = &directory_study,
};
const struct directory_kind directory_study = {
    .noun = "study",
    .manifest = "study.json",
    .lock = "study.lock",
    .files_lock = "study.csv.lock",
    .format = "orrery study",
    .excluded = &directory_run,
};
const struct directory_kind directory_report = {
    .noun = "report",
    .manifest = "report.json",
    .lock = "report.lock",
    .files_lock = "report.html.lock",
    .format = "orrery report",
};
const struct directory_kind directory_bench = {
    .noun = "benchmark",
    .manifest = "bench.json",
    .lock = "bench.lock",
    .format = "orrery bench",
};
const struct directory_kind directory_bench_gpu = {
    .noun = "benchmark",
    .manifest = "bench-gpu.json",
    .lock = "bench-gpu.lock",
    .format = "orrery bench --gpu",
};
