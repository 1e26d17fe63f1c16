#include "report/animation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "report/figure.h"
#include "report/trajectory.h"

enum { MOST_FRAMES = 150, MOST_BODIES = 2000 };

static void remove_file(const char *folder, const char *suffix)
{
    char path[RESULT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/" ANIMATION_NAME "%s", folder, suffix);
    unlink(path);
}

static FILE *create_file(const char *folder, const char *suffix, struct error *error)
{
    char path[RESULT_PATH_SIZE];
    remove_file(folder, suffix); /* so that no link is followed */
    snprintf(path, sizeof path, "%s/" ANIMATION_NAME "%s", folder, suffix);
    FILE *file = fopen(path, "wx");
    if (!file)
        error_system(error, STATUS_CANT_CREATE, errno, path);
    return file;
}

static enum status close_file(FILE *file, const char *folder, struct error *error)
{
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return error_system(error, STATUS_IO, errno ? errno : EIO, folder);
    return STATUS_OK;
}

/* One block for each frame; *reach becomes the largest coordinate of the first one. */
static enum status write_data(struct trajectory *trajectory, size_t frame_stride,
                              const char *folder, double *reach, struct error *error)
{
    const size_t stride = (trajectory->bodies + MOST_BODIES - 1) / MOST_BODIES;
    const size_t count = (trajectory->bodies + stride - 1) / stride;
    double *x = malloc(memory_bytes(count, 3 * sizeof *x));
    if (!x)
        return error_set(error, STATUS_MEMORY, "out of memory");
    FILE *file = create_file(folder, ".dat", error);
    enum status status = file ? STATUS_OK : error->status;
    for (size_t frame = 0; frame < trajectory->frame_count && !status; frame += frame_stride) {
        status = trajectory_read(trajectory, frame, stride, x, x + count, x + 2 * count, error);
        fprintf(file, "# t = %.17g\n", trajectory->frames[frame].time);
        for (size_t i = 0; i < count && !status; i++) {
            fprintf(file, "%.6g %.6g %.6g\n", x[i], x[count + i], x[2 * count + i]);
            for (size_t k = 0; k < 3 && frame == 0; k++)
                *reach = fmax(*reach, fabs(x[k * count + i]));
        }
        fprintf(file, "\n\n");
    }
    if (file) {
        const enum status closed = close_file(file, folder, error);
        status = status ? status : closed;
    }
    free(x);
    return status;
}

static enum status write_script(const struct trajectory *trajectory, size_t frames,
                                const char *folder, double reach, struct error *error)
{
    FILE *file = create_file(folder, ".gp", error);
    if (!file)
        return error->status;
    const double size = trajectory->bodies < 50 ? 1.4 : trajectory->bodies < 1000 ? 0.4 : 0.25;
    fprintf(file,
            "set terminal gif animate delay 6 loop 0 size 480,480 background rgb '#ffffff'\n"
            "set output '" ANIMATION_NAME ".gif'\n"
            "set xrange [%g:%g]\nset yrange [%g:%g]\nset zrange [%g:%g]\n"
            "set xyplane relative 0\nset view equal xyz\nset border 4095 linecolor rgb '#c8ccd4'\n"
            "unset tics\nunset key\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
            "do for [i = 0:%zu] {\n"
            "    set view 68, 30 + 90.0 * i / %zu, 1.25\n"
            "    splot '" ANIMATION_NAME ".dat' index i with points pointtype 7 pointsize %g "
            "linecolor rgb '#2563ae'\n"
            "}\n",
            -reach, reach, -reach, reach, -reach, reach, frames - 1, frames, size);
    return close_file(file, folder, error);
}

enum status animation_draw(const struct result *result, const char *folder, struct error *error)
{
    char buffer[RESULT_PATH_SIZE];
    struct trajectory *trajectory;
    double reach = 0.0;
    const char *path = result_trajectory(result, buffer);
    if (!path)
        return error_set(error, STATUS_NO_INPUT,
                         "%s: no trajectory to animate; add { type = \"xyz\"; } to outputs",
                         result->path);
    if (trajectory_open(path, &trajectory, error))
        return error->status;
    const size_t stride = (trajectory->frame_count + MOST_FRAMES - 1) / MOST_FRAMES;
    const size_t frames = (trajectory->frame_count + stride - 1) / stride;
    enum status status = write_data(trajectory, stride, folder, &reach, error);
    if (!status)
        status = write_script(trajectory, frames, folder, 1.05 * reach, error);
    trajectory_close(trajectory);
    if (status)
        return status;
    remove_file(folder, ".gif");
    return figure_gnuplot(folder, ANIMATION_NAME ".gp", error);
}

/* RFC 4648. */
static void append_base64(struct text *html, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i;
        const unsigned long group = (unsigned long)bytes[i] << 16 |
                                    (left > 1 ? (unsigned long)bytes[i + 1] << 8 : 0) |
                                    (left > 2 ? bytes[i + 2] : 0);
        char four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = k <= left ? digits[group >> (18 - 6 * k) & 63] : '=';
        text_append(html, four, 4);
    }
}

enum status animation_inline(const char *folder, const char *link, struct text *html,
                             struct error *error)
{
    char path[RESULT_PATH_SIZE];
    unsigned char bytes[3 * 4096];
    snprintf(path, sizeof path, "%s/" ANIMATION_NAME ".gif", folder);
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_system(error, STATUS_IO, errno, path);
    text_print(html, "<h2>Animation</h2>\n<div class=\"figures\"><figure id=\"animation\">"
                     "<img alt=\"The bodies in motion\" src=\"data:image/gif;base64,");
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        append_base64(html, bytes, got);
    fclose(file);
    text_print(html,
               "\"><figcaption><b>The bodies in motion</b>The box is as wide as the first frame; "
               "the view turns slowly.<span class=\"files\"><a href=\"%s/" ANIMATION_NAME
               ".gif\">gif</a></span></figcaption></figure></div>\n",
               link);
    return STATUS_OK;
}
