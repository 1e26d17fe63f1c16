/* orrery check: validates a config file; prints the values of its keys and the cost of the run. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/display.h"
#include "estimate/accuracy-target.h"
#include "estimate/prospects.h"

static enum status print_keys(const struct config *config, struct error *error)
{
    struct text echo = { 0 };
    config_echo(config, &echo);
    if (echo.failed)
        error_memory(error);
    else
        fwrite(echo.bytes, 1, echo.length, stdout);
    text_free(&echo);
    return error->status;
}

/* Estimates the cost of the run by a trial of it. If the trial meets numbers that are not finite,
 * the error says that this was a trial, since the user has not asked for one. */
static enum status estimate_tried(const char *path, const struct run *run,
                                  struct estimate *estimate, struct error *error)
{
    struct error tried = { 0 };
    const struct estimated estimated = run_estimated(run);
    if (estimate_run(&estimated, true, estimate, &tried) == STATUS_NUMERICAL)
        return error_set(error, STATUS_NUMERICAL, "%s: check tried the run: %s", path, tried.text);
    return error_pass(error, &tried);
}

/* The longest time that a check may take, in seconds. */
static const double most_seconds = 10.0;

static enum status try_part(struct check_results *check, enum check_part part, const char *path,
                            const struct run_options *run, struct error *error)
{
    const struct run_record *const record = &check->record;
    const struct experiment *const x = record->experiment;
    if (part == CHECK_BODIES) {
        if (run_prepare(check->prepared.config, run, false, &check->prepared.run, error))
            return error->status;
        check->record = run_record(check->prepared.run);
        return prospects_check(record->experiment, record->criteria, &check->warnings, error);
    }
    if (part == CHECK_ADVICE && accuracy_target_key(&record->target))
        return STATUS_OK; /* no advice: the step was chosen for the accuracy that is asked for */
    if (part == CHECK_ESTIMATE)
        return estimate_tried(path, check->prepared.run, &check->estimate, error);
    if (part == CHECK_RESOLUTION)
        return resolution_measure(&x->simulation.physics, x->simulation.bodies, record->backend,
                                  &check->resolution, error);
    const struct advice_wish wish = {
        .bound = criteria_energy_bound(record->criteria, false),
        .work = ADVICE_USUAL_WORK,
        .present = NAN,
    };
    return advice_find(x, &wish, &check->advice, error);
}

enum status prepare_check(const struct prepare_options *options, const struct run_options *wanted,
                          struct error *error)
{
    struct check_results check = { 0 };
    struct sweep_estimate sweep;
    struct run_options run = *wanted;
    const double limit = clock_seconds() + most_seconds;
    run.deadline = run.deadline > 0.0 ? fmin(run.deadline, limit) : limit;
    enum status status = prepare_config(options, &check.prepared, error);
    if (!status)
        status = command_study_check(options, check.prepared.config, &sweep, error);
    int part = 0;
    while (!status && part < CHECK_PARTS) {
        status = try_part(&check, (enum check_part)part, options->path, &run, error);
        part += !status;
        if (!status && part == CHECK_BODIES + 1)
            status = print_keys(check.record.experiment->config, error);
    }
    if (status == STATUS_STOPPED) {
        error_clear(error);
        status = part > CHECK_BODIES ? STATUS_OK : print_keys(check.prepared.config, error);
    }
    if (!status)
        check_report(&check, part, &sweep);
    text_free(&check.warnings);
    prepare_done(&check.prepared);
    return status;
}

enum status command_check(int argc, char **argv, struct error *error)
{
    struct prepare_options options = { 0 };
    const struct argument table[] = {
        { 'P', NULL, "key.path=value", ARGUMENT_LIST, &options.overrides,
          "set a key of the config; may be repeated" },
    };
    const struct arguments arguments = {
        "orrery check FILE.cfg [-P key.path=value]...",
        "Checks FILE.cfg without computing: prints every key with its value, and\n"
        "an estimate of memory, disk and time, within 10 seconds.",
        table,
        COUNT_OF(table),
        1,
        1
    };
    struct argument_list plain;
    bool helped;
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    options.path = plain.items[0];
    const struct run_options run = { 0 };
    return prepare_check(&options, &run, error);
}
