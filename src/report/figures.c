#include "report/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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
        error_memory(error);
        return NULL;
    }
    figures->figures = grown;
    grown[figures->count] = (struct figure){ 0 };
    return &grown[figures->count++];
}

void figures_drop_empty(struct figures *figures)
{
    if (figures->count && figures->figures[figures->count - 1].curve_count == 0)
        figure_free(&figures->figures[--figures->count]);
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        figure_free(&figures->figures[i]);
    free(figures->figures);
    *figures = (struct figures){ 0 };
}
