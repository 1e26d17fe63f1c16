#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_colours(FILE *file)
{
    const char *forbids = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(fileno(file)) && !(forbids && forbids[0]) && kind && strcmp(kind, "dumb") != 0;
}

void terminal_print(FILE *file, enum terminal_colour colour, const char *text)
{
    if (terminal_colours(file))
        fprintf(file, "\033[%dm%s\033[0m", (int)colour, text);
    else
        fputs(text, file);
}
