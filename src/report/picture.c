#include "report/draw.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"
#include "report/trajectory.h"

enum {
    PATH_BODIES = 10,
    NAMED_BODIES = 8,
    MOST_SPECIES = 8,
    PATH_FRAMES = 4000,
    DOT_BODIES = 3000
};

/* Properties that all figures of a run's bodies share. */
struct view {
    struct time_unit time;
    char length_unit[UNITS_LABEL_SIZE];
    char systems[80]; /* sentence on the systems of an ensemble; or "" */
    bool centered;    /* the config puts the centre of mass at the origin */
};

static struct view view_of(const struct result *result)
{
    struct view view = { .time = result_time_unit(result) };
    const struct units *units = result_units(result);
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
    for (size_t k = 0; k < frames && !error->status; k++) {
        const struct trajectory_values values = { .x = position[0],
                                                  .y = position[1],
                                                  .z = position[2] };
        trajectory_read(trajectory, k * stride, 1, &values, error);
        for (size_t i = 0; i < bodies; i++) {
            x[i * frames + k] = position[0][i];
            y[i * frames + k] = position[1][i];
        }
    }
    struct trajectory_groups groups;
    unsigned group[PATH_BODIES];
    if (!error->status)
        trajectory_identify(trajectory, 1, ids, group, &groups, error);
    for (size_t i = 0; i < bodies && !error->status; i++) {
        char label[TRAJECTORY_GROUP_SIZE] = "";
        if (bodies > 1 && bodies <= NAMED_BODIES)
            snprintf(label, sizeof label, "body %.0f", ids[i]);
        if (label[0] && trajectory_body_name(&groups, group[i]))
            snprintf(label, sizeof label, "%s", groups.names[group[i]]);
        figure_curve(figure, label, CURVE_PATH, (int)i, frames, x + i * frames, y + i * frames,
                     error);
    }
    for (size_t i = 0; i < figure->curve_count; i++)
        figure->curves[i].compared = true;
    for (size_t i = 0; i < bodies && !error->status; i++) {
        position[0][i] = x[i * frames];
        position[1][i] = y[i * frames];
    }
    if (!error->status)
        figure_marks(figure, bodies, position[0], position[1], centered ? "centre of mass" : NULL,
                     error);
    free(x);
    return error->status;
}

/* Returns half the width of a square about 0 that shows all bodies but the outermost fiftieth, with
 * a margin. `scratch` has room for `count` numbers. */
static double half_width(size_t count, const double *x, const double *y, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = fmax(fabs(x[i]), fabs(y[i]));
    gsl_sort(scratch, 1, count);
    return 1.15 * scratch[count - 1 - count / 50];
}

/* Adds the bodies of a frame, at (x[i], y[i]), as points: a curve for each species if there are 2
 * to MOST_SPECIES, else one for all. own[0] and own[1], arrays of `count` numbers, are scratch. */
static enum status add_bodies(struct figure *figure, struct trajectory *trajectory, size_t stride,
                              size_t count, const double *x, const double *y, double *own[2],
                              struct error *error)
{
    const enum curve_kind kind = count < 400 ? CURVE_DISCS : CURVE_DOTS;
    struct trajectory_groups groups = { .count = 0 };
    unsigned *const group = memory_array(count, sizeof *group, error);
    if (!group || trajectory_identify(trajectory, stride, own[0], group, &groups, error)) {
        memory_free(group);
        return error->status;
    }
    const bool several = strcmp(groups.kind, "species") == 0 && groups.count <= MOST_SPECIES;
    const size_t curves = several && groups.count > 0 ? groups.count : 1;
    for (size_t g = 0; g < curves && !error->status; g++) {
        size_t points = 0;
        for (size_t i = 0; i < count; i++)
            if (curves == 1 || group[i] == g) {
                own[0][points] = x[i];
                own[1][points++] = y[i];
            }
        figure_curve(figure, curves > 1 ? groups.names[g] : "", kind, (int)g, points, own[0],
                     own[1], error);
    }
    memory_free(group);
    return error->status;
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
             time_unit_text(&view->time, trajectory->frames[frame].time, 6, time));
    text_print(&figure->caption,
               "%zu of %zu bodies, seen along z. The outermost few may lie beyond the frame.%s",
               count, trajectory->bodies, view->systems);
    label_axes(figure, view);
    figure->alone = true;
    double *y = x + count, *z = y + count;
    const struct trajectory_values values = { .x = x, .y = y, .z = z };
    if (!trajectory_read(trajectory, frame, stride, &values, error)) {
        figure->range[1] = half_width(count, x, y, z + count);
        figure->range[0] = -figure->range[1];
        add_bodies(figure, trajectory, stride, count, x, y, (double *[2]){ z, z + count }, error);
    }
    free(x);
    figure_drop_empty(figures);
    return error->status;
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
    draw_paths(figure, trajectory, view->centered, error);
    figure_drop_empty(figures);
    return error->status;
}

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

/* --- all figures of a run --------------------------------------------------------------------- */

/* Adds the figures of one diagnostic, if it has a file; on the page of a run also columns of which
 * the config expects something. */
static enum status add_diagnostic(struct measured measured, enum draw_extent extent,
                                  struct figures *figures, struct error *error)
{
    char file[SERIES_NAME_SIZE + 8];
    struct series *series = NULL;
    const size_t first = figures->count;
    snprintf(file, sizeof file, "%.*s.csv", SERIES_NAME_SIZE, measured.name);
    result_series(measured.result, file, &series, error);
    measured.series = series;
    if (series && !draw_diagnostic(&measured, extent, figures, error) && extent == DRAW_PAGE)
        arrange_expected(&measured, figures, first, error);
    series_destroy(series);
    return error->status;
}

static const struct diagnostic_class *find_class(const char *type)
{
    const struct diagnostic_class *class_;
    size_t i = 0;
    while ((class_ = diagnostic_at(i)) && strcmp(class_->variant.name, type) != 0)
        i++;
    return class_;
}

enum status draw_run(const struct result *result, struct trajectory *trajectory,
                     enum draw_extent extent, struct figures *figures, struct error *error)
{
    size_t index;
    json_t *item;
    const struct view view = view_of(result);
    if (trajectory && trajectory->bodies <= PATH_BODIES)
        draw_orbits(figures, trajectory, &view, error);
    else if (trajectory)
        draw_first_and_last(figures, trajectory, &view, error);
    json_array_foreach(result_find(result, FIELD_CONFIG_DIAGNOSTICS), index, item)
    {
        const char *type = json_string_value(run_field(item, FIELD_DIAGNOSTIC_TYPE));
        const char *given = run_field_string(item, FIELD_DIAGNOSTIC_NAME);
        if (!type || error->status)
            break;
        add_diagnostic(
            (struct measured){ result, NULL, find_class(type), type, given[0] ? given : type },
            extent, figures, error);
    }
    const struct diagnostic_class *class_;
    for (size_t i = 0; (class_ = diagnostic_measured(i)) && !error->status; i++) {
        if (class_->asked_by && json_is_true(result_config(result, class_->asked_by)))
            add_diagnostic((struct measured){ result, NULL, class_, class_->variant.name,
                                              class_->variant.name },
                           extent, figures, error);
    }
    if (!error->status && !error_cost_draw(result, figures, error) && extent == DRAW_PAGE)
        arrange_page(result, figures, error);
    return error->status;
}
