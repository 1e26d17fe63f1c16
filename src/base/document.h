/*
 * JSON documents that are complete or absent. If memory is exhausted for a value, the object or
 * array that it belongs to is dropped too, and so on outwards: the whole document becomes NULL.
 */
#ifndef ORRERY_BASE_DOCUMENT_H
#define ORRERY_BASE_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

/* Adds `value`, which it takes over, to *object. If either is NULL, *object becomes NULL. */
void document_set(json_t **object, const char *key, json_t *value);

/* A key and its value. */
struct document_row {
    const char *key;
    json_t *value;
};

/* Returns an object of rows, whose values it takes over: DOCUMENT({ "time", document_number(t) },
 * { "body", document_id(id) }). The row behind the last one has no key. */
#define DOCUMENT(...) document_of((const struct document_row[]){ __VA_ARGS__, { NULL, NULL } })
json_t *document_of(const struct document_row *rows);

/* Does the same as document_set() at the end of an array. */
void document_append(json_t **array, json_t *value);

/* Returns the document as text, with json_dumps()' flags; the caller frees it. NULL if memory is
 * exhausted; json_dumps() would then silently leave out a key. */
char *document_print(const json_t *document, size_t flags);

/* Parses JSON; the caller owns the result. NULL if the text is no JSON or, then *no_memory is true,
 * if memory is exhausted. */
json_t *document_parse(const char *text, size_t length, bool *no_memory);

/* Appends the bytes of a regular file to *text. STATUS_DATA if the path is a link; STATUS_NO_INPUT
 * if the file is missing, not regular or not readable for this user; STATUS_IO if reading fails;
 * STATUS_MEMORY. */
enum status document_read_text(const char *path, struct text *text, struct error *error);
/* Parses the JSON of a file, read by document_read_text(). STATUS_DATA with the line if it is no
 * JSON. */
enum status document_load(const char *path, json_t **document, struct error *error);

/* Return the value that keys and list indices, with dots between them, lead to:
 * "config.outputs.0.type". If there is none of that type: NULL, "" or NaN. */
json_t *document_find(const json_t *document, const char *keys);
const char *document_string(const json_t *document, const char *keys);
double document_real(const json_t *document, const char *keys);

/* Returns `words` as a JSON string. If they are no UTF-8, each byte that is not ASCII becomes
 * '?'. */
json_t *document_words(const char *words);

/* Returns a number or, as JSON has no NaN, null for one that is undefined or infinite. */
json_t *document_number(double value);

/* Returns the id of a body as an integer, or null if it is NaN. */
json_t *document_id(double id);

#endif
