/* The choice for a run that asks for an error (estimate/choice.h), in words. */
#ifndef ORRERY_COMMANDS_CHOICE_REPORT_H
#define ORRERY_COMMANDS_CHOICE_REPORT_H

#include "base/text.h"
#include "estimate/choice.h"

/* Lines of a table, the cheapest candidate first, each behind `indent`: integrator, setting, the
 * error expected at the end, the cost, and the smallest error that was seen. */
void choice_report_table(const struct choice *choice, const char *indent, struct text *text);

/* "pefrl, step 0.001; next hermite4, eta 0.02 for 3.2 times the cost". */
void choice_report_words(const struct choice *choice, struct text *text);

/* "2 missed the error before and began anew: velocity-verlet, step 0.01 was off by 3e-05; ...";
 * nothing where none did. */
void choice_report_attempts(const struct choice *choice, struct text *text);

#endif
