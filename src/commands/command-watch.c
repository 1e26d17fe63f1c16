/* orrery watch: follows the directory of a run or a study from outside, until nobody is at work on
 * it any more. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/terminal.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/display.h"
#include "commands/status-report.h"
#include "report/report.h"

struct watcher {
    const char *path;
    const char *show; /* quantities, or NULL: the last row of every table */
    bool quiet;       /* rows of `show` only */
    bool redraws;     /* the last words are replaced by newer ones: a terminal, and no table */
    bool reports;
    double report_pause; /* seconds from one report to the next */
    double next_report;  /* clock_seconds() */
    size_t drawn;        /* lines of the terminal that the last words took */
    bool printed;        /* something was said */
    double shown_step;   /* of the last row; -1 before any */
    char problem[256];   /* the last one that a report had */
    struct display display;
};

/* --- the terminal ----------------------------------------------------------------------------- */

/* Lines of the terminal that this many characters take. */
static size_t lines_of(size_t characters, size_t columns)
{
    return characters > columns ? (characters + columns - 1) / columns : 1;
}

/* Puts the words in the place of those before; as much of them as the terminal has lines for. */
static void redraw(struct watcher *watcher, const char *words)
{
    const struct terminal_size size = terminal_measure(stdout);
    if (watcher->drawn > 0)
        printf("\033[%zuA\033[J", watcher->drawn);
    watcher->drawn = 0;
    while (*words) {
        const size_t length = strcspn(words, "\n");
        const size_t lines = lines_of(length, size.columns);
        if (watcher->drawn + lines >= size.rows)
            break;
        watcher->drawn += lines;
        printf("%.*s\n", (int)length, words);
        words += length + (words[length] == '\n');
    }
    fflush(stdout);
}

/* Says how it stands: again and again on a terminal, elsewhere first and last. */
static void print_report(struct watcher *watcher, const struct text *text, bool last)
{
    char none[] = "", *const words = text->bytes ? text->bytes : none;
    if (watcher->quiet || (!watcher->redraws && watcher->printed && !last))
        return;
    display_clear(&watcher->display);
    if (watcher->redraws && !last) {
        name_neutralise(words);
        redraw(watcher, words);
    } else {
        if (watcher->drawn > 0)
            printf("\033[%zuA\033[J", watcher->drawn);
        if (watcher->printed && !watcher->redraws)
            putchar('\n');
        terminal_put(stdout, words);
        watcher->drawn = 0;
    }
    watcher->printed = true;
    fflush(stdout);
}

/* --- the report ------------------------------------------------------------------------------- */

/* Drawing must not take the cores from the run: it has at most a tenth of the time. */
static enum status report_now(struct watcher *watcher, struct report_summary *summary,
                              struct error *error)
{
    const struct report_options options = { .directories = &watcher->path, .count = 1 };
    const double begin = clock_seconds();
    const enum status status = report_write(&options, summary, error);
    const double end = clock_seconds(), least = 10.0 * (end - begin);
    watcher->next_report = end + (watcher->report_pause > least ? watcher->report_pause : least);
    return status;
}

/* A report of a run at work may fail where its next one does not; the same problem is said once. */
static void report_meanwhile(struct watcher *watcher)
{
    struct error problem = { 0 };
    struct report_summary summary;
    if (!watcher->reports || clock_seconds() < watcher->next_report ||
        report_now(watcher, &summary, &problem) == STATUS_OK ||
        strncmp(watcher->problem, problem.text, sizeof watcher->problem - 1) == 0)
        return;
    snprintf(watcher->problem, sizeof watcher->problem, "%.255s", problem.text);
    display_notice(&watcher->display, false, problem.text);
    watcher->drawn = 0; /* the words above it stay */
}

static enum status report_at_end(struct watcher *watcher, enum status status, struct error *error)
{
    struct report_summary summary;
    if (report_now(watcher, &summary, error))
        return status ? status : error->status;
    if (!watcher->quiet)
        printf("  report         %s\n", summary.page);
    return status;
}

/* --- a run ------------------------------------------------------------------------------------ */

/* The newest row, if it was not shown before. */
static void show_row(struct watcher *watcher, const struct latest *latest,
                     const struct result *result)
{
    struct run_row row;
    if (!latest_row(latest, result, &row) || (double)row.step == watcher->shown_step)
        return;
    watcher->shown_step = (double)row.step;
    display_row(&watcher->display, &row);
}

static enum status tell_run(struct watcher *watcher, const struct result *result, const char *owner,
                            bool last, struct error *error)
{
    struct latest latest;
    struct run_progress progress;
    struct text words = { 0 };
    if (latest_read(result, watcher->show, &latest, error) == STATUS_OK) {
        if (watcher->show)
            show_row(watcher, &latest, result);
        if (!watcher->show || last) {
            status_report_of_run(result, owner, &latest, &words);
            print_report(watcher, &words, last);
        }
        if (!last && !watcher->redraws && status_report_progress(result, &progress))
            display_progress(&watcher->display, &progress);
    }
    latest_free(&latest);
    text_free(&words);
    return error->status;
}

/* Looks once; *ended: nobody is at work. A run that has just been replaced may have no run.json
 * yet.
 */
static enum status look_at_run(struct watcher *watcher, bool *ended, struct error *error)
{
    const struct progress before = progress_read(watcher->path, &directory_run);
    struct error problem = { 0 };
    struct result result;
    *ended = false;
    if (result_open(watcher->path, &result, &problem))
        return before.held && problem.status == STATUS_NO_INPUT ? STATUS_OK
                                                                : error_pass(error, &problem);
    *ended = !before.held && result.state != RESULT_AT_WORK;
    enum status status = tell_run(watcher, &result, *ended ? "" : before.owner, *ended, error);
    if (!status && *ended)
        status = status_report_status(&result, error);
    result_close(&result);
    return status;
}

/* --- a study ---------------------------------------------------------------------------------- */

static enum status look_at_study(struct watcher *watcher, struct status_report_study *study,
                                 bool *ended, struct error *error)
{
    const struct progress work = progress_read(watcher->path, &directory_study);
    struct text words = { 0 };
    *ended = !work.held;
    status_report_of_study(watcher->path, work.held ? work.owner : "", study, &words);
    if (words.failed)
        error_memory(error);
    else
        print_report(watcher, &words, *ended);
    text_free(&words);
    return error->status ? error->status : *ended ? study->status : STATUS_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

static enum status follow(struct watcher *watcher, struct status_report_study *study,
                          struct error *error)
{
    const struct timespec pause = { .tv_sec = 1 };
    bool ended = false;
    for (;;) {
        const enum status status = study ? look_at_study(watcher, study, &ended, error)
                                         : look_at_run(watcher, &ended, error);
        if (error->status)
            return error->status;
        if (ended)
            return watcher->reports ? report_at_end(watcher, status, error) : status;
        report_meanwhile(watcher);
        nanosleep(&pause, NULL);
    }
}

/* "--report", "--report=SECONDS" or neither. */
static enum status read_report(const char *word, struct watcher *watcher, struct error *error)
{
    watcher->reports = word != NULL;
    watcher->report_pause = 30.0;
    if (word && word[0] &&
        (!text_parse_real(word, &watcher->report_pause) || watcher->report_pause < 1.0))
        return error_set(error, STATUS_USAGE,
                         "orrery: --report=%s: must be a number of seconds, at least 1", word);
    return STATUS_OK;
}

static bool holds(const char *path, const char *manifest)
{
    struct text file = { 0 };
    text_print(&file, "%s/%s", path, manifest);
    const bool there = file.bytes && access(file.bytes, F_OK) == 0;
    text_free(&file);
    return there;
}

static enum status watch(struct watcher *watcher, struct error *error)
{
    struct status_report_study study = { 0 };
    const bool run = holds(watcher->path, directory_run.manifest);
    const bool several = !run && holds(watcher->path, directory_study.manifest);
    if (!run && !several)
        return error_set(error, STATUS_NO_INPUT,
                         "%s: holds neither a run (run.json) nor a study (study.json)",
                         watcher->path);
    if (several && watcher->show)
        return error_set(error, STATUS_USAGE,
                         "orrery: --show %s: %s is a study; watch the directory of one of its runs",
                         watcher->show, watcher->path);
    if (several && status_report_open_study(watcher->path, &study, error))
        return error->status;
    const int slower = nice(10); /* the run, not its watcher, is to have the cores */
    (void)slower;
    const enum status status = follow(watcher, several ? &study : NULL, error);
    status_report_close_study(&study);
    return status;
}

enum status command_watch(int argc, char **argv, struct error *error)
{
    struct watcher watcher = { .shown_step = -1.0 };
    const char *report = NULL;
    bool helped;
    const struct argument table[] = {
        { 0, "show", "quantity,...", ARGUMENT_TEXT, &watcher.show,
          "print these columns of the tables, as new rows come" },
        { 0, "report", "SECONDS", ARGUMENT_WORD, &report,
          "redraw the report at the end and meanwhile, every 30 s, or every SECONDS" },
        { 'q', "quiet", NULL, ARGUMENT_FLAG, &watcher.quiet,
          "only the rows of --show and the exit status" },
    };
    const struct arguments arguments = {
        "orrery watch DIR [--show quantity,...] [--report[=SECONDS]]",
        "Follows the run or the study in DIR from outside: its progress and the last "
        "row of its tables. Ends when no process works on it, with its verdict and its "
        "exit status (75 if it was killed). Ctrl-C ends only the watching.",
        table,
        COUNT_OF(table),
        1,
        1
    };
    struct argument_list plain;
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped ||
        read_report(report, &watcher, error))
        return error->status;
    watcher.path = plain.items[0];
    watcher.display = display_begin(watcher.quiet);
    watcher.redraws = !watcher.show && isatty(STDOUT_FILENO);
    return watch(&watcher, error);
}
