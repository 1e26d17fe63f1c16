#include "report/strange.h"

#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/memory.h"
#include "base/name.h"

enum { PLACE_SIZE = 256, DEEPEST = 32, NAME_SHOWN = 80 };

static enum status refuse(const char *path, const char *place, const char *name, const char *what,
                          struct error *error)
{
    char line[NAME_SHOWN + 1];
    snprintf(line, sizeof line, "%.*s", NAME_SHOWN, name);
    for (char *c = line; *c; c++) /* the message is one line */
        *c = *c == '\n' || *c == '\t' ? '?' : *c;
    return error_set(error, STATUS_DATA,
                     "%s: %s%s\"%s\": is no name of a %s that a run could have written", path,
                     place, place[0] ? ": " : "", line, what);
}

/* Every key, however deep. */
static enum status check_keys(json_t *value, const char *path, const char *place, int depth,
                              struct error *error)
{
    const char *key;
    json_t *inner;
    size_t index;
    char within[PLACE_SIZE];
    if (depth > DEEPEST)
        return error_set(error, STATUS_DATA, "%s: %s: more than %d levels deep", path, place,
                         DEEPEST);
    json_object_foreach(value, key, inner)
    {
        snprintf(within, sizeof within, "%s%s%s", place, place[0] ? "." : "", key);
        if (!name_is_word(key))
            return refuse(path, place, key, "key", error);
        if (check_keys(inner, path, within, depth + 1, error))
            return error->status;
    }
    json_array_foreach(value, index, inner)
    {
        snprintf(within, sizeof within, "%s.%zu", place, index);
        if (check_keys(inner, path, within, depth + 1, error))
            return error->status;
    }
    return STATUS_OK;
}

/* Strings that are names, in each element of a list. */
static const struct {
    const char *list, *key; /* NULL: the elements are the names */
    bool (*is_good)(const char *name);
    const char *what;
} names[] = {
    { "config.diagnostics", "type", name_is_word, "diagnostic" },
    { "config.diagnostics", "name", name_is_word, "diagnostic" },
    { "config.outputs", "type", name_is_word, "output" },
    { "config.outputs", "file", name_is_file, "file" },
    { "files", NULL, name_is_file, "file" },
};

enum status strange_check(const json_t *document, const char *path, struct error *error)
{
    if (check_keys((json_t *)document, path, "", 0, error))
        return error->status;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const json_t *list = document_find(document, names[i].list), *element;
        size_t index;
        json_array_foreach(list, index, element)
        {
            const json_t *value = names[i].key ? json_object_get(element, names[i].key) : element;
            const char *name = json_string_value(value);
            char place[PLACE_SIZE];
            if (!name || names[i].is_good(name))
                continue;
            snprintf(place, sizeof place, "%s.%zu%s%s", names[i].list, index,
                     names[i].key ? "." : "", names[i].key ? names[i].key : "");
            return refuse(path, place, name, names[i].what, error);
        }
    }
    return STATUS_OK;
}
