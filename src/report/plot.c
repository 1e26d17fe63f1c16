#include "report/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/memory.h"
#include "base/name.h"
#include "machine/cores.h"
#include "output/workplace.h"
#include "report/template.h"

extern char **environ;

/* --- the files -------------------------------------------------------------------------------- */

static enum status write_file(struct directory *work, const char *name, const char *suffix,
                              const struct text *content, struct error *error)
{
    char file[FIGURE_LABEL_SIZE + 8];
    snprintf(file, sizeof file, "%s%s", name, suffix);
    if (!name_is_word(name))
        return error_set(error, STATUS_DATA, "\"%s\": is no name for a figure", name);
    if (content->failed)
        return error_memory(error);
    return workplace_write(work, file, content->bytes, content->length, error);
}

/* Appends a block of lines for each curve: "x y", of a band "x y upper". Two empty lines stand
 * between blocks, as `index` in gnuplot's commands needs them. */
static void put_data(const struct figure *figure, struct text *data)
{
    for (size_t c = 0; c < figure->curve_count; c++) {
        const struct curve *curve = &figure->curves[c];
        text_print(data, "%s# %s\n", c ? "\n\n" : "", curve->label);
        for (size_t i = 0; i < curve->count; i++) {
            char x[TEXT_REAL_SIZE], y[TEXT_REAL_SIZE], upper[TEXT_REAL_SIZE] = "";
            if (isnan(curve->x[i])) {
                text_print(data, "\n");
                continue;
            }
            if (curve->upper)
                text_real(upper, curve->upper[i]);
            text_print(data, "%s %s%s%s\n", text_real(x, curve->x[i]), text_real(y, curve->y[i]),
                       curve->upper ? " " : "", upper);
        }
    }
}

/* --- gnuplot ---------------------------------------------------------------------------------- */

/* Returns the environment of gnuplot: the locale, and the variables by which programs and fonts are
 * found. No others, so that no file or choice of the user (HOME, GNUPLOT_LIB, GNUTERM, GDFONTPATH,
 * ...) changes a picture. */
static char *const *own_environment(void)
{
    static const char *const kept[] = { "PATH", "LD_LIBRARY_PATH", "FONTCONFIG_PATH",
                                        "FONTCONFIG_FILE" };
    static char locale[] = "LC_ALL=C.UTF-8";
    static char *environment[COUNT_OF(kept) + 2];
    size_t count = 0;
    for (char *const *variable = environ; *variable; variable++)
        for (size_t i = 0; i < COUNT_OF(kept); i++)
            if (strncmp(*variable, kept[i], strlen(kept[i])) == 0 &&
                (*variable)[strlen(kept[i])] == '=' && count < COUNT_OF(kept))
                environment[count++] = *variable;
    environment[count++] = locale;
    environment[count] = NULL;
    return environment;
}

/* Replaces this child process by gnuplot, in the open `folder` (-1: in the working directory).
 * Gnuplot reads no commands but those of its argument, a script; its messages go to `pipe`. Never
 * returns. */
static void become_gnuplot(int folder, const char *argument, int pipe, pid_t parent)
{
    child_follow(parent, SIGKILL, 126);
    static char name[] = "gnuplot", without_defaults[] = "-d";
    char file[FIGURE_LABEL_SIZE + 4];
    snprintf(file, sizeof file, "%s", argument);
    char *const arguments[] = { name, without_defaults, file, NULL };
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(pipe, STDOUT_FILENO) < 0 ||
        dup2(pipe, STDERR_FILENO) < 0 || (folder >= 0 && fchdir(folder) != 0))
        _exit(126);
    environ = (char **)own_environment();
    execvp(name, arguments);
    _exit(127);
}

struct gnuplot {
    pid_t process;
    int from; /* end of a pipe from which its messages are read */
    char script[FIGURE_LABEL_SIZE + 4];
};

static enum status start(int folder, const char *script, struct gnuplot *gnuplot,
                         struct error *error)
{
    int ends[2];
    *gnuplot = (struct gnuplot){ .process = 0 };
    snprintf(gnuplot->script, sizeof gnuplot->script, "%s", script);
    if (pipe(ends) != 0)
        return error_system(error, STATUS_IO, errno, "pipe");
    for (int i = 0; i < 2; i++) /* or else later children keep the pipe open */
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    const pid_t parent = getpid();
    gnuplot->process = fork();
    if (gnuplot->process < 0) {
        close(ends[0]);
        close(ends[1]);
        return error_system(error, STATUS_IO, errno, "fork");
    }
    if (gnuplot->process == 0)
        become_gnuplot(folder, script, ends[1], parent);
    close(ends[1]);
    gnuplot->from = ends[0];
    return STATUS_OK;
}

/* Waits until gnuplot has ended. An error that `error` has already stays. */
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
        error_set(error, STATUS_IO, "%s: gnuplot failed: %.400s", gnuplot->script,
                  said.length ? said.bytes : "");
    text_free(&said);
    return error->status;
}

static enum status run_gnuplot(int folder, const char *script, struct error *error)
{
    struct gnuplot gnuplot;
    return start(folder, script, &gnuplot, error) ? error->status : finish(&gnuplot, error);
}

enum status plot_probe(struct error *error)
{
    return run_gnuplot(-1, "--version", error);
}

/* Writes the files of a figure's numbers and commands, and starts gnuplot in the folder `work`. All
 * words in the commands that come from a run have gone through script_quote(). */
static enum status begin_plot(const struct figure *figure, struct directory *work,
                              struct gnuplot *gnuplot, struct error *error)
{
    char script[FIGURE_LABEL_SIZE + 4];
    struct text data = { 0 }, commands = { 0 };
    snprintf(script, sizeof script, "%s.gp", figure->name);
    put_data(figure, &data);
    template_fill(&commands, "figure.gp", script_view(figure), NULL);
    if (!write_file(work, figure->name, ".dat", &data, error) &&
        !write_file(work, figure->name, ".gp", &commands, error))
        start(workplace_folder(work), script, gnuplot, error);
    text_free(&data);
    text_free(&commands);
    return error->status;
}

enum { MOST_AT_WORK = 32 };

/* Draws as many figures at a time as there are cores, at most MOST_AT_WORK. Waits for them in their
 * order, and reports the first that failed; the error of a figure that could not be begun counts
 * only if all before it are drawn. */
enum status plot_draw(const struct figure *figures, size_t count, struct directory *work,
                      struct error *error)
{
    const size_t cores = (size_t)cores_available();
    const size_t room = cores < MOST_AT_WORK ? cores : MOST_AT_WORK;
    struct gnuplot at_work[MOST_AT_WORK];
    struct error problem = { 0 };
    size_t begun = 0, ended = 0;
    while (begun < count && !error->status && !problem.status) {
        if (begun - ended == room)
            finish(&at_work[ended++ % room], error);
        else if (!begin_plot(&figures[begun], work, &at_work[begun % room], &problem))
            begun++;
    }
    while (ended < begun)
        finish(&at_work[ended++ % room], error);
    return error->status ? error->status : error_pass(error, &problem);
}

void plot_files(const char *folder, const char *figure, struct plot_file files[PLOT_FILES],
                const char *names[PLOT_FILES])
{
    static const char *const suffixes[PLOT_FILES] = { "dat", "gp", "svg", "png" };
    for (size_t i = 0; i < PLOT_FILES; i++) {
        snprintf(files[i].bytes, sizeof files[i].bytes, "%s%s.%s", folder, figure, suffixes[i]);
        names[i] = files[i].bytes;
    }
}

enum status plot_into(const struct figure *figure, struct directory *directory, struct error *error)
{
    struct plot_file files[PLOT_FILES];
    const char *names[PLOT_FILES];
    struct directory *work;
    if (workplace_open(directory, &work, error))
        return error->status;
    plot_files("", figure->name, files, names);
    if (!plot_draw(figure, 1, work, error))
        workplace_put(directory, work, names, COUNT_OF(names), error);
    workplace_close(directory, work);
    return error->status;
}

/* --- on a page -------------------------------------------------------------------------------- */

static bool skip(const char **at, const char *word)
{
    const size_t length = strlen(word);
    const bool found = strncmp(*at, word, length) == 0;
    *at += found ? length : 0;
    return found;
}

static void skip_to(const char **at, const char *word)
{
    const char *found = strstr(*at, word);
    *at = found ? found + strlen(word) : *at + strlen(*at);
}

/* Appends gnuplot's picture, with classes in the place of ids, which would not be unique on a page
 * with several pictures; leaves out the definitions of symbols unless `first` is true. */
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

enum status plot_inline(const struct figure *figure, const struct directory *work, bool first,
                        struct text *svg, struct error *error)
{
    char file[FIGURE_LABEL_SIZE + 8];
    size_t length;
    snprintf(file, sizeof file, "%s.svg", figure->name);
    char *bytes = directory_read_file(work, file, &length, error);
    if (!bytes)
        return error->status;
    const char *start = strstr(bytes, "<svg");
    if (start)
        put_svg(figure, start + 4, first, svg);
    else
        error_set(error, STATUS_IO, "%s/%s: is not an SVG picture", directory_path(work), file);
    free(bytes);
    return error->status;
}
