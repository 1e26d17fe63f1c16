/*
 * JSON documents that are whole or not there. A piece that could not be made, for want of memory,
 * takes the object or array that it belongs to with it, so that NULL is all that reaches the end.
 */
#ifndef ORRERY_BASE_DOCUMENT_H
#define ORRERY_BASE_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds `value`, which it takes over; *object becomes NULL if that or `value` is missing. */
void document_set(json_t **object, const char *key, json_t *value);

/* The same at the end of an array. */
void document_append(json_t **array, json_t *value);

/* As text, with json_dumps()' flags; the caller frees. NULL where memory is exhausted: json_dumps()
 * leaves out a key then, without a word. */
char *document_print(const json_t *document, size_t flags);

/* From text; NULL where that is no JSON, or, with *no_memory, where memory is exhausted. */
json_t *document_parse(const char *text, size_t length, bool *no_memory);

/* The same from a file, with what jansson says of it. */
json_t *document_load(const char *path, json_error_t *problem, bool *no_memory);

/* JSON has no NaN: undefined and infinite numbers are null. */
json_t *document_number(double value);

#ifdef __cplusplus
}
#endif

#endif
