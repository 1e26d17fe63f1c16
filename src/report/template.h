/*
 * Templates: the files of src/report/templates, which are part of the program, filled with values.
 *
 *   {{key}}               the value of a member, also "key.of.it", or for "." the array's element;
 *                         text is escaped for HTML; null becomes a dash
 *   {{key:3}}             a real with 3 significant digits (without a number: 6)
 *   {{{key}}}             text as it is
 *   {{#key}}...{{/key}}   what is between, once if the value is true, an object, a text that is not
 *                         empty or a number that is not 0, and for each element of an array; keys
 *                         are looked up in the object or element first, and then further out
 *   {{^key}}...{{/key}}   what is between, in all other cases
 *   {{?key}}...{{/key}}   what is between, if there is such a value and it is not null
 *   {{!key}}...{{/key}}   what is between, if there is no such value, or it is null
 *   {{>file}}             another template as it stands
 *
 * The part between two tags must not hold another such pair with the same key. A line end directly
 * behind a tag that opens or closes a pair is left out.
 */
#ifndef ORRERY_REPORT_TEMPLATE_H
#define ORRERY_REPORT_TEMPLATE_H

#include <jansson.h>

#include "base/text.h"

/*
 * Appends the text `source`, filled with `values`, and frees these; a key that they lack is looked
 * up in `outer`, which may be NULL. If `values` is NULL (for want of memory), text->failed is set.
 */
void template_render(struct text *text, const char *source, json_t *values, const json_t *outer);

/* Appends the template `name`, a file of src/report/templates, as template_render() does. */
void template_fill(struct text *text, const char *name, json_t *values, const json_t *outer);

/* Returns the content of a text as a JSON string, and frees the text. NULL if text->failed. */
json_t *template_value(struct text *text);

/* Returns the content of a text as a JSON string; NULL if text->failed. */
json_t *template_copy(const struct text *text);

/* Returns the words of a text, split at single blanks, as an array of JSON strings (a page breaks
 * no line within a word), and frees the text. NULL if text->failed. */
json_t *template_words(struct text *text);

#endif
