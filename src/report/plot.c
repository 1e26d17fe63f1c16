#include "report/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "report/palette.h"
#include "report/script.h"
#include "report/template.h"

/* --- the files ----------------------------------------------------------------------------------
 */

enum status plot_write(struct directory *directory, const char *within, const char *name,
                       const char *suffix, const struct text *content, struct error *error)
{
    char path[2 * FIGURE_LABEL_SIZE];
    snprintf(path, sizeof path, "%s%s%s", within, name, suffix);
    if (content->failed)
        return error_memory(error);
    return directory_replace_file(directory, path, content->bytes, content->length, error);
}

/* One block of lines for each curve, two empty lines between blocks: gnuplot's `index`. */
static enum status write_data(const struct figure *figure, struct directory *directory,
                              const char *within, struct error *error)
{
    struct text data = { 0 };
    for (size_t c = 0; c < figure->curve_count; c++) {
        const struct curve *curve = &figure->curves[c];
        text_print(&data, "%s# %s\n", c ? "\n\n" : "", curve->label);
        for (size_t i = 0; i < curve->count; i++) {
            char x[TEXT_REAL_SIZE], y[TEXT_REAL_SIZE], upper[TEXT_REAL_SIZE] = "";
            if (isnan(curve->x[i])) {
                text_print(&data, "\n");
                continue;
            }
            if (curve->upper)
                text_real(upper, curve->upper[i]);
            text_print(&data, "%s %s%s%s\n", text_real(x, curve->x[i]), text_real(y, curve->y[i]),
                       curve->upper ? " " : "", upper);
        }
    }
    const enum status status = plot_write(directory, within, figure->name, ".dat", &data, error);
    text_free(&data);
    return status;
}

/* --- gnuplot ------------------------------------------------------------------------------------
 */

/* Becomes gnuplot; what it says goes to `pipe`. Never returns. */
static void become_gnuplot(const char *folder, const char *argument, int pipe)
{
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(pipe, STDOUT_FILENO) < 0 ||
        dup2(pipe, STDERR_FILENO) < 0 || chdir(folder) != 0)
        _exit(126);
    execlp("gnuplot", "gnuplot", argument, (char *)NULL);
    _exit(127);
}

static enum status run_gnuplot(const char *folder, const char *script, struct error *error)
{
    int ends[2];
    if (pipe(ends) != 0)
        return error_system(error, STATUS_IO, errno, "pipe");
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return error_system(error, STATUS_IO, errno, "fork");
    }
    if (child == 0)
        become_gnuplot(folder, script, ends[1]);
    close(ends[1]);
    struct text said = { 0 };
    char bytes[1024];
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;)
        text_append(&said, bytes, (size_t)got);
    close(ends[0]);
    int result = 0;
    while (waitpid(child, &result, 0) < 0 && errno == EINTR)
        continue;
    enum status status = STATUS_OK;
    if (WIFEXITED(result) && WEXITSTATUS(result) == 127)
        status = error_set(error, STATUS_UNAVAILABLE,
                           "gnuplot is not installed (Debian: apt install gnuplot-nox)");
    else if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
        status = error_set(error, STATUS_IO, "%s%s: gnuplot failed: %.400s", folder, script,
                           said.length ? said.bytes : "");
    text_free(&said);
    return status;
}

enum status plot_probe(struct error *error)
{
    return run_gnuplot("./", "--version", error);
}

/* gnuplot would follow links that stand where it writes. */
static void remove_picture(const char *name, struct directory *directory, const char *within,
                           const char *suffix)
{
    char path[2 * FIGURE_LABEL_SIZE];
    snprintf(path, sizeof path, "%s%s%s", within, name, suffix);
    directory_take(directory, path);
}

enum status plot_commands(struct directory *directory, const char *within, const char *name,
                          const char *commands, json_t *values, struct error *error)
{
    static const char *const pictures[] = { ".svg", ".png", ".gif" };
    char folder[4096], script[FIGURE_LABEL_SIZE + 4];
    struct text text = { 0 };
    for (size_t i = 0; i < COUNT_OF(pictures); i++)
        remove_picture(name, directory, within, pictures[i]);
    template_fill(&text, commands, values, NULL);
    enum status status = plot_write(directory, within, name, ".gp", &text, error);
    text_free(&text);
    snprintf(folder, sizeof folder, "%s/%s", directory_path(directory), within);
    snprintf(script, sizeof script, "%s.gp", name);
    return status ? status : run_gnuplot(folder, script, error);
}

enum status plot_draw(const struct figure *figure, struct directory *directory, const char *within,
                      struct error *error)
{
    const enum status status = write_data(figure, directory, within, error);
    return status ? status
                  : plot_commands(directory, within, figure->name, "figure.gp", script_view(figure),
                                  error);
}

/* --- on a page ----------------------------------------------------------------------------------
 */

/* Is `word` what stands at *at? Then *at goes behind it. */
static bool skip(const char **at, const char *word)
{
    const size_t length = strlen(word);
    const bool found = strncmp(*at, word, length) == 0;
    *at += found ? length : 0;
    return found;
}

/* Goes behind the next `word`, or to the end. */
static void skip_to(const char **at, const char *word)
{
    const char *found = strstr(*at, word);
    *at = found ? found + strlen(word) : *at + strlen(*at);
}

/* The ids that gnuplot gives would be there once for each picture of a page. */
static void put_svg(const struct figure *figure, const char *from, bool first, struct text *svg)
{
    while (*from) {
        if (skip(&from, "<g id=\"gnuplot_plot_")) {
            const struct curve *curve = script_curve(figure, strtoul(from, NULL, 10) - 1);
            skip_to(&from, "\"");
            text_print(svg, "<g");
            if (curve && !figure_is_line(curve->kind) && !curve->upper && curve->kind != CURVE_FIT)
                text_print(svg, " class=\"mark\"");
            else if (curve)
                text_print(svg, " class=\"curve c%d\"", curve->color % PALETTE_COLORS);
        } else if (skip(&from, "<g id=\"gnuplot_canvas\"")) {
            text_print(svg, "<g");
        } else if (skip(&from, "<title>Gnuplot")) {
            skip_to(&from, "</title>");
        } else if (!first && skip(&from, "<defs>")) {
            skip_to(&from, "</defs>");
        } else {
            const size_t plain = 1 + strcspn(from + 1, "<");
            text_append(svg, from, plain);
            from += plain;
        }
    }
}

enum status plot_inline(const struct figure *figure, const struct directory *directory, bool first,
                        struct text *svg, struct error *error)
{
    char path[FIGURE_LABEL_SIZE + 16];
    size_t length;
    snprintf(path, sizeof path, "plots/%s.svg", figure->name);
    char *bytes = directory_read_file(directory, path, &length, error);
    if (!bytes)
        return error->status;
    const char *start = strstr(bytes, "<svg");
    if (start)
        put_svg(figure, start + 4, first, svg);
    else
        error_set(error, STATUS_IO, "%s/%s: is not an SVG picture", directory_path(directory),
                  path);
    free(bytes);
    return error->status;
}
