/* orrery watch: follows the directory of a run or a study from outside, until no process is at work
 * on it any more. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/display.h"
#include "commands/server.h"
#include "report/report.h"

enum { SERVED_PORT = 8080, SERVED_PAUSE = 5 /* least seconds between two pages */ };

struct watcher {
    const char *path;
    const char *show;    /* columns of --show, "a,b"; NULL: the last row of all tables */
    bool quiet;          /* --quiet: print only the rows of --show */
    bool redraws;        /* a new report replaces the last one on the screen */
    bool reports;        /* a page is drawn, by --report or --serve */
    double report_pause; /* least seconds between two pages */
    double next_report;  /* clock_seconds() at which the next page is due */
    size_t drawn;        /* lines of the terminal that the last report took */
    bool printed;        /* a report of the state was printed before */
    double shown_step;   /* step of the row printed last for --show; -1 before any */
    char problem[256];   /* the problem that was printed last, "" before any */
    int64_t port;        /* port of --serve; -1: no page is served */
    struct server *server;
    bool asked_to_end; /* a signal has asked to end watching, while a page was drawn */
    char folder[4096]; /* folder in which the page to serve is made */
    struct display display;
};

/* --- the terminal ----------------------------------------------------------------------------- */

/* Returns the number of lines of the terminal, `columns` wide, that a line of `characters`
 * takes. */
static size_t lines_of(size_t characters, size_t columns)
{
    return characters > columns ? (characters + columns - 1) / columns : 1;
}

/* Replaces the report on the terminal, which took watcher->drawn lines, by the lines of `words` for
 * which the terminal has room. */
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

/* Prints the report of the state, `text`, and may free it: every report if it can replace the
 * previous one on the terminal, otherwise only the first and the last report; with --quiet none. */
static void print_report(struct watcher *watcher, struct text *text, bool last)
{
    if (watcher->quiet || (!watcher->redraws && watcher->printed && !last))
        return;
    display_clear(&watcher->display);
    if (watcher->redraws && !last && text->bytes) {
        name_neutralise(text->bytes);
        redraw(watcher, text->bytes);
    } else {
        if (watcher->drawn > 0)
            printf("\033[%zuA\033[J", watcher->drawn);
        if (watcher->printed && !watcher->redraws)
            putchar('\n');
        terminal_put(stdout, TERMINAL_PLAIN, text);
        watcher->drawn = 0;
    }
    watcher->printed = true;
    fflush(stdout);
}

/* --- the report ------------------------------------------------------------------------------- */

/* Gives the page that was written into watcher->folder to the server; browsers ask for the next one
 * after `pause` seconds, never if it is 0. */
static enum status serve_page(const struct watcher *watcher, double pause, struct error *error)
{
    char page[sizeof watcher->folder + 16];
    snprintf(page, sizeof page, "%s/report.html", watcher->folder);
    return server_put_file(watcher->server, page, (int)pause, error);
}

/* The message of the process that draws a page: the summary, and the error if drawing failed. */
struct drawn_report {
    struct report_summary summary;
    struct error error;
};

static void draw(int to, void *options)
{
    struct drawn_report drawing = { 0 };
    report_write(options, &drawing.summary, &drawing.error);
    child_send(to, &drawing, sizeof drawing);
}

/* Draws a page in a child process, so that the server answers clients meanwhile. If a signal asks
 * to end, gives up with STATUS_OK and sets watcher->asked_to_end. */
static enum status draw_and_serve(struct watcher *watcher, struct report_options *options,
                                  struct report_summary *summary, struct error *error)
{
    struct child *child;
    struct drawn_report drawing;
    bool whole = false;
    if (child_start(draw, options, &CHILD_UNLIMITED, &child, error))
        return error->status;
    while (!watcher->asked_to_end && !child_has_news(child))
        watcher->asked_to_end = server_wait(watcher->server, 0.1);
    if (!watcher->asked_to_end)
        whole = child_receive(child, &drawing, sizeof drawing);
    child_end(child, true, watcher->folder, error);
    if (watcher->asked_to_end)
        return STATUS_OK;
    if (!whole)
        return error_set(error, STATUS_IO, "the process that draws the page has ended early");
    *summary = drawing.summary;
    return error_pass(error, &drawing.error);
}

/* Draws a page, and sets the time of the next one. Drawing may take at most about a tenth of the
 * time, so that the run keeps the cores. */
static enum status report_now(struct watcher *watcher, bool last, struct report_summary *summary,
                              struct error *error)
{
    struct report_options options = { .directories = &watcher->path,
                                      .count = 1,
                                      .output = watcher->server ? watcher->folder : NULL };
    const double begin = clock_seconds();
    const enum status status = watcher->server ? draw_and_serve(watcher, &options, summary, error)
                                               : report_write(&options, summary, error);
    const double end = clock_seconds(), least = 10.0 * (end - begin);
    const double pause = watcher->report_pause > least ? watcher->report_pause : least;
    watcher->next_report = end + pause;
    /* STATUS_UNAVAILABLE means that gnuplot is missing: then there is a page, but without
     * figures. */
    if (watcher->server && !watcher->asked_to_end && (!status || status == STATUS_UNAVAILABLE))
        serve_page(watcher, last ? 0.0 : pause, error);
    return error->status;
}

/* Prints the problem that drawing a page has met, unless it was the last one to be printed. */
static void tell_problem(struct watcher *watcher, const struct error *problem)
{
    if (strncmp(watcher->problem, problem->text, sizeof watcher->problem - 1) == 0)
        return;
    snprintf(watcher->problem, sizeof watcher->problem, "%.255s", problem->text);
    display_notice(&watcher->display, false, problem->text);
    watcher->drawn = 0; /* the report above the problem stays on the screen */
}

/* Draws a page if one is due. A problem is only printed and is no error, since the next page may be
 * drawn without it. */
static void report_meanwhile(struct watcher *watcher)
{
    struct error problem = { 0 };
    struct report_summary summary;
    if (watcher->reports && clock_seconds() >= watcher->next_report &&
        report_now(watcher, false, &summary, &problem))
        tell_problem(watcher, &problem);
}

static enum status report_at_end(struct watcher *watcher, enum status status, struct error *error)
{
    struct report_summary summary;
    if (report_now(watcher, true, &summary, error)) {
        if (!watcher->server || error->status != STATUS_UNAVAILABLE)
            return status ? status : error->status;
        tell_problem(watcher, error); /* without gnuplot the page has no figures */
        *error = (struct error){ 0 };
    }
    if (!watcher->server && !watcher->quiet)
        printf("  report         %s\n", summary.page);
    return status;
}

/* --- a run ------------------------------------------------------------------------------------ */

/* Prints the newest row of the quantities of --show, if its step was not printed before. */
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

/* Reads the directory of the run once and reports the state of the run; *ended becomes true if no
 * process is at work on it. A run that is just being replaced may have no run.json yet: that is no
 * error. */
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
        if (!watcher->server)
            nanosleep(&pause, NULL);
        else if (server_wait(watcher->server, 1.0))
            return STATUS_OK;
    }
}

/* Removes a folder with its files and its folders, `levels` levels deep at most; returns whether
 * the folder is gone. */
static bool remove_folder(const char *path, int levels)
{
    DIR *const folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        struct text inner = { 0 };
        text_print(&inner, "%s/%s", path, entry->d_name);
        const bool itself = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && !inner.failed && remove(inner.bytes) != 0 && levels > 1)
            remove_folder(inner.bytes, levels - 1);
        text_free(&inner);
    }
    if (folder)
        closedir(folder);
    return rmdir(path) == 0;
}

/* Makes a temporary folder for the page to serve, and serves a first page which says that the page
 * is being drawn. */
static enum status begin_to_serve(struct watcher *watcher, struct error *error)
{
    static const char first[] = "<!DOCTYPE html><title>orrery watch</title>"
                                "<p>The page is being drawn.";
    const char *const temporary = getenv("TMPDIR");
    snprintf(watcher->folder, sizeof watcher->folder, "%s/orrery-page-XXXXXX",
             temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(watcher->folder))
        return error_system(error, STATUS_CANT_CREATE, errno, watcher->folder);
    if (server_put_words(watcher->server, first, 1, error))
        return error->status;
    if (!watcher->quiet)
        printf("page           http://127.0.0.1:%d/ until Ctrl-C\n", server_port(watcher->server));
    fflush(stdout);
    return STATUS_OK;
}

/* Follows the run or the study and serves its page; the server goes on after the end of the run
 * until a signal comes. */
static enum status follow_and_serve(struct watcher *watcher, struct status_report_study *study,
                                    struct error *error)
{
    if (server_open((int)watcher->port, &watcher->server, error))
        return error->status;
    enum status status = begin_to_serve(watcher, error);
    if (!status)
        status = follow(watcher, study, error);
    while (!error->status && !server_wait(watcher->server, 1.0))
        ;
    /* Tries more than once: the child process that draws may have made another file just before it
     * was ended. */
    for (int tries = 10; !remove_folder(watcher->folder, 3) && tries > 0; tries--)
        server_wait(watcher->server, 0.05);
    server_close(watcher->server);
    return error->status ? error->status : status;
}

/* Interprets the option --report: `word` is NULL if it is not given, "" for "--report" alone, the
 * seconds for "--report=SECONDS". */
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

/* Interprets the option --serve: `word` is NULL if it is not given, "" for "--serve" alone, the
 * port for "--serve=PORT". */
static enum status read_serve(const char *word, struct watcher *watcher, struct error *error)
{
    watcher->port = word ? SERVED_PORT : -1;
    if (!word)
        return STATUS_OK;
    if (word[0] &&
        (!text_parse_integer(word, &watcher->port) || watcher->port < 0 || watcher->port > 65535))
        return error_set(error, STATUS_USAGE,
                         "orrery: --serve=%s: must be a port, 1 to 65535, or 0 for a free one",
                         word);
    if (watcher->reports)
        return error_set(error, STATUS_USAGE,
                         "orrery: --report and --serve: choose one; --report writes into %s, "
                         "--serve writes nothing there",
                         watcher->path);
    watcher->reports = true;
    watcher->report_pause = SERVED_PAUSE;
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
    const int slower = nice(10); /* so that the run gets the cores first */
    (void)slower;
    const enum status status = watcher->port < 0
                                   ? follow(watcher, several ? &study : NULL, error)
                                   : follow_and_serve(watcher, several ? &study : NULL, error);
    status_report_close_study(&study);
    return status;
}

enum status command_watch(int argc, char **argv, struct error *error)
{
    struct watcher watcher = { .shown_step = -1.0 };
    const char *report = NULL, *serve = NULL;
    bool helped;
    const struct argument table[] = {
        { 0, "show", "quantity,...", ARGUMENT_TEXT, &watcher.show,
          "print these columns of the tables, as new rows come" },
        { 0, "report", "SECONDS", ARGUMENT_WORD, &report,
          "redraw the report at the end and meanwhile, every 30 s, or every SECONDS" },
        { 0, "serve", "PORT", ARGUMENT_WORD, &serve,
          "show the report at http://127.0.0.1:PORT/ (8080), renewed as the run goes, until "
          "Ctrl-C" },
        { 'q', "quiet", NULL, ARGUMENT_FLAG, &watcher.quiet,
          "only the rows of --show and the exit status" },
    };
    const struct arguments arguments = {
        "orrery watch DIR [--show LIST] [--report[=SECONDS] | --serve[=PORT]]",
        "Follows the run or the study in DIR from outside: its progress and the last "
        "row of its tables. Ends when no process works on it, with its verdict and its "
        "exit status (75 if it was killed). Ctrl-C ends only the watching.",
        table,
        COUNT_OF(table),
        1,
        1
    };
    struct argument_list plain;
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    watcher.path = plain.items[0];
    if (read_report(report, &watcher, error) || read_serve(serve, &watcher, error))
        return error->status;
    watcher.display = display_begin(watcher.quiet);
    watcher.redraws = !watcher.show && isatty(STDOUT_FILENO);
    return watch(&watcher, error);
}
