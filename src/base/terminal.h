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

/* Writes words that may be a stranger's, and changes in them whatever a terminal would obey
 * (name_neutralise()). All text from a directory or a config is written by it, or by
 * error_set(). */
void terminal_put(FILE *file, char *words);

/* Writes the text in that colour; without colour if the file is no terminal or a dumb one, or the
 * environment has the variable NO_COLOR (no-color.org). */
void terminal_print(FILE *file, enum terminal_colour colour, const char *text);

/* Returns the lines and columns of the terminal `file`; 24 and 80 if it does not tell. */
struct terminal_size {
    size_t rows, columns;
};
struct terminal_size terminal_measure(FILE *file);

#endif
