/* The commands: `orrery NAME ...`. One source file and one row of the table each. */
#ifndef ORRERY_COMMANDS_COMMANDS_H
#define ORRERY_COMMANDS_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct command {
    const char *name;
    const char *help; /* one line */
    /* argv[0] is the command's name. Prints results, returns errors. */
    enum status (*execute)(int argc, char **argv, struct error *error);
    bool prints_result; /* what it prints is what it is for: failing to print it is an error */
    bool computes;      /* forces, by teams of threads */
};

/* NULL past the last / for an unknown name. */
const struct command *command_at(size_t index);
const struct command *command_find(const char *name);

enum status command_run(int argc, char **argv, struct error *error);
enum status command_check(int argc, char **argv, struct error *error);
enum status command_bench(int argc, char **argv, struct error *error);
enum status command_bench_gpu(int argc, char **argv, struct error *error);
enum status command_convert(int argc, char **argv, struct error *error);
enum status command_info(int argc, char **argv, struct error *error);
enum status command_report(int argc, char **argv, struct error *error);
enum status command_verify(int argc, char **argv, struct error *error);
enum status command_watch(int argc, char **argv, struct error *error);

#endif
