/* The requirements of a parameter on its value, in words: for errors and for the reference. */
#ifndef ORRERY_CONFIG_REQUIREMENT_H
#define ORRERY_CONFIG_REQUIREMENT_H

#include <stdbool.h>

#include "base/text.h"
#include "config/parameter.h"

/* Within the range of the parameter? */
bool requirement_holds(const struct parameter *parameter, double value);

/* "greater than 0", "at least 0 and at most 1"; "" where any value will do. Appends. */
void requirement_range(const struct parameter *parameter, struct text *text);

/* "a number greater than 0", "one of open, periodic", "true or false". Appends. */
void requirement_print(const struct parameter *parameter, struct text *text);

#endif
