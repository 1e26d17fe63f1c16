#include "commands/commands.h"

#include <string.h>

#include "base/memory.h"

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
