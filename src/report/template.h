/*
 * Templates: the files of src/report/templates, which are part of the program, filled with values.
 *
 *   {{key}}               a member of the values, also "key.of.it", or "." for an element that is
 * no object; text with what HTML reserves escaped, null as a dash
 *   {{key:3}}             a real with 3 significant digits, of which there are 6 otherwise
 *   {{{key}}}             text as it is
 *   {{#key}}...{{/key}}   what is between, once if the value is true, an object, a text that is not
 *                         empty or a number that is not 0, and for each element of an array;
 * members of objects and elements come before those further out
 *   {{^key}}...{{/key}}   what is between, in all other cases
 *   {{?key}}...{{/key}}   what is between, if there is such a value and it is not null
 *   {{!key}}...{{/key}}   what is between, if not
 *   {{>file}}             another template as it stands
 *
 * A section does not hold one of the same key. The line end behind its tags is no part of it.
 */
#ifndef ORRERY_REPORT_TEMPLATE_H
#define ORRERY_REPORT_TEMPLATE_H

#include <jansson.h>

#include "base/text.h"

/*
 * Appends a template, filled with `values`, whose reference it takes over; keys that these lack are
 * taken from `outer`, which may be NULL. If `values` is NULL for want of memory, the text has
 * failed.
 */
void template_render(struct text *text, const char *source, json_t *values, const json_t *outer);

/* Fills the template of this name that is built into the program. */
void template_fill(struct text *text, const char *name, json_t *values, const json_t *outer);

/* Returns the printed text as a value, and frees the text. NULL if that has failed. */
json_t *template_value(struct text *text);

/* Returns the printed text as a value; NULL if that has failed. */
json_t *template_copy(const struct text *text);

/* The same as an array of the words between single blanks, which a page keeps whole. */
json_t *template_words(struct text *text);

#endif
