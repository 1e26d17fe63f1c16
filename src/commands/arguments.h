/* The arguments of a command: one table, from which they are parsed and the help is printed. */
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
    ARGUMENT_WORD,    /* const char *: "" if it stands alone, else the text behind its '=' */
    ARGUMENT_NO_LOCK  /* no target: the process takes no locks from then on */
};

enum { ARGUMENT_LIST_SIZE = 1024 }; /* a message of arguments.c has this number */

struct argument_list {
    size_t count;
    const char *items[ARGUMENT_LIST_SIZE];
};

struct argument {
    char letter;       /* 0: only the long form */
    const char *name;  /* NULL: only the letter */
    const char *value; /* name of its value in the help; NULL for a flag */
    enum argument_type type;
    void *target; /* variable that gets the value; unchanged if the argument is not given */
    const char *help;
};

struct arguments {
    const char *usage;   /* "orrery run FILE.cfg [options]" */
    const char *summary; /* a sentence or two about the command */
    const struct argument *table;
    size_t count;
    size_t least, most; /* numbers of plain arguments that are allowed */
};

/*
 * Parses the arguments behind the command's name (argv[0]). Every command also has -h, --help and,
 * for the completion of shells, --complete: they print the text to standard output and set *helped.
 * STATUS_USAGE.
 */
enum status arguments_parse(const struct arguments *arguments, int argc, char **argv,
                            struct argument_list *plain, bool *helped, struct error *error);

#endif
