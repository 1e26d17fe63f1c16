/*
 * The fields of run.json that the program reads, in one table: the path and the kind of each. Code
 * names a field by an enum, never by a string, so that a field that no run writes does not compile.
 *
 * The path of most fields begins at the document. The path of a field of an element, such as
 * FIELD_LEG_THREADS, begins at an element of the list that its row names.
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

/* Returns the path of a field: "compute.method". */
const char *run_field_path(enum run_field field);

/* Returns the value of a field, a borrowed reference; NULL if there is none. */
json_t *run_field(const json_t *document, enum run_field field);

/* Return the value of a field as a string, a number or a truth value; "", NaN or false if the field
 * has no such value. */
const char *run_field_string(const json_t *document, enum run_field field);
double run_field_real(const json_t *document, enum run_field field);
bool run_field_flag(const json_t *document, enum run_field field);

/* Checks the kinds of all fields. STATUS_DATA, with the first field that is of another kind than
 * the table says; messages call the document `path`. A field that is null or missing is undefined,
 * which is no error. */
enum status run_fields_check(const json_t *document, const char *path, struct error *error);

#endif
