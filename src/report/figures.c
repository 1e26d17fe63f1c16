#include "report/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/distribution.h"
#include "report/history.h"
#include "report/picture.h"

const char *figures_label(const char *name, const char *unit, char buffer[FIGURE_LABEL_SIZE])
{
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char pretty[FIGURE_LABEL_SIZE] = "";
    bool power = false;
    for (const char *c = unit; *c && strlen(pretty) < FIGURE_LABEL_SIZE / 3; c++) {
        const bool digit = *c >= '0' && *c <= '9', minus = *c == '-';
        if (*c == '^')
            power = true;
        else if (power && (digit || minus))
            strcat(pretty, digit ? raised[*c - '0'] : "⁻");
        else
            strncat(pretty, c, 1);
        power = power && (*c == '^' || digit || minus);
    }
    char label[FIGURE_LABEL_SIZE];
    snprintf(label, sizeof label, unit[0] ? "%.48s [%.40s]" : "%.48s", name, pretty);
    return memcpy(buffer, label, sizeof label);
}

const char *figures_time(double time, int digits, const char *unit, char buffer[FIGURE_LABEL_SIZE])
{
    const bool named = unit[0] && strcmp(unit, "T") != 0;
    snprintf(buffer, FIGURE_LABEL_SIZE, "t = %.*g%s%.40s", digits, time, named ? " " : "",
             named ? unit : "");
    return buffer;
}

struct figure *figures_add(struct figures *figures, struct error *error)
{
    struct figure *grown =
        realloc(figures->figures, memory_bytes(figures->count + 1, sizeof *figures->figures));
    if (!grown) {
        error_set(error, STATUS_MEMORY, "out of memory");
        return NULL;
    }
    figures->figures = grown;
    grown[figures->count] = (struct figure){ 0 };
    return &grown[figures->count++];
}

void figures_settle(struct figures *figures)
{
    if (figures->count && figures->figures[figures->count - 1].curve_count == 0)
        figures->count--;
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        figure_free(&figures->figures[i]);
    free(figures->figures);
    *figures = (struct figures){ 0 };
}

/* The figures of one diagnostic, if its file is there. */
static enum status draw_series(const struct result *result, const char *type, const char *name,
                               struct figures *figures, struct error *error)
{
    char file[SERIES_NAME_SIZE + 8];
    struct series *series = NULL;
    snprintf(file, sizeof file, "%s.csv", name);
    enum status status = result_series(result, file, &series, error);
    if (!status && series && series->rows > 0 && series_find(series, "time")) {
        status = history_draw(result, series, type, name, figures, error);
        if (!status)
            status = distribution_draw(result, series, type, name, figures, error);
    }
    series_destroy(series);
    return status;
}

enum status figures_of_run(const struct result *result, struct figures *figures,
                           struct error *error)
{
    size_t index;
    json_t *item;
    enum status status = picture_draw(result, figures, error);
    json_array_foreach(result_find(result, "config.diagnostics"), index, item)
    {
        const char *type = json_string_value(json_object_get(item, "type"));
        const char *given = json_string_value(json_object_get(item, "name"));
        const char *name = given && given[0] ? given : type;
        if (!type || status)
            break;
        status = draw_series(result, type, name, figures, error);
    }
    static const struct {
        const char *name, *key;
    } own[] = { { "energy-budget", "config.energy_budget.measure" },
                { "trust", "config.trust.shadow" } };
    for (size_t k = 0; k < COUNT_OF(own) && !status; k++)
        if (json_is_true(result_find(result, own[k].key)))
            status = draw_series(result, own[k].name, own[k].name, figures, error);
    return status;
}
