/* Values as people write them who come from other languages: what is wrong, and how it is written.
 */
#ifndef ORRERY_CONFIG_SLIP_H
#define ORRERY_CONFIG_SLIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * The length of the value that stands at the start of `text`, up to the end of its line or
 * statement, where all of it together is such a slip (0,005; 10^-3; 2*3.14; 0.005 yr; 'rk4') and no
 * single word; otherwise 0.
 */
size_t slip_length(const char *text);

/* Appends what is wrong with the value `raw` and how it is written right; false where it is none of
 * the slips. `is_text`: a string was to be given. */
bool slip_print(const char *raw, bool is_text, struct text *reason);

#endif
