/* orrery verify: computes a run again from its previous checkpoint to the step of its newest one,
 * and demands that all bits of the state are equal. */
#include "run/run.h"

#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "run/schema.h"

static void show_progress(void *context, double done)
{
    (void)context;
    fprintf(stderr, "\r%5.1f %%%s", 100.0 * done, done < 1.0 ? "" : "\r        \r");
}

static void print_result(const char *directory, const struct verification *v)
{
    printf("%s: steps %llu to %llu come out with the same bits, replayed in %.2f s\n", directory,
           (unsigned long long)v->from, (unsigned long long)v->to, v->seconds);
    if (!v->same_build)
        printf("  though another build or kind of machine had computed them\n");
}

enum status command_verify(int argc, char **argv, struct error *error)
{
    struct argument_list overrides = { 0 }, plain;
    bool quiet = false, helped;
    const struct argument table[] = {
        { 'P', NULL, "key.path=value", ARGUMENT_LIST, &overrides,
          "replay with another compute.threads, say; may be repeated" },
        { 0, "no-lock", NULL, ARGUMENT_NO_LOCK, NULL,
          "take no locks, for file systems without them" },
        { 'q', "quiet", NULL, ARGUMENT_FLAG, &quiet, "only the exit status" },
    };
    const struct arguments arguments = {
        "orrery verify DIR [-P key.path=value]...",
        "Computes the run in DIR again from checkpoint.orr.prev to the step of checkpoint.orr, "
        "and\n"
        "demands the same bits: the proof that its restarts are exact. run.json\n"
        "records the outcome.",
        table,
        COUNT_OF(table),
        1,
        1
    };
    if (arguments_parse(&arguments, argc, argv, &plain, &helped, error) || helped)
        return error->status;
    const char *directory = plain.items[0];
    struct text path = { 0 };
    struct config *config = NULL;
    struct verification verification;
    text_print(&path, "%s/run.cfg", directory);
    if (path.failed)
        error_memory(error);
    else if (!schema_load(path.bytes, overrides.items, overrides.count, &config, error) &&
             !verify_run(config, directory, !quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
                         NULL, &verification, error) &&
             !quiet)
        print_result(directory, &verification);
    config_free(config);
    text_free(&path);
    return error->status;
}
