#include "report/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/memory.h"
#include "report/palette.h"
#include "report/script.h"
#include "report/template.h"

/* --- the files -------------------------------------------------------------------------------- */

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

/* --- gnuplot ---------------------------------------------------------------------------------- */

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

/* A process of gnuplot that draws; `folder` and `script` say of what its errors are. */
struct gnuplot {
    pid_t process;
    int from;           /* what it says */
    const char *folder; /* borrowed */
    char script[FIGURE_LABEL_SIZE + 4];
};

static enum status start(const char *folder, const char *script, struct gnuplot *gnuplot,
                         struct error *error)
{
    int ends[2];
    *gnuplot = (struct gnuplot){ .folder = folder };
    snprintf(gnuplot->script, sizeof gnuplot->script, "%s", script);
    if (pipe(ends) != 0)
        return error_system(error, STATUS_IO, errno, "pipe");
    for (int i = 0; i < 2; i++) /* not for those that are started beside it */
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    gnuplot->process = fork();
    if (gnuplot->process < 0) {
        close(ends[0]);
        close(ends[1]);
        return error_system(error, STATUS_IO, errno, "fork");
    }
    if (gnuplot->process == 0)
        become_gnuplot(folder, script, ends[1]);
    close(ends[1]);
    gnuplot->from = ends[0];
    return STATUS_OK;
}

/* Waits for its end. An error that is there already, of an earlier one, stays the only one. */
static enum status finish(const struct gnuplot *gnuplot, struct error *error)
{
    struct text said = { 0 };
    char bytes[1024];
    for (ssize_t got; (got = read(gnuplot->from, bytes, sizeof bytes)) > 0;)
        text_append(&said, bytes, (size_t)got);
    close(gnuplot->from);
    int result = 0;
    while (waitpid(gnuplot->process, &result, 0) < 0 && errno == EINTR)
        continue;
    const int code = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
    if (code == 127 && !error->status)
        error_set(error, STATUS_UNAVAILABLE,
                  "gnuplot is not installed (Debian: apt install gnuplot-nox)");
    else if (code != 0 && !error->status)
        error_set(error, STATUS_IO, "%s%s: gnuplot failed: %.400s", gnuplot->folder,
                  gnuplot->script, said.length ? said.bytes : "");
    text_free(&said);
    return error->status;
}

static enum status run_gnuplot(const char *folder, const char *script, struct error *error)
{
    struct gnuplot gnuplot;
    return start(folder, script, &gnuplot, error) ? error->status : finish(&gnuplot, error);
}

enum status plot_probe(struct error *error)
{
    return run_gnuplot("./", "--version", error);
}

/* Fills the template of gnuplot's commands: NAME.gp. */
static enum status write_commands(struct directory *directory, const char *within, const char *name,
                                  const char *commands, json_t *values, struct error *error)
{
    static const char *const pictures[] = { ".svg", ".png", ".gif" };
    struct text text = { 0 };
    for (size_t i = 0; i < COUNT_OF(pictures); i++) {
        char path[2 * FIGURE_LABEL_SIZE];
        snprintf(path, sizeof path, "%s%s%s", within, name, pictures[i]);
        directory_take(directory, path); /* gnuplot would follow a link that stands there */
    }
    template_fill(&text, commands, values, NULL);
    const enum status status = plot_write(directory, within, name, ".gp", &text, error);
    text_free(&text);
    return status;
}

enum { FOLDER_SIZE = 4096 };

static const char *folder_of(const struct directory *directory, const char *within,
                             char folder[FOLDER_SIZE])
{
    snprintf(folder, FOLDER_SIZE, "%s/%s", directory_path(directory), within);
    return folder;
}

enum status plot_commands(struct directory *directory, const char *within, const char *name,
                          const char *commands, json_t *values, struct error *error)
{
    char folder[FOLDER_SIZE], script[FIGURE_LABEL_SIZE + 4];
    snprintf(script, sizeof script, "%s.gp", name);
    return write_commands(directory, within, name, commands, values, error)
               ? error->status
               : run_gnuplot(folder_of(directory, within, folder), script, error);
}

/* Writes what gnuplot needs for a figure, and starts it in the folder. */
static enum status begin(const struct figure *figure, struct directory *directory,
                         const char *within, const char *folder, struct gnuplot *gnuplot,
                         struct error *error)
{
    char script[FIGURE_LABEL_SIZE + 4];
    snprintf(script, sizeof script, "%s.gp", figure->name);
    if (write_data(figure, directory, within, error) ||
        write_commands(directory, within, figure->name, "figure.gp", script_view(figure), error))
        return error->status;
    return start(folder, script, gnuplot, error);
}

enum { MOST_AT_WORK = 32 };

/* As many at a time as there are cores. They are waited for in their order, and the first problem
 * is the one that is told: that of the figure that could not be begun comes last. */
enum status plot_draw(const struct figure *figures, size_t count, struct directory *directory,
                      const char *within, struct error *error)
{
    const size_t cores = (size_t)cores_available();
    const size_t room = cores < MOST_AT_WORK ? cores : MOST_AT_WORK;
    struct gnuplot at_work[MOST_AT_WORK];
    struct error problem = { 0 };
    char folder[FOLDER_SIZE];
    size_t begun = 0, ended = 0;
    folder_of(directory, within, folder);
    while (begun < count && !error->status && !problem.status) {
        if (begun - ended == room)
            finish(&at_work[ended++ % room], error);
        else if (!begin(&figures[begun], directory, within, folder, &at_work[begun % room],
                        &problem))
            begun++;
    }
    while (ended < begun)
        finish(&at_work[ended++ % room], error);
    return error->status ? error->status : error_pass(error, &problem);
}

/* --- on a page -------------------------------------------------------------------------------- */

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
