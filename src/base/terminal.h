/* Terminals: their colours, and how large they are. */
#ifndef ORRERY_BASE_TERMINAL_H
#define ORRERY_BASE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

enum terminal_colour {
    TERMINAL_PLAIN,
    TERMINAL_RED = 31,
    TERMINAL_GREEN = 32,
    TERMINAL_YELLOW = 33
};

/* The words, of which a terminal obeys none: they may be a stranger's. Whatever comes from a
 * directory or a config goes through here (or through error_set()). They are changed for it
 * (base/name.h). */
void terminal_put(FILE *file, char *words);

/* The text in that colour, or as it is where there is no terminal, a dumb one, or the environment
 * variable NO_COLOR (no-color.org). */
void terminal_print(FILE *file, enum terminal_colour colour, const char *text);

/* Lines and columns of the terminal that the file is; 24 and 80 where it does not say. */
struct terminal_size {
    size_t rows, columns;
};
struct terminal_size terminal_measure(FILE *file);

#endif
