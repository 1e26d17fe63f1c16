#include "commands/study.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "backend/mpi.h"
#include "run/experiment.h"
#include "study/convergence.h"
#include "study/folder.h"
#include "study/study.h"

struct study_display {
    bool terminal, quiet;
};

static void show_notice(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
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

/* Columns that rounding alone decides say nothing; they stand in the file. */
static bool tells_something(const struct convergence_row *row)
{
    return isfinite(row->order) && row->order > 0.3 && row->error > 0.0;
}

static enum status print_convergence(const char *directory, bool quiet, struct error *error)
{
    struct convergence convergence;
    const enum status status = convergence_measure(directory, &convergence, error);
    if (!status && !quiet) {
        printf("  %-36s %-24s %7s  %s\n", "column", "value at the smallest step", "order",
               "error left");
        for (size_t i = 0; i < convergence.count; i++) {
            const struct convergence_row *row = &convergence.rows[i];
            if (tells_something(row))
                printf("  %-36s %-26.15g %7.3f  %.2g\n", row->column, row->value, row->order,
                       row->error);
        }
        printf("  all columns    %s/convergence.csv\n", directory);
    }
    convergence_free(&convergence);
    return status;
}

static void print_summary(const struct study *study, const char *directory, enum status status)
{
    printf("%s: %zu runs", directory, study->member_count);
    for (size_t k = 0; k < study->shown_keys; k++)
        printf("%s%s", k ? ", " : " over ", study->keys[k]);
    printf("\n  table          %s/study.csv\n  figures        orrery report %s\n", directory,
           directory);
    printf("  verdict        %s\n", status == STATUS_OK              ? "held"
                                    : status == STATUS_EXPECT_FAILED ? "failed"
                                                                     : "error");
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
    char name[EXPERIMENT_NAME_SIZE], directory[EXPERIMENT_NAME_SIZE + 16];
    experiment_name(config, name);
    snprintf(directory, sizeof directory, "%s.%s", name, convergence ? "convergence" : "sweep");
    struct study_display display = { isatty(STDERR_FILENO), quiet };
    const struct study_options options = {
        .path = prepare->path,
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
    enum status status = study_run(&study, &options, error);
    const bool whole = status == STATUS_OK || status == STATUS_EXPECT_FAILED;
    if (whole && !quiet)
        print_summary(&study, options.directory, status);
    /* Of an array the job that ends last knows all runs. */
    const bool complete = !wanted->member || folder_is_complete(&study, options.directory);
    if (whole && complete && convergence && print_convergence(options.directory, quiet, error))
        status = error->status;
    study_free(&study);
    return status;
}
