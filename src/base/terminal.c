#include "base/terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/name.h"

static bool has_colours(FILE *file)
{
    const char *forbids = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(fileno(file)) && !(forbids && forbids[0]) && kind && strcmp(kind, "dumb") != 0;
}

void terminal_print(FILE *file, enum terminal_colour colour, const char *text)
{
    if (colour && has_colours(file))
        fprintf(file, "\033[%dm%s\033[0m", (int)colour, text);
    else
        fputs(text, file);
}

void terminal_put(FILE *file, enum terminal_colour colour, struct text *text)
{
    if (text->bytes) {
        name_neutralise(text->bytes);
        terminal_print(file, colour, text->bytes);
    }
    text_free(text);
}

struct terminal_size terminal_measure(FILE *file)
{
    struct terminal_size size = { .rows = 24, .columns = 80 };
#ifdef TIOCGWINSZ
    struct winsize window;
    if (ioctl(fileno(file), TIOCGWINSZ, &window) == 0 && window.ws_row > 0 && window.ws_col > 0)
        size = (struct terminal_size){ window.ws_row, window.ws_col };
#else
    (void)file;
#endif
    return size;
}
