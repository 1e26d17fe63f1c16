/* orrery: gravitational N-body experiments from config files. main() finds the command in the
 * arguments, executes it, prints the errors and sets the exit status. (Handlers of signals and of
 * MPI failures end the process themselves.) Under mpirun the process of rank 0 does this, and the
 * other ranks compute for it. */
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/mpi-job.h"
#include "backend/ranks.h"
#include "base/build.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/display.h"
#include "config/parameter-reference.h"
#include "machine/cores.h"
#include "run/signals.h"

static void print_usage(FILE *file)
{
    struct text text = { 0 };
    for (size_t i = 0; command_at(i); i++)
        reference_item("  ", command_at(i)->name, 13, command_at(i)->help, &text);
    fprintf(file,
            "usage: orrery COMMAND [arguments]\n\ncommands:\n%s\n"
            "`orrery COMMAND --help` says more. A first run:\n"
            "  orrery run examples/outer-solar-system/run.cfg\n",
            text.bytes ? text.bytes : "");
    text_free(&text);
}

/* Prints each command with its help on a line of its own, for the completion of shells. */
static void print_commands(void)
{
    for (size_t i = 0; command_at(i); i++)
        printf("%s\t%s\n", command_at(i)->name, command_at(i)->help);
}

static void print_version(void)
{
    struct text text = { 0 };
    text_print(&text, "orrery %s (%s)\n", build_version(), build_commit());
    reference_item("  ", "compiler", 13, build_compiler(), &text);
    reference_item("  ", "options", 13, build_options(), &text);
    fputs(text.bytes ? text.bytes : "", stdout);
    text_free(&text);
}

static enum status unknown_command(const char *word, struct error *error)
{
    const char *names[32];
    size_t count = 0;
    for (; command_at(count); count++)
        names[count] = command_at(count)->name;
    const char *nearest = text_nearest(word, names, count), *dot = strrchr(word, '.');
    if ((dot && strcmp(dot, ".cfg") == 0) || access(word, R_OK) == 0)
        return error_set(error, STATUS_USAGE,
                         "orrery: '%s' is no command; to run a config file: orrery run %s", word,
                         word);
    return error_set(error, STATUS_USAGE, "orrery: unknown command '%s'%s%s%s (orrery --help)",
                     word, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

/* Tells whether standard output could not be written and this is an error, as on a full disk. If
 * the stream is closed, or a pipe that nobody reads any more, the user did not want the output:
 * that is an error only if `prints_result`, since then the output is the result of the command. */
static bool has_lost_output(bool prints_result)
{
    struct stat about;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return false;
    const bool closed = (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY;
    const bool pipe =
        fstat(STDOUT_FILENO, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
    return prints_result || !(closed || pipe);
}

static enum status execute(int argc, char **argv, struct error *error)
{
    if (argc < 2)
        return print_usage(stderr), STATUS_USAGE;
    const bool is_help = strcmp(argv[1], "help") == 0 && argc > 2;
    const char *word = argv[1 + is_help];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return print_usage(stdout), STATUS_OK;
    if (strcmp(word, "--version") == 0)
        return print_version(), STATUS_OK;
    if (strcmp(word, "--complete") == 0)
        return print_commands(), STATUS_OK;
    const struct command *command = command_find(word);
    if (!command)
        return unknown_command(word, error);
    char help[] = "--help", *of_command[] = { argv[1 + is_help], help, NULL };
    return is_help ? command->execute(2, of_command, error)
                   : command->execute(argc - 1, argv + 1, error);
}

/* Opens /dev/null for each standard stream that is closed, so that no file that is opened later
 * gets the number of that stream and, with it, what the program prints. It is open for reading
 * only, so that writing to such a stream fails. */
static void occupy_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    if (command && command->computes)
        cores_wait_briefly(argv);
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        signals_expect();
    memory_watch_libraries();
    occupy_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes fails with EFBIG then */
    signal(SIGCHLD, SIG_DFL); /* if the caller ignored SIGCHLD, waiting for a child would fail */
    gsl_set_error_handler_off();
    memory_return_large();
    struct error error = { 0 };
    enum status status = mpi_start(&error);
    if (!status && mpi_rank() > 0)
        ranks_serve();
    else if (!status && command && command->computes && cores_check_threads(&error))
        status = error.status;
    else if (!status)
        status = execute(argc, argv, &error);
    if (status == STATUS_OK && has_lost_output(command && command->prints_result))
        status = error_set(&error, STATUS_IO, "orrery: standard output cannot be written");
    if (error.lines > 0) {
        terminal_print(stderr, TERMINAL_RED, error.text);
        fputc('\n', stderr);
    }
    if (error.dropped > 0)
        fprintf(stderr, "... and %zu more errors\n", error.dropped);
    if (mpi_rank() == 0)
        ranks_dismiss();
    mpi_end();
    memory_finish();
    return (int)status;
}
