/*
 * The fields of run.json that the program reads, in one table: the path and the kind of each. Code
 * names a field by its row, never by a string, so that a name that no run writes does not compile.
 *
 * Most fields are found from the document. Those of an element, FIELD_LEG_THREADS say, are found
 * from an element of the list that their row names.
 */
#ifndef ORRERY_OUTPUT_RUN_FIELDS_H
#define ORRERY_OUTPUT_RUN_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

enum run_field {
#define FIELD(name, path, kind) FIELD_##name,
#define ELEMENT(name, list, path, kind) FIELD_##name,
#include "output/run-fields.inc"
#undef FIELD
#undef ELEMENT
    RUN_FIELDS
};

/* The path of a field, "compute.method". */
const char *run_field_path(enum run_field field);

/* The value of a field; NULL where there is none. A reference that is borrowed. */
json_t *run_field(const json_t *document, enum run_field field);

/* The same as a string, a number, a truth; "", NaN and false where it is none. */
const char *run_field_string(const json_t *document, enum run_field field);
double run_field_real(const json_t *document, enum run_field field);
bool run_field_flag(const json_t *document, enum run_field field);

/* STATUS_DATA with the first field that is of another kind than the table says; `path` is what the
 * message calls the document. A field that is null is undefined, and good. */
enum status run_fields_check(const json_t *document, const char *path, struct error *error);

#endif
