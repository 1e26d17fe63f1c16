#include "report/draw.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"
#include "report/plot.h"
#include "report/script.h"
#include "report/template.h"
#include "report/trajectory.h"

enum { PATH_BODIES = 10, NAMED_BODIES = 8, PATH_FRAMES = 4000, DOT_BODIES = 3000 };

/* The properties that all pictures of a run share. */
struct view {
    const struct units *units; /* or NULL */
    char length_unit[UNITS_LABEL_SIZE];
    char systems[80]; /* says that there are many; "" for one */
    bool centered;    /* the centre of mass lies at 0 */
};

static struct view view_of(const struct result *result)
{
    struct view view = { .length_unit = "" };
    const struct units *units = result_units(result);
    view.units = units;
    view.centered = result_flag(result, FIELD_CONFIG_BODIES_CENTER);
    if (units)
        units_label(units, (struct dimension)DIMENSION_LENGTH, view.length_unit);
    const double systems = result_real(result, FIELD_SYSTEMS);
    if (systems > 1)
        snprintf(view.systems, sizeof view.systems, " All %.0f systems lie over one another.",
                 systems);
    return view;
}

static void label_axes(struct figure *figure, const struct view *view)
{
    figure_label("x", view->length_unit, figure->x_label);
    figure_label("y", view->length_unit, figure->y_label);
    figure->equal_axes = true;
}

static enum status draw_paths(struct figure *figure, struct trajectory *trajectory, bool centered,
                              struct error *error)
{
    const size_t bodies = trajectory->bodies;
    const size_t stride = trajectory->frame_count / PATH_FRAMES + 1;
    const size_t frames = (trajectory->frame_count + stride - 1) / stride;
    double *x = malloc(memory_bytes(memory_bytes(bodies, frames), 2 * sizeof *x)),
           position[3][PATH_BODIES], ids[PATH_BODIES];
    if (!x)
        return error_memory(error);
    double *y = x + bodies * frames;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < frames && !status; k++) {
        status = trajectory_read(trajectory, k * stride, 1, position[0], position[1], position[2],
                                 NULL, error);
        for (size_t i = 0; i < bodies; i++) {
            x[i * frames + k] = position[0][i];
            y[i * frames + k] = position[1][i];
        }
    }
    if (!status)
        status = trajectory_ids(trajectory, ids, error);
    for (size_t i = 0; i < bodies && !status; i++) {
        char label[32] = "";
        if (bodies > 1 && bodies <= NAMED_BODIES)
            snprintf(label, sizeof label, "body %.0f", ids[i]);
        status = figure_curve(figure, label, CURVE_PATH, (int)i, frames, x + i * frames,
                              y + i * frames, error);
    }
    for (size_t i = 0; i < figure->curve_count; i++)
        figure->curves[i].compared = true;
    for (size_t i = 0; i < bodies && !status; i++) {
        position[0][i] = x[i * frames];
        position[1][i] = y[i * frames];
    }
    if (!status)
        status = figure_marks(figure, bodies, position[0], position[1],
                              centered ? "centre of mass" : NULL, error);
    free(x);
    return status;
}

/* The half width about 0 that shows all but the outermost fiftieth. */
static double half_width(size_t count, const double *x, const double *y, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = fmax(fabs(x[i]), fabs(y[i]));
    gsl_sort(scratch, 1, count);
    return 1.15 * scratch[count - 1 - count / 50];
}

static enum status draw_frame(struct figures *figures, struct trajectory *trajectory, size_t frame,
                              const char *name, const struct view *view, struct error *error)
{
    const size_t stride = (trajectory->bodies + DOT_BODIES - 1) / DOT_BODIES;
    const size_t count = (trajectory->bodies + stride - 1) / stride;
    struct figure *figure = figure_add(figures, error);
    double *x = malloc(memory_bytes(count, 4 * sizeof *x));
    if (!figure || !x) {
        free(x);
        return error_memory(error);
    }
    snprintf(figure->name, sizeof figure->name, "%s", name);
    char time[UNITS_TEXT_SIZE];
    snprintf(figure->title, sizeof figure->title, "Bodies at t = %s",
             units_time(view->units, trajectory->frames[frame].time, 6, time));
    text_print(&figure->caption,
               "%zu of %zu bodies, seen along z. The outermost few may lie beyond the frame.%s",
               count, trajectory->bodies, view->systems);
    label_axes(figure, view);
    figure->alone = true;
    double *y = x + count, *z = y + count;
    enum status status = trajectory_read(trajectory, frame, stride, x, y, z, NULL, error);
    if (!status) {
        figure->range[1] = half_width(count, x, y, z + count);
        figure->range[0] = -figure->range[1];
        status =
            figure_curve(figure, "", count < 400 ? CURVE_DISCS : CURVE_DOTS, 0, count, x, y, error);
    }
    free(x);
    figure_drop_empty(figures);
    return status;
}

static enum status draw_orbits(struct figures *figures, struct trajectory *trajectory,
                               const struct view *view, struct error *error)
{
    struct figure *figure = figure_add(figures, error);
    if (!figure)
        return error->status;
    snprintf(figure->name, sizeof figure->name, "orbits");
    snprintf(figure->title, sizeof figure->title, "Orbits in the inertial frame");
    text_print(&figure->caption, "The paths of the bodies as seen from outside, along z.");
    text_print(&figure->finding, "%zu bodies in %zu frame%s.%s", trajectory->bodies,
               trajectory->frame_count, trajectory->frame_count == 1 ? "" : "s", view->systems);
    figure->systems = view->systems[0] ? "all of its systems" : NULL;
    label_axes(figure, view);
    const enum status status = draw_paths(figure, trajectory, view->centered, error);
    figure_drop_empty(figures);
    return status;
}

/* Beside each other, at one scale. */
static enum status draw_first_and_last(struct figures *figures, struct trajectory *trajectory,
                                       const struct view *view, struct error *error)
{
    const size_t last = trajectory->frame_count - 1;
    if (draw_frame(figures, trajectory, 0, "bodies-first", view, error) || last == 0)
        return error->status;
    if (draw_frame(figures, trajectory, last, "bodies-last", view, error))
        return error->status;
    struct figure *pair = &figures->figures[figures->count - 2];
    const double width = fmax(pair[0].range[1], pair[1].range[1]);
    for (size_t i = 0; i < 2; i++) {
        pair[i].range[0] = -width;
        pair[i].range[1] = width;
    }
    return STATUS_OK;
}

/* Adds them, from the trajectory of the run if it has one. */
static enum status picture_draw(const struct result *result, struct figures *figures,
                                struct error *error)
{
    const struct view view = view_of(result);
    char buffer[RESULT_PATH_SIZE];
    struct trajectory *trajectory;
    const char *path = result_trajectory(result, buffer);
    if (!path)
        return STATUS_OK;
    if (trajectory_open(path, &trajectory, error))
        return error->status;
    enum status status = STATUS_OK;
    if (trajectory->frame_count == 0 && result->state == RESULT_ENDED)
        status = error_set(error, STATUS_DATA, "%s: no frame", path);
    else if (trajectory->frame_count == 0)
        status = STATUS_OK; /* a run that has just begun */
    else if (trajectory->bodies <= PATH_BODIES)
        status = draw_orbits(figures, trajectory, &view, error);
    else
        status = draw_first_and_last(figures, trajectory, &view, error);
    trajectory_close(trajectory);
    return status;
}

/* --- all figures of a run --------------------------------------------------------------------- */

/* The figures of one diagnostic, if its file is there. */
static enum status add_diagnostic(const struct result *result,
                                  const struct diagnostic_class *class_, const char *type,
                                  const char *name, enum draw_extent extent,
                                  struct figures *figures, struct error *error)
{
    char file[SERIES_NAME_SIZE + 8];
    struct series *series = NULL;
    snprintf(file, sizeof file, "%.*s.csv", SERIES_NAME_SIZE, name);
    enum status status = result_series(result, file, &series, error);
    if (!status && series)
        status = draw_diagnostic(result, series, class_, type, name, extent, figures, error);
    series_destroy(series);
    return status;
}

/* NULL for a diagnostic that this program does not know. */
static const struct diagnostic_class *find_class(const char *type)
{
    const struct diagnostic_class *class_ = NULL;
    for (size_t i = 0; (class_ = diagnostic_at(i)); i++)
        if (strcmp(class_->variant.name, type) == 0)
            break;
    return class_;
}

enum status draw_run(const struct result *result, enum draw_extent extent, struct figures *figures,
                     struct error *error)
{
    size_t index;
    json_t *item;
    enum status status = picture_draw(result, figures, error);
    json_array_foreach(result_find(result, FIELD_CONFIG_DIAGNOSTICS), index, item)
    {
        const char *type = json_string_value(run_field(item, FIELD_DIAGNOSTIC_TYPE));
        const char *given = run_field_string(item, FIELD_DIAGNOSTIC_NAME);
        if (!type || status)
            break;
        status = add_diagnostic(result, find_class(type), type, given[0] ? given : type, extent,
                                figures, error);
    }
    const struct diagnostic_class *class_;
    for (size_t i = 0; (class_ = diagnostic_measured(i)) && !status; i++) {
        if (class_->asked_by && json_is_true(result_config(result, class_->asked_by)))
            status = add_diagnostic(result, class_, class_->variant.name, class_->variant.name,
                                    extent, figures, error);
    }
    return status ? status : error_cost_draw(result, figures, error);
}

/* --- moving pictures -------------------------------------------------------------------------- */

enum { MOST_FRAMES = 150, MOST_BODIES = 2000, FEW_BODIES = 10, SMOOTHED = 4 };

/* The half width of the box in half-mass radii; a sphere of it holds 91 % of Plummer's model. */
static const double half_masses = 3.0;

/* The view of a frame: its middle, and half the width of the box. */
struct camera {
    double middle[3], reach;
    double time;
};

struct film {
    struct trajectory *trajectory;
    const struct units *units; /* or NULL */
    size_t stride, bodies;     /* every stride-th body is shown; their count */
    size_t every, frames;      /* likewise */
    struct camera *cameras;    /* of each frame */
    double *x, *y, *z, *m;     /* of the frame at hand */
    double *distance;          /* scratch */
    size_t *order;             /* scratch */
};

/* --- where to look ---------------------------------------------------------------------------- */

/* A body far away moves a median less than a mean. */
static double median(const struct film *film, const double *values)
{
    memcpy(film->distance, values, film->bodies * sizeof *values);
    gsl_sort(film->distance, 1, film->bodies);
    return gsl_stats_median_from_sorted_data(film->distance, 1, film->bodies);
}

/* About the middle of the camera: the radius that holds this part of the mass. */
static double radius_of(const struct film *film, const struct camera *camera, double part)
{
    double mass = 0.0, inside = 0.0;
    for (size_t i = 0; i < film->bodies; i++) {
        film->distance[i] =
            hypot(hypot(film->x[i] - camera->middle[0], film->y[i] - camera->middle[1]),
                  film->z[i] - camera->middle[2]);
        mass += film->m[i];
    }
    gsl_sort_index(film->order, film->distance, 1, film->bodies);
    for (size_t i = 0; i < film->bodies; i++) {
        inside += film->m[film->order[i]];
        if (inside >= part * mass)
            return film->distance[film->order[i]];
    }
    return film->distance[film->order[film->bodies - 1]];
}

/* Aims the camera at half the mass about its middle where there are many bodies, and at all of them
 * about 0 where there are few. */
static void aim(const struct film *film, struct camera *camera)
{
    if (film->bodies > FEW_BODIES) {
        camera->middle[0] = median(film, film->x);
        camera->middle[1] = median(film, film->y);
        camera->middle[2] = median(film, film->z);
    }
    camera->reach = film->bodies > FEW_BODIES ? half_masses * radius_of(film, camera, 0.5)
                                              : 1.1 * radius_of(film, camera, 1.0);
}

/* Steadies the view: few bodies have one box for all frames, which one in ten may leave; many
 * bodies have a box that follows without trembling, by the geometric mean over a few frames. */
static enum status steady(const struct film *film, struct error *error)
{
    double *const reach = memory_array(film->frames, sizeof *reach, error);
    if (!reach)
        return error->status;
    for (size_t k = 0; k < film->frames; k++)
        reach[k] = film->cameras[k].reach;
    if (film->bodies <= FEW_BODIES)
        gsl_sort(reach, 1, film->frames);
    for (size_t k = 0; k < film->frames; k++) {
        const size_t first = k < SMOOTHED ? 0 : k - SMOOTHED;
        const size_t end = k + SMOOTHED < film->frames ? k + SMOOTHED + 1 : film->frames;
        double sum = 0.0;
        for (size_t i = first; i < end; i++)
            sum += log(reach[i]);
        film->cameras[k].reach =
            film->bodies <= FEW_BODIES
                ? gsl_stats_quantile_from_sorted_data(reach, 1, film->frames, 0.9)
                : exp(sum / (double)(end - first));
        if (!(film->cameras[k].reach > 0.0) || !isfinite(film->cameras[k].reach))
            film->cameras[k].reach = 1.0;
    }
    memory_free(reach);
    return STATUS_OK;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* One block for each frame: the positions, and the colour. */
static enum status print_frames(const struct film *film, struct text *data, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < film->frames && !status; k++) {
        const size_t frame = k * film->every;
        struct camera *camera = &film->cameras[k];
        status = trajectory_read(film->trajectory, frame, film->stride, film->x, film->y, film->z,
                                 film->m, error);
        camera->time = film->trajectory->frames[frame].time;
        text_print(data, "# t = %.17g\n", camera->time);
        for (size_t i = 0; i < film->bodies && !status; i++)
            text_print(data, "%.6g %.6g %.6g %zu\n", film->x[i], film->y[i], film->z[i],
                       film->bodies > FEW_BODIES ? 1 : i % PALETTE_COLORS + 1);
        text_print(data, "\n\n");
        if (!status)
            aim(film, camera);
    }
    return status ? status : steady(film, error);
}

/* Returns the values of a frame for gnuplot. */
static json_t *frame_view(const struct film *film, size_t k)
{
    const struct camera *camera = &film->cameras[k];
    char time[UNITS_TEXT_SIZE], width[UNITS_TEXT_SIZE], words[UNITS_TEXT_SIZE + 16];
    struct text time_words = { 0 }, width_words = { 0 };
    json_t *axes = json_array();
    for (size_t axis = 0; axis < 3; axis++) {
        const char name[] = { "xyz"[axis], '\0' };
        document_append(&axes, json_pack("{s:s, s:f, s:f}", "axis", name, "low",
                                         camera->middle[axis] - camera->reach, "high",
                                         camera->middle[axis] + camera->reach));
    }
    snprintf(words, sizeof words, "t = %s", units_time(film->units, camera->time, 4, time));
    script_quote(&time_words, words);
    snprintf(words, sizeof words, "box: %s wide",
             units_length(film->units, 2.0 * camera->reach, 3, width));
    script_quote(&width_words, words);
    return json_pack("{s:i, s:o, s:o, s:f, s:o}", "index", (int)k, "time",
                     template_value(&time_words), "width", template_value(&width_words), "angle",
                     30.0 + 90.0 * (double)k / (double)film->frames, "axes", axes);
}

static json_t *film_view(const struct film *film)
{
    const double size = film->bodies < 50 ? 1.4 : film->bodies < 1000 ? 0.6 : 0.35;
    json_t *frames = json_array();
    for (size_t k = 0; k < film->frames; k++)
        document_append(&frames, frame_view(film, k));
    return frames ? json_pack("{s:s, s:o, s:f, s:o}", "name", ANIMATION_NAME, "palette",
                              palette_view(), "size", size, "frames", frames)
                  : NULL;
}

static enum status draw_frames(const struct film *film, struct directory *work, struct error *error)
{
    struct text data = { 0 };
    enum status status = print_frames(film, &data, error);
    if (!status)
        status = plot_write(work, ANIMATION_NAME, ".dat", &data, error);
    text_free(&data);
    return status ? status
                  : plot_commands(work, ANIMATION_NAME, "animation.gp", film_view(film), error);
}

static enum status make_film(struct trajectory *trajectory, const struct units *units,
                             struct directory *work, struct error *error)
{
    struct film film = { .trajectory = trajectory,
                         .units = units,
                         .stride = (trajectory->bodies + MOST_BODIES - 1) / MOST_BODIES,
                         .every = (trajectory->frame_count + MOST_FRAMES - 1) / MOST_FRAMES };
    film.bodies = (trajectory->bodies + film.stride - 1) / film.stride;
    film.frames = (trajectory->frame_count + film.every - 1) / film.every;
    film.cameras = memory_array(film.frames, sizeof *film.cameras, error);
    film.order = memory_array(film.bodies, sizeof *film.order, error);
    film.x = memory_array(film.bodies, 5 * sizeof *film.x, error);
    enum status status = error->status;
    if (!status) {
        film.y = film.x + film.bodies;
        film.z = film.y + film.bodies;
        film.m = film.z + film.bodies;
        film.distance = film.m + film.bodies;
        status = draw_frames(&film, work, error);
    }
    memory_free(film.cameras);
    memory_free(film.order);
    memory_free(film.x);
    return status;
}

/* --- on the page ------------------------------------------------------------------------------ */

static enum status put_picture(const struct directory *work, bool few, struct text *html,
                               struct error *error)
{
    struct text gif = { 0 };
    size_t length;
    char *bytes = directory_read_file(work, ANIMATION_NAME ".gif", &length, error);
    if (!bytes)
        return error->status;
    text_base64(&gif, bytes, length);
    free(bytes);
    template_fill(html, "animation.html",
                  gif.failed ? NULL
                             : json_pack("{s:s, s:b, s:s}", "name", ANIMATION_NAME, "few", few,
                                         "gif", gif.bytes),
                  NULL);
    text_free(&gif);
    return STATUS_OK;
}

enum status animation_add(const struct result *result, struct directory *work, struct text *html,
                          struct error *error)
{
    char buffer[RESULT_PATH_SIZE];
    struct trajectory *trajectory;
    const char *path = result_trajectory(result, buffer);
    if (!path)
        return error_set(error, STATUS_NO_INPUT,
                         "%s: no trajectory to animate; add { type = \"xyz\"; } to outputs",
                         result->path);
    if (trajectory_open(path, &trajectory, error))
        return error->status;
    const enum status status =
        trajectory->frame_count == 0
            ? error_set(error, STATUS_NO_INPUT, "%s: no frame to animate yet", path)
            : make_film(trajectory, result_units(result), work, error);
    const bool few = trajectory->bodies <= FEW_BODIES;
    trajectory_close(trajectory);
    return status ? status : put_picture(work, few, html, error);
}
