/* orrery run: runs an experiment, shows its progress, and ends with a summary and the verdict. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/display.h"
#include "run/record.h"
#include "run/run.h"
#include "run/signals.h"

/* --- the time limit --------------------------------------------------------------------------- */

/* The seconds by which the run must have stopped before the batch system ends the job. */
static const double batch_margin_seconds = 60.0;

/* Returns the seconds until the run must have stopped, the margin before the batch system (Slurm)
 * ends the job, but at least 1; 0 if it sets no end. An end in the past, perhaps inherited from a
 * job that is over, is warned of. */
static double batch_limit(void)
{
    int64_t end;
    const char *text = getenv("SLURM_JOB_END_TIME");
    if (!text || !text_parse_integer(text, &end))
        return 0.0;
    const double left = (double)end - (double)time(NULL);
    if (left < 0.0)
        fprintf(stderr,
                "WARNING: SLURM_JOB_END_TIME=%" PRId64
                " is over since %.3g s: the run stops after a second; unset it if no job of "
                "Slurm ends this command\n",
                end, -left);
    return fmax(1.0, left - batch_margin_seconds);
}

/* Finds the moment of clock_seconds() at which the run must stop: that of --max-time (`text`,
 * "[[H:]M:]S", or NULL) or that of the batch system, whichever comes first; 0 if there is none. */
static enum status find_deadline(const char *text, double *deadline, struct error *error)
{
    const double now = clock_seconds(), batch = batch_limit();
    *deadline = batch > 0.0 ? now + batch : 0.0;
    if (!text)
        return STATUS_OK;
    double parts[3]; /* hours, minutes and seconds, or only the last of them */
    char rest;
    const int count = sscanf(text, "%lf:%lf:%lf%c", &parts[0], &parts[1], &parts[2], &rest);
    const size_t digits = strspn(text, "0123456789:");
    int colons = 0;
    for (const char *c = text; *c; c++)
        colons += *c == ':';
    if (count < 1 || count > 3 || text[digits] != '\0' || count != colons + 1)
        return error_set(error, STATUS_USAGE, "orrery: --max-time %s: must be [[H:]M:]S", text);
    double limit = 0.0;
    for (int i = 0; i < count; i++)
        limit = 60.0 * limit + parts[i];
    *deadline = batch > 0.0 ? fmin(*deadline, now + limit) : now + limit;
    return STATUS_OK;
}

/* --- the command line ------------------------------------------------------------------------- */

struct wanted {
    struct prepare_options prepare;
    struct run_options run;
    struct command_study_options study;
    const char *max_time, *restart; /* values of --max-time and --restart; NULL if not given */
    long long member;               /* member of a sweep to run alone, counted from 1; 0 for all */
    bool dry_run;
};

/* Interprets the option --restart: `word` is NULL if it is not given, "" for "--restart" alone,
 * "if-any" for "--restart=if-any". */
static enum status read_restart(const char *word, struct run_options *options, struct error *error)
{
    options->restart = word != NULL;
    options->restart_if_any = word && strcmp(word, "if-any") == 0;
    if (word && word[0] && !options->restart_if_any)
        return error_set(error, STATUS_USAGE,
                         "orrery: --restart=%s: must stand alone or be --restart=if-any", word);
    if (options->force && options->restart)
        return error_set(error, STATUS_USAGE, "orrery: --force and --restart exclude each other");
    return STATUS_OK;
}

static enum status read_words(struct wanted *wanted, bool quiet, struct error *error)
{
    if (read_restart(wanted->restart, &wanted->run, error))
        return error->status;
    if (wanted->member < 0)
        return error_set(error, STATUS_USAGE, "orrery: --member %lld: counts from 1",
                         wanted->member);
    wanted->study.member = (size_t)wanted->member;
    wanted->study.quiet = quiet;
    wanted->prepare.convergence = wanted->study.convergence;
    return find_deadline(wanted->max_time, &wanted->run.deadline, error);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum status run_one(const struct run_options *options, struct prepared *prepared,
                           struct display *display, struct error *error)
{
    if (options->deadline > 0.0)
        signals_limit(options->deadline - clock_seconds());
    enum status status = run_prepare(prepared->config, options, true, &prepared->run, error);
    if (status)
        return status;
    status = run_execute(prepared->run, error);
    display_clear(display);
    const struct run_record record = run_record(prepared->run);
    if (display->tabular && !display->quiet)
        printf("\n"); /* a blank line between the table of --show and the summary */
    if (!display->quiet && record.written)
        summary_print(&record, status);
    return status;
}

static enum status run_wanted(const struct wanted *wanted, struct display *display,
                              struct error *error)
{
    struct prepared prepared;
    enum status status = prepare_config(&wanted->prepare, &prepared, error);
    const bool sweep = !status && config_count(prepared.config, "sweep") > 0;
    if (!status && wanted->study.member && !wanted->study.convergence && !sweep)
        status = error_set(error, STATUS_USAGE,
                           "orrery: --member %zu: %s describes no sweep, so it has no members",
                           wanted->study.member, wanted->prepare.path);
    if (!status && (wanted->study.convergence || sweep))
        status =
            command_study(&wanted->prepare, prepared.config, &wanted->run, &wanted->study, error);
    else if (!status)
        status = run_one(&wanted->run, &prepared, display, error);
    prepare_done(&prepared);
    return status;
}

enum status command_run(int argc, char **argv, struct error *error)
{
    struct display display = display_begin(false);
    struct wanted wanted = { .run = { .progress = display_progress,
                                      .notice = display_notice,
                                      .row = display_row,
                                      .context = &display } };
    const struct argument table[] = {
        { 'o', "output", "DIR", ARGUMENT_TEXT, &wanted.run.directory,
          "where to write (default: NAME.run)" },
        { 'P', NULL, "key.path=value", ARGUMENT_LIST, &wanted.prepare.overrides,
          "set a key of the config; may be repeated" },
        { 0, "restart", "if-any", ARGUMENT_WORD, &wanted.restart,
          "continue the run that is there; =if-any begins it if there is none" },
        { 0, "max-time", "[[H:]M:]S", ARGUMENT_TEXT, &wanted.max_time,
          "stop in time with a checkpoint (exit status 75)" },
        { 0, "force", NULL, ARGUMENT_FLAG, &wanted.run.force, "replace a run that is there" },
        { 0, "convergence", NULL, ARGUMENT_FLAG, &wanted.study.convergence,
          "repeat with step, step/2, step/4; report orders and error bars" },
        { 0, "member", "N", ARGUMENT_INTEGER, &wanted.member,
          "run only this member of a sweep (a job array)" },
        { 0, "show", "quantity,...", ARGUMENT_TEXT, &wanted.run.show,
          "print these columns of the diagnostics as they are measured" },
        { 0, "no-lock", NULL, ARGUMENT_NO_LOCK, NULL,
          "take no locks, for file systems without them" },
        { 0, "dry-run", NULL, ARGUMENT_FLAG, &wanted.dry_run, "check everything, compute nothing" },
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
    bool helped;
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    wanted.prepare.path = plain.items[0];
    if (read_words(&wanted, display.quiet, error))
        return error->status;
    return wanted.dry_run ? prepare_check(&wanted.prepare, &wanted.run, error)
                          : run_wanted(&wanted, &display, error);
}
