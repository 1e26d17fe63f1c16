#include "report/palette.h"

#include "base/document.h"
#include "base/memory.h"

struct color {
    const char *name, *light, *dark; /* on a light page and on paper, and on a dark page */
};

static const struct color curves[PALETTE_COLORS] = {
    { "c0", "#0072b2", "#3f9be0" }, /* blue */
    { "c1", "#d55e00", "#ff7a2e" }, /* vermilion */
    { "c2", "#009e73", "#1fc795" }, /* bluish green */
    { "c3", "#cc79a7", "#e59ac6" }, /* reddish purple */
    { "c4", "#e69f00", "#ffc83d" }, /* orange */
    { "c5", "#56b4e9", "#a5dcff" }, /* sky blue */
    { "c6", "#000000", "#ffffff" },
};

static const struct color others[] = {
    { "page", "#fafbfc", "#14171c" }, { "card", "#ffffff", "#1b1f26" },
    { "ink", "#1f2430", "#e8eaf0" },  { "muted", "#5b6472", "#a3acba" },
    { "grid", "#e3e6eb", "#30363f" }, { "link", "#005b8f", "#76c1f0" },
    { "good", "#00704f", "#1fc795" }, { "bad", "#b34700", "#ff7a2e" },
};

static json_t *colors_view(const struct color *colors, size_t count)
{
    json_t *views = json_array();
    for (size_t i = 0; i < count; i++)
        document_append(&views,
                        json_pack("{s:s, s:s, s:s, s:i}", "name", colors[i].name, "light",
                                  colors[i].light, "dark", colors[i].dark, "linetype", (int)i + 1));
    return views;
}

json_t *palette_view(void)
{
    json_t *view = json_object();
    document_set(&view, "curves", colors_view(curves, COUNT_OF(curves)));
    document_set(&view, "others", colors_view(others, COUNT_OF(others)));
    return view;
}
