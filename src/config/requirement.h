/* The requirements of a parameter on its value, in words: for errors and for the reference. */
#ifndef ORRERY_CONFIG_REQUIREMENT_H
#define ORRERY_CONFIG_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "config/parameter.h"

/* Within the range of the parameter? */
bool requirement_holds(const struct parameter *parameter, double value);

/* "greater than 0", "at least 0 and at most 1"; "" where any value will do. Appends. */
void requirement_range(const struct parameter *parameter, struct text *text);

/* "a number greater than 0", "one of open, periodic", "true or false". Appends. */
void requirement_print(const struct parameter *parameter, struct text *text);

/* --- values as people write them who come from other languages -------------------------------- */

/* Values as people write them who come from other languages: what is wrong, and how it is written.
 */

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
