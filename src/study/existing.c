#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "estimate/choice.h"
#include "output/run-fields.h"
#include "run/change.h"

/* --- the grid --------------------------------------------------------------------------------- */

static const char *text_at(const json_t *array, size_t index)
{
    const char *text = json_string_value(json_array_get(array, index));
    return text ? text : "unset";
}

static void compare_values(const char *directory, const struct study *study, size_t member,
                           const json_t *was, const json_t *is, struct error *error)
{
    char name[STUDY_NAME_SIZE];
    study_member_name(member, name);
    for (size_t k = 0; k < study->key_count; k++)
        if (strcmp(text_at(was, k), text_at(is, k)) != 0)
            error_set(error, STATUS_CONFIG,
                      "%s/%s: %s was %s in the study that is there, now it "
                      "is %s",
                      directory, name, study->keys[k], text_at(was, k), text_at(is, k));
}

static void compare_grids(const char *directory, const struct study *study, const json_t *before,
                          const json_t *now, struct error *error)
{
    const json_t *was = json_object_get(before, "members"), *is = json_object_get(now, "members");
    const json_t *keys = json_object_get(before, "keys");
    const size_t members = json_array_size(was);
    if (!json_is_array(was) || !json_is_array(keys))
        return;
    if (!json_equal(keys, json_object_get(now, "keys"))) {
        char *old = document_print(keys, JSON_COMPACT);
        char *new = document_print(json_object_get(now, "keys"), JSON_COMPACT);
        error_set(error, STATUS_CONFIG, "%s: the study that is there varies %s, now it is %s",
                  directory, old ? old : "?", new ? new : "?");
        free(old);
        free(new);
    } else {
        for (size_t m = 0; m < study->member_count && m < members; m++)
            compare_values(directory, study, m, json_array_get(was, m), json_array_get(is, m),
                           error);
    }
    if (members != study->member_count)
        error_set(error, STATUS_CONFIG, "%s: the study that is there has %zu runs, now it has %zu",
                  directory, members, study->member_count);
}

void existing_grid(const char *directory, const struct study *study, const json_t *now,
                   struct error *error)
{
    char path[RESULT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/study.json", directory);
    json_t *before = NULL;
    struct error unreadable = { 0 };
    const enum status status = document_load(path, &before, &unreadable);
    /* A study.json that cannot be parsed is refused when the directory is claimed. */
    if (status == STATUS_MEMORY || status == STATUS_IO)
        error_set(error, status, "%s", unreadable.text);
    if (directory_names_program(before))
        compare_grids(directory, study, before, now, error);
    json_decref(before);
}

/* --- a member --------------------------------------------------------------------------------- */

struct comparison {
    const char *directory;
    const struct study *quiet_keys;
    bool finished;
    bool further;     /* the config's end is later than that of the run */
    bool input_known; /* the contents of files of bodies are compared, so their names may differ */
    struct error *error;
};

static bool is_key_of(const struct study *study, const char *path)
{
    for (size_t k = 0; study && k < study->key_count; k++)
        if (strcmp(study->keys[k], path) == 0)
            return true;
    return false;
}

static bool may_differ(const struct comparison *comparison, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_NOTHING:
    case CHANGE_ROUNDING:
        return true;
    case CHANGE_OBSERVES:
        return !comparison->finished;
    case CHANGE_END: /* the restart refuses an end that an unfinished run has passed */
        return !comparison->finished ||
               json_number_value(change->is_set) > json_number_value(change->was_set);
    case CHANGE_INPUT:
        return comparison->input_known;
    case CHANGE_EXPERIMENT:
        break;
    }
    return false;
}

static void judge_change(void *context, const struct change *change)
{
    struct comparison *comparison = context;
    if (is_key_of(comparison->quiet_keys, change->path))
        return;
    if (!may_differ(comparison, change))
        error_set(comparison->error, STATUS_CONFIG, "%s: %s was %s when it ran, now it is %s",
                  comparison->directory, change->path, change->before, change->now);
    else if (change->kind == CHANGE_END)
        comparison->further = true;
}

/* Returns the hash of the contents of the files of bodies; "" if they cannot be read. */
static const char *hash_now(struct existing_input *input, const struct body_files *files)
{
    struct text paths = { 0 };
    for (size_t i = 0; i < files->count; i++)
        text_print(&paths, "%s\n", files->paths[i]);
    const char *const path = paths.failed ? "" : paths.bytes;
    if (!input->path || strcmp(input->path, path) != 0) {
        free(input->path);
        input->path = strdup(path);
        input_hash_all(files, input->hash);
    }
    text_free(&paths);
    return input->hash;
}

/* Returns the first file whose hash is not that in `before`, the list of files in run.json, if it
 * is as long; else the only file, or "these files". *one: the result is a single file. */
static const char *changed_file(const struct body_files *files, const json_t *before, bool *one)
{
    *one = true;
    char hash[INPUT_HASH_SIZE];
    for (size_t i = 0; i < files->count && json_array_size(before) == files->count; i++) {
        const json_t *then = run_field(json_array_get(before, i), FIELD_MEMBER_HASH);
        if (json_is_string(then) &&
            strcmp(json_string_value(then), input_hash(files->paths[i], hash)) != 0)
            return files->paths[i];
    }
    *one = files->count == 1 && body_files_systems(files) == 0;
    return *one ? files->paths[0] : "these files";
}

/* Compares the contents of the files of bodies with those that the run has read: a file of the same
 * name may hold other bodies by now, and a file of another name the same bodies. */
static void compare_input(struct comparison *comparison, const struct result *result,
                          const struct config *config, struct existing_input *input)
{
    const char *models[INPUT_MODELS];
    const struct body_files files = input_files(config, models);
    const char *before = result_string(result, FIELD_BODIES_HASH);
    if (files.count == 0 || !before[0])
        return;
    const char *now = hash_now(input, &files);
    comparison->input_known = now[0] != '\0';
    if (!now[0] || strcmp(before, now) == 0)
        return;
    bool one;
    const char *file = changed_file(&files, result_find(result, FIELD_MEMBERS), &one);
    error_set(comparison->error, STATUS_CONFIG, "%s: %s%s: %s %s other bytes than what it ran from",
              comparison->directory, files.paths == models ? "" : "bodies.", files.key, file,
              one ? "holds" : "hold");
}

enum status existing_open(const char *directory, const struct study *study, struct result *result,
                          struct error *error)
{
    const enum status status = result_open(directory, result, error);
    result->study_end = study_end(study);
    if (status || result_is_of_orrery(result))
        return status;
    result_close(result);
    return error_set(error, STATUS_CANT_CREATE,
                     "%s/run.json: was not written by Orrery; move it away, or write elsewhere "
                     "with -o DIR",
                     directory);
}

void existing_member(const char *directory, const struct result *result,
                     const struct config *config, const struct study *quiet_keys,
                     struct existing_input *input, bool *done, int *status, struct error *error)
{
    const double code = result_real(result, FIELD_EXIT_STATUS);
    struct comparison comparison = { .directory = directory,
                                     .quiet_keys = quiet_keys,
                                     .finished = code == STATUS_OK || code == STATUS_EXPECT_FAILED,
                                     .error = error };
    /* A run that was stopped before its first checkpoint begins anew, so its config may differ. */
    const json_t *before = result_find(result, FIELD_CONFIG);
    if (!json_is_object(before)) {
        error_set(error, STATUS_CONFIG, "%s: its run.json does not say what it ran", directory);
    } else if (comparison.finished || !json_is_false(result_find(result, FIELD_CHECKPOINTED))) {
        struct config *chosen = NULL; /* the config with the step that the run has chosen */
        compare_input(&comparison, result, config, input);
        if (!choice_recall(result->json, config, &chosen, error)) {
            const struct config *const now = chosen ? chosen : config;
            change_visit(before, now, judge_change, &comparison, error);
            if (comparison.further)
                change_check_end(now, before, error);
        }
        config_free(chosen);
    }
    *done = comparison.finished && !comparison.further;
    *status = *done ? (int)code : STATUS_OK;
}
