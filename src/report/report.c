#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/document.h"
#include "base/name.h"
#include "base/sha256.h"
#include "output/directory.h"
#include "output/workplace.h"
#include "report/differences.h"
#include "report/draw.h"
#include "report/figure.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/result.h"
#include "report/template.h"

/* --- placing the files ------------------------------------------------------------------------ */

/* The files of a report are made in a temporary folder (output/workplace.h), listed with hashes of
 * their contents (output/manifest.h) in a manifest, report.json, and then moved to their places. */

/* Checks that files of these names may be written. STATUS_CANT_CREATE if one exists whose content
 * is not as report.json lists it, or if Orrery has not written report.json. */
static enum status placement_check(struct directory *directory, const char *const *names,
                                   size_t count, struct error *error)
{
    char hash[SHA256_TEXT_SIZE];
    json_t *manifest = directory_manifest(directory, error);
    for (size_t i = 0; i < count && error->status != STATUS_MEMORY; i++)
        seal_check(directory, manifest, names[i], hash, error);
    json_decref(manifest);
    return error->status;
}

/* Sets the member `name` of *seals, {"name": [hash, ...]}, to the hash of the new file in `work`
 * and, if it differs, that of the old file in its place, which is there until it is replaced. */
static enum status seal(const struct directory *directory, const struct directory *work,
                        const json_t *manifest, const char *name, json_t **seals,
                        struct error *error)
{
    char now[SHA256_TEXT_SIZE], next[SHA256_TEXT_SIZE];
    if (seal_check(directory, manifest, name, now, error))
        return error->status;
    const int code = seal_hash(work->fd, seal_plain(name), next);
    if (code)
        return directory_error(work, seal_plain(name), STATUS_IO, code, error);
    json_t *hashes = json_array();
    document_append(&hashes, json_string(next));
    if (now[0] && strcmp(now, next) != 0)
        document_append(&hashes, json_string(now));
    document_set(seals, name, hashes);
    return STATUS_OK;
}

static int make_plots(const struct directory *directory, struct error *error)
{
    if (mkdirat(directory->fd, "plots", 0777) != 0 && errno != EEXIST) {
        directory_error(directory, "plots", STATUS_CANT_CREATE, errno, error);
        return -1;
    }
    const int folder = seal_folder(directory, "plots/");
    if (folder < 0)
        directory_error(directory, "plots", STATUS_CANT_CREATE, ENOTDIR, error);
    return folder;
}

static enum status move_files(struct directory *directory, const struct directory *work,
                              const char *const *names, size_t count, struct error *error)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= seal_plain(names[i]) != names[i];
    const int folder = any ? make_plots(directory, error) : -1;
    for (size_t i = 0; i < count && !error->status; i++)
        workplace_move(work, seal_plain(names[i]),
                       seal_plain(names[i]) == names[i] ? directory->fd : folder,
                       seal_plain(names[i]), error);
    int code = folder >= 0 && !error->status ? directory_flush_names(folder) : 0;
    if (code == 0 && !error->status)
        code = directory_flush_names(directory->fd);
    if (folder >= 0)
        close(folder);
    return code ? error_system(error, STATUS_IO, code, directory->path) : error->status;
}

/*
 * Moves the files of these names from the temporary folder `work` to their places: checks them as
 * placement_check() does, writes the manifest with the old and the new hashes, and then moves one
 * whole file after the other. STATUS_CANT_CREATE, STATUS_IO, STATUS_MEMORY.
 */
static enum status placement_place(struct directory *directory, const struct directory *work,
                                   const char *const *names, size_t count, struct error *error)
{
    json_t *manifest = directory_manifest(directory, error);
    json_t *const before =
        json_object_get(manifest, "sha256"); /* files of earlier reports stay listed */
    json_t *seals = json_is_object(before) ? json_copy(before) : json_object();
    const char **listed = calloc(count + 1, sizeof *listed);
    if (!error->status && (!seals || !listed))
        error_memory(error);
    for (size_t i = 0; i < count && !error->status; i++) {
        seal(directory, work, manifest, names[i], &seals, error);
        listed[i + 1] = names[i];
    }
    if (!error->status) {
        listed[0] = directory->kind->manifest;
        directory_note(directory, DOCUMENT({ "sha256", json_incref(seals) }), listed, count + 1,
                       error);
    }
    if (!error->status)
        move_files(directory, work, names, count, error);
    free(listed);
    json_decref(seals);
    json_decref(manifest);
    return error->status;
}

enum { MOST_RUNS = 1024 };

static const char page_name[] = "report.html";

struct report {
    const struct report_options *options;
    struct result *results;
    size_t count;
    struct directory *directory; /* the directory in which report.html is written */
    char folder[REPORT_PATH_SIZE - 16];
    struct directory *work; /* the temporary folder in which files are made */
    bool can_draw;
    struct error no_gnuplot; /* why gnuplot cannot be run, if not can_draw */
};

/* --- finding the runs ------------------------------------------------------------------------- */

static enum status add_run(struct report *report, const char *path, struct error *error)
{
    if (report->count == MOST_RUNS)
        return error_set(error, STATUS_USAGE, "more than %d runs", MOST_RUNS);
    return result_open(path, &report->results[report->count++], error);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum status add_folder(struct report *report, const char *path, struct error *error)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0 && errno == ENOTDIR)
        return error_set(error, STATUS_NO_INPUT,
                         "%s: is a file; a report is made of the directory that a run has written",
                         path);
    if (count < 0)
        return error_system(error, STATUS_NO_INPUT, errno, path);
    enum status status = STATUS_OK;
    for (int i = 0; i < count; i++) {
        char run[REPORT_PATH_SIZE], manifest[REPORT_PATH_SIZE + 16];
        snprintf(run, sizeof run, "%s/%s", path, entries[i]->d_name);
        snprintf(manifest, sizeof manifest, "%s/run.json", run);
        free(entries[i]);
        if (!status && access(manifest, R_OK) == 0)
            status = add_run(report, run, error);
    }
    free(entries);
    if (!status && report->count == 0)
        status = error_set(error, STATUS_NO_INPUT,
                           "%s: holds no run (no run.json), nor do the folders in it", path);
    return status;
}

static enum status find_runs(struct report *report, struct error *error)
{
    const struct report_options *options = report->options;
    char manifest[REPORT_PATH_SIZE];
    report->results = calloc(MOST_RUNS, sizeof *report->results);
    if (!report->results)
        return error_memory(error);
    snprintf(manifest, sizeof manifest, "%s/run.json", options->directories[0]);
    if (options->count == 1 && access(manifest, F_OK) != 0)
        return add_folder(report, options->directories[0], error);
    for (size_t i = 0; i < options->count; i++)
        if (add_run(report, options->directories[i], error))
            return error->status;
    return STATUS_OK;
}

/* --- where to write --------------------------------------------------------------------------- */

/* Opens the folder of the report, and in it the temporary folder. A link to the directory of a run,
 * in which its report goes, is followed, since the user has named it; a link in the place of
 * another folder to write to is not. */
static enum status open_folder(struct report *report, struct error *error)
{
    const struct report_options *options = report->options;
    const bool own = options->count == 1 && !options->output;
    const char *wanted = own ? options->directories[0] : options->output;
    char *real = own ? realpath(wanted, NULL) : NULL;
    if (own && !real)
        return error_system(error, STATUS_CANT_CREATE, errno, wanted);
    snprintf(report->folder, sizeof report->folder, "%s", wanted ? wanted : "report");
    const enum status status = directory_open_kind(own ? real : report->folder, &directory_report,
                                                   DIRECTORY_FORCE, &report->directory, error);
    free(real);
    return status ? status : workplace_open(report->directory, &report->work, error);
}

/* --- the files that a report writes ----------------------------------------------------------- */

/* The names of all files that a report writes: the page, and behind it pointers into `files`. A
 * report replaces no other files. */
struct file_list {
    struct plot_file *files;
    const char **names;
    size_t count;
};

static void list_free(struct file_list *list)
{
    free(list->files);
    free(list->names);
}

static enum status list_files(const struct report *report, const struct figures *figures,
                              struct file_list *list, struct error *error)
{
    const size_t drawn = report->can_draw ? figures->count : 0;
    *list = (struct file_list){ calloc(drawn + 1, PLOT_FILES * sizeof *list->files),
                                calloc(drawn + 1, PLOT_FILES * sizeof *list->names), 1 };
    if (!list->files || !list->names)
        return error_memory(error);
    list->names[0] = page_name;
    for (size_t i = 0; i < drawn; i++, list->count += PLOT_FILES)
        plot_files("plots/", figures->figures[i].name, &list->files[list->count],
                   &list->names[list->count]);
    return STATUS_OK;
}

enum { FIGURE_STEM_SIZE = NAME_LONGEST - 20 };

/* Adds a number to the name of a figure that an earlier figure has ("spectrum-2"), as figures of
 * two diagnostics may. */
static void tell_apart(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        char *const name = figures->figures[i].name, stem[FIGURE_STEM_SIZE];
        snprintf(stem, sizeof stem, "%.*s", FIGURE_STEM_SIZE - 1, name);
        for (size_t copy = 2; figure_find(figures, name) != &figures->figures[i]; copy++)
            snprintf(name, FIGURE_LABEL_SIZE, "%s-%zu", stem, copy);
    }
}

/* Checks before anything is drawn whether files that no report has written stand in the way. */
static enum status check_files(const struct report *report, struct figures *figures,
                               struct error *error)
{
    struct file_list list;
    tell_apart(figures);
    if (!list_files(report, figures, &list, error))
        placement_check(report->directory, list.names, list.count, error);
    list_free(&list);
    return error->status;
}

/* Tells whether the page lies in the directory of the first run, and not in a folder that the user
 * chose or that holds the directory of a single run. */
static bool is_beside(const struct report *report)
{
    struct stat page, run;
    return stat(report->folder, &page) == 0 && stat(report->results[0].path, &run) == 0 &&
           page.st_dev == run.st_dev && page.st_ino == run.st_ino;
}

/* Writes the page and moves all files to their places, while it holds the lock without which no
 * process replaces the run. If the run was replaced before that, *overtaken becomes true, and
 * nothing is moved. */
static enum status place_files(struct report *report, const struct figures *figures,
                               const struct text *html, bool *overtaken, struct error *error)
{
    struct file_list list = { 0 };
    if (html->failed)
        return error_memory(error);
    if (workplace_write(report->work, page_name, html->bytes, html->length, error) ||
        list_files(report, figures, &list, error) ||
        directory_lock_files(report->directory, error)) {
        list_free(&list);
        return error->status;
    }
    *overtaken = is_beside(report) && !result_is_current(&report->results[0]);
    if (!*overtaken)
        placement_place(report->directory, report->work, list.names, list.count, error);
    directory_unlock_files(report->directory);
    list_free(&list);
    return error->status;
}

/* --- the two kinds of report ------------------------------------------------------------------ */

static enum status draw_runs(const struct report *report, struct figures *figures,
                             struct text *html, struct error *error)
{
    const char *const plots = report->options->plots;
    if ((plots && figures_select(plots, figures, error)) || check_files(report, figures, error))
        return error->status;
    if (!report->can_draw) {
        template_fill(html, "without-figures.html",
                      DOCUMENT({ "why", json_string_nocheck(report->no_gnuplot.text) }), NULL);
        return STATUS_OK;
    }
    return plot_draw(figures->figures, figures->count, report->work, error)
               ? error->status
               : page_figures(html, figures, report->work, error);
}

static size_t count_pictures(const struct figures *figures)
{
    size_t count = 0;
    for (size_t i = 0; i < figures->count; i++)
        count += figures->figures[i].alone || strcmp(figures->figures[i].name, "orbits") == 0;
    return count;
}

static enum status one_run(const struct report *report, struct figures *figures, struct text *html,
                           struct error *error)
{
    const struct result *result = &report->results[0];
    const bool player = !report->options->no_player;
    char title[PAGE_TITLE_SIZE];
    page_title(result, title);
    page_begin(html, title, player);
    page_run_head(html, result);
    struct trajectory *trajectory;
    if (!trajectory_open(result, &trajectory, error))
        draw_run(result, trajectory, report->options->plots ? DRAW_ALL : DRAW_PAGE, figures, error);
    const struct time_unit unit = result_time_unit(result);
    figures_change_time(figures, &unit);
    const size_t pictures = report->options->plots ? 0 : count_pictures(figures);
    if (!error->status && !draw_runs(report, figures, html, error) && report->can_draw &&
        figures->count <= pictures)
        page_nothing_measured(html, result, trajectory != NULL);
    if (!error->status && player && trajectory)
        player_add(result, trajectory, html, error);
    trajectory_close(trajectory);
    page_run_foot(html, result, is_beside(report));
    page_end(html);
    return error->status;
}

/* Sets *end to the time.end of the study in a folder; 0 if it holds no study. It is NaN if the
 * study varies time.end. STATUS_DATA, STATUS_IO, STATUS_MEMORY. */
static enum status find_study_end(const char *folder, double *end, struct error *error)
{
    char path[REPORT_PATH_SIZE];
    json_t *study = NULL;
    *end = 0.0;
    snprintf(path, sizeof path, "%s/study.json", folder);
    if (access(path, F_OK) != 0)
        return STATUS_OK;
    if (!document_load(path, &study, error) && directory_names_program(study))
        *end = document_real(study, "time_end");
    json_decref(study);
    return error->status;
}

static enum status many_runs(const struct report *report, struct figures *figures,
                             struct text *html, char *warning, struct error *error)
{
    struct differences differences;
    char path[REPORT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/study.csv", report->options->directories[0]);
    double study_end;
    if (find_study_end(report->options->directories[0], &study_end, error))
        return error->status;
    for (size_t i = 0; i < report->count; i++)
        report->results[i].study_end = study_end;
    if (differences_find(report->results, report->count, path, &differences, error) ||
        shared_seeds_warning(&differences, warning, error))
        return error->status;
    page_begin(html, result_string(&report->results[0], FIELD_NAME), false);
    const bool members = report->options->count == 1 && !report->options->output;
    compare_head(html, &differences, members, warning);
    snprintf(path, sizeof path, "%s/convergence.csv", report->options->directories[0]);
    const enum draw_extent extent = report->options->plots ? DRAW_ALL : DRAW_COMPARISON;
    if (!compare_figures(&differences, extent, figures, error) &&
        !draw_runs(report, figures, html, error))
        page_csv(html, "Convergence: measured order, and error left with the smallest step", path,
                 error);
    page_end(html);
    return error->status;
}

static enum status write_report(struct report *report, struct report_summary *summary,
                                bool *overtaken, struct error *error)
{
    struct figures figures = { 0 };
    struct text html = { 0 };
    const bool single = report->count == 1;
    enum status status = single ? one_run(report, &figures, &html, error)
                                : many_runs(report, &figures, &html, summary->warning, error);
    /* An error does not count if the run was replaced meanwhile: the files that were read may be a
     * mixture of two runs. */
    *overtaken = status && single && !result_is_current(&report->results[0]);
    if (*overtaken) {
        error_clear(error);
        status = STATUS_OK;
    } else if (!status) {
        status = place_files(report, &figures, &html, overtaken, error);
    }
    snprintf(summary->page, sizeof summary->page, "%s/%s", report->folder, page_name);
    summary->runs = report->count;
    summary->figures = report->can_draw ? figures.count : 0;
    figure_free_all(&figures);
    text_free(&html);
    return status;
}

static enum status try_report(struct report *report, struct report_summary *summary,
                              bool *overtaken, struct error *error)
{
    if (!find_runs(report, error) && !open_folder(report, error))
        write_report(report, summary, overtaken, error);
    if (report->directory)
        workplace_close(report->directory, report->work);
    directory_close(report->directory);
    for (size_t i = 0; i < report->count; i++)
        result_close(&report->results[i]);
    free(report->results);
    return error->status;
}

enum { MOST_TRIES = 10 };

enum status report_write(const struct report_options *options, struct report_summary *summary,
                         struct error *error)
{
    struct error no_gnuplot = { 0 };
    const bool can_draw = plot_probe(&no_gnuplot) == STATUS_OK;
    enum status status = STATUS_OK;
    bool overtaken = true;
    *summary = (struct report_summary){ 0 };
    for (int tries = 0; tries < MOST_TRIES && overtaken && !status; tries++) {
        struct report report = { .options = options,
                                 .can_draw = can_draw,
                                 .no_gnuplot = no_gnuplot };
        overtaken = false;
        status = try_report(&report, summary, &overtaken, error);
    }
    if (!status && overtaken)
        status = error_set(error, STATUS_STOPPED,
                           "%s: the run was replaced again and again while its report was drawn",
                           options->directories[0]);
    if (!status && !can_draw)
        status = error_set(error, STATUS_UNAVAILABLE, "%s: without figures: %s", summary->page,
                           no_gnuplot.text);
    return status;
}
