#include "report/draw-run.h"

#include <stdio.h>
#include <string.h>

#include "diagnostics/diagnostic.h"
#include "report/picture.h"

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
        const char *type = json_string_value(json_object_get(item, "type"));
        const char *given = json_string_value(json_object_get(item, "name"));
        if (!type || status)
            break;
        status = add_diagnostic(result, find_class(type), type, given && given[0] ? given : type,
                                extent, figures, error);
    }
    const struct diagnostic_class *class_;
    for (size_t i = 0; (class_ = diagnostic_measured(i)) && !status; i++) {
        if (class_->asked_by && json_is_true(result_config(result, class_->asked_by)))
            status = add_diagnostic(result, class_, class_->variant.name, class_->variant.name,
                                    extent, figures, error);
    }
    return status;
}
