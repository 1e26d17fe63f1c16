/* Writes to terminals, with colours, and measures them. */
#ifndef ORRERY_BASE_TERMINAL_H
#define ORRERY_BASE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

#include "base/text.h"

enum terminal_colour {
    TERMINAL_PLAIN,
    TERMINAL_RED = 31,
    TERMINAL_GREEN = 32,
    TERMINAL_YELLOW = 33
};

/* Writes the text in `colour`; without colour if the file is not a terminal, TERM is missing or
 * "dumb", or the environment has a variable NO_COLOR that is not empty (no-color.org). */
void terminal_print(FILE *file, enum terminal_colour colour, const char *text);

/* Writes a text that may come from a stranger as terminal_print() does, after name_neutralise() has
 * replaced every character in it that a terminal would obey; frees the text. All text from a
 * directory or a config is written by this function or by error_set(). */
void terminal_put(FILE *file, enum terminal_colour colour, struct text *text);

/* The size of a terminal in lines and columns of characters: 24 and 80 if `file` is no terminal or
 * does not tell. */
struct terminal_size {
    size_t rows, columns;
};
struct terminal_size terminal_measure(FILE *file);

#endif
