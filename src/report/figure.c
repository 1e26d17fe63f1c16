#include "report/figure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* --- colours ------------------------------------------------------------------------------------
 * Each has a name on the page, a value on white (also that of the SVG and PNG files) and one on
 * black. The six of the curves differ for colour-blind readers too, in lightness if not in hue. */
struct ink {
    const char *variable;
    unsigned light, dark;
};

enum { INK_TEXT, INK_MUTED, INK_GRID, INK_CURVES };

static const struct ink inks[] = {
    { "ink", 0x1f2430, 0xe8eaf0 }, { "muted", 0x5b6472, 0xa3acba }, { "grid", 0xe3e6eb, 0x30363f },
    { "c0", 0x2563ae, 0x76aef0 },  { "c1", 0xcf5c1f, 0xf39a63 },    { "c2", 0x24855a, 0x66c99a },
    { "c3", 0x8449b8, 0xc09aeb },  { "c4", 0xb8324f, 0xf0849c },    { "c5", 0x1b8498, 0x60cadb },
};

void figure_css(struct text *css, bool dark)
{
    for (size_t i = 0; i < COUNT_OF(inks); i++)
        text_print(css, "--%s:#%06x;", inks[i].variable, dark ? inks[i].dark : inks[i].light);
}

/* --- curves -------------------------------------------------------------------------------------
 */

enum { THINNED_BINS = 600 }; /* of a line; two points remain of each */

static bool visible(const struct figure *figure, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!figure->x_log || x > 0) && (!figure->y_log || y > 0);
}

/* Keeps the lowest and the highest point of each bin, so that no peak is lost. */
static void thin_line(struct curve *curve)
{
    if (curve->count <= 2 * THINNED_BINS)
        return;
    size_t kept = 0;
    for (size_t bin = 0; bin < THINNED_BINS; bin++) {
        const size_t first = bin * curve->count / THINNED_BINS;
        const size_t end = (bin + 1) * curve->count / THINNED_BINS;
        size_t low = first, high = first;
        for (size_t i = first; i < end; i++) {
            low = curve->y[i] < curve->y[low] ? i : low;
            high = curve->y[i] > curve->y[high] ? i : high;
        }
        const size_t both[] = { low < high ? low : high, low < high ? high : low };
        for (size_t i = 0; i < 2; i++, kept++) {
            curve->x[kept] = curve->x[both[i]];
            curve->y[kept] = curve->y[both[i]];
        }
    }
    curve->count = kept;
}

/* The widest extent in each bin. */
static void thin_band(struct curve *curve)
{
    if (curve->count <= THINNED_BINS)
        return;
    for (size_t bin = 0; bin < THINNED_BINS; bin++) {
        const size_t first = bin * curve->count / THINNED_BINS;
        const size_t end = (bin + 1) * curve->count / THINNED_BINS;
        double lower = curve->y[first], upper = curve->upper[first];
        for (size_t i = first; i < end; i++) {
            lower = fmin(lower, curve->y[i]);
            upper = fmax(upper, curve->upper[i]);
        }
        curve->x[bin] = curve->x[(first + end) / 2];
        curve->y[bin] = lower;
        curve->upper[bin] = upper;
    }
    curve->count = THINNED_BINS;
}

static void free_curve(struct curve *curve)
{
    free(curve->x);
    free(curve->y);
    free(curve->upper);
}

/* The next curve, with room for `count` points; NULL with STATUS_MEMORY. */
static struct curve *next_curve(struct figure *figure, const char *label, enum curve_kind kind,
                                int color, size_t count, struct error *error)
{
    struct curve *curve = &figure->curves[figure->curve_count];
    *curve = (struct curve){ .kind = kind,
                             .color = color % FIGURE_COLORS,
                             .x = malloc(memory_bytes(count + 1, sizeof *curve->x)),
                             .y = malloc(memory_bytes(count + 1, sizeof *curve->y)) };
    snprintf(curve->label, sizeof curve->label, "%s", label);
    if (kind == CURVE_BAND)
        curve->upper = malloc(memory_bytes(count + 1, sizeof *curve->upper));
    if (curve->x && curve->y && (curve->upper || kind != CURVE_BAND))
        return curve;
    free_curve(curve);
    error_set(error, STATUS_MEMORY, "out of memory");
    return NULL;
}

static void settle_curve(struct figure *figure, struct curve *curve)
{
    if (curve->count > 0)
        figure->curve_count++;
    else
        free_curve(curve);
}

size_t figure_lines(const struct figure *figure)
{
    size_t lines = 0;
    for (size_t i = 0; i < figure->curve_count; i++)
        lines += figure->curves[i].kind != CURVE_BAND;
    return lines;
}

enum status figure_curve(struct figure *figure, const char *label, enum curve_kind kind, int color,
                         size_t count, const double *x, const double *y, struct error *error)
{
    if (figure_lines(figure) == FIGURE_MAX_LINES || figure->curve_count == FIGURE_MAX_CURVES)
        return STATUS_OK;
    struct curve *curve = next_curve(figure, label, kind, color, count, error);
    if (!curve)
        return error->status;
    for (size_t i = 0; i < count; i++)
        if (visible(figure, x[i], y[i])) {
            curve->x[curve->count] = x[i];
            curve->y[curve->count++] = y[i];
        }
    if (kind == CURVE_LINE || kind == CURVE_DASHED)
        thin_line(curve);
    settle_curve(figure, curve);
    return STATUS_OK;
}

enum status figure_band(struct figure *figure, int color, size_t count, const double *x,
                        const double *lower, const double *upper, struct error *error)
{
    if (figure_lines(figure) == FIGURE_MAX_LINES || figure->curve_count == FIGURE_MAX_CURVES)
        return STATUS_OK;
    struct curve *curve = next_curve(figure, "", CURVE_BAND, color, count, error);
    if (!curve)
        return error->status;
    for (size_t i = 0; i < count; i++)
        if (visible(figure, x[i], lower[i]) && visible(figure, x[i], upper[i])) {
            curve->x[curve->count] = x[i];
            curve->y[curve->count] = lower[i];
            curve->upper[curve->count++] = upper[i];
        }
    thin_band(curve);
    settle_curve(figure, curve);
    return STATUS_OK;
}

void figure_free(struct figure *figure)
{
    for (size_t i = 0; i < figure->curve_count; i++)
        free_curve(&figure->curves[i]);
    figure->curve_count = 0;
}

/* --- the files ----------------------------------------------------------------------------------
 */

static enum status write_file(const char *folder, const char *name, const char *suffix,
                              const struct text *content, struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    if (content->failed)
        return error_set(error, STATUS_MEMORY, "%s: out of memory", path);
    unlink(path); /* so that no link is followed */
    FILE *file = fopen(path, "wx");
    if (!file)
        return error_system(error, STATUS_CANT_CREATE, errno, path);
    const size_t written = fwrite(content->bytes, 1, content->length, file);
    if (fclose(file) != 0 || written != content->length)
        return error_system(error, STATUS_IO, errno, path);
    return STATUS_OK;
}

/* One block of lines for each curve, two empty lines between blocks: gnuplot's `index`. */
static enum status write_data(const struct figure *figure, const char *folder, struct error *error)
{
    struct text data = { 0 };
    for (size_t c = 0; c < figure->curve_count; c++) {
        const struct curve *curve = &figure->curves[c];
        text_print(&data, "%s# %s\n", c ? "\n\n" : "", curve->label);
        for (size_t i = 0; i < curve->count; i++) {
            char x[TEXT_REAL_SIZE], y[TEXT_REAL_SIZE], upper[TEXT_REAL_SIZE] = "";
            if (curve->upper)
                text_real(upper, curve->upper[i]);
            text_print(&data, "%s %s%s%s\n", text_real(x, curve->x[i]), text_real(y, curve->y[i]),
                       curve->upper ? " " : "", upper);
        }
    }
    const enum status status = write_file(folder, figure->name, ".dat", &data, error);
    text_free(&data);
    return status;
}

/* A gnuplot string; nothing in single quotes is expanded but a doubled quote. */
static void quote(struct text *script, const char *words)
{
    text_print(script, "'");
    for (const char *c = words; *c; c++)
        if (*c == '\'')
            text_print(script, "''");
        else
            text_append(script, (unsigned char)*c < ' ' ? " " : c, 1);
    text_print(script, "'");
}

/* The extent of all curves along an axis. */
static void extent(const struct figure *figure, char axis, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t c = 0; c < figure->curve_count; c++) {
        const struct curve *curve = &figure->curves[c];
        for (size_t i = 0; i < curve->count; i++) {
            const double value = axis == 'x' ? curve->x[i] : curve->y[i];
            *low = fmin(*low, value);
            *high = fmax(*high, axis == 'y' && curve->upper ? curve->upper[i] : value);
        }
    }
}

/* At most six ticks along x, so that long numbers have room; lines end where the data do. What is
 * never negative and nearly touches 0 begins there. */
static void script_linear(struct text *script, const struct figure *figure, char axis)
{
    double low, high;
    extent(figure, axis, &low, &high);
    text_print(script, "set format %c '%%g'\n", axis);
    if (axis == 'y' && low >= 0 && low < 0.1 * high)
        text_print(script, "set yrange [0:*]\n");
    if (axis == 'y' || figure->equal_axes || !(low < high))
        return;
    const double coarse = (high - low) / 6, decade = pow(10, floor(log10(coarse)));
    const double step = coarse <= 2 * decade   ? 2 * decade
                        : coarse <= 5 * decade ? 5 * decade
                                               : 10 * decade;
    text_print(script, "set xrange [%.9g:%.9g]\nset xtics %.9g\n", low, high, step);
}

/* Over a smaller factor than this, an axis may hold a single one of 1, 2, 5, 10, ... or none. */
static const double few_ticks = 5.0;

/* Whole powers of ten name the ticks of an axis of many decades; 1, 2, 5, 10, ... those of few. */
static void script_logarithmic(struct text *script, const struct figure *figure, char axis)
{
    static const double steps[] = { 1, 2, 5 };
    double low, high;
    extent(figure, axis, &low, &high);
    const double margin = fmax(1.06, pow(high / low, 0.04));
    low /= margin;
    high *= margin;
    if (high / low < few_ticks) {
        script_linear(script, figure, axis);
        return;
    }
    text_print(script, "set logscale %c\nset %crange [%.9g:%.9g]\n", axis, axis, low, high);
    if (high / low > 300) {
        text_print(script, "set format %c '10^{%%T}'\n", axis);
        return;
    }
    const char *between = "";
    text_print(script, "set format %c '%%g'\nset %ctics (", axis, axis);
    for (double decade = pow(10, floor(log10(low))); decade < high; decade *= 10)
        for (size_t i = 0; i < COUNT_OF(steps); i++)
            if (steps[i] * decade >= low && steps[i] * decade <= high) {
                text_print(script, "%s%.9g", between, steps[i] * decade);
                between = ", ";
            }
    text_print(script, ")\n");
}

static void script_axis(struct text *script, const struct figure *figure, char axis,
                        const char *label, bool logarithmic)
{
    text_print(script, "set %clabel ", axis);
    quote(script, label);
    text_print(script, " noenhanced textcolor rgb '#%06x'\n", inks[INK_TEXT].light);
    if (logarithmic)
        script_logarithmic(script, figure, axis);
    else
        script_linear(script, figure, axis);
}

static void script_plot(struct text *script, const struct figure *figure)
{
    static const char *const styles[] = {
        [CURVE_LINE] = "lines linewidth 1.6",
        [CURVE_DASHED] = "lines linewidth 1.4 dashtype (6,4)",
        [CURVE_PATH] = "lines linewidth 1.0",
        [CURVE_POINTS] = "points pointtype 7 pointsize 0.7",
        [CURVE_DOTS] = "points pointtype 7 pointsize 0.2",
        [CURVE_DISCS] = "points pointtype 7 pointsize 0.4",
        [CURVE_BAND] = "filledcurves fillstyle transparent solid 0.15 noborder",
    };
    text_print(script, "plot ");
    for (size_t i = 0; i < figure->curve_count; i++) {
        const struct curve *curve = &figure->curves[i];
        text_print(script, "%s'%s.dat' index %zu %swith %s linecolor rgb '#%06x' ",
                   i ? ", \\\n     " : "", figure->name, i,
                   curve->kind == CURVE_BAND ? "using 1:2:3 " : "", styles[curve->kind],
                   inks[INK_CURVES + curve->color].light);
        if (curve->label[0]) {
            text_print(script, "title ");
            quote(script, curve->label);
            text_print(script, " noenhanced");
        } else {
            text_print(script, "notitle");
        }
    }
    text_print(script, "\n");
}

enum { KEY_ROWS = 2, KEY_ROW_HEIGHT = 15, KEY_NARROW = 24 };

static size_t labels(const struct figure *figure, size_t *longest)
{
    size_t count = 0;
    *longest = 0;
    for (size_t i = 0; i < figure->curve_count; i++) {
        const size_t length = strlen(figure->curves[i].label);
        count += length > 0;
        *longest = length > *longest ? length : *longest;
    }
    return count;
}

/* What a long key needs beyond the room that every figure has for it. */
static int key_height(const struct figure *figure)
{
    size_t longest;
    const size_t count = labels(figure, &longest);
    const size_t rows = longest > KEY_NARROW ? count : (count + 1) / 2;
    return rows > KEY_ROWS ? KEY_ROW_HEIGHT * (int)(rows - KEY_ROWS) : 0;
}

static enum status write_script(const struct figure *figure, const char *folder,
                                struct error *error)
{
    const int height = (figure->equal_axes ? 440 : 320) + key_height(figure);
    struct text script = { 0 };
    text_print(&script, "set encoding utf8\n");
    script_axis(&script, figure, 'x', figure->x_label, figure->x_log);
    script_axis(&script, figure, 'y', figure->y_label, figure->y_log);
    text_print(&script,
               "set border 3 linecolor rgb '#%06x'\n"
               "set tics nomirror out scale 0.6 textcolor rgb '#%06x'\n"
               "set mxtics 1\nset mytics 1\n"
               "set grid back linecolor rgb '#%06x' linetype 1 linewidth 1\n",
               inks[INK_MUTED].light, inks[INK_MUTED].light, inks[INK_GRID].light);
    size_t longest;
    if (labels(figure, &longest) > 0)
        text_print(&script,
                   "set key above left horizontal Left reverse samplen 1.6 width 1 "
                   "textcolor rgb '#%06x'\n",
                   inks[INK_TEXT].light);
    else
        text_print(&script, "unset key\n");
    if (!figure->x_log && !figure->y_log)
        text_print(&script, "set offsets graph 0, graph 0, graph 0.04, graph 0.04\n");
    if (figure->equal_axes)
        text_print(&script, "set size ratio -1\n");
    if (figure->range[0] < figure->range[1])
        text_print(&script, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", figure->range[0],
                   figure->range[1], figure->range[0], figure->range[1]);
    text_print(&script,
               "set terminal svg enhanced size 480,%d dynamic font 'sans-serif,12' "
               "background rgb '#ffffff'\nset output '%s.svg'\n",
               height, figure->name);
    script_plot(&script, figure);
    text_print(&script,
               "set terminal pngcairo enhanced size 960,%d fontscale 1.6 linewidth 1.6 "
               "background rgb '#ffffff'\nset output '%s.png'\nreplot\n",
               2 * height, figure->name);
    const enum status status = write_file(folder, figure->name, ".gp", &script, error);
    text_free(&script);
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

enum status figure_gnuplot(const char *folder, const char *script, struct error *error)
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
        status = error_set(error, STATUS_IO, "%s/%s: gnuplot failed: %.400s", folder, script,
                           said.length ? said.bytes : "");
    text_free(&said);
    return status;
}

enum status figure_probe(struct error *error)
{
    return figure_gnuplot(".", "--version", error);
}

/* gnuplot would follow links that stand where it writes. */
static void remove_picture(const struct figure *figure, const char *folder, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, figure->name, suffix);
    unlink(path);
}

enum status figure_draw(const struct figure *figure, const char *folder, struct error *error)
{
    remove_picture(figure, folder, ".svg");
    remove_picture(figure, folder, ".png");
    enum status status = write_data(figure, folder, error);
    if (!status)
        status = write_script(figure, folder, error);
    char script[FIGURE_LABEL_SIZE + 4];
    snprintf(script, sizeof script, "%s.gp", figure->name);
    return status ? status : figure_gnuplot(folder, script, error);
}

/* --- on a page ----------------------------------------------------------------------------------
 */

/* "rgb( 31,  36,  48)" at `from`: the colour's variable, and where the text goes on. */
static const char *variable_of(const char *from, const char **rest)
{
    unsigned r, g, b;
    int length = 0;
    if (sscanf(from, "rgb(%u ,%u ,%u )%n", &r, &g, &b, &length) != 3 || length == 0)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(inks); i++)
        if (inks[i].light == (r << 16 | g << 8 | b)) {
            *rest = from + length;
            return inks[i].variable;
        }
    return NULL;
}

/* The markers that gnuplot defines have one id in all its files; a page needs one in each. */
static const char *const shared_ids[] = { "gpDot", "gpPt", "textbox", "greybox", "gnuplot_canvas" };

static const char *shared_id(const char *from)
{
    for (size_t i = 0; i < COUNT_OF(shared_ids); i++)
        if (strncmp(from, shared_ids[i], strlen(shared_ids[i])) == 0)
            return shared_ids[i];
    return NULL;
}

static void inline_svg(const struct figure *figure, const char *svg, struct text *html)
{
    static const char background[] = "fill=\"#ffffff\"", heading[] = "<title>Gnuplot</title>";
    text_print(html, "<svg role=\"img\" aria-label=\"%s\" ", figure->title);
    for (const char *c = svg; *c;) {
        const char *variable = *c == 'r' ? variable_of(c, &c) : NULL;
        const char *id = shared_id(c);
        if (variable) {
            text_print(html, "var(--%s)", variable);
        } else if (id) {
            text_print(html, "%s-%s", figure->name, id);
            c += strlen(id);
        } else if (strncmp(c, background, strlen(background)) == 0) {
            text_print(html, "fill=\"none\"");
            c += strlen(background);
        } else if (strncmp(c, heading, strlen(heading)) == 0) {
            text_print(html, "<title>%s</title>", figure->title);
            c += strlen(heading);
        } else {
            text_append(html, c++, 1);
        }
    }
}

enum status figure_inline(const struct figure *figure, const char *folder, struct text *html,
                          struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.svg", folder, figure->name);
    FILE *file = fopen(path, "r");
    if (!file)
        return error_system(error, STATUS_IO, errno, path);
    struct text svg = { 0 };
    char bytes[8192];
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        text_append(&svg, bytes, got);
    fclose(file);
    const char *start = svg.failed || !svg.bytes ? NULL : strstr(svg.bytes, "<svg");
    if (start)
        inline_svg(figure, start + 4, html);
    text_free(&svg);
    return start ? STATUS_OK : error_set(error, STATUS_IO, "%s: is not an SVG picture", path);
}
