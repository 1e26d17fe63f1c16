/* The diagnostic of Lagrangian radii, which enclose given fractions of the mass: they show how a
 * cluster contracts and spreads. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "diagnostics/diagnostic.h"
#include "space/sphere.h"

/* The columns behind those of the radii, numbered from 0. */
enum { CORE_RADIUS, CENTER_X, CENTER_Y, CENTER_Z, OTHERS };

#define RADIUS_HELP(percent)                                                                       \
    "radius about the centre that encloses " percent                                               \
    " percent of the mass: distance of the body with which the enclosed mass reaches it"

static const struct column columns[] = {
    { "radius_10", DIMENSION_LENGTH, RADIUS_HELP("10") },
    { "radius_25", DIMENSION_LENGTH, RADIUS_HELP("25") },
    { "radius_50", DIMENSION_LENGTH, RADIUS_HELP("50") },
    { "radius_75", DIMENSION_LENGTH, RADIUS_HELP("75") },
    { "radius_90", DIMENSION_LENGTH, RADIUS_HELP("90") },
    { "core_radius", DIMENSION_LENGTH,
      "r_c^2 = sum rho^2 |x - center|^2 / sum rho^2, rho the density at each body by its sixth "
      "neighbour (Casertano & Hut 1985); empty if `center` is not the density centre, or for fewer "
      "than seven bodies" },
    { "density_center_x", DIMENSION_LENGTH,
      "the centre; by default sum rho x / sum rho: x component" },
    { "density_center_y", DIMENSION_LENGTH, "the centre: y component" },
    { "density_center_z", DIMENSION_LENGTH, "the centre: z component" },
};
enum {
    DEFAULT_RADII = COUNT_OF(columns) - OTHERS,
    MAX_RADII = 64,
    NAME_SIZE = 32,
    PERCENT_SIZE = 16,
    HELP_SIZE = 160
};

/* The name and the help of the column of one radius. */
struct texts {
    char name[NAME_SIZE], help[HELP_SIZE];
};

struct lagrangian {
    struct diagnostic base;
    enum sphere_center center;
    const double *fractions; /* [radii]; borrowed from the config */
    size_t radii;            /* number of fractions */
    struct texts *texts;     /* [radii] */
    struct column *columns;
};

static void clear(struct diagnostic *diagnostic)
{
    struct lagrangian *lagrangian = (struct lagrangian *)diagnostic;
    memory_free(lagrangian->texts);
    memory_free(lagrangian->columns);
}

static const char *percent(double fraction, char buffer[PERCENT_SIZE])
{
    snprintf(buffer, PERCENT_SIZE, "%.8g", 100.0 * fraction);
    return buffer;
}

static enum status name_columns(struct lagrangian *lagrangian, struct error *error)
{
    const size_t count = lagrangian->radii + OTHERS;
    lagrangian->texts = memory_array(lagrangian->radii, sizeof *lagrangian->texts, error);
    lagrangian->columns = memory_array(count, sizeof *lagrangian->columns, error);
    if (!lagrangian->texts || !lagrangian->columns)
        return error->status;
    for (size_t k = 0; k < lagrangian->radii; k++) {
        struct texts *texts = &lagrangian->texts[k];
        char buffer[PERCENT_SIZE];
        const char *const words = percent(lagrangian->fractions[k], buffer);
        snprintf(texts->name, sizeof texts->name, "radius_%s", words);
        snprintf(texts->help, sizeof texts->help, RADIUS_HELP("%s"), words);
        lagrangian->columns[k] = (struct column){ texts->name, DIMENSION_LENGTH, texts->help };
    }
    memcpy(lagrangian->columns + lagrangian->radii, columns + DEFAULT_RADII,
           OTHERS * sizeof *columns);
    lagrangian->base.columns = lagrangian->columns;
    lagrangian->base.column_count = count;
    return STATUS_OK;
}

static enum status check_fractions(const struct section *section, const double *fractions,
                                   size_t count, struct error *error)
{
    if (count == 0 || count > MAX_RADII)
        return section_error(section, "fractions", error, "must be 1 to %d numbers", MAX_RADII);
    char one[PERCENT_SIZE], two[PERCENT_SIZE];
    for (size_t k = 0; k < count; k++)
        for (size_t other = 0; other < k; other++)
            if (strcmp(percent(fractions[k], one), percent(fractions[other], two)) == 0)
                return section_error(section, "fractions", error, "%g is there twice",
                                     fractions[k]);
    return STATUS_OK;
}

static enum status init(struct diagnostic *diagnostic, const struct section *section,
                        const struct moment *start, struct error *error)
{
    (void)start;
    struct lagrangian *lagrangian = (struct lagrangian *)diagnostic;
    lagrangian->fractions = section_reals(section, "fractions", &lagrangian->radii);
    if (check_fractions(section, lagrangian->fractions, lagrangian->radii, error))
        return error->status;
    return name_columns(lagrangian, error);
}

static enum status measure_system(struct diagnostic *diagnostic, const struct moment *now,
                                  size_t system, double *row, struct error *error)
{
    const struct lagrangian *lagrangian = (const struct lagrangian *)diagnostic;
    double *const others = row + lagrangian->radii;
    struct sphere sphere;
    if (sphere_create(now->bodies, system, lagrangian->center, now->threads, &sphere, error))
        return error->status;
    for (size_t k = 0; k < lagrangian->radii; k++)
        row[k] = sphere_radius(&sphere, lagrangian->fractions[k]);
    others[CORE_RADIUS] = sphere.core_radius;
    memcpy(others + CENTER_X, sphere.center, sizeof sphere.center);
    sphere_destroy(&sphere);
    return STATUS_OK;
}

static const struct parameter parameters[] = {
    DIAGNOSTIC_EVERY(1000),
    { KEY(REALS, fractions), BY_DEFAULT(REALS, 0.1, 0.25, 0.5, 0.75, 0.9), POSITIVE_TO(1),
      .help = "Fractions of the mass; a column radius_<percent> for each." },
    SPHERE_CENTER_PARAMETER(struct lagrangian),
};

static const struct drawing drawings[] = {
    { .name = "lagrangian-radii",
      .title = "Lagrangian radii",
      .y_label = "radius",
      .scale = SCALE_LOGARITHMIC,
      .compared = "radius_50",
      .curves = { { "radius_*", " %" }, { "core_radius", "core", CURVE_DASHED } },
      .caption = "Radii of the spheres about the centre that hold fixed fractions of the mass. "
                 "Lines that stay flat mean that the system keeps its structure." },
};

const struct diagnostic_class diagnostic_lagrangian_radii = {
    .variant = { "lagrangian-radii",
                 "Radii that enclose given fractions of the mass; density centre, core radius.",
                 parameters, COUNT_OF(parameters) },
    .size = sizeof(struct lagrangian),
    .needs = NEED_STATE,
    .open_space = true,
    .init = init,
    .measure_system = measure_system,
    .clear = clear,
    DIAGNOSTIC_COLUMNS(columns),
    DIAGNOSTIC_DRAWINGS(drawings),
    .body_bytes = SPHERE_BODY_BYTES,
};
