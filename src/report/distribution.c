#include "report/distribution.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/members.h"

struct distribution_curve {
    const char *column, *label;
    enum curve_kind kind;
    bool first; /* of the first event; else of the last */
};

enum { DISTRIBUTION_CURVES = 5 };

struct distribution {
    const char *type, *name, *title, *y_label;
    bool logarithmic; /* both axes */
    struct distribution_curve curves[DISTRIBUTION_CURVES];
    const char *caption;
};

static const struct distribution distributions[] = {
    { "radial-distribution",
      "radial-distribution",
      "Radial distribution g(r)",
      "g",
      false,
      { { "g", "last frame", CURVE_LINE, false },
        { "g_mean", "mean", CURVE_LINE, false },
        { "g", "first frame", CURVE_DASHED, true } },
      "Pairs at a distance, over those of an ideal gas of the same number in the same cell. For a "
      "cluster in open space the height depends on the cell, the shape does not." },
    { "radial-distribution",
      "radial-distribution-slopes",
      "g(r), logarithmic",
      "g",
      true,
      { { "g", "last frame", CURVE_LINE, false },
        { "g_mean", "mean", CURVE_LINE, false },
        { "g", "first frame", CURVE_DASHED, true } },
      "The same on logarithmic axes, where a power law is a straight line." },
    { "density-profile",
      "density-profile",
      "Density profile",
      "ρ",
      true,
      { { "density", "last frame", CURVE_POINTS, false },
        { "power_law", "fitted power law", CURVE_LINE, false },
        { "isothermal", "isothermal, r⁻²", CURVE_DASHED, false },
        { "plummer", "Plummer", CURVE_DASHED, false },
        { "density", "first frame", CURVE_DASHED, true } },
      "Mass density in shells about the centre, with fitted laws over the stated range." },
};

/* The rows of the first or of the last event. */
static void find_event(const struct series *series, bool first, size_t *begin, size_t *end)
{
    const double *time = series_find(series, "time")->values;
    *begin = first ? 0 : series->rows - 1;
    *end = *begin + 1;
    while (first && *end < series->rows && time[*end] == time[*begin])
        (*end)++;
    while (!first && *begin > 0 && time[*begin - 1] == time[*end - 1])
        (*begin)--;
}

static enum status draw_curve(struct figure *figure, const struct series *series,
                              const struct distribution *distribution,
                              const struct distribution_curve *curve, struct error *error)
{
    const struct series_column *r = series_find(series, "r");
    const struct series_column *column = series_find(series, curve->column);
    size_t begin, end;
    char label[FIGURE_LABEL_SIZE];
    if (!r || !column)
        return STATUS_OK;
    find_event(series, curve->first, &begin, &end);
    if (strstr(curve->label, "frame"))
        snprintf(label, sizeof label, "t = %.4g", series_find(series, "time")->values[begin]);
    else
        snprintf(label, sizeof label, "%s", curve->label);
    figures_label("r", r->unit, figure->x_label);
    figures_label(distribution->y_label, column->unit, figure->y_label);
    const struct members members = { series->systems, begin, end - begin, series->rows };
    return members_curve(figure, label, curve->kind, &members, r->values, column->values,
                         curve == distribution->curves, error);
}

enum status distribution_draw(const struct series *series, const char *type, const char *name,
                              struct figures *figures, struct error *error)
{
    const bool named = strcmp(type, name) != 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT_OF(distributions) && !status; i++) {
        const struct distribution *distribution = &distributions[i];
        if (strcmp(distribution->type, type) != 0)
            continue;
        struct figure *figure = figures_add(figures, error);
        if (!figure)
            return error->status;
        snprintf(figure->name, sizeof figure->name, "%.40s%s%.40s", named ? name : "",
                 named ? "-" : "", distribution->name);
        snprintf(figure->title, sizeof figure->title, "%s%s%.40s", distribution->title,
                 named ? ": " : "", named ? name : "");
        snprintf(figure->caption, sizeof figure->caption, "%s", distribution->caption);
        figure->x_log = figure->y_log = distribution->logarithmic;
        for (size_t k = 0; k < DISTRIBUTION_CURVES && distribution->curves[k].column && !status;
             k++)
            status = draw_curve(figure, series, distribution, &distribution->curves[k], error);
        members_caption(figure, series->systems);
        figures_settle(figures);
    }
    return status;
}
