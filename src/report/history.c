#include "report/history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/members.h"

struct history_curve {
    const char *column; /* "radius_*": all columns that begin so, labelled by their ends */
    const char *label;
    enum curve_kind kind;
    bool magnitude; /* draw |value| */
};

enum { HISTORY_CURVES = 4 };

struct history {
    const char *type, *name, *title, *y_label;
    bool y_log;
    struct history_curve curves[HISTORY_CURVES];
    const char *caption;
};

static const struct history histories[] = {
    { "conservation",
      "energy-error",
      "Energy error",
      "|ΔE/E₀|",
      true,
      { { "relative_energy_error", "|ΔE/E₀|", CURVE_LINE, true },
        { "energy_error", "largest so far", CURVE_DASHED, false } },
      "How far the total energy has moved from its first value. A symplectic integrator makes it "
      "oscillate within a band; a line that climbs is a drift, a jump is a close encounter that "
      "the step was too long for." },
    { "conservation",
      "energies",
      "Energies",
      "energy",
      false,
      { { "kinetic", "kinetic K", CURVE_LINE, false },
        { "potential", "potential U", CURVE_LINE, false },
        { "energy", "total E = K + U", CURVE_LINE, false } },
      "Kinetic and potential energy trade places; their sum stays." },
    { "conservation",
      "virial-ratio",
      "Virial ratio",
      "ratio",
      false,
      { { "virial_ratio", "2K/|W|", CURVE_LINE, false },
        { "virial_ratio_potential", "−2K/U", CURVE_DASHED, false } },
      "1 in equilibrium. W is the Clausius virial Σ m r·a of the softened force, U the potential "
      "energy; without softening they are equal." },
    { "virial",
      "virial",
      "Virial theorem",
      "ratio of means",
      false,
      { { "mean_virial_ratio", "2⟨K⟩/|⟨W⟩|", CURVE_LINE, false },
        { "kinetic_over_energy", "⟨K⟩/−⟨E⟩", CURVE_LINE, false },
        { "potential_over_energy", "⟨U⟩/2⟨E⟩", CURVE_LINE, false } },
      "Means over time. A bound system settles to 2⟨K⟩ = −⟨W⟩; without softening also ⟨K⟩ to −E "
      "and ⟨U⟩ to 2E, so that all three go to 1." },
    { "lagrangian-radii",
      "lagrangian-radii",
      "Lagrangian radii",
      "radius",
      true,
      { { "radius_*", " %", CURVE_LINE, false }, { "core_radius", "core", CURVE_DASHED, false } },
      "Radii of the spheres about the centre that hold fixed fractions of the mass. Flat lines: "
      "the system keeps its structure." },
    { "velocity-dispersion",
      "velocity-dispersion",
      "Velocity dispersion",
      "dispersion",
      false,
      { { "dispersion", "in one dimension", CURVE_LINE, false },
        { "dispersion_radial", "radial", CURVE_LINE, false },
        { "dispersion_tangential", "tangential", CURVE_LINE, false },
        { "central_dispersion", "at the centre", CURVE_DASHED, false } },
      "The scatter of the velocities. Radial and tangential part ways where orbits are not "
      "isotropic." },
    { "density-slope",
      "density-slope",
      "Slope of the density",
      "slope",
      false,
      { { "density_slope", "d ln ρ / d ln r", CURVE_LINE, false } },
      "Fitted over the stated range of radii; −2 is an isothermal sphere." },
    { "close-encounters",
      "close-encounters",
      "Close encounters",
      "distance",
      true,
      { { "nearest_distance", "nearest pair", CURVE_LINE, false },
        { "closest_distance", "closest so far", CURVE_DASHED, false } },
      "The least distance of two bodies. A dip below the softening length does no harm; without "
      "softening it asks for a shorter step." },
    { "orbit",
      "orbit-error",
      "Orbit error",
      "|difference|",
      true,
      { { "radial", "radial", CURVE_LINE, true },
        { "along_track", "along the track", CURVE_LINE, true },
        { "out_of_plane", "out of the plane", CURVE_LINE, true } },
      "Distance from the place on the two-body orbit of the initial state, in its parts. A "
      "symplectic integrator errs along the track, by an amount that grows linearly; among more "
      "than two bodies, the others pull it away." },
};

static enum status add_curve(struct figure *figure, const struct series *series,
                             const struct series_column *column, const char *label,
                             const struct history_curve *curve, struct error *error)
{
    const struct series_column *time = series_find(series, "time");
    const struct members members = members_all(series);
    const size_t count = series->systems * series->rows;
    double *y = memory_array(count, sizeof *y, error);
    if (!y)
        return error->status;
    for (size_t i = 0; i < count; i++)
        y[i] = curve->magnitude ? fabs(column->values[i]) : column->values[i];
    figures_label(figure->y_label, column->unit, figure->y_label);
    const enum status status = members_curve(figure, label, curve->kind, &members, time->values, y,
                                             curve->kind == CURVE_LINE, error);
    memory_free(y);
    return status;
}

/* All columns that one curve of the table means: one, or those of a pattern. */
static enum status add_curves(struct figure *figure, const struct series *series,
                              const struct history_curve *curve, struct error *error)
{
    const size_t stem = strcspn(curve->column, "*");
    const bool pattern = curve->column[stem] == '*';
    enum status status = STATUS_OK;
    for (size_t i = 0; i < series->columns && !status; i++) {
        const struct series_column *column = &series->column[i];
        char label[FIGURE_LABEL_SIZE];
        if (strncmp(column->name, curve->column, stem) != 0 ||
            (!pattern && column->name[stem] != '\0'))
            continue;
        snprintf(label, sizeof label, "%s%s", pattern ? column->name + stem : "", curve->label);
        status = add_curve(figure, series, column, label, curve, error);
    }
    return status;
}

/* Titles and file names tell figures of diagnostics apart that the config gives names. */
static void name_figure(struct figure *figure, const struct history *history, const char *name)
{
    const bool named = strcmp(history->type, name) != 0;
    snprintf(figure->name, sizeof figure->name, "%.40s%s%.40s", named ? name : "", named ? "-" : "",
             history->name);
    snprintf(figure->title, sizeof figure->title, "%s%s%.40s", history->title, named ? ": " : "",
             named ? name : "");
    snprintf(figure->caption, sizeof figure->caption, "%s", history->caption);
}

static enum status draw_history(const struct series *series, const struct history *history,
                                const char *name, struct figures *figures, struct error *error)
{
    struct figure *figure = figures_add(figures, error);
    if (!figure)
        return error->status;
    name_figure(figure, history, name);
    figure->y_log = history->y_log;
    figures_label("t", series_find(series, "time")->unit, figure->x_label);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < HISTORY_CURVES && history->curves[i].column && !status; i++) {
        snprintf(figure->y_label, sizeof figure->y_label, "%s", history->y_label);
        status = add_curves(figure, series, &history->curves[i], error);
    }
    members_caption(figure, series->systems);
    figures_settle(figures);
    return status;
}

/* --- momenta ------------------------------------------------------------------------------------
 */

/* |v(t) - v(0)| of a vector of three columns. */
static enum status drift_curve(struct figure *figure, const struct series *series,
                               const char *vector, const char *label, struct error *error)
{
    const struct series_column *component[3];
    for (size_t k = 0; k < 3; k++) {
        char name[SERIES_NAME_SIZE];
        snprintf(name, sizeof name, "%s_%c", vector, "xyz"[k]);
        component[k] = series_find(series, name);
        if (!component[k])
            return STATUS_OK;
    }
    const struct members members = members_all(series);
    const size_t count = series->systems * series->rows;
    double *y = memory_array(count, sizeof *y, error);
    if (!y)
        return error->status;
    for (size_t i = 0; i < count; i++) {
        const size_t start = i - i % series->rows;
        const double *const v[] = { component[0]->values, component[1]->values,
                                    component[2]->values };
        y[i] = hypot(hypot(v[0][i] - v[0][start], v[1][i] - v[1][start]), v[2][i] - v[2][start]);
    }
    const enum status status = members_curve(figure, label, CURVE_LINE, &members,
                                             series_find(series, "time")->values, y, true, error);
    memory_free(y);
    return status;
}

static enum status draw_momenta(struct figures *figures, const char *name,
                                const struct series *series, struct error *error)
{
    struct figure *figure = figures_add(figures, error);
    if (!figure)
        return error->status;
    snprintf(figure->name, sizeof figure->name, "%s", name);
    snprintf(figure->title, sizeof figure->title, "Momenta");
    snprintf(figure->caption, sizeof figure->caption,
             "How far momentum and angular momentum have moved from their first values, in the "
             "units of the run. Round-off grows like the square root of the number of steps.");
    figure->y_log = true;
    figures_label("t", series_find(series, "time")->unit, figure->x_label);
    snprintf(figure->y_label, sizeof figure->y_label, "change");
    enum status status = drift_curve(figure, series, "momentum", "|ΔP|", error);
    if (!status)
        status = drift_curve(figure, series, "angular_momentum", "|ΔL|", error);
    members_caption(figure, series->systems);
    figures_settle(figures);
    return status;
}

/* --- the orbit of a pair ------------------------------------------------------------------------
 */

static enum status path_curve(struct figure *figure, const struct series *series,
                              const char *x_name, const char *y_name, const char *label,
                              enum curve_kind kind, struct error *error)
{
    const struct series_column *x = series_find(series, x_name), *y = series_find(series, y_name);
    if (!x || !y)
        return STATUS_OK;
    figures_label("x", x->unit, figure->x_label);
    figures_label("y", y->unit, figure->y_label);
    return figure_curve(figure, label, kind, (int)figure_lines(figure), series->rows, x->values,
                        y->values, error);
}

static enum status draw_pair(struct figures *figures, const struct series *series,
                             struct error *error)
{
    struct figure *figure = figures_add(figures, error);
    if (!figure)
        return error->status;
    snprintf(figure->name, sizeof figure->name, "orbit");
    snprintf(figure->title, sizeof figure->title, "Orbit");
    snprintf(figure->caption, sizeof figure->caption,
             "The way of the second body about the first, in the plane of the orbit, and that of "
             "the two-body orbit of the initial state%s.",
             series->systems > 1 ? "; of system 0, of several" : "");
    figure->equal_axes = true;
    enum status status =
        path_curve(figure, series, "orbit_x", "orbit_y", "computed", CURVE_PATH, error);
    if (!status)
        status = path_curve(figure, series, "reference_x", "reference_y", "two-body orbit",
                            CURVE_PATH, error);
    figures_settle(figures);
    return status;
}

enum status history_draw(const struct series *series, const char *type, const char *name,
                         struct figures *figures, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT_OF(histories) && !status; i++)
        if (strcmp(histories[i].type, type) == 0)
            status = draw_history(series, &histories[i], name, figures, error);
    if (!status && strcmp(type, "orbit") == 0 && strcmp(type, name) == 0)
        status = draw_pair(figures, series, error);
    if (!status && strcmp(type, "conservation") == 0)
        status = draw_momenta(figures, strcmp(type, name) == 0 ? "momenta" : name, series, error);
    return status;
}
