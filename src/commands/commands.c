#include "commands/commands.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "run/schema.h"

static const struct command table[] = {
    { "run", "run an experiment from a config file", command_run, false, true },
    { "check", "check a config file; print its values and its cost", command_check, true, true },
    { "bench", "measure how fast this machine computes, and how exactly", command_bench, true,
      true },
    { "info", "describe this build, and explain every name and key", command_info, true, false },
    { "report", "draw the figures of a run, or of several, and write one HTML page", command_report,
      false, false },
    { "watch", "follow a run or a study that is at work, until it ends", command_watch, true,
      false },
    { "convert", "copy bodies from one kind of file to another", command_convert, false, false },
    { "verify", "replay a run between its last two checkpoints and demand the same bits",
      command_verify, true, true },
};

const struct command *command_at(size_t index)
{
    return index < COUNT_OF(table) ? &table[index] : NULL;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

/* --- preparing a run -------------------------------------------------------------------------- */

/* Reports a path that is no config file if the user probably meant another file: PATH.cfg if PATH
 * is missing, PATH/run.cfg if PATH is a folder. Otherwise returns STATUS_OK. */
static enum status check_path(const char *path, struct error *error)
{
    struct text other = { 0 };
    struct stat about;
    const bool found = stat(path, &about) == 0;
    text_print(&other, "%s%s", path, found ? "/run.cfg" : ".cfg");
    if (other.bytes && access(other.bytes, R_OK) == 0 && strcmp(path, "-") != 0) {
        if (!found)
            error_set(error, STATUS_NO_INPUT, "%s: no such file; did you mean %s?", path,
                      other.bytes);
        else if (S_ISDIR(about.st_mode))
            error_set(error, STATUS_NO_INPUT, "%s: is a folder; did you mean %s?", path,
                      other.bytes);
    }
    text_free(&other);
    return error->status;
}

enum status prepare_config(const struct prepare_options *options, struct prepared *prepared,
                           struct error *error)
{
    *prepared = (struct prepared){ 0 };
    if (check_path(options->path, error))
        return error->status;
    return schema_load(options->path, options->overrides.items, options->overrides.count,
                       &prepared->config, error);
}

void prepare_done(struct prepared *prepared)
{
    run_destroy(prepared->run);
    config_free(prepared->config);
    *prepared = (struct prepared){ 0 };
}
