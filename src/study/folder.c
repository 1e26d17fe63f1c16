#include "study/study.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/child.h"
#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"
#include "estimate/estimate.h"
#include "report/result.h"
#include "run/record.h"
#include "run/run.h"

/* --- what belongs to the study ---------------------------------------------------------------- */

enum { OWN_FILES = 3 };

struct names {
    const char **names; /* "study.json", ..., "001/", ... */
    char (*folders)[STUDY_NAME_SIZE];
    size_t count;
};

static void names_free(struct names *names)
{
    free(names->names);
    free(names->folders);
}

static enum status names_create(const struct study *study, struct names *names, struct error *error)
{
    const size_t members = study->member_count;
    *names = (struct names){ calloc(members + OWN_FILES, sizeof(char *)),
                             calloc(members + 1, sizeof *names->folders), 0 };
    if (!names->names || !names->folders) {
        names_free(names);
        return error_memory(error);
    }
    names->names[names->count++] = "study.json";
    names->names[names->count++] = "study.csv";
    if (study->convergence)
        names->names[names->count++] = "convergence.csv";
    for (size_t m = 0; m < members; m++) {
        char name[STUDY_NAME_SIZE];
        snprintf(names->folders[m], STUDY_NAME_SIZE, "%.*s/", STUDY_NAME_SIZE - 2,
                 study_member_name(m, name));
        names->names[names->count++] = names->folders[m];
    }
    return STATUS_OK;
}

json_t *folder_describe(const struct study *study)
{
    json_t *members = json_array(), *keys = json_array();
    for (size_t k = 0; k < study->key_count; k++)
        document_append(&keys, json_string(study->keys[k]));
    for (size_t m = 0; m < study->member_count; m++) {
        json_t *row = json_array();
        for (size_t k = 0; k < study->key_count; k++)
            document_append(&row, json_string(study->values[m * study->key_count + k]));
        document_append(&members, row);
    }
    return DOCUMENT({ "keys", keys }, { "members", members },
                    { "time_end", document_number(study_end(study)) });
}

static bool is_same(const json_t *before, const json_t *now)
{
    return json_equal(json_object_get(before, "keys"), json_object_get(now, "keys")) &&
           json_equal(json_object_get(before, "members"), json_object_get(now, "members"));
}

/* --- removing the runs of a study ------------------------------------------------------------- */

static int is_no_dot(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static void tell_what_stays(const struct study_options *options, const char *path)
{
    enum { SHOWN = 5 };
    struct dirent **entries;
    struct text line = { 0 };
    const int count = scandir(path, &entries, is_no_dot, alphasort);
    if (count < 0)
        return;
    text_print(&line, "%s: files that Orrery did not write stay there:", path);
    for (int i = 0; i < count; i++) {
        if (i < SHOWN)
            text_print(&line, "%s %s", i ? "," : "", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (count > SHOWN)
        text_print(&line, " and %d more", count - SHOWN);
    if (options->notice && count > 0 && !line.failed)
        options->notice(options->context, line.bytes);
    text_free(&line);
}

/* Removes the run of a member; if `look_only`, only checks that it can be removed. */
static enum status remove_member(const struct study_options *options, const char *path,
                                 bool look_only, struct error *error)
{
    struct directory *directory;
    if (directory_open(path, DIRECTORY_FORCE, &directory, error))
        return error->status;
    const enum status status = look_only ? directory_check(directory, NULL, 0, error)
                                         : directory_claim(directory, NULL, 0, error);
    directory_close(directory);
    if (!status && !look_only && rmdir(path) != 0)
        tell_what_stays(options, path);
    return status;
}

static bool is_member_name(const char *name)
{
    const size_t digits = name ? strspn(name, "0123456789") : 0;
    return digits >= 3 && digits < STUDY_NAME_SIZE && strcmp(name + digits, "/") == 0;
}

static enum status remove_members(const json_t *manifest, const struct study_options *options,
                                  bool look_only, struct error *error)
{
    size_t index;
    json_t *file;
    json_array_foreach(json_object_get(manifest, "files"), index, file)
    {
        const char *name = json_string_value(file);
        char path[STUDY_PATH_SIZE];
        struct stat about;
        if (!is_member_name(name))
            continue;
        snprintf(path, sizeof path, "%s/%.*s", options->directory, (int)strlen(name) - 1, name);
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode) &&
            remove_member(options, path, look_only, error))
            return error->status;
    }
    return STATUS_OK;
}

static enum status remove_study(struct directory *directory, const json_t *manifest,
                                const struct study_options *options, struct error *error)
{
    if (remove_members(manifest, options, true, error) ||
        remove_members(manifest, options, false, error))
        return error->status;
    return directory_clear(directory, error);
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum status make_room(struct directory *directory, const json_t *before, bool same,
                             const struct names *names, const struct study_options *options,
                             struct error *error)
{
    if (before && !same && !options->force)
        return error_set(error, STATUS_CANT_CREATE,
                         "%s: holds another study; --force replaces its runs, -o DIR writes "
                         "elsewhere",
                         options->directory);
    if (directory_check(directory, names->names, names->count, error))
        return error->status;
    return before && !same ? remove_study(directory, before, options, error) : STATUS_OK;
}

/* Makes the directory that of the study, and removes another study if that is forced. Writes
 * study.json before anything else, since it lists the files that a later command may remove. */
static enum status claim(const struct study *study, struct directory *directory,
                         const struct names *names, const struct study_options *options,
                         struct error *error)
{
    json_t *before = directory_manifest(directory, error), *now = folder_describe(study);
    /* With options->only, --force replaces that run alone, but another study as a whole. */
    const bool stays = !options->force || options->only;
    const bool same = before && now && stays && is_same(before, now);
    const bool same_end =
        json_equal(json_object_get(before, "time_end"), json_object_get(now, "time_end"));
    if (!now)
        error_memory(error);
    if (!error->status)
        make_room(directory, before, same, names, options, error);
    if (!error->status && !(same && same_end))
        directory_note(directory, json_incref(now), names->names, names->count, error);
    json_decref(before);
    json_decref(now);
    return error->status;
}

/* Removes the lock files of processes that were killed at their very end: their runs are finished,
 * so nobody opens the directories again. To open and close a directory removes its lock. */
static void remove_stale_locks(const struct study *study, const struct study_options *options)
{
    for (size_t m = 0; m < study->member_count; m++) {
        char path[STUDY_PATH_SIZE], lock[STUDY_PATH_SIZE + 16];
        struct error ignored = { 0 };
        struct directory *directory;
        study_member_path(options->directory, m, path);
        snprintf(lock, sizeof lock, "%s/%s", path, directory_run.lock);
        if ((!options->only || options->only == m + 1) && access(lock, F_OK) == 0 &&
            directory_open(path, DIRECTORY_RESUME, &directory, &ignored) == STATUS_OK)
            directory_close(directory);
    }
}

enum status folder_open(const struct study *study, const struct study_options *options,
                        struct directory **result, struct error *error)
{
    const enum directory_mode mode = options->only ? DIRECTORY_SHARED : DIRECTORY_FORCE;
    struct directory *directory;
    struct names names;
    *result = NULL;
    if (directory_open_kind(options->directory, &directory_study, mode, &directory, error))
        return error->status;
    enum status status = names_create(study, &names, error);
    if (!status) {
        status = directory_lock_files(directory, error);
        if (!status)
            status = claim(study, directory, &names, options, error);
        directory_unlock_files(directory);
        names_free(&names);
    }
    if (status) {
        directory_close(directory);
    } else {
        remove_stale_locks(study, options);
        *result = directory;
    }
    return status;
}

/* --- what has come of it ---------------------------------------------------------------------- */

enum status folder_is_complete(const struct study *study, const char *path, bool *complete,
                               struct error *error)
{
    *complete = true;
    for (size_t m = 0; m < study->member_count && *complete; m++) {
        char run[STUDY_PATH_SIZE];
        struct result result;
        struct error problem = { 0 };
        const enum status status = result_open(study_member_path(path, m, run), &result, &problem);
        if (status && status != STATUS_NO_INPUT)
            return error_set(error, status, "%s", problem.text);
        result.study_end = study_end(study);
        const double code = status ? NAN : result_real(&result, FIELD_EXIT_STATUS);
        *complete =
            (code == STATUS_OK || code == STATUS_EXPECT_FAILED) && !result_falls_short(&result);
        result_close(&result);
    }
    return STATUS_OK;
}
