/* orrery run: runs an experiment, shows its progress, and ends with a summary and the verdict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/prepare.h"
#include "commands/study.h"
#include "run/provenance.h"
#include "run/run.h"

/* How often progress is shown: a bar on a terminal, lines elsewhere. */
static const double bar_seconds = 0.2, line_seconds = 60.0;
enum { BAR_WIDTH = 24 };

struct display {
    bool terminal; /* standard error is one */
    bool quiet;
    bool bar_shown;
    double last;
};

/* --- progress ----------------------------------------------------------------------------------
 */

/* "1h02m", "3m20s", "12s". */
static const char *duration(double seconds, char buffer[32])
{
    if (!(seconds < 360000.0))
        return strcpy(buffer, "?");
    const int s = (int)lrint(seconds);
    if (s >= 3600)
        snprintf(buffer, 32, "%dh%02dm", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(buffer, 32, "%dm%02ds", s / 60, s % 60);
    else
        snprintf(buffer, 32, "%ds", s);
    return buffer;
}

static void show_progress(void *context, const struct run *run)
{
    struct display *display = context;
    const double now = clock_seconds();
    const double wait = display->terminal ? bar_seconds : line_seconds;
    if (display->last == 0.0)
        display->last = run->started;
    if (display->quiet || now - display->last < wait)
        return;
    display->last = now;
    const double steps = (double)run->experiment.steps;
    const double done = (double)run->step / steps;
    const double made = (double)(run->step - run->first_step);
    const double left = made > 0 ? (now - run->started) * (steps - (double)run->step) / made : NAN;
    char bar[BAR_WIDTH + 1], time_left[32];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < (int)(done * BAR_WIDTH) ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "%s%s %5.1f %%  t = %-9.4g %6.2f G/s  %s left%s", display->terminal ? "\r" : "",
            display->terminal ? bar : run->experiment.name, 100.0 * done, run_time(run),
            1e-9 * run_rate(run), duration(left, time_left), display->terminal ? "   " : "\n");
    display->bar_shown = display->terminal;
}

static void clear_bar(struct display *display)
{
    if (display->bar_shown)
        fprintf(stderr, "\r%78s\r", "");
    display->bar_shown = false;
}

static void show_notice(void *context, bool loud, const char *line)
{
    struct display *display = context;
    clear_bar(display);
    if (loud || !display->quiet)
        fprintf(stderr, "%s\n", line);
}

/* --- the summary -------------------------------------------------------------------------------
 */

/* The last value of a column of the diagnostic `conservation`, or NaN. */
static double last_conservation(const struct run *run, const char *column)
{
    for (size_t i = 0; i < run->diagnostic_count; i++) {
        const struct diagnostic *diagnostic = run->diagnostics[i].diagnostic;
        if (strcmp(diagnostic->class_->variant.name, "conservation") != 0)
            continue;
        for (size_t k = 0; k < diagnostic->column_count; k++)
            if (strcmp(diagnostic->columns[k].name, column) == 0)
                return run->diagnostics[i].last_row[k];
    }
    return NAN;
}

static void print_physics(const struct run *run)
{
    const double largest = last_conservation(run, "energy_error");
    printf("  energy error   dE/E0 = %.3g", run_energy_error(run));
    if (isfinite(largest))
        printf(" (largest %.3g)", largest);
    const struct conserved *c = &run->conserved[0];
    printf("\n  virial ratio   2K/|W| = %.4f, -2K/U = %.4f\n", 2.0 * c->kinetic / fabs(c->virial),
           -2.0 * c->kinetic / c->potential);
}

static void print_criteria(const struct run *run)
{
    for (size_t i = 0; i < run->expectations.count; i++) {
        const struct criterion *c = &run->expectations.criteria[i];
        char text[CRITERION_TEXT_SIZE];
        printf("  expect         %s: %s", criterion_text(c, text),
               criterion_holds(c) ? "held" : "FAILED");
        if (c->rows == 0)
            printf(", no row to judge by");
        else
            printf(", worst %.4g", c->worst);
        if (c->failures > 0)
            printf(", first at t = %.4g", c->first_failure);
        printf("\n");
    }
}

static void print_watch(const struct run *run)
{
    char text[WATCH_TEXT_SIZE];
    if (run->ended_by[0])
        printf("  stop_when      %s\n", run->ended_by);
    if (watch_text(run->watch, text)[0])
        printf("  watch          %s%s\n",
               watch_holds(run->watch, run->left_out) ? "" : "FAILED: ", text);
}

/* The name of its file, or that of the first and "..." */
static void print_output(const struct run *run, size_t index)
{
    const struct section *section = config_item(run->experiment.config, "outputs", index);
    const struct output_class *class_ = output_find(section);
    const struct directory *directory = run->directory;
    char name[OUTPUT_NAME_SIZE];
    if (class_->event_file) {
        class_->event_file(section, 0, name);
        printf(" %s ...", name);
    } else {
        const bool renamed = class_->finished_file && class_->finished_file(section, name) &&
                             !directory_has(directory, run->output_files[index]);
        printf(" %s", renamed ? name : run->output_files[index]);
    }
}

static void print_files(const struct run *run)
{
    printf("  files          %s/: run.cfg run.json run.log", directory_path(run->directory));
    for (size_t i = 0; i < run->diagnostic_count; i++)
        printf(" %s.csv", run->diagnostics[i].diagnostic->name);
    for (size_t i = 0; i < run->output_count; i++)
        print_output(run, i);
    printf("\n");
}

static void print_summary(const struct run *run, enum status status)
{
    const struct experiment *experiment = &run->experiment;
    const struct backend_description *d = &run->description;
    const double wall = clock_seconds() - run->started;
    char team[BACKEND_TEAM_SIZE];
    printf("%s: %zu bodies", experiment->name, experiment->bodies->count);
    if (experiment->bodies->systems > 1)
        printf(" x %zu systems", experiment->bodies->systems);
    printf(", %s, step %g\n", experiment->integrator->variant.name, experiment->step);
    printf("  computed on    %s (%s, %s, %s), %s\n", d->backend, d->kernel, d->isa,
           precision_names[d->precision], backend_team(d, team));
    printf("  reached        t = %.6g, step %llu of %llu\n", run_time(run),
           (unsigned long long)run->step, (unsigned long long)experiment->steps);
    printf("  wall time      %.2f s, %.3g steps/s, %.3g G interactions/s\n", wall,
           (double)(run->step - run->first_step) / fmax(run->advance_seconds, 1e-9),
           1e-9 * run_rate(run));
    print_physics(run);
    print_criteria(run);
    print_watch(run);
    print_files(run);
    printf("  verdict        %s\n", provenance_verdict(run, status));
}

/* --- the time limit ----------------------------------------------------------------------------
 */

/* How long before the batch system's end the last checkpoint is begun. */
static const double batch_margin_seconds = 60.0;

/* Seconds until the batch system ends the job, less the margin; 0 where it sets no end. */
static double batch_limit(void)
{
    int64_t end;
    const char *text = getenv("SLURM_JOB_END_TIME");
    if (!text || !text_parse_integer(text, &end))
        return 0.0;
    return fmax(1.0, (double)end - (double)time(NULL) - batch_margin_seconds);
}

/* The end, by clock_seconds(), that "[[H:]M:]S" or the batch system sets, whichever comes first;
 * 0: none. */
static enum status find_deadline(const char *text, double *deadline, struct error *error)
{
    const double now = clock_seconds(), batch = batch_limit();
    *deadline = batch > 0.0 ? now + batch : 0.0;
    if (!text)
        return STATUS_OK;
    unsigned parts[3];
    char rest;
    const int count = sscanf(text, "%u:%u:%u%c", &parts[0], &parts[1], &parts[2], &rest);
    const size_t digits = strspn(text, "0123456789:");
    if (count < 1 || count > 3 || text[digits] != '\0' || text[digits - 1] == ':')
        return error_set(error, STATUS_USAGE, "orrery: --max-time %s: must be [[H:]M:]S", text);
    double limit = 0.0;
    for (int i = 0; i < count; i++)
        limit = 60.0 * limit + parts[i];
    *deadline = batch > 0.0 ? fmin(*deadline, now + limit) : now + limit;
    return STATUS_OK;
}

/* --- the command -------------------------------------------------------------------------------
 */

static enum status run_one(const struct run_options *options, struct prepared *prepared,
                           struct display *display, struct error *error)
{
    enum status status = prepare_run(options, true, prepared, error);
    if (status)
        return status;
    status = run_execute(prepared->run, error);
    clear_bar(display);
    if (!display->quiet && prepared->run->manifest_written)
        print_summary(prepared->run, status);
    return status;
}

enum status command_run(int argc, char **argv, struct error *error)
{
    struct display display = { .terminal = isatty(STDERR_FILENO) };
    struct prepare_options prepare = { 0 };
    struct run_options options = { .progress = show_progress,
                                   .notice = show_notice,
                                   .context = &display };
    struct command_study_options study = { 0 };
    bool dry_run = false, helped;
    long long member = 0;
    const char *max_time = NULL;
    const struct argument table[] = {
        { 'o', "output", "DIR", ARGUMENT_TEXT, &options.directory,
          "where to write (default: NAME.run)" },
        { 'P', NULL, "key.path=value", ARGUMENT_LIST, &prepare.overrides,
          "set a key of the config; may be repeated" },
        { 0, "restart", NULL, ARGUMENT_FLAG, &options.restart, "continue the run that is there" },
        { 0, "max-time", "[[H:]M:]S", ARGUMENT_TEXT, &max_time,
          "stop in time with a checkpoint (exit status 75)" },
        { 0, "force", NULL, ARGUMENT_FLAG, &options.force, "replace a run that is there" },
        { 0, "convergence", NULL, ARGUMENT_FLAG, &study.convergence,
          "repeat with step, step/2, step/4; report orders and error bars" },
        { 0, "member", "N", ARGUMENT_INTEGER, &member,
          "of a sweep, run this member alone (a job array)" },
        { 0, "dry-run", NULL, ARGUMENT_FLAG, &dry_run, "check everything, compute nothing" },
        { 'q', "quiet", NULL, ARGUMENT_FLAG, &display.quiet, "no progress, no summary" },
    };
    const struct arguments arguments = {
        "orrery run FILE.cfg [-o DIR] [-P key.path=value]... [--restart]",
        "Runs the experiment that FILE.cfg describes.",
        table,
        COUNT_OF(table),
        1,
        1
    };
    struct argument_list plain;
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    prepare.path = plain.items[0];
    if (options.force && options.restart)
        return error_set(error, STATUS_USAGE, "orrery: --force and --restart exclude each other");
    if (member < 0)
        return error_set(error, STATUS_USAGE, "orrery: --member %lld: counts from 1", member);
    study.member = (size_t)member;
    study.quiet = display.quiet;
    if (find_deadline(max_time, &options.deadline, error))
        return error->status;
    if (dry_run)
        return prepare_check(&prepare, &options, error);

    struct prepared prepared;
    enum status status = prepare_config(&prepare, &prepared, error);
    if (!status && (study.convergence || config_count(prepared.config, "sweep") > 0))
        status = command_study(&prepare, prepared.config, &options, &study, error);
    else if (!status)
        status = run_one(&options, &prepared, &display, error);
    prepare_done(&prepared);
    return status;
}
