#include "output/run-fields.h"

#include <stddef.h>
#include <stdio.h>

#include "base/document.h"

enum field_kind { STRING, NUMBER, FLAG, LIST, OBJECTS, OBJECT };

enum { OF_THE_DOCUMENT = -1, PATH_SIZE = 256 };

static const struct {
    int list;         /* field that is the list whose elements have this one, or OF_THE_DOCUMENT */
    const char *path; /* keys with dots between them */
    enum field_kind kind;
} fields[RUN_FIELDS] = {
#define FIELD(name, path, kind) { OF_THE_DOCUMENT, path, kind },
#define ELEMENT(name, list, path, kind) { FIELD_##list, path, kind },
#include "output/run-fields.inc"
#undef FIELD
#undef ELEMENT
};

/* The types of JSON that a field of each kind may have, two at most, and the name of the kind. */
static const struct {
    const char *name;
    json_type types[2];
} kinds[] = {
    [STRING] = { "string", { JSON_STRING, JSON_STRING } },
    [NUMBER] = { "number", { JSON_INTEGER, JSON_REAL } },
    [FLAG] = { "boolean", { JSON_TRUE, JSON_FALSE } },
    [LIST] = { "list", { JSON_ARRAY, JSON_ARRAY } },
    [OBJECTS] = { "list of objects", { JSON_ARRAY, JSON_ARRAY } },
    [OBJECT] = { "object", { JSON_OBJECT, JSON_OBJECT } },
};

const char *run_field_path(enum run_field field)
{
    return fields[field].path;
}

json_t *run_field(const json_t *document, enum run_field field)
{
    return document_find(document, fields[field].path);
}

const char *run_field_string(const json_t *document, enum run_field field)
{
    return document_string(document, fields[field].path);
}

double run_field_real(const json_t *document, enum run_field field)
{
    return document_real(document, fields[field].path);
}

bool run_field_flag(const json_t *document, enum run_field field)
{
    return json_is_true(run_field(document, field));
}

static bool is_of_kind(const json_t *value, enum field_kind kind)
{
    const json_type type = json_typeof(value);
    bool good = type == kinds[kind].types[0] || type == kinds[kind].types[1];
    for (size_t i = 0; kind == OBJECTS && i < json_array_size(value); i++)
        good = good && json_is_object(json_array_get(value, i));
    return good;
}

/* Checks the kind of a field of the document or of an element of a list; messages call the file
 * `path` and the element `place`, "findings.3.". */
static enum status check_field(const json_t *from, size_t field, const char *path,
                               const char *place, struct error *error)
{
    const json_t *const value = run_field(from, (enum run_field)field);
    if (!value || json_is_null(value) || is_of_kind(value, fields[field].kind))
        return STATUS_OK;
    return error_set(error, STATUS_DATA, "%s: %s%s: is no %s, as a run writes it", path, place,
                     fields[field].path, kinds[fields[field].kind].name);
}

static enum status check_elements(const json_t *document, size_t field, const char *path,
                                  struct error *error)
{
    const enum run_field list = (enum run_field)fields[field].list;
    const json_t *const elements = run_field(document, list);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < json_array_size(elements) && !status; i++) {
        char place[PATH_SIZE];
        snprintf(place, sizeof place, "%s.%zu.", fields[list].path, i);
        status = check_field(json_array_get(elements, i), field, path, place, error);
    }
    return status;
}

enum status run_fields_check(const json_t *document, const char *path, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t field = 0; field < RUN_FIELDS && !status; field++)
        status = fields[field].list == OF_THE_DOCUMENT
                     ? check_field(document, field, path, "", error)
                     : check_elements(document, field, path, error);
    return status;
}
