#include "report/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/name.h"
#include "integrator/stage-list.h"

/* --- names that no run could have written ----------------------------------------------------- */

enum { PLACE_SIZE = 256, DEEPEST = 32, NAME_SHOWN = 80 };

static enum status refuse(const char *path, const char *place, const char *name, const char *what,
                          struct error *error)
{
    char line[NAME_SHOWN + 1];
    snprintf(line, sizeof line, "%.*s", NAME_SHOWN, name);
    for (char *c = line; *c; c++) /* the message is one line */
        *c = *c == '\n' || *c == '\t' ? '?' : *c;
    return error_set(error, STATUS_DATA,
                     "%s: %s%s\"%s\": is no name of a %s that a run could have written", path,
                     place, place[0] ? ": " : "", line, what);
}

/* Checks at all depths that every key of a document is a name that a run could have written. */
static enum status check_keys(json_t *value, const char *path, const char *place, int depth,
                              struct error *error)
{
    const char *key;
    json_t *inner;
    size_t index;
    char within[PLACE_SIZE];
    if (depth > DEEPEST)
        return error_set(error, STATUS_DATA, "%s: %s: more than %d levels deep", path, place,
                         DEEPEST);
    json_object_foreach(value, key, inner)
    {
        snprintf(within, sizeof within, "%s%s%s", place, place[0] ? "." : "", key);
        if (!name_is_word(key))
            return refuse(path, place, key, "key", error);
        if (check_keys(inner, path, within, depth + 1, error))
            return error->status;
    }
    json_array_foreach(value, index, inner)
    {
        snprintf(within, sizeof within, "%s.%zu", place, index);
        if (check_keys(inner, path, within, depth + 1, error))
            return error->status;
    }
    return STATUS_OK;
}

/* Strings of run.json that are names: the field `field` in each element of the list `list`. */
static const struct {
    enum run_field list, field; /* field == list: the elements themselves */
    bool (*is_good)(const char *name);
    const char *what;
} names[] = {
    { FIELD_CONFIG_DIAGNOSTICS, FIELD_DIAGNOSTIC_TYPE, name_is_word, "diagnostic" },
    { FIELD_CONFIG_DIAGNOSTICS, FIELD_DIAGNOSTIC_NAME, name_is_word, "diagnostic" },
    { FIELD_CONFIG_OUTPUTS, FIELD_OUTPUT_TYPE, name_is_word, "output" },
    { FIELD_CONFIG_OUTPUTS, FIELD_OUTPUT_FILE, name_is_file, "file" },
    { FIELD_FILES, FIELD_FILES, name_is_file, "file" },
};

/*
 * Checks every key of the document, the names of diagnostics and outputs in "config", and "files",
 * since they may become names of files, figures and columns. `path` is the document's name in
 * messages. STATUS_DATA with the first name that no run could have written, and its place.
 */
static enum status strange_check(const json_t *document, const char *path, struct error *error)
{
    if (check_keys((json_t *)document, path, "", 0, error))
        return error->status;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const bool plain = names[i].field == names[i].list;
        const json_t *list = run_field(document, names[i].list), *element;
        size_t index;
        json_array_foreach(list, index, element)
        {
            const char *name =
                json_string_value(plain ? element : run_field(element, names[i].field));
            char place[PLACE_SIZE];
            if (!name || names[i].is_good(name))
                continue;
            snprintf(place, sizeof place, "%s.%zu%s%s", run_field_path(names[i].list), index,
                     plain ? "" : ".", plain ? "" : run_field_path(names[i].field));
            return refuse(path, place, name, names[i].what, error);
        }
    }
    return STATUS_OK;
}

/* --- a result --------------------------------------------------------------------------------- */

const char *result_file(const struct result *result, const char *name,
                        char buffer[RESULT_PATH_SIZE])
{
    if (snprintf(buffer, RESULT_PATH_SIZE, "%s/%s", result->path, name) >= RESULT_PATH_SIZE)
        buffer[0] = '\0'; /* no file has so long a path */
    return buffer;
}

static bool has_file(const struct result *result, const char *name)
{
    char path[RESULT_PATH_SIZE];
    return access(result_file(result, name, path), R_OK) == 0;
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* Notes the identity of run.cfg and the time of its last change. It must be a regular file: through
 * a link, another file could get onto a page. */
static enum status identify(const struct result *result, struct result_identity *identity,
                            struct error *error)
{
    char path[RESULT_PATH_SIZE];
    struct stat about;
    *identity = (struct result_identity){ .found = false };
    if (lstat(result_file(result, "run.cfg", path), &about) != 0)
        return STATUS_OK;
    *identity = (struct result_identity){ true, about.st_dev, about.st_ino, about.st_mtim.tv_sec,
                                          about.st_mtim.tv_nsec };
    if (S_ISREG(about.st_mode))
        return STATUS_OK;
    return error_set(error, STATUS_DATA, "%s: is not a regular file, as a run writes it", path);
}

bool result_is_current(const struct result *result)
{
    struct result_identity now;
    const struct result_identity *then = &result->identity;
    struct error ignored = { 0 };
    return identify(result, &now, &ignored) == STATUS_OK && now.found == then->found &&
           now.device == then->device && now.inode == then->inode && now.seconds == then->seconds &&
           now.nanoseconds == then->nanoseconds;
}

/* Makes the integrator that the config gives as a list of stages, once, since its order takes some
 * work to find. Without a list, result->listed has no stages. */
static void read_stages(struct result *result)
{
    const json_t *const stages = result_find(result, FIELD_CONFIG_TIME_STAGES);
    const size_t count = json_array_size(stages);
    const char *words[INTEGRATOR_MAX_STAGES];
    for (size_t k = 0; k < count && k < COUNT_OF(words); k++) {
        const char *const word = json_string_value(json_array_get(stages, k));
        words[k] = word ? word : "";
    }
    if (count == 0 || !stage_list_make(words, count, &result->listed))
        result->listed = (struct integrator){ 0 };
}

static enum status load_result(const char *path, struct result *result, struct error *error)
{
    char manifest[RESULT_PATH_SIZE];
    struct error problem = { 0 };
    result_file(result, "run.json", manifest);
    if (document_load(manifest, &result->json, &problem) == STATUS_NO_INPUT && is_missing(manifest))
        return error_set(error, STATUS_NO_INPUT, "%s: holds no run (no run.json)", path);
    if (problem.status)
        return error_set(error, problem.status, "%s", problem.text);
    if (!json_is_object(result->json))
        error_set(error, STATUS_DATA, "%s: is no JSON object", manifest);
    else if (strange_check(result->json, manifest, error) == STATUS_OK &&
             run_fields_check(result->json, manifest, error) == STATUS_OK) {
        read_stages(result);
        return STATUS_OK;
    }
    result_close(result);
    return error->status;
}

void result_close(struct result *result)
{
    json_decref(result->json);
    result->json = NULL;
}

const char *result_trajectory(const struct result *result, char buffer[RESULT_PATH_SIZE])
{
    size_t index;
    json_t *item;
    json_array_foreach(result_find(result, FIELD_CONFIG_OUTPUTS), index, item)
    {
        const char *type = run_field_string(item, FIELD_OUTPUT_TYPE);
        const char *file = run_field_string(item, FIELD_OUTPUT_FILE);
        if (!file[0] || strcmp(type, "xyz") != 0)
            continue;
        char packed[RESULT_PATH_SIZE];
        snprintf(packed, sizeof packed, "%s.gz", file);
        if (has_file(result, file))
            return result_file(result, file, buffer);
        if (has_file(result, packed))
            return result_file(result, packed, buffer);
    }
    return NULL;
}

json_t *result_find(const struct result *result, enum run_field field)
{
    return run_field(result->json, field);
}

const char *result_string(const struct result *result, enum run_field field)
{
    return run_field_string(result->json, field);
}

double result_real(const struct result *result, enum run_field field)
{
    return run_field_real(result->json, field);
}

bool result_flag(const struct result *result, enum run_field field)
{
    return run_field_flag(result->json, field);
}

json_t *result_config(const struct result *result, const char *key)
{
    return document_find(result_find(result, FIELD_CONFIG), key);
}

double result_measured(const struct result *result, const char *diagnostic, const char *column)
{
    const json_t *rows = result_find(result, FIELD_DIAGNOSTICS);
    const json_t *number = json_object_get(json_object_get(rows, diagnostic), column);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

const struct integrator *result_integrator(const struct result *result)
{
    const char *const name = result_string(result, FIELD_CONFIG_TIME_INTEGRATOR);
    if (strcmp(name, INTEGRATOR_LIST) != 0)
        return integrator_find(name);
    return integrator_has_stages(&result->listed) ? &result->listed : NULL;
}

bool result_is_periodic(const struct result *result)
{
    return strcmp(result_string(result, FIELD_CONFIG_PHYSICS_BOUNDARY), "periodic") == 0;
}

bool result_rotates(const struct result *result)
{
    return fabs(result_real(result, FIELD_CONFIG_PHYSICS_ROTATION)) > 0.0; /* NaN: not set */
}

const struct units *result_units(const struct result *result)
{
    return units_find(result_string(result, FIELD_CONFIG_PHYSICS_UNITS));
}

/*
 * Returns the period that the orbit of the diagnostic `orbit` had at the start; NaN without such an
 * orbit. It follows by Kepler's third law from the last row, which has the present period and the
 * relative change of the semi-major axis, a/a0 - 1. So a run that loses its orbit keeps its unit of
 * time.
 */
static double period_of(const struct result *result)
{
    size_t index;
    json_t *item;
    json_array_foreach(result_find(result, FIELD_CONFIG_DIAGNOSTICS), index, item)
    {
        const char *const type = json_string_value(run_field(item, FIELD_DIAGNOSTIC_TYPE));
        const char *const given = run_field_string(item, FIELD_DIAGNOSTIC_NAME);
        const char *const name = given[0] ? given : "orbit";
        if (!type || strcmp(type, "orbit") != 0)
            continue;
        const double grown = 1.0 + result_measured(result, name, "semi_major_axis_error");
        return result_measured(result, name, "period") / pow(grown, 1.5);
    }
    return NAN;
}

struct time_unit result_time_unit(const struct result *result)
{
    const struct units *const units = result_units(result);
    const struct time_spans spans = {
        .end = result_real(result, FIELD_CONFIG_TIME_END),
        .period = period_of(result),
        .crossing = result_real(result, FIELD_TIME_SCALES_CROSSING),
        .relaxation = result_real(result, FIELD_TIME_SCALES_HALF_MASS_RELAXATION),
    };
    return units ? time_unit_choose(units, &spans) : (struct time_unit){ .size = 1.0 };
}

const char *result_time(const struct result *result, double time, int digits,
                        char buffer[UNITS_TEXT_SIZE])
{
    const struct time_unit unit = result_time_unit(result);
    return time_unit_text(&unit, time, digits, buffer);
}

/* Returns the place behind the next "t = " from `from` on that is not the end of a longer word;
 * NULL if there is none. `begin` is the start of the text. */
static const char *find_time(const char *begin, const char *from)
{
    static const char mark[] = "t = ";
    for (const char *at = from; (at = strstr(at, mark)); at++)
        if (at == begin || at[-1] == ' ' || at[-1] == '(')
            return at + strlen(mark);
    return NULL;
}

void result_put_words(const struct result *result, const char *words, struct text *text)
{
    const struct time_unit unit = result_time_unit(result);
    const struct units *const units = result_units(result);
    const char *from = words;
    char own[UNITS_LABEL_SIZE + 1] = "", time[UNITS_TEXT_SIZE];
    if (units)
        units_behind(units, (struct dimension)DIMENSION_TIME, own);
    for (const char *at = words; unit.size != 1.0 && (at = find_time(words, at));) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at)
            continue;
        end -= end[-1] == '.'; /* the full stop of the sentence */
        text_append(text, from, (size_t)(at - from));
        text_print(text, "%s", value == 0.0 ? "0" : time_unit_text(&unit, value, 4, time));
        from = at = strncmp(end, own, strlen(own)) == 0 ? end + strlen(own) : end;
    }
    text_print(text, "%s", from);
}

static bool has_verdict(const struct result *result, const char *verdict)
{
    return strcmp(result_string(result, FIELD_VERDICT), verdict) == 0;
}

static bool has_ended(const struct result *result)
{
    return !has_verdict(result, "running");
}

/* Finds the state of a run. If run.json says that the run is at work, and nobody holds the lock of
 * a run at work, run.json is read once more: the run may just have written its last run.json, which
 * it does before it lets go of the lock. */
static enum status find_state(struct result *result, struct error *error)
{
    if (has_ended(result))
        return STATUS_OK;
    result->progress = progress_read(result->path, &directory_run);
    if (!result->progress.held) {
        result_close(result);
        if (load_result(result->path, result, error) || has_ended(result))
            return error->status;
        result->progress = progress_read(result->path, &directory_run);
    }
    result->state = result->progress.held ? RESULT_AT_WORK : RESULT_LEFT;
    return STATUS_OK;
}

enum status result_open(const char *path, struct result *result, struct error *error)
{
    *result = (struct result){ 0 };
    snprintf(result->path, sizeof result->path, "%s", path);
    for (size_t end = strlen(result->path); end > 1 && result->path[end - 1] == '/'; end--)
        result->path[end - 1] = '\0';
    if (identify(result, &result->identity, error) || load_result(path, result, error))
        return error->status;
    return find_state(result, error);
}

double result_step(const struct result *result)
{
    const double step = result_real(result, FIELD_CONFIG_TIME_STEP);
    const double reached = result_real(result, FIELD_STEP);
    /* If an integrator chooses its own steps, the grid may be finer than time.step says, or the
     * config may have no step: the time reached tells the spacing. */
    if (result_find(result, FIELD_OWN_STEPS) && reached > 0)
        return result_real(result, FIELD_TIME) / reached;
    return isnan(step)
               ? result_real(result, FIELD_CONFIG_TIME_END) / result_real(result, FIELD_STEPS)
               : step;
}

void result_way_on(const struct result *result, struct text *text)
{
    struct text config = { 0 };
    text_print(&config, "%s/run.cfg", result->path);
    text_print(text, "orrery run ");
    text_shell(text, config.bytes ? config.bytes : "");
    text_print(text, " -o ");
    text_shell(text, result->path);
    text_print(text, " --restart");
    text->failed |= config.failed;
    text_free(&config);
}

bool result_is_of_orrery(const struct result *result)
{
    return directory_names_program(result->json);
}

bool result_broke_off(const struct result *result)
{
    return has_verdict(result, "error");
}

bool result_has_failed(const struct result *result)
{
    return has_verdict(result, "failed");
}

bool result_was_stopped(const struct result *result)
{
    return has_verdict(result, "stopped");
}

bool result_is_over(const struct result *result)
{
    return result->state == RESULT_ENDED && !result_was_stopped(result);
}

bool result_has_end(const struct result *result)
{
    return result->state == RESULT_ENDED && !result_broke_off(result);
}

/* Tells whether the run has come to the end of its own config. */
static bool is_finished(const struct result *result)
{
    return result_is_over(result) && !result_broke_off(result);
}

bool result_falls_short(const struct result *result)
{
    return is_finished(result) && result_real(result, FIELD_CONFIG_TIME_END) < result->study_end;
}

bool result_is_whole(const struct result *result)
{
    return is_finished(result) && !result_falls_short(result);
}

double result_energy_error(const struct result *result)
{
    const double largest = result_real(result, FIELD_LARGEST_ENERGY_ERROR);
    /* A run.json of an earlier version has only the error in rows of the diagnostic. */
    return isnan(largest) ? result_real(result, FIELD_DIAGNOSTICS_CONSERVATION_ENERGY_ERROR)
                          : largest;
}

double result_left_out(const struct result *result)
{
    const double left_out =
        result->state == RESULT_ENDED ? result_real(result, FIELD_LEFT_OUT) : NAN;
    return left_out > 0.0 ? left_out : 0.0;
}

enum status result_series(const struct result *result, const char *name, struct series **series,
                          struct error *error)
{
    char path[RESULT_PATH_SIZE];
    struct stat about;
    *series = NULL;
    if (is_missing(result_file(result, name, path)))
        return STATUS_OK;
    /* The run writes the header together with the first row. */
    if (result->state != RESULT_ENDED && stat(path, &about) == 0 && about.st_size == 0)
        return STATUS_OK;
    return series_read(path, series, error);
}
