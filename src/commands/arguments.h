/* The arguments of a command: one table gives the parser and the help text. */
#ifndef ORRERY_COMMANDS_ARGUMENTS_H
#define ORRERY_COMMANDS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum argument_type {
    ARGUMENT_FLAG,    /* bool */
    ARGUMENT_TEXT,    /* const char * */
    ARGUMENT_INTEGER, /* long long */
    ARGUMENT_REAL,    /* double */
    ARGUMENT_LIST,    /* struct argument_list: may be given many times */
    ARGUMENT_WORD     /* const char *: "" where it stands alone, or what is behind its '=' */
};

enum { ARGUMENT_LIST_SIZE = 1024 }; /* as the message says */

struct argument_list {
    size_t count;
    const char *items[ARGUMENT_LIST_SIZE];
};

struct argument {
    char letter;       /* 0: only the long form */
    const char *name;  /* NULL: only the letter */
    const char *value; /* what to call its value in the help; NULL for a flag */
    enum argument_type type;
    void *target; /* where it goes; keeps what it holds when the argument is not given */
    const char *help;
};

struct arguments {
    const char *usage;   /* "orrery run FILE.cfg [options]" */
    const char *summary; /* a sentence or two */
    const struct argument *table;
    size_t count;
    size_t least, most; /* plain arguments */
};

/*
 * Parses what stands behind the command's name (argv[0]). Every command has -h, --help, and
 * --complete for the completion of shells: prints what is asked for to standard output and sets
 * *helped. STATUS_USAGE.
 */
enum status arguments_parse(const struct arguments *arguments, int argc, char **argv,
                            struct argument_list *plain, bool *helped, struct error *error);

#endif
