#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/build.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/lines.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/sha256.h"
#include "integrator/stage-list.h"
#include "report/outcome.h"
#include "report/plot.h"
#include "report/template.h"

/* Returns the SHA-256 of a style or a script in base64: the content security policy of a page names
 * by it what a browser may use. Frees the text. */
static json_t *hash_view(struct text *text)
{
    unsigned char hash[SHA256_SIZE];
    struct text digest = { 0 };
    sha256(text->bytes ? text->bytes : "", text->length, hash);
    text_base64(&digest, hash, sizeof hash);
    text_free(text);
    return template_value(&digest);
}

/* The content security policy lets a browser use the page's own style and scripts only: text that
 * comes from a directory stays text, even if it looks like a script. */
void page_begin(struct text *html, const char *title, bool player)
{
    struct text style = { 0 }, figures = { 0 }, script = { 0 };
    template_fill(&style, "style.css", DOCUMENT({ "palette", palette_view() }), NULL);
    template_fill(&figures, "figures.js", json_object(), NULL);
    json_t *view =
        DOCUMENT({ "title", json_string_nocheck(title) }, { "style", template_copy(&style) },
                 { "figures_hash", hash_view(&figures) });
    document_set(&view, "style_hash", hash_view(&style));
    if (player) {
        template_fill(&script, "player.js", json_object(), NULL);
        document_set(&view, "player_hash", hash_view(&script));
    }
    template_fill(html, "begin.html", view, NULL);
}

void page_end(struct text *html)
{
    char stamp[CLOCK_STAMP_SIZE];
    template_fill(html, "end.html",
                  DOCUMENT({ "version", json_string(build_version()) },
                           { "commit", json_string(build_commit()) },
                           { "time", json_string(clock_stamp(stamp)) }),
                  NULL);
}

/* --- figures ---------------------------------------------------------------------------------- */

static json_t *figure_view(const struct figure *figure, const char *svg)
{
    static const char *const files[][2] = {
        { "svg", "svg" }, { "png", "png" }, { "dat", "numbers" }, { "gp", "gnuplot" }
    };
    json_t *listed = json_array();
    for (size_t k = 0; k < COUNT_OF(files); k++)
        document_append(&listed, DOCUMENT({ "suffix", json_string(files[k][0]) },
                                          { "words", json_string(files[k][1]) },
                                          { "separator", json_string(k ? " · " : "") }));
    return DOCUMENT({ "name", json_string(figure->name) },
                    { "x_scale", json_string(figure->x_log ? "log" : "linear") },
                    { "y_scale", json_string(figure->y_log      ? "log"
                                             : figure->y_signed ? "signed"
                                                                : "linear") },
                    { "x_label", json_string_nocheck(figure->x_label) },
                    { "title", json_string_nocheck(figure->title) },
                    { "caption", template_copy(&figure->caption) },
                    { "finding", template_copy(&figure->finding) },
                    { "left_out", json_integer((json_int_t)figure->left_out) }, { "files", listed },
                    { "svg", json_string_nocheck(svg) });
}

enum status page_figures(struct text *html, const struct figures *figures,
                         const struct directory *work, struct error *error)
{
    if (figures->count == 0)
        return STATUS_OK;
    json_t *groups = json_array(), *views = json_array();
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *const figure = &figures->figures[i], *const next = figure + 1;
        const bool passed = figure->place == FIGURE_PASSED;
        struct text svg = { 0 };
        if (plot_inline(figure, work, i == 0, &svg, error)) {
            json_decref(groups);
            json_decref(views);
            return error->status;
        }
        document_append(&views, svg.failed ? NULL : figure_view(figure, svg.bytes));
        text_free(&svg);
        if (i + 1 < figures->count && figure->equal_axes == next->equal_axes &&
            passed == (next->place == FIGURE_PASSED))
            continue;
        document_append(&groups,
                        DOCUMENT({ "passed", json_boolean(passed) }, { "figures", views }));
        views = json_array();
    }
    json_decref(views);
    template_fill(html, "figures.html", DOCUMENT({ "groups", groups }), NULL);
    return STATUS_OK;
}

static json_int_t advised_every(const struct result *result)
{
    enum { ROWS = 200 };
    const double steps = result_real(result, FIELD_STEPS);
    return steps >= 2 * ROWS && steps < 1e15 ? (json_int_t)(steps / ROWS) : 1;
}

void page_nothing_measured(struct text *html, const struct result *result, bool pictures)
{
    const bool any = json_array_size(result_find(result, FIELD_CONFIG_DIAGNOSTICS)) > 0;
    template_fill(html, "nothing-measured.html",
                  DOCUMENT({ "unmeasured", json_boolean(!any) },
                           { "broke_off", json_boolean(result_broke_off(result)) },
                           { "at_end", json_boolean(result_is_whole(result)) },
                           { "pictures", json_boolean(pictures) },
                           { "every", json_integer(advised_every(result)) }),
                  result->json);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Returns {kind: [{"text", "number"}, ...]} for a line of a CSV file: text is the cell, in six
 * digits if it is a number; number tells whether it is. */
static json_t *row_view(char *line, const char *kind)
{
    enum { MOST_CELLS = 256 };
    char *cells[MOST_CELLS], number[32];
    json_t *row = json_array();
    const size_t count = text_split(line, ',', cells, MOST_CELLS);
    for (size_t i = 0; i < count && i < MOST_CELLS; i++) {
        double value;
        const bool is_number = text_parse_real(cells[i], &value);
        snprintf(number, sizeof number, "%.6g", is_number ? value : 0.0);
        document_append(&row,
                        DOCUMENT({ "text", json_string_nocheck(is_number ? number : cells[i]) },
                                 { "number", json_boolean(is_number) }));
    }
    return DOCUMENT({ kind, row });
}

enum status page_csv(struct text *html, const char *heading, const char *path, struct error *error)
{
    struct lines *lines;
    struct error none = { 0 };
    char *line;
    if (lines_open_own(path, &lines, &none))
        return none.status == STATUS_NO_INPUT ? STATUS_OK : error_pass(error, &none);
    json_t *rows = json_array();
    for (const char *kind = "header"; !lines_next(lines, &line, error) && line; kind = "cells")
        document_append(&rows, row_view(line, kind));
    lines_close(lines);
    template_fill(html, "table.html",
                  DOCUMENT({ "heading", json_string(heading) }, { "rows", rows }), NULL);
    return error->status;
}

void page_title(const struct result *result, char title[PAGE_TITLE_SIZE])
{
    const char *const name = result_string(result, FIELD_NAME);
    const char *const slash = strrchr(result->path, '/');
    const char *const place = slash ? slash + 1 : result->path;
    const char *const suffix = strstr(place, ".run");
    const size_t length = suffix && !suffix[4] ? (size_t)(suffix - place) : strlen(place);
    const bool same = length == strlen(name) && strncmp(place, name, length) == 0;
    const bool alone = same || place[0] == '.';
    snprintf(title, PAGE_TITLE_SIZE, "%s%s%s", name, alone ? "" : ": ", alone ? "" : place);
}

/* --- one run ---------------------------------------------------------------------------------- */

/* Sets the words on the drift of the energy that the accuracy watch has found, and their class:
 * "bad" if it is beyond the limit in a system; "good" if it is within a limit, in a run that came
 * to its end and did not fail; else "quiet". */
static void set_drift(json_t **view, const struct result *result, bool whole)
{
    const bool drifts = result_real(result, FIELD_WATCH_ENERGY_DRIFT_SYSTEMS_BEYOND) > 0;
    const double change = fabs(result_real(result, FIELD_WATCH_ENERGY_DRIFT_CHANGE));
    const double limit = result_real(result, FIELD_WATCH_LIMITS_ENERGY_DRIFT);
    const bool good = whole && !result_has_failed(result) && change <= limit;
    document_set(view, "drift_class", json_string(drifts ? "bad" : good ? "good" : "quiet"));
    document_set(view, "drift_words",
                 json_string(drifts         ? "The energy drifts"
                             : isnan(limit) ? "Drift of the energy, not judged"
                             : whole        ? "No drift beyond the limit"
                                            : "No drift so far"));
}

/* Sets the times on the page: lengths of steps in the unit of the config, all others in that of
 * result_time_unit(). */
static void set_times(json_t **view, const struct result *result)
{
    static const struct {
        const char *key;
        enum run_field field;
    } times[] = { { "smallest_step", FIELD_OWN_STEPS_SMALLEST },
                  { "stuck_time", FIELD_OWN_STEPS_STUCK_AT },
                  { "pair_time", FIELD_WATCH_FASTEST_PAIR_TIME } };
    char time[UNITS_TEXT_SIZE];
    document_set(view, "step_size",
                 json_string(units_time(result_units(result), result_step(result), 6, time)));
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        const double value = result_real(result, times[i].field);
        const char *const words = times[i].field == FIELD_OWN_STEPS_SMALLEST
                                      ? units_time(result_units(result), value, 3, time)
                                      : result_time(result, value, 6, time);
        document_set(view, times[i].key, json_string(value == 0.0 ? "0" : words));
    }
}

/* Returns a number as a string: a whole number with all digits, any other with four; null for
 * NaN. */
static json_t *short_number(double value)
{
    char words[32];
    if (isnan(value))
        return json_null();
    snprintf(words, sizeof words, "%.*g", value == floor(value) && fabs(value) < 1e15 ? 15 : 4,
             value);
    return json_string(words);
}

/* Sets the words on the time that the run has reached, and the end that its config asks for: in the
 * unit of result_time_unit(), and in that of the config, which `other_unit` says is a different
 * one. */
static void set_reached(json_t **view, const struct result *result)
{
    const double time = result_real(result, FIELD_TIME);
    const double end = result_real(result, FIELD_CONFIG_TIME_END);
    const struct time_unit unit = result_time_unit(result);
    struct text reached = { 0 }, own = { 0 };
    char buffer[UNITS_TEXT_SIZE];
    if (isnan(time))
        return;
    text_print(&reached, "%.4g", time / unit.size);
    text_print(&own, "t = %.*g", time == floor(time) && time < 1e15 ? 15 : 4, time);
    if (isfinite(end)) {
        text_print(&reached, " of %.4g", end / unit.size);
        text_print(&own, " of %s", units_time(result_units(result), end, 6, buffer));
    }
    document_set(view, "tile_time", template_value(&reached));
    document_set(view, "tile_time_unit", json_string(unit.name));
    document_set(view, "tile_time_own", template_value(&own));
    document_set(view, "other_unit", json_boolean(unit.size != 1.0));
    document_set(view, "time_words", json_string(result_time(result, time, 4, buffer)));
}

static void set_tiles(json_t **view, const struct result *result)
{
    static const struct {
        const char *key;
        enum run_field one, many; /* field for one system, for an ensemble; RUN_FIELDS: not shown */
    } tiles[] = {
        { "tile_error", FIELD_LARGEST_ENERGY_ERROR,
          FIELD_DIAGNOSTICS_CONSERVATION_ENSEMBLE_ENERGY_ERROR_Q50 },
        { "tile_ratio", FIELD_DIAGNOSTICS_CONSERVATION_VIRIAL_RATIO,
          FIELD_DIAGNOSTICS_CONSERVATION_ENSEMBLE_VIRIAL_RATIO_Q50 },
        { "tile_crossing", FIELD_TIME_SCALES_CROSSING, RUN_FIELDS },
        { "tile_relaxation", FIELD_TIME_SCALES_HALF_MASS_RELAXATION, RUN_FIELDS },
        { "tile_own", FIELD_OWN_STEPS_STEPS, FIELD_OWN_STEPS_STEPS },
        { "tile_wall", FIELD_WALL_SECONDS, FIELD_WALL_SECONDS },
        { "counted", RUN_FIELDS, FIELD_DIAGNOSTICS_CONSERVATION_ENSEMBLE_SYSTEMS },
    };
    const bool many = result_real(result, FIELD_SYSTEMS) > 1;
    const struct units *units = result_units(result);
    char label[UNITS_LABEL_SIZE] = "";
    if (units && units_physical(units))
        units_label(units, (struct dimension)DIMENSION_TIME, label);
    for (size_t i = 0; i < COUNT_OF(tiles); i++) {
        const enum run_field field = many ? tiles[i].many : tiles[i].one;
        document_set(view, tiles[i].key,
                     short_number(field < RUN_FIELDS ? result_real(result, field) : NAN));
    }
    if (result_rotates(result))
        document_set(view, "tile_ratio", json_null()); /* W leaves out the Coriolis force */
    document_set(view, "tile_rate",
                 document_number(result_real(result, FIELD_INTERACTIONS_PER_SECOND)));
    document_set(view, "many", json_boolean(many));
    document_set(view, "time_unit", json_string(label));
    set_reached(view, result);
}

/* Sets the sentences on the accuracy watch. In a run that has not ended or that broke off, they say
 * that its limits have held until then. */
static void set_watch(json_t **view, const struct result *result, bool whole)
{
    const bool holds = result_flag(result, FIELD_WATCH_HOLDS);
    const bool broke_off = result_broke_off(result);
    const char *warning = result_string(result, FIELD_WATCH_TEXT);
    const char *unjudged = result_string(result, FIELD_WATCH_ENERGY_UNJUDGED);
    struct text words = { 0 };
    text_print(&words, "%s%s",
               !holds                    ? "It failed"
               : broke_off && warning[0] ? "It had no failure to report until the run broke off."
               : broke_off               ? "It had nothing to object to until the run broke off."
               : unjudged[0]             ? "It has not judged the energy."
               : whole                   ? "Its limits hold."
                                         : "Its limits hold so far.",
               !warning[0] ? ""
               : holds     ? " It warned: "
                           : ": ");
    result_put_words(result, warning, &words);
    text_print(&words, "%s", warning[0] || !holds ? "." : "");
    document_set(view, "watch_class",
                 json_string(!holds ? "bad"
                             : whole && !warning[0] && !unjudged[0] && !result_has_failed(result)
                                 ? "good"
                                 : "quiet"));
    document_set(view, "watch_words", template_value(&words));
    document_set(
        view, "unmeasured",
        json_boolean(broke_off && isnan(result_real(result, FIELD_WATCH_ENERGY_ERROR_TIME))));
    document_set(view, "statistics",
                 json_string(!holds      ? "none, see the accuracy watch"
                             : broke_off ? "until the run broke off"
                             : whole     ? "the whole run"
                                         : "the run so far"));
}

void page_run_head(struct text *html, const struct result *run)
{
    const struct result known = { .json = unfinished_document(run), .listed = run->listed };
    const struct result *const result = &known;
    const struct units *units = result_units(result);
    const struct integrator *const own = result_integrator(run); /* NULL: not known */
    const double softening = result_real(result, FIELD_CONFIG_PHYSICS_SOFTENING);
    const double distance = result_real(result, FIELD_WATCH_FASTEST_PAIR_DISTANCE);
    const double scale = result_real(result, FIELD_WATCH_FASTEST_PAIR_STEPS_PER_TIME_SCALE);
    const bool whole = result_is_whole(run);
    char eps[UNITS_TEXT_SIZE], apart[UNITS_TEXT_SIZE], steadiness[32], period[TEXT_REAL_SIZE];
    char title[PAGE_TITLE_SIZE];
    struct text uncounted = { 0 };
    page_title(run, title);
    outcome_left_out(run, &uncounted);
    snprintf(steadiness, sizeof steadiness, "%.0f",
             100.0 * result_real(result, FIELD_WATCH_ENERGY_DRIFT_STEADINESS));
    text_factor(period, 2.0 * M_PI * scale, 3);
    json_t *view = DOCUMENT(
        { "any_findings", json_boolean(json_array_size(result_find(result, FIELD_FINDINGS)) > 0) },
        { "chooses_steps", json_boolean(result_find(result, FIELD_OWN_STEPS) != NULL) },
        { "broke_off", json_boolean(result_broke_off(result)) },
        { "groups", findings_table_view(run) },
        { "softening", json_string(units_length(units, softening, 6, eps)) },
        { "pair_distance", json_string(units_length(units, distance, 3, apart)) },
        { "steadiness_percent", json_string(steadiness) },
        { "pair_period", isnan(scale) ? json_null() : json_string(period) },
        { "advised", json_integer(own ? (json_int_t)integrator_advised_steps(own)
                                      : INTEGRATOR_STEPS_PER_PERIOD) },
        { "outcome", outcome_view(run) }, { "title", json_string_nocheck(title) },
        { "at_end", json_boolean(whole) },
        { "lost_energy", json_boolean(findings_table_lost_energy(run)) },
        { "at_least", json_boolean(run->state != RESULT_ENDED) }, { "broken", outcome_broken(run) },
        { "uncounted", template_value(&uncounted) }, { "unfinished", unfinished_view(run) });
    set_drift(&view, result, whole);
    set_watch(&view, result, whole);
    set_times(&view, result);
    set_tiles(&view, result);
    template_fill(html, "run-head.html", known.json ? view : NULL, known.json);
    json_decref(known.json);
}

/* --- what ran --------------------------------------------------------------------------------- */

static json_t *fact_view(const char *within, const char *key, const json_t *value)
{
    char name[128];
    char *dump = document_print(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    snprintf(name, sizeof name, "%s%s%s", within, within[0] ? " " : "", key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    json_t *view = DOCUMENT(
        { "key", json_string(name) },
        { "value", json_string_nocheck(json_is_string(value) ? json_string_value(value) : dump) });
    free(dump);
    return view;
}

/* Adds {"key", "value"} of every scalar in an object, with `within`, the object's name, before each
 * key. */
static void add_facts(json_t **views, json_t *object, const char *within)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const bool empty = json_is_string(value) && !json_string_value(value)[0];
        if (!json_is_object(value) && !json_is_array(value) && !json_is_null(value) && !empty)
            document_append(views, fact_view(within, key, value));
    }
}

json_t *page_address(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~/";
    struct text address = { 0 };
    for (const char *c = name; *c; c++)
        if (strchr(plain, *c))
            text_append(&address, c, 1);
        else
            text_print(&address, "%%%02X", (unsigned char)*c);
    return template_value(&address);
}

static json_t *files_view(const struct result *result, bool beside)
{
    size_t index;
    json_t *item, *views = json_array();
    json_array_foreach(result_find(result, FIELD_FILES), index, item)
    {
        char path[RESULT_PATH_SIZE];
        struct stat about;
        const char *name = json_string_value(item);
        if (name && name_is_file(name) && lstat(result_file(result, name, path), &about) == 0 &&
            S_ISREG(about.st_mode))
            document_append(&views, DOCUMENT({ "name", json_string(name) },
                                             { "address", page_address(name) },
                                             { "beside", json_boolean(beside) },
                                             { "size", json_integer(about.st_size) }));
    }
    return views;
}

static json_t *config_view(const struct result *result)
{
    char path[RESULT_PATH_SIZE], *line;
    struct text text = { 0 };
    struct lines *lines;
    struct error none = { 0 };
    if (lines_open_own(result_file(result, "run.cfg", path), &lines, &none))
        return none.status == STATUS_MEMORY ? NULL : json_string("");
    while (!lines_next(lines, &line, &none) && line)
        text_print(&text, "%s\n", line);
    lines_close(lines);
    text.failed |= none.status == STATUS_MEMORY;
    return template_value(&text);
}

/* Returns the command that started the run, without options for where to write; JSON null if
 * run.json does not have it. */
static json_t *command_view(const struct result *result)
{
    const char *file = result_string(result, FIELD_ASKED_FILE);
    struct text command = { 0 };
    size_t index;
    json_t *change;
    if (!file[0])
        return json_null();
    text_print(&command, "orrery run ");
    text_shell(&command, file);
    json_array_foreach(result_find(result, FIELD_ASKED_CHANGES), index, change)
    {
        const char *words = json_string_value(change);
        text_print(&command, " -P ");
        text_shell(&command, words ? words : "");
    }
    return template_value(&command);
}

void page_run_foot(struct text *html, const struct result *run, bool beside)
{
    const struct result known = { .json = unfinished_document(run), .listed = run->listed };
    const struct result *const result = &known;
    const struct integrator *const integrator = result_integrator(result);
    const bool listed = integrator && result_find(result, FIELD_CONFIG_TIME_STAGES);
    struct text stages = { 0 };
    json_t *facts = json_array();
    if (listed)
        stage_list_print(integrator, &stages);
    add_facts(&facts, result_find(result, FIELD_PROGRAM), "program");
    add_facts(&facts, result_find(result, FIELD_COMPUTE), "compute");
    add_facts(&facts, result->json, "");
    json_t *view = DOCUMENT(
        { "facts", facts }, { "run_cfg", config_view(run) }, { "listed", files_view(run, beside) },
        { "command", command_view(result) },
        { "order", integrator ? json_integer(integrator->order) : json_null() },
        { "stages", listed ? template_value(&stages) : json_null() },
        { "symplectic", json_boolean(integrator && integrator->symplectic) },
        { "chooses_steps", json_boolean(result_find(result, FIELD_OWN_STEPS) != NULL) },
        { "one_body", json_boolean(result_real(result, FIELD_BODIES) == 1.0) },
        { "several_threads", json_boolean(result_real(result, FIELD_COMPUTE_THREADS) > 1.0) },
        { "several_ranks", json_boolean(result_real(result, FIELD_COMPUTE_RANKS) > 1.0) });
    set_times(&view, result);
    set_tiles(&view, result);
    template_fill(html, "run-foot.html", known.json ? view : NULL, known.json);
    json_decref(known.json);
}
