#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/build.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/memory.h"
#include "diagnostics/watch.h"

void page_escape(struct text *html, const char *words)
{
    for (const char *c = words; *c; c++)
        if (*c == '<')
            text_print(html, "&lt;");
        else if (*c == '>')
            text_print(html, "&gt;");
        else if (*c == '&')
            text_print(html, "&amp;");
        else if (*c == '"')
            text_print(html, "&quot;");
        else
            text_append(html, c, 1);
}

/* --- the frame ----------------------------------------------------------------------------------
 */

static const char style[] =
    "body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,'Segoe UI',Roboto,'Helvetica Neue',sans-serif}"
    "main{max-width:70rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .2rem;overflow-wrap:anywhere}"
    "h2{font-size:1.2rem;margin:2.2rem 0 .7rem}"
    "p{margin:.3rem 0}a{color:var(--c0)}.quiet{color:var(--muted)}"
    ".head{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:baseline}"
    ".verdict{font-weight:600;padding:.1rem .7rem;border-radius:1rem;border:1px solid;"
    "white-space:nowrap}"
    ".good{color:var(--c2)}.bad{color:var(--c4)}.open{color:var(--muted)}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:.7rem;"
    "margin:1.2rem 0 0;padding:0}"
    ".tiles div{background:var(--card);border:1px solid var(--grid);border-radius:.5rem;"
    "padding:.5rem .8rem}"
    "dt{color:var(--muted);font-size:.85rem}"
    "dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}"
    ".tiles dd{font-size:1.15rem;font-weight:600}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--grid);"
    "vertical-align:top}th{color:var(--muted);font-weight:500;font-size:.85rem}"
    "td.n,th.n{text-align:right}"
    ".figures{display:grid;gap:1rem;align-items:start;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}"
    "figure{margin:0;background:var(--card);border:1px solid var(--grid);border-radius:.5rem;"
    "padding:.8rem;break-inside:avoid}"
    "figure svg,figure img{display:block;width:100%;height:auto}"
    "figure svg text{font-family:inherit}"
    "figcaption{font-size:.9rem;margin-top:.4rem}figcaption b{display:block;font-size:1rem}"
    "figcaption .files{display:block;font-size:.8rem}"
    "dl.facts{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.15rem 1rem}"
    "summary{cursor:pointer;font-weight:600}"
    "pre{background:var(--card);border:1px solid var(--grid);border-radius:.5rem;padding:.8rem;"
    "overflow-x:auto;font-size:.85rem}"
    "@media print{main{max-width:none;padding:0}figure{border:0;padding:0}.files{display:none}"
    "body{font-size:10pt}.figures{grid-template-columns:1fr 1fr}}";

void page_begin(struct text *html, const char *title)
{
    text_print(html, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    page_escape(html, title);
    text_print(html, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n:root{--page:#fafbfc;"
                     "--card:#ffffff;");
    figure_css(html, false);
    text_print(html, "}\n@media screen and (prefers-color-scheme:dark){:root{--page:#14171c;"
                     "--card:#1b1f26;");
    figure_css(html, true);
    text_print(html, "}}\n%s\n</style>\n</head>\n<body>\n<main>\n", style);
}

void page_end(struct text *html)
{
    char stamp[CLOCK_STAMP_SIZE];
    text_print(html,
               "<p class=\"quiet\">Written by orrery %s (%s) at %s.</p>\n"
               "</main>\n</body>\n</html>\n",
               build_version(), build_commit(), clock_stamp(stamp));
}

enum status page_figures(struct text *html, const struct figures *figures, const char *folder,
                         const char *link, struct error *error)
{
    if (figures->count == 0)
        return STATUS_OK;
    text_print(html, "<h2>Figures</h2>\n<div class=\"figures\">\n");
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *figure = &figures->figures[i];
        text_print(html, "<figure id=\"%s\">\n", figure->name);
        if (figure_inline(figure, folder, html, error))
            return error->status;
        text_print(html, "<figcaption><b>");
        page_escape(html, figure->title);
        text_print(html, "</b>");
        page_escape(html, figure->caption);
        text_print(html, "<span class=\"files\">");
        static const char *const suffixes[] = { "svg", "png", "dat", "gp" };
        for (size_t k = 0; k < COUNT_OF(suffixes); k++)
            text_print(html, "%s<a href=\"%s/%s.%s\">%s</a>", k ? " · " : "", link, figure->name,
                       suffixes[k], suffixes[k]);
        text_print(html, "</span></figcaption>\n</figure>\n");
    }
    text_print(html, "</div>\n");
    return STATUS_OK;
}

/* A number in few digits, anything else as it is. */
static void print_cell(struct text *html, const char *tag, const char *cell)
{
    double value;
    char number[32];
    const bool is_number = text_parse_real(cell, &value);
    if (is_number)
        snprintf(number, sizeof number, "%.6g", value);
    text_print(html, "<%s%s>", tag, is_number ? " class=\"n\"" : "");
    page_escape(html, is_number ? number : cell);
    text_print(html, "</%s>", tag);
}

void page_csv(struct text *html, const char *heading, const char *path)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    text_print(html, "<h2>%s</h2>\n<div class=\"wide\"><table>\n", heading);
    for (const char *tag = "th"; getline(&line, &size, file) > 0; tag = "td") {
        char *rest = line, *cell;
        line[strcspn(line, "\n")] = '\0';
        text_print(html, "<tr>");
        while ((cell = strsep(&rest, ",")))
            print_cell(html, tag, cell);
        text_print(html, "</tr>\n");
    }
    text_print(html, "</table></div>\n");
    free(line);
    fclose(file);
}

/* --- one run ------------------------------------------------------------------------------------
 */

struct verdict_words {
    const char *verdict, *class, *words;
};

static const struct verdict_words verdicts[] = {
    { "held", "good", "every expectation held" },
    { "failed", "bad", "an expectation or the watch failed" },
    { "none", "open", "finished; nothing was expected" },
    { "stopped", "open", "stopped early" },
    { "running", "open", "running, or it ended without a record" },
    { "error", "bad", "ended with an error" },
};

void page_verdict(struct text *html, const char *verdict)
{
    for (size_t i = 0; i < COUNT_OF(verdicts); i++)
        if (strcmp(verdict, verdicts[i].verdict) == 0)
            text_print(html, "<span class=\"verdict %s\">%s</span>", verdicts[i].class,
                       verdicts[i].words);
}

/* A number for people. */
static void print_real(struct text *html, double value)
{
    if (isnan(value))
        text_print(html, "–");
    else
        text_print(html, "%.6g", value);
}

/* A value of a criterion and, of an ensemble, whose it is. */
static void print_worst(struct text *html, const json_t *criterion)
{
    const json_t *worst = json_object_get(criterion, "worst");
    const json_t *system = json_object_get(criterion, "worst_system");
    const char *unit = json_string_value(json_object_get(criterion, "unit"));
    print_real(html, json_is_number(worst) ? json_number_value(worst) : NAN);
    if (json_is_number(worst) && unit && unit[0]) {
        text_print(html, " ");
        page_escape(html, unit);
    }
    if (json_is_integer(system))
        text_print(html, " (system %lld)", (long long)json_integer_value(system));
}

static void print_criteria(struct text *html, const struct result *result)
{
    size_t index;
    json_t *item;
    const json_t *expect = result_find(result, "expect");
    if (json_array_size(expect) == 0)
        return;
    text_print(
        html,
        "<h2>Expectations</h2>\n<div class=\"wide\"><table>\n<tr><th>expected</th>"
        "<th>outcome</th><th class=\"n\">value closest to the bound, or farthest beyond it</th>"
        "<th class=\"n\">rows</th><th class=\"n\">failures</th></tr>\n");
    json_array_foreach(expect, index, item)
    {
        const bool holds = json_is_true(json_object_get(item, "holds"));
        const char *criterion = json_string_value(json_object_get(item, "criterion"));
        text_print(html, "<tr><td>");
        page_escape(html, criterion ? criterion : "");
        text_print(html, "</td><td class=\"%s\">%s</td><td class=\"n\">", holds ? "good" : "bad",
                   holds ? "held" : "failed");
        print_worst(html, item);
        text_print(html, "</td><td class=\"n\">%lld</td><td class=\"n\">%lld</td></tr>\n",
                   (long long)json_integer_value(json_object_get(item, "rows")),
                   (long long)json_integer_value(json_object_get(item, "failures")));
    }
    text_print(html, "</table></div>\n");
}

/* What the watch measures changes in, and the same for bodies without mass. */
static const char *scale_of(const struct result *result, const char *body_key)
{
    return isnan(result_real(result, body_key)) ? "max(|E₀|, |U₀|)" : "max(|e₀|, |u₀|)";
}

static const char *class_of(bool good)
{
    return good ? "good" : "bad";
}

static void print_limit(struct text *html, double limit)
{
    if (isfinite(limit))
        text_print(html, " (limit %.6g)", limit);
    else
        text_print(html, " (no limit)");
}

/* Whose energy it was: of the system, or of a body without mass. */
static void print_whose(struct text *html, const struct result *result, const char *key)
{
    const double body = result_real(result, key);
    if (isnan(body))
        text_print(html, "The energy");
    else
        text_print(html, "The specific energy of test body %.0f", body);
}

/* A change that is no steady one, or was not measured, is neither good nor bad as a drift. */
static const char *drift_class(const struct result *result, double drift)
{
    const double limit = result_real(result, "watch.limits.energy_drift");
    if (result_real(result, "watch.energy_drift.systems_beyond") > 0)
        return "bad";
    return isnan(drift) || fabs(drift) > limit ? "quiet" : "good";
}

/* The largest |E - E0|, where it was, and what of it is drift. */
static void print_energy_error(struct text *html, const struct result *result)
{
    const double largest = result_real(result, "watch.energy_error.largest");
    const double drift = result_real(result, "watch.energy_drift.change");
    char time[UNITS_TEXT_SIZE];
    if (isnan(largest))
        return;
    text_print(html, "<p class=\"%s\">",
               class_of(!(result_real(result, "watch.energy_error.systems_beyond") > 0)));
    print_whose(html, result, "watch.energy_error.test_body");
    text_print(html, " was off by at most %.3g of %s", largest,
               scale_of(result, "watch.energy_error.test_body"));
    print_limit(html, result_real(result, "watch.limits.energy_error"));
    if (largest > 0)
        text_print(html, ", at t = %s in system %.0f",
                   units_time(result_units(result), result_real(result, "watch.energy_error.time"),
                              6, time),
                   result_real(result, "watch.energy_error.system"));
    text_print(html, ".</p>\n<p class=\"%s\">", drift_class(result, drift));
    if (json_is_true(result_find(result, "watch.energy_drift.method_drifts")))
        text_print(html, "The method is not symplectic: all of this is drift");
    else if (isnan(drift))
        text_print(html, "The run was too short to tell drift from oscillation");
    else
        text_print(html,
                   "A straight line through its history changes by %.3g of this and accounts for "
                   "%.0f %% of its variance; more than 95 %% over at least one period is a drift",
                   drift, 100.0 * result_real(result, "watch.energy_drift.steadiness"));
    print_limit(html, result_real(result, "watch.limits.energy_drift"));
    text_print(html, ".</p>\n");
}

static void print_jumps(struct text *html, const struct result *result)
{
    const double jumps = result_real(result, "watch.energy_jumps");
    char time[UNITS_TEXT_SIZE];
    text_print(html, "<p class=\"%s\">", class_of(!(jumps > 0)));
    print_whose(html, result, "watch.first_jump_test_body");
    text_print(html, jumps > 0 ? " jumped" : " did not jump");
    if (jumps > 0)
        text_print(html, ": %.0f time%s, at most by %.6g of %s, first before t = %s", jumps,
                   jumps == 1.0 ? "" : "s", result_real(result, "watch.largest_jump"),
                   scale_of(result, "watch.first_jump_test_body"),
                   units_time(result_units(result), result_real(result, "watch.first_jump_time"), 6,
                              time));
    text_print(html, ".</p>\n");
}

/* What the accuracy watch saw: of the energy, and the pair that the step fits worst. */
static void print_watch(struct text *html, const struct result *result)
{
    const json_t *holds = result_find(result, "watch.holds");
    const double scale = result_real(result, "watch.fastest_pair.steps_per_time_scale");
    const struct units *units = result_units(result);
    char distance[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    if (!holds)
        return;
    text_print(html, "<h2>Accuracy watch</h2>\n<p class=\"%s\">%s</p>\n",
               class_of(json_is_true(holds)), json_is_true(holds) ? "It holds." : "It failed.");
    print_energy_error(html, result);
    print_jumps(html, result);
    if (isfinite(scale))
        text_print(
            html,
            "<p>The fastest pair: bodies %.0f and %.0f, %s apart at t = %s, where their "
            "orbital period was %.3g steps; %d are advised.</p>\n",
            result_real(result, "watch.fastest_pair.id_1"),
            result_real(result, "watch.fastest_pair.id_2"),
            units_length(units, result_real(result, "watch.fastest_pair.distance"), 3, distance),
            units_time(units, result_real(result, "watch.fastest_pair.time"), 6, time),
            2.0 * M_PI * scale, WATCH_STEPS_PER_PERIOD);
}

/* Until when the orbits can be trusted, where the run has asked. */
static void print_trust(struct text *html, const struct result *result)
{
    const char *words = result_string(result, "trust.text");
    if (!words[0])
        return;
    text_print(html, "<h2>Trust</h2>\n<p>Orbits: ");
    page_escape(html, words);
    text_print(html, ". Statistics: %s.</p>\n",
               json_is_true(result_find(result, "watch.holds")) ? "the whole run"
                                                                : "none, see the accuracy watch");
}

/* Where the energy error comes from, where the run has asked. */
static void print_energy_budget(struct text *html, const struct result *result)
{
    const char *words = result_string(result, "energy_budget.text");
    if (!words[0])
        return;
    const bool good = json_is_true(result_find(result, "energy_budget.adds_up"));
    /* Parts that add up are no praise: what they add up to may be large. */
    text_print(html, "<h2>Energy budget</h2>\n<p class=\"%s\">The energy error in parts: ",
               good ? "quiet" : "bad");
    page_escape(html, words);
    text_print(html, ".</p>\n");
}

static void print_tile(struct text *html, const char *name, double value, double scale,
                       const char *unit)
{
    if (isnan(value))
        return;
    const bool whole = value == floor(value) && fabs(value) < 1e15;
    text_print(html, "<div><dt>%s</dt><dd>%.*g%s</dd></div>\n", name, whole ? 15 : 4, scale * value,
               unit);
}

static void print_tiles(struct text *html, const struct result *result)
{
    enum { ONE = 1, MANY = 2, ANY = ONE | MANY };
    static const struct {
        const char *name, *keys;
        double scale;
        const char *unit;
        unsigned systems; /* for how many */
    } tiles[] = {
        { "largest |ΔE/E₀|", "diagnostics.conservation.energy_error", 1, "", ONE },
        { "largest |ΔE/E₀|, median of the systems",
          "diagnostics.conservation-ensemble.energy_error_q50", 1, "", MANY },
        { "2K/|W| at the end", "diagnostics.conservation.virial_ratio", 1, "", ONE },
        { "2K/|W| at the end, median of the systems",
          "diagnostics.conservation-ensemble.virial_ratio_q50", 1, "", MANY },
        { "steps", "step", 1, "", ANY },
        { "time reached", "time", 1, NULL, ANY }, /* in the unit of the run */
        { "wall time", "wall_seconds", 1, " s", ANY },
        { "interactions", "interactions_per_second", 1e-9, " G/s", ANY },
    };
    const unsigned systems = result_real(result, "systems") > 1 ? MANY : ONE;
    const struct units *units = result_units(result);
    char label[UNITS_LABEL_SIZE], time[UNITS_LABEL_SIZE + 1] = "";
    if (units && units_physical(units))
        snprintf(time, sizeof time, " %s",
                 units_label(units, (struct dimension)DIMENSION_TIME, label));
    text_print(html, "<dl class=\"tiles\">\n");
    for (size_t i = 0; i < COUNT_OF(tiles); i++)
        if (tiles[i].systems & systems)
            print_tile(html, tiles[i].name, result_real(result, tiles[i].keys), tiles[i].scale,
                       tiles[i].unit ? tiles[i].unit : time);
    text_print(html, "</dl>\n");
}

void page_run_head(struct text *html, const struct result *result)
{
    const double systems = result_real(result, "systems");
    text_print(html, "<div class=\"head\"><h1>");
    page_escape(html, result_string(result, "name"));
    text_print(html, "</h1>");
    page_verdict(html, result_string(result, "verdict"));
    text_print(html, "</div>\n<p class=\"quiet\">");
    if (systems > 1)
        text_print(html, "%.0f systems of ", systems);
    text_print(html, "%.0f bodies · ", result_real(result, "bodies"));
    page_escape(html, result_string(result, "config.bodies.initial"));
    text_print(html, " · ");
    page_escape(html, result_string(result, "config.time.integrator"));
    const struct units *units = result_units(result);
    char step[UNITS_TEXT_SIZE], softening[UNITS_TEXT_SIZE];
    text_print(html, " · step %s · softening %s · %s units</p>\n",
               units_time(units, result_real(result, "config.time.step"), 6, step),
               units_length(units, result_real(result, "config.physics.softening"), 6, softening),
               result_string(result, "config.physics.units"));
    print_tiles(html, result);
    print_criteria(html, result);
    print_watch(html, result);
    print_energy_budget(html, result);
    print_trust(html, result);
}

/* --- what ran -----------------------------------------------------------------------------------
 */

static void print_scalar(struct text *html, const json_t *value)
{
    char *dump = document_print(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    page_escape(html, json_is_string(value) ? json_string_value(value) : dump ? dump : "");
    free(dump);
}

/* Every scalar of an object, the name of the inner object before it. */
static void print_facts(struct text *html, json_t *object, const char *within)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_object(value) || json_is_array(value) || json_is_null(value) ||
            (json_is_string(value) && !json_string_value(value)[0]))
            continue;
        text_print(html, "<dt>%s%s", within, within[0] ? " " : "");
        for (const char *c = key; *c; c++)
            text_append(html, *c == '_' ? " " : c, 1);
        text_print(html, "</dt><dd>");
        print_scalar(html, value);
        text_print(html, "</dd>\n");
    }
}

static void print_config(struct text *html, const struct result *result)
{
    char path[RESULT_PATH_SIZE], *line = NULL;
    size_t size = 0;
    FILE *file = fopen(result_file(result, "run.cfg", path), "r");
    if (!file)
        return;
    text_print(html, "<h2>Configuration</h2>\n<details><summary>Every key, as it was resolved"
                     "</summary>\n<pre>");
    while (getline(&line, &size, file) > 0)
        page_escape(html, line);
    text_print(html, "</pre></details>\n");
    free(line);
    fclose(file);
}

static void print_files(struct text *html, const struct result *result)
{
    size_t index;
    json_t *item;
    text_print(html, "<h2>Files</h2>\n<div class=\"wide\"><table>\n");
    json_array_foreach(result_find(result, "files"), index, item)
    {
        char path[RESULT_PATH_SIZE];
        struct stat about;
        const char *name = json_string_value(item);
        if (!name || strchr(name, '/') || stat(result_file(result, name, path), &about) != 0)
            continue;
        text_print(html, "<tr><td><a href=\"");
        page_escape(html, name);
        text_print(html, "\">");
        page_escape(html, name);
        text_print(html, "</a></td><td class=\"n\">%lld bytes</td></tr>\n",
                   (long long)about.st_size);
    }
    text_print(html, "</table></div>\n");
}

void page_run_foot(struct text *html, const struct result *result)
{
    static const char *const inner[] = { "program", "compute" };
    text_print(html, "<h2>What ran</h2>\n<dl class=\"facts\">\n");
    for (size_t i = 0; i < COUNT_OF(inner); i++)
        print_facts(html, result_find(result, inner[i]), inner[i]);
    print_facts(html, result->json, "");
    text_print(html, "</dl>\n");
    print_config(html, result);
    print_files(html, result);
}
