/* The requirements that a parameter makes on its value, in words: for errors and for the reference
 * of keys. */
#ifndef ORRERY_CONFIG_REQUIREMENT_H
#define ORRERY_CONFIG_REQUIREMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "config/parameter.h"

/* Tells whether the value is finite and in the range that the row of the parameter allows. */
bool requirement_holds(const struct parameter *parameter, double value);

/* Appends the range that the parameter allows, "greater than 0" or "at least 0 and at most 1";
 * nothing if any value is allowed. */
void requirement_range(const struct parameter *parameter, struct text *text);

/* Appends the kind of value that the parameter takes: "a number greater than 0", "one of open,
 * periodic", "true or false". */
void requirement_print(const struct parameter *parameter, struct text *text);

/* Computes the value of a text that is a finite number or a formula of numbers and pi: "7/24",
 * "1/(2-2^(1/3))". Returns false for any other text. */
bool requirement_work_out(const char *text, double *value);

/* --- values as people write them who come from other languages -------------------------------- */

/* Slips are values in the form of another language; an error can say how they are written here. */

/* Returns the length in bytes of the value at the start of `text`, up to the end of its line or
 * statement, if the whole value is a slip (0,005; 10^-3; 2*3.14; 0.005 yr; 'rk4'); otherwise 0. */
size_t slip_length(const char *text);

/* Appends to `reason`, which may be NULL, what is wrong with the value `raw` and how it is written
 * right; returns false if it is no slip. `is_text` says that the parameter takes a string. */
bool slip_print(const char *raw, bool is_text, struct text *reason);

#endif
