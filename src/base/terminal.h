/* Colours, where there is a terminal that shows them. */
#ifndef ORRERY_BASE_TERMINAL_H
#define ORRERY_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum terminal_colour { TERMINAL_RED = 31, TERMINAL_GREEN = 32, TERMINAL_YELLOW = 33 };

/* Is it a terminal, not a dumb one, and does the environment variable NO_COLOR (no-color.org) not
 * forbid colours? */
bool terminal_colours(FILE *file);

/* The text in that colour, or as it is where there are none. */
void terminal_print(FILE *file, enum terminal_colour colour, const char *text);

#ifdef __cplusplus
}
#endif

#endif
