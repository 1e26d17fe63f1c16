#include "report/history.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "report/finding.h"
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
    const char *caption; /* what is drawn */
    /* What the numbers say of it; or NULL. */
    void (*finding)(const struct series *series, const struct result *result, char *text,
                    size_t size);
};

/* Of which run, which diagnostic and which file a figure is drawn. */
struct subject {
    const struct result *result;
    const struct series *series;
    const char *name; /* of the file, without .csv */
};

static const struct history histories[] = {
    { "conservation",
      "energy-error",
      "Energy error",
      "|ΔE/E₀|",
      true,
      { { "relative_energy_error", "|ΔE/E₀|", CURVE_LINE, true },
        { "energy_error", "largest so far", CURVE_DASHED, false } },
      "How far the total energy has moved from its first value.",
      finding_energy_error },
    { "conservation",
      "energies",
      "Energies",
      "energy",
      false,
      { { "kinetic", "kinetic K", CURVE_LINE, false },
        { "potential", "potential U", CURVE_LINE, false },
        { "energy", "total E = K + U", CURVE_LINE, false } },
      "The kinetic energy, the potential energy, and their sum.",
      finding_energies },
    { "conservation",
      "virial-ratio",
      "Virial ratio",
      "ratio",
      false,
      { { "virial_ratio", "2K/|W|", CURVE_LINE, false },
        { "virial_ratio_potential", "−2K/U", CURVE_DASHED, false } },
      "1 in equilibrium. W is the Clausius virial Σ m r·a of the softened force, U the potential "
      "energy; without softening they are equal.",
      NULL },
    { "virial",
      "virial",
      "Virial theorem",
      "ratio of means",
      false,
      { { "mean_virial_ratio", "2⟨K⟩/|⟨W⟩|", CURVE_LINE, false },
        { "kinetic_over_energy", "⟨K⟩/−⟨E⟩", CURVE_LINE, false },
        { "potential_over_energy", "⟨U⟩/2⟨E⟩", CURVE_LINE, false } },
      "Means over time. A bound system settles to 2⟨K⟩ = −⟨W⟩; without softening also ⟨K⟩ to −E "
      "and ⟨U⟩ to 2E, so that all three go to 1.",
      finding_virial },
    { "lagrangian-radii",
      "lagrangian-radii",
      "Lagrangian radii",
      "radius",
      true,
      { { "radius_*", " %", CURVE_LINE, false }, { "core_radius", "core", CURVE_DASHED, false } },
      "Radii of the spheres about the centre that hold fixed fractions of the mass. Lines that "
      "stay "
      "flat mean that the system keeps its structure.",
      NULL },
    { "velocity-dispersion",
      "velocity-dispersion",
      "Velocity dispersion",
      "dispersion",
      false,
      { { "dispersion", "in one dimension", CURVE_LINE, false },
        { "dispersion_radial", "radial", CURVE_LINE, false },
        { "dispersion_tangential", "tangential", CURVE_LINE, false },
        { "central_dispersion", "at the centre", CURVE_DASHED, false } },
      "The scatter of the velocities. The radial and the tangential one differ where orbits are "
      "not isotropic.",
      NULL },
    { "density-slope",
      "density-slope",
      "Slope of the density",
      "slope",
      false,
      { { "density_slope", "d ln ρ / d ln r", CURVE_LINE, false } },
      "Fitted over the radii of `fit`; −2 is an isothermal sphere.",
      NULL },
    { "close-encounters",
      "close-encounters",
      "Close encounters",
      "distance",
      true,
      { { "nearest_distance", "nearest pair", CURVE_LINE, false },
        { "closest_distance", "closest so far", CURVE_DASHED, false } },
      "The least distance of two bodies. A dip below the softening length does no harm; without "
      "softening it asks for a shorter step.",
      NULL },
    { "energy-budget",
      "energy-budget",
      "Where the energy error comes from",
      "part of |ΔE/E₀|",
      true,
      { { "energy_change", "all of it", CURVE_DASHED, true },
        { "truncation", "step", CURVE_LINE, true },
        { "encounters", "step, in encounters", CURVE_LINE, true },
        { "force_precision", "precision of the forces", CURVE_LINE, true } },
      "From replays of the run in parts, with half the step and with forces in double.",
      NULL },
    { "trust",
      "divergence",
      "Divergence of the orbits",
      "distance over size",
      true,
      { { "truncation", "from an infinitely small step", CURVE_LINE, false },
        { "rounding", "from another machine", CURVE_LINE, false },
        { "divergence", "twin, a rounding error away", CURVE_DASHED, false } },
      "How far errors have moved the bodies, over the size of the system. Straight lines are "
      "exponential growth.",
      finding_divergence },
    { "orbit",
      "orbit-error",
      "Orbit error",
      "|difference|",
      true,
      { { "radial", "radial", CURVE_LINE, true },
        { "along_track", "along the track", CURVE_LINE, true },
        { "out_of_plane", "out of the plane", CURVE_LINE, true } },
      "Distance from the position on the two-body orbit of the initial state, in its parts.",
      finding_orbit_error },
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
static void name_figure(struct figure *figure, const struct history *history,
                        const struct subject *subject)
{
    const char *name = subject->name;
    char found[FIGURE_CAPTION_SIZE / 2] = "";
    const bool named = strcmp(history->type, name) != 0;
    snprintf(figure->name, sizeof figure->name, "%.40s%s%.40s", named ? name : "", named ? "-" : "",
             history->name);
    snprintf(figure->title, sizeof figure->title, "%s%s%.40s", history->title, named ? ": " : "",
             named ? name : "");
    if (history->finding)
        history->finding(subject->series, subject->result, found, sizeof found);
    snprintf(figure->caption, sizeof figure->caption, "%s%s%s", history->caption,
             found[0] ? " " : "", found);
}

static enum status draw_history(const struct subject *subject, const struct history *history,
                                struct figures *figures, struct error *error)
{
    const struct series *series = subject->series;
    struct figure *figure = figures_add(figures, error);
    if (!figure)
        return error->status;
    name_figure(figure, history, subject);
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

/* A conserved vector of three columns, "momentum_x" and so on. */
struct vector {
    const char *columns, *figure, *title, *label;
    const char *relative_label; /* |v(t) - v(0)| / |v(0)|; NULL: never relative */
    const char *caption;
};

static const struct vector vectors[] = {
    { "momentum", "momentum", "Momentum", "|ΔP|", NULL,
      "How far the total momentum has moved from its first value." },
    { "angular_momentum", "angular-momentum", "Angular momentum", "|ΔL|", "|ΔL|/|L₀|",
      "How far the total angular momentum has moved from its first value." },
};

/* Each y[i] = |v(t) - v(0)|; returns the least |v(0)| of the systems. */
static double vector_changes(const struct series *series, const struct series_column *const v[3],
                             double *y)
{
    double least = INFINITY;
    for (size_t i = 0; i < series->systems * series->rows; i++) {
        const size_t start = i - i % series->rows;
        double size = 0.0, first = 0.0;
        for (size_t k = 0; k < 3; k++) {
            size = hypot(size, v[k]->values[i] - v[k]->values[start]);
            first = hypot(first, v[k]->values[start]);
        }
        y[i] = size;
        least = fmin(least, first);
    }
    return least;
}

/* Divides the changes of each system by the size that its vector began with. */
static void make_relative(const struct series *series, const struct series_column *const v[3],
                          double *y)
{
    for (size_t i = 0; i < series->systems * series->rows; i++) {
        const size_t start = i - i % series->rows;
        y[i] /= hypot(hypot(v[0]->values[start], v[1]->values[start]), v[2]->values[start]);
    }
}

/* A vector that began at 0, but for rounding, has no size to compare with: where a change is as
 * large as the vector was, the figure stays absolute. */
static bool is_relative(const struct vector *vector, const struct series *series, const double *y,
                        double least)
{
    bool larger = least == 0.0;
    for (size_t i = 0; i < series->systems * series->rows; i++)
        larger = larger || y[i] >= least;
    return vector->relative_label && !larger;
}

static double largest_of(const double *values, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

/* Its curve, and what there is to say of it. */
static enum status change_curve(struct figure *figure, const struct vector *vector,
                                const struct subject *subject, struct error *error)
{
    const struct series *series = subject->series;
    const struct series_column *v[3];
    for (size_t k = 0; k < 3; k++) {
        char name[SERIES_NAME_SIZE];
        snprintf(name, sizeof name, "%s_%c", vector->columns, "xyz"[k]);
        v[k] = series_find(series, name);
        if (!v[k])
            return STATUS_OK;
    }
    const struct members members = members_all(series);
    double *y = memory_array(memory_bytes(series->systems, series->rows), sizeof *y, error);
    if (!y)
        return error->status;
    const double least = vector_changes(series, v, y);
    const bool relative = is_relative(vector, series, y, least);
    if (relative)
        make_relative(series, v, y);
    const char *label = relative ? vector->relative_label : vector->label;
    figures_label(label, relative ? "" : v[0]->unit, figure->y_label);
    char found[FIGURE_CAPTION_SIZE / 2];
    finding_vector(subject->result, largest_of(y, series->systems * series->rows), relative,
                   strcmp(vector->columns, "angular_momentum") == 0, found, sizeof found);
    snprintf(figure->caption, sizeof figure->caption, "%s %s", vector->caption, found);
    const enum status status = members_curve(figure, label, CURVE_LINE, &members,
                                             series_find(series, "time")->values, y, true, error);
    memory_free(y);
    return status;
}

static enum status draw_vector(const struct subject *subject, const struct vector *vector,
                               struct figures *figures, struct error *error)
{
    const struct series *series = subject->series;
    const bool named = strcmp(subject->name, "conservation") != 0;
    struct figure *figure = figures_add(figures, error);
    if (!figure)
        return error->status;
    snprintf(figure->name, sizeof figure->name, "%.40s%s%s", named ? subject->name : "",
             named ? "-" : "", vector->figure);
    snprintf(figure->title, sizeof figure->title, "%s", vector->title);
    figure->y_log = true;
    figures_label("t", series_find(series, "time")->unit, figure->x_label);
    const enum status status = change_curve(figure, vector, subject, error);
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
             "The path of the second body about the first, in the plane of the orbit, and that of "
             "the two-body orbit of the initial state%s.",
             series->systems > 1 ? "; of system 1, of several" : "");
    figure->equal_axes = true;
    enum status status =
        path_curve(figure, series, "orbit_x", "orbit_y", "computed", CURVE_PATH, error);
    if (!status)
        status = path_curve(figure, series, "reference_x", "reference_y", "two-body orbit",
                            CURVE_PATH, error);
    figures_settle(figures);
    return status;
}

enum status history_draw(const struct result *result, const struct series *series, const char *type,
                         const char *name, struct figures *figures, struct error *error)
{
    const struct subject subject = { result, series, name };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < COUNT_OF(histories) && !status; i++)
        if (strcmp(histories[i].type, type) == 0)
            status = draw_history(&subject, &histories[i], figures, error);
    if (!status && strcmp(type, "orbit") == 0 && strcmp(type, name) == 0)
        status = draw_pair(figures, series, error);
    for (size_t i = 0; i < COUNT_OF(vectors) && !status && strcmp(type, "conservation") == 0; i++)
        status = draw_vector(&subject, &vectors[i], figures, error);
    return status;
}
