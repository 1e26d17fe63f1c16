/* The arguments of a command: one table, by which they are parsed and from which the help is
 * printed. */
#ifndef ORRERY_COMMANDS_ARGUMENTS_H
#define ORRERY_COMMANDS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The types of arguments; each comment names the type of the variable that gets the value. */
enum argument_type {
    ARGUMENT_FLAG,    /* bool */
    ARGUMENT_TEXT,    /* const char * */
    ARGUMENT_INTEGER, /* long long */
    ARGUMENT_REAL,    /* double */
    ARGUMENT_LIST,    /* struct argument_list: may be given many times */
    ARGUMENT_WORD,    /* const char *: "" for --name, "word" for --name=word */
    ARGUMENT_NO_LOCK  /* no variable: the process takes no file locks from then on */
};

enum { ARGUMENT_LIST_SIZE = 1024 }; /* the error message in arguments.c says 1024 too */

struct argument_list {
    size_t count;
    const char *items[ARGUMENT_LIST_SIZE];
};

struct argument {
    char letter;       /* "o" of -o; 0 if the argument has only a name */
    const char *name;  /* "output" of --output; NULL if it has only a letter */
    const char *value; /* name of its value in the help, "DIR"; NULL for a flag */
    enum argument_type type;
    void *target; /* variable that gets the value; unchanged if the argument is not given */
    const char *help;
};

struct arguments {
    const char *usage;   /* "orrery run FILE.cfg [options]" */
    const char *summary; /* a sentence or two about the command */
    const struct argument *table;
    size_t count;
    size_t least, most; /* allowed numbers of plain arguments, which are no options */
};

/*
 * Parses the arguments behind the command's name, which is argv[0]: stores the values of options as
 * the table says, and words that are no options in *plain. Every command also has -h, --help and,
 * for the completion of shells, --complete, which print to standard output; *helped tells whether
 * one of them was given. STATUS_USAGE.
 */
enum status arguments_parse(const struct arguments *arguments, int argc, char **argv,
                            struct argument_list *plain, bool *helped, struct error *error);

#endif
