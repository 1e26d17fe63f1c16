#include "commands/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/mpi-job.h"
#include "base/text.h"
#include "commands/display.h"
#include "estimate/experiment.h"
#include "run/record.h"
#include "study/study.h"

struct study_display {
    bool terminal, quiet;
};

__attribute__((format(printf, 2, 3))) static void say(FILE *file, const char *format, ...)
{
    struct text line = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_vprint(&line, format, arguments);
    va_end(arguments);
    terminal_put(file, TERMINAL_PLAIN, &line);
}

static void show_notice(void *context, const char *line)
{
    (void)context;
    say(stderr, "%s\n", line);
}

static void show_progress(void *context, size_t done, size_t members)
{
    const struct study_display *display = context;
    if (display->quiet)
        return;
    if (display->terminal)
        fprintf(stderr, "\r%zu of %zu runs%s", done, members, done == members ? "\n" : "");
    else if (done == members || done % (members / 10 + 1) == 0)
        fprintf(stderr, "%zu of %zu runs\n", done, members);
}

static void print_row(const struct convergence_row *row)
{
    char order[16], error[16];
    snprintf(order, sizeof order, "%.3f", row->bar.order);
    snprintf(error, sizeof error, "%.2g", row->bar.error);
    say(stdout, "  %-36s %-23.15g %8s  %s\n", row->column, row->value,
        row->bar.limit == ERRORBAR_STEP ? order : errorbar_limit_names[row->bar.limit],
        row->bar.limit == ERRORBAR_NONE ? "-" : error);
}

static enum status print_convergence(const char *directory, bool quiet, struct error *error)
{
    struct convergence convergence;
    const enum status status = convergence_measure(directory, &convergence, error);
    if (!status && !quiet) {
        printf("  %-36s %-23s %8s  %s\n", "column", "value, smallest step", "order", "its error");
        for (size_t i = 0; i < convergence.count; i++)
            if (isfinite(convergence.rows[i].value)) /* only convergence.csv has NaN */
                print_row(&convergence.rows[i]);
        say(stdout, "  all columns    %s/convergence.csv\n", directory);
    }
    convergence_free(&convergence);
    return status;
}

/* --- the summary ------------------------------------------------------------------------------ */

/* Prints how many runs have ended in each way, and names those that did not go well, with the
 * reasons. `outcomes` has one for each member. */
static void print_members(const struct study *study, const char *directory, enum outcome *outcomes)
{
    struct status_report_study report = { .members = study->member_count,
                                          .outcomes = outcomes,
                                          .end = study_end(study) };
    struct text lines = { 0 };
    status_report_of_members(directory, study, &report, &lines);
    terminal_put(stdout, TERMINAL_PLAIN, &lines);
}

static void print_summary(const struct study *study, const char *directory, enum outcome *outcomes,
                          const char *verdict)
{
    struct text command = { 0 };
    say(stdout, "%s: %zu runs", directory, study->member_count);
    for (size_t k = 0; k < study->shown_keys; k++)
        say(stdout, "%s%s", k ? ", " : " over ", study->keys[k]);
    printf("\n");
    print_members(study, directory, outcomes);
    text_shell(&command, directory);
    say(stdout, "  table          %s/study.csv\n  figures        orrery report %s\n", directory,
        command.bytes ? command.bytes : "");
    text_free(&command);
    printf("  verdict        %s\n", verdict);
}

enum status command_study(const struct prepare_options *prepare, const struct config *config,
                          const struct run_options *run, const struct command_study_options *wanted,
                          struct error *error)
{
    const bool convergence = wanted->convergence, quiet = wanted->quiet;
    if (mpi_count() > 1)
        return error_set(error, STATUS_USAGE,
                         "orrery: the runs of a study are processes of their own, side by side; "
                         "start it without mpirun");
    if (run->show)
        return error_set(error, STATUS_USAGE,
                         "orrery: --show %s: the runs of a study are at work side by side, and "
                         "their rows would mix; `orrery watch` with the directory of one of them "
                         "shows its rows",
                         run->show);
    char name[EXPERIMENT_NAME_SIZE], directory[EXPERIMENT_NAME_SIZE + 16];
    experiment_name(config, name);
    snprintf(directory, sizeof directory, "%s.%s", name, convergence ? "convergence" : "sweep");
    struct study_display display = { isatty(STDERR_FILENO), quiet };
    const struct study_options options = {
        .overrides = prepare->overrides.items,
        .override_count = prepare->overrides.count,
        .directory = run->directory ? run->directory : directory,
        .force = run->force,
        .only = wanted->member,
        .deadline = run->deadline,
        .threads = (int)section_integer(config_section(config, "compute"), "threads"),
        .notice = show_notice,
        .progress = show_progress,
        .context = &display,
    };
    struct study study;
    if (convergence ? study_of_convergence(config, CONVERGENCE_LEVELS, &study, error)
                    : study_of_sweep(config, &study, error))
        return error->status;
    enum outcome *outcomes;
    enum status status = study_run(&study, &options, &outcomes, error);
    const bool whole = status == STATUS_OK || status == STATUS_EXPECT_FAILED;
    if (outcomes && !quiet)
        print_summary(&study, options.directory, outcomes, run_verdict(config, status));
    free(outcomes);
    /* In a job array each job runs one member; only the job that ends last has the results of
     * all. */
    bool complete = true;
    if (whole && convergence &&
        ((wanted->member && folder_is_complete(&study, options.directory, &complete, error)) ||
         (complete && print_convergence(options.directory, quiet, error))))
        status = error->status;
    study_free(&study);
    return status;
}

/* --- the check before a study ----------------------------------------------------------------- */

enum status command_study_check(const struct prepare_options *prepare, const struct config *config,
                                struct sweep_estimate *sweep, struct error *error)
{
    const bool swept = config_count(config, "sweep") > 0;
    const struct study_options options = {
        .directory = ".",
        .threads = (int)section_integer(config_section(config, "compute"), "threads"),
    };
    struct study study;
    *sweep = (struct sweep_estimate){ 0 };
    if (!prepare->convergence && !swept)
        return STATUS_OK;
    if (prepare->convergence ? study_of_convergence(config, CONVERGENCE_LEVELS, &study, error)
                             : study_of_sweep(config, &study, error))
        return error->status;
    enum status status = study_check_memory(&study, &options, error);
    sweep->runs = swept ? study.member_count : 0;
    if (!status && swept)
        status = disk_needed(&study, &options, NULL, NULL, &sweep->disk_bytes, error);
    study_free(&study);
    return status;
}
