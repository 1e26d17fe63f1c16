/*
 * JSON documents that are whole or not there. A piece that could not be made, for want of memory,
 * takes the object or array that it belongs to with it, so that NULL is all that reaches the end.
 */
#ifndef ORRERY_BASE_DOCUMENT_H
#define ORRERY_BASE_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Adds `value`, which it takes over; *object becomes NULL if that or `value` is missing. */
void document_set(json_t **object, const char *key, json_t *value);

/* The same at the end of an array. */
void document_append(json_t **array, json_t *value);

/* Returns the document as text, with json_dumps()' flags; the caller frees. NULL if memory is
 * exhausted: json_dumps() leaves out a key then, without a word. */
char *document_print(const json_t *document, size_t flags);

/* From text; NULL where that is no JSON, or, with *no_memory, where memory is exhausted. */
json_t *document_parse(const char *text, size_t length, bool *no_memory);

/* From a regular file, through no link (STATUS_DATA). STATUS_NO_INPUT where it is not there, is
 * none or may not be read; STATUS_IO where reading failed; STATUS_DATA with the line where it is no
 * JSON; STATUS_MEMORY. */
enum status document_load(const char *path, json_t **document, struct error *error);

/* By keys and list indices with dots between them: "config.outputs.0.type". NULL where it is not;
 * a string that is not there is "", a number NaN. */
json_t *document_find(const json_t *document, const char *keys);
const char *document_string(const json_t *document, const char *keys);
double document_real(const json_t *document, const char *keys);

/* Returns words as a string; where they are no UTF-8, '?' stands in the place of each byte that is
 * not ASCII. */
json_t *document_words(const char *words);

/* JSON has no NaN: undefined and infinite numbers are null. */
json_t *document_number(double value);

/* Returns the id of a body as an integer, or null where it is NaN. */
json_t *document_id(double id);

#endif
