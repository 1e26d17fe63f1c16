#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/document.h"
#include "base/memory.h"
#include "report/draw.h"
#include "report/outcome.h"
#include "report/template.h"

enum { SHOWN_KEYS = 8, OVERLAYS = 8, NAMED_RUNS = 6 };

/* --- figures ---------------------------------------------------------------------------------- */

/* Return the largest energy error of a run, and a number of its run.json; NaN for a run that did
 * not come to its end, whose numbers cannot be compared with those of other runs. */
static double energy_error_of(const struct result *result)
{
    return result_is_whole(result) ? result_energy_error(result) : NAN;
}

static double whole_real(const struct result *result, enum run_field field)
{
    return result_is_whole(result) ? result_real(result, field) : NAN;
}

static bool is_energy_error(const char *diagnostic, const char *column)
{
    return strcmp(diagnostic, "conservation") == 0 && strcmp(column, "energy_error") == 0;
}

/* Sets values[run] to the size of a column's last value in each run or, for the energy error, to
 * the largest of the run; NaN for a run that did not come to its end. */
static void find_errors(const struct differences *runs, const char *diagnostic, const char *column,
                        double *values)
{
    const bool energy = is_energy_error(diagnostic, column);
    for (size_t run = 0; run < runs->count; run++) {
        const struct result *result = &runs->results[run];
        const double last = fabs(result_measured(result, diagnostic, column));
        values[run] = energy ? energy_error_of(result) : result_is_whole(result) ? last : NAN;
    }
}

static void find_costs(const struct differences *runs, enum run_field field, double *values)
{
    for (size_t run = 0; run < runs->count; run++)
        values[run] = whole_real(&runs->results[run], field);
}

/* Returns the last rows of the diagnostics, {"diagnostic": {"column": number}}, of the first run
 * that came to its end: runs are compared by the columns in them. NULL if no run did. */
static json_t *find_last_rows(const struct differences *runs)
{
    for (size_t run = 0; run < runs->count; run++)
        if (result_is_whole(&runs->results[run]))
            return result_find(&runs->results[run], FIELD_DIAGNOSTICS);
    return NULL;
}

/* Tells whether runs are compared by a column: by those whose names end in "error", except the
 * energy error of the moment, which goes up and down, and the standard errors of fits, which are no
 * errors of a run. */
static bool is_compared(const char *column)
{
    static const char *const others[] = { "relative_energy_error", "density_slope_error",
                                          "e_folding_time_error" };
    const size_t length = strlen(column);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (strcmp(column, others[i]) == 0)
            return false;
    return length >= 5 && strcmp(column + length - 5, "error") == 0;
}

/* Writes the name of a column, with that of its diagnostic before it if several diagnostics have a
 * column of this name. */
static void name_error(json_t *rows, const char *diagnostic, const char *column,
                       char name[FIGURE_LABEL_SIZE])
{
    const char *other;
    json_t *row;
    size_t having = 0;
    json_object_foreach(rows, other, row) having += json_object_get(row, column) != NULL;
    snprintf(name, FIGURE_LABEL_SIZE, "%.40s%s%.40s", having > 1 ? diagnostic : "",
             having > 1 ? "-" : "", column);
}

/* Tells whether one of the runs is an ensemble. In run.json an ensemble has the last rows of its
 * system 1, but the energy error is the largest of all systems. */
static bool has_ensemble(const struct differences *runs)
{
    for (size_t run = 0; run < runs->count; run++)
        if (result_real(&runs->results[run], FIELD_SYSTEMS) > 1)
            return true;
    return false;
}

static enum status draw_all_errors(const struct differences *runs, const struct errors_axis *axis,
                                   struct figures *figures, struct error *error)
{
    const char *diagnostic, *column;
    json_t *const rows = find_last_rows(runs), *row, *value;
    json_object_foreach(rows, diagnostic, row)
    {
        json_object_foreach(row, column, value)
        {
            char name[FIGURE_LABEL_SIZE];
            if (error->status || !is_compared(column))
                continue;
            find_errors(runs, diagnostic, column, axis->y);
            name_error(rows, diagnostic, column, name);
            struct errors_axis captioned = *axis;
            captioned.caption = !has_ensemble(runs) ? "At the end of each run."
                                : is_energy_error(diagnostic, column)
                                    ? "The largest of each run, in the worst system of an ensemble."
                                    : "At the end of each run, of system 1 of an ensemble.";
            errors_draw(&captioned, name, figures, error);
        }
    }
    return error->status;
}

/* The relative difference of their ends up to which two runs count as equally long: each ends with
 * a whole step. */
static const double length_tolerance = 0.01;

/* Tells whether all runs that came to an end reached the same time. Their configs may ask for
 * different times, or a condition may have ended a run early. */
static bool is_of_one_length(const struct differences *runs)
{
    double least = INFINITY, largest = 0.0;
    for (size_t run = 0; run < runs->count; run++)
        if (result_is_whole(&runs->results[run])) {
            least = fmin(least, result_real(&runs->results[run], FIELD_TIME));
            largest = fmax(largest, result_real(&runs->results[run], FIELD_TIME));
        }
    return largest <= least * (1.0 + length_tolerance);
}

/* Returns the sentence on the slope of the fitted lines. The slope is the order of the method only
 * if the step is the key that was varied, the runs have fixed steps, and all came to the same
 * time. */
static const char *slope_of(const struct differences *runs)
{
#define SLOPE "The slope is that of a straight line through the points, on logarithmic axes"
    bool own = false, bad = false;
    if (strcmp(runs->keys[runs->x], "time.step") != 0)
        return SLOPE ".";
    for (size_t run = 0; run < runs->count; run++) {
        own |= result_find(&runs->results[run], FIELD_OWN_STEPS) != NULL;
        bad |= outcome_mark(&runs->results[run])[0] != '\0';
    }
    if (own)
        return SLOPE ". It is no order of a method that chooses its own steps: time.step is then "
                     "the grid on which a run observes.";
    if (!is_of_one_length(runs))
        return SLOPE ". It is no order of the method: the runs came to different times.";
    return bad ? SLOPE ": the measured order of the method, if none of its runs failed."
               : SLOPE ": the measured order of the method.";
#undef SLOPE
}

static const char *key_label(const struct differences *runs, char label[FIGURE_LABEL_SIZE])
{
    const char *const key = runs->keys[runs->x];
    char unit[UNITS_LABEL_SIZE] = "";
    for (size_t run = 0; run < runs->count && strcmp(key, "time.step") == 0; run++) {
        const struct units *const units = result_units(&runs->results[run]);
        char own[UNITS_LABEL_SIZE] = "";
        if (units)
            units_label(units, (struct dimension)DIMENSION_TIME, own);
        if (run > 0 && strcmp(own, unit) != 0) {
            snprintf(label, FIGURE_LABEL_SIZE, "%s, each run in its own units", key);
            return label;
        }
        memcpy(unit, own, sizeof unit);
    }
    return figure_label(key, unit, label);
}

static bool is_varied(const double *values, size_t count)
{
    const struct extent extent = extent_of(values, count);
    return extent.low > 0 && extent.low < extent.high;
}

/* Draws all errors against the key that was varied, runs->keys[runs->x]; points->x has its
 * values. */
static enum status draw_against_key(const struct differences *runs,
                                    const struct errors_axis *points, struct figures *figures,
                                    struct error *error)
{
    char label[FIGURE_LABEL_SIZE];
    struct errors_axis axis = *points;
    axis.title = runs->keys[runs->x];
    axis.name = differences_short_key(axis.title);
    axis.label = key_label(runs, label);
    axis.slope = slope_of(runs);
    axis.chosen = true;
    return draw_all_errors(runs, &axis, figures, error);
}

/* Draws the energy error against each cost of the runs, if that varies; overwrites points->x by the
 * costs and points->y by the errors. */
static enum status draw_against_costs(const struct differences *runs,
                                      const struct errors_axis *points, struct figures *figures,
                                      struct error *error)
{
    static const struct {
        enum run_field field;
        const char *name, *title, *label, *caption;
    } costs[] = {
        { FIELD_INTERACTIONS, "interactions", "the forces computed", "pair interactions computed",
          "Accuracy against the number of forces: each point is a run, and the lower it "
          "lies at the same cost, the better." },
        { FIELD_ADVANCE_SECONDS, "seconds", "the time of the integration",
          "time of the integration [s]",
          "Accuracy against time on the machine of each run, without its diagnostics and "
          "files." },
    };
    const size_t before = figures->count;
    struct errors_axis axis = *points;
    find_errors(runs, "conservation", "energy_error", axis.y);
    for (size_t i = 0; i < COUNT_OF(costs); i++) {
        axis.name = costs[i].name;
        axis.title = costs[i].title;
        axis.label = costs[i].label;
        axis.caption = costs[i].caption;
        find_costs(runs, costs[i].field, axis.x);
        if (is_varied(axis.x, runs->count) && errors_draw(&axis, "energy_error", figures, error))
            return error->status;
    }
    for (size_t i = before; i < figures->count; i++)
        text_print(&figures->figures[i].caption, "%s%s",
                   has_ensemble(runs) ? " For an ensemble: that of its worst system." : "",
                   is_of_one_length(runs)
                       ? ""
                       : " The runs came to different times, and errors at these do not compare.");
    return STATUS_OK;
}

/* Draws the time that the integration took against the key by->keys[by->x], on which no result
 * depends, such as compute.threads. */
static enum status draw_speed(const struct differences *by, const struct errors_axis *points,
                              struct figures *figures, struct error *error)
{
    struct errors_axis axis = *points;
    axis.title = axis.label = by->keys[by->x];
    axis.name = differences_short_key(axis.title);
    axis.caption = "Time on the machine of each run, without its diagnostics and files.";
    axis.chosen = true;
    find_costs(by, FIELD_ADVANCE_SECONDS, axis.y);
    return errors_draw(&axis, "seconds_of_the_integration", figures, error);
}

/* Draws figures in which each run is a point. If `speed`: the time that the runs took against the
 * key runs->keys[runs->x]; else their errors against that key, if there is one, and against their
 * costs. */
static enum status draw_points(const struct differences *runs, bool speed, struct figures *figures,
                               struct error *error)
{
    char(*labels)[FIGURE_LABEL_SIZE] = memory_array(runs->count, sizeof *labels, error);
    const char **marks = memory_array(runs->count, sizeof *marks, error);
    double *const x = memory_array(runs->count, 2 * sizeof *x, error);
    for (size_t run = 0; run < runs->count && !error->status; run++) {
        differences_label(runs, run, runs->x, labels[run]);
        marks[run] = outcome_mark(&runs->results[run]);
        x[run] = runs->x < 0 ? NAN : differences_x(runs, run);
    }
    if (!error->status) {
        const struct errors_axis points = { .count = runs->count,
                                            .x = x,
                                            .y = x + runs->count,
                                            .labels = (const char(*)[FIGURE_LABEL_SIZE])labels,
                                            .marks = marks };
        if (speed)
            draw_speed(runs, &points, figures, error);
        else if (runs->x < 0 || !draw_against_key(runs, &points, figures, error))
            draw_against_costs(runs, &points, figures, error);
    }
    memory_free(labels);
    memory_free(marks);
    memory_free(x);
    return error->status;
}

static void name_bad_runs(const struct differences *runs, struct figures *figures, size_t first)
{
    struct text words = { 0 };
    size_t bad = 0;
    for (size_t run = 0; run < runs->count; run++) {
        const char *mark = outcome_mark(&runs->results[run]);
        char label[FIGURE_LABEL_SIZE];
        if (!mark[0])
            continue;
        differences_label(runs, run, -1, label);
        if (bad++ < NAMED_RUNS)
            text_print(&words, "%s%s (%s)", words.length ? "; " : "", label, mark);
    }
    if (bad > NAMED_RUNS)
        text_print(&words, "; and %zu more", bad - NAMED_RUNS);
    for (size_t i = first; i < figures->count && bad; i++)
        text_print(&figures->figures[i].finding, DRAW_RUNS_GONE_WRONG "%s.",
                   words.failed ? "" : words.bytes);
    text_free(&words);
}

/* Draws figures with a curve for each run: for all runs if they are few, else for those with the
 * least value of the key on the x axis of other figures, runs->keys[runs->x]. */
static enum status draw_overlays(const struct differences *runs, enum draw_extent extent,
                                 struct figures *figures, struct error *error)
{
    const bool few = runs->count <= OVERLAYS || runs->x < 0;
    const size_t before = figures->count;
    size_t count = 0;
    double least = INFINITY;
    struct overlay_run *drawn = memory_array(runs->count, sizeof *drawn, error);
    for (size_t run = 0; run < runs->count && !few; run++)
        least = fmin(least, differences_x(runs, run));
    for (size_t run = 0; run < runs->count && drawn; run++)
        if (few || differences_x(runs, run) == least) {
            const struct result *result = &runs->results[run];
            drawn[count] = (struct overlay_run){ result, outcome_mark(result), "" };
            differences_label(runs, run, -1, drawn[count++].label);
        }
    if (drawn)
        overlay_draw(drawn, count, extent, figures, error);
    for (size_t i = before; i < figures->count && !few; i++)
        text_print(&figures->figures[i].caption, " For the runs with the least %s.",
                   runs->keys[runs->x]);
    memory_free(drawn);
    return error->status;
}

enum status compare_figures(const struct differences *runs, enum draw_extent extent,
                            struct figures *figures, struct error *error)
{
    const size_t first = figures->count;
    struct differences by = *runs;
    by.x = differences_speed_key(runs);
    if (!draw_points(runs, false, figures, error) && by.x >= 0)
        draw_points(&by, true, figures, error);
    name_bad_runs(runs, figures, first);
    return error->status ? error->status : draw_overlays(runs, extent, figures, error);
}

/* --- the table -------------------------------------------------------------------------------- */

static size_t shown_keys(const struct differences *runs)
{
    return runs->key_count < SHOWN_KEYS ? runs->key_count : SHOWN_KEYS;
}

/* Returns the values for a run's row in the table of runs, NULL for want of memory; *outcome
 * becomes the outcome of the run. */
static json_t *run_view(const struct differences *runs, size_t run, enum outcome *outcome)
{
    const struct result *result = &runs->results[run];
    json_t *const known = unfinished_document(result), *values = json_array();
    struct text why = { 0 };
    for (size_t i = 0; i < shown_keys(runs); i++) {
        char value[64];
        differences_value(runs, run, i, value, sizeof value);
        document_append(&values, DOCUMENT({ "key", json_string_nocheck(runs->keys[i]) },
                                          { "value", json_string_nocheck(value) }));
    }
    *outcome = outcome_of(result, &why);
    why.failed |= !known;
    json_t *const steps = run_field(known, FIELD_STEP);
    json_t *view =
        DOCUMENT({ "run", json_string_nocheck(differences_name(runs, run)) }, { "values", values },
                 { "steps", steps ? json_incref(steps) : json_string("") },
                 { "wall_seconds", document_number(run_field_real(known, FIELD_WALL_SECONDS)) },
                 { "energy_error", document_number(energy_error_of(result)) },
                 { "outcome", outcome_view(result) }, { "why", template_value(&why) });
    json_decref(known);
    return view;
}

static const char *const unended[OUTCOMES] = {
    [OUTCOME_ERROR] = "ended with an error",
    [OUTCOME_STOPPED] = "stopped",
    [OUTCOME_SILENT] = "killed",
    [OUTCOME_AT_WORK] = "at work",
};

/* Returns {"words", "class"} of the badge at the head of the page, which says how many of `count`
 * runs finished; counts[k] is the number of runs with outcome k. */
static json_t *badge_view(size_t count, const size_t counts[OUTCOMES])
{
    const size_t held = counts[OUTCOME_HELD], open = counts[OUTCOME_FINISHED];
    const size_t failed = counts[OUTCOME_FAILED];
    struct text words = { 0 };
    text_print(&words, "%zu of %zu finished", held + open + failed, count);
    if (failed)
        text_print(&words, ": %zu failed", failed);
    if (open)
        text_print(&words, "; of %zu nothing was expected", open);
    if (!failed && !open)
        text_print(&words, " as expected");
    for (size_t k = OUTCOME_ERROR; k <= OUTCOME_AT_WORK; k++)
        if (counts[k] > 0)
            text_print(&words, "; %zu %s", counts[k], unended[k]);
    return DOCUMENT({ "words", template_value(&words) },
                    { "class", json_string(held + open < count ? "bad"
                                           : held              ? "good"
                                                               : "open") });
}

static bool has_other_names(const struct differences *runs)
{
    const char *name = result_string(&runs->results[0], FIELD_NAME);
    for (size_t run = 1; run < runs->count; run++)
        if (strcmp(result_string(&runs->results[run], FIELD_NAME), name) != 0)
            return true;
    return false;
}

/* Returns the address of a run's own report relative to the folder that holds the run, and counts
 * the report in *pages; JSON null if the run has no report. */
static json_t *member_page(const struct result *result, size_t *pages)
{
    char path[RESULT_PATH_SIZE], name[RESULT_PATH_SIZE];
    struct stat about;
    const char *const slash = strrchr(result->path, '/');
    if (!slash || lstat(result_file(result, "report.html", path), &about) != 0 ||
        !S_ISREG(about.st_mode))
        return json_null();
    (*pages)++;
    snprintf(name, sizeof name, "%s/report.html", slash + 1);
    return page_address(name);
}

/* Returns words on costs and errors that are the same in all runs, which no figure shows; JSON null
 * if none is, or if a run did not come to its end. */
static json_t *equal_view(const struct differences *runs)
{
    static const struct {
        enum run_field field;
        const char *words;
    } equals[] = { { FIELD_INTERACTIONS, "computed %.6g pair interactions" },
                   { FIELD_LARGEST_ENERGY_ERROR, "have the largest energy error %.3g" } };
    struct text words = { 0 };
    for (size_t i = 0; i < COUNT_OF(equals); i++) {
        const double first = whole_real(&runs->results[0], equals[i].field);
        bool equal = true;
        for (size_t run = 0; run < runs->count; run++)
            equal &= whole_real(&runs->results[run], equals[i].field) == first;
        if (equal) {
            text_print(&words, words.length ? " and " : "All of them ");
            text_print(&words, equals[i].words, first);
        }
    }
    return words.length || words.failed ? template_value(&words) : json_null();
}

void compare_head(struct text *html, const struct differences *runs, bool members,
                  const char *warning)
{
    size_t counts[OUTCOMES] = { 0 }, pages = 0;
    json_t *keys = json_array(), *rows = json_array();
    for (size_t i = 0; i < shown_keys(runs); i++)
        document_append(&keys, json_string_nocheck(runs->keys[i]));
    for (size_t run = 0; run < runs->count; run++) {
        enum outcome outcome;
        json_t *row = run_view(runs, run, &outcome);
        if (members && row)
            document_set(&row, "page", member_page(&runs->results[run], &pages));
        document_append(&rows, row);
        counts[outcome]++;
    }
    json_t *view =
        DOCUMENT({ "name", json_string_nocheck(result_string(&runs->results[0], FIELD_NAME)) },
                 { "others", json_boolean(has_other_names(runs)) },
                 { "count", json_integer((json_int_t)runs->count) },
                 { "badge", badge_view(runs->count, counts) }, { "keys", keys },
                 { "shown", json_integer((json_int_t)shown_keys(runs)) },
                 { "more", json_integer((json_int_t)(runs->differing - shown_keys(runs))) },
                 { "runs", rows }, { "equal", equal_view(runs) },
                 { "pageless", json_boolean(members && pages == 0) },
                 { "folder", json_string_nocheck(runs->results[0].path) },
                 { "warning", warning[0] ? json_string_nocheck(warning) : json_null() });
    template_fill(html, "runs.html", view, NULL);
}
