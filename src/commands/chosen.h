/* The choice for a run that asks for an error (estimate/selection.h), in words. */
#ifndef ORRERY_COMMANDS_CHOSEN_H
#define ORRERY_COMMANDS_CHOSEN_H

#include "base/text.h"
#include "estimate/selection.h"

/* Lines of a table, the cheapest candidate first, each behind `indent`: integrator, setting, the
 * error expected at the end, the cost, and the smallest error that was seen. */
void chosen_table(const struct selection *selection, const char *indent, struct text *text);

/* "pefrl, step 0.001; next hermite4, eta 0.02 for 3.2 times the cost". */
void chosen_words(const struct selection *selection, struct text *text);

/* "2 missed the error before and began anew: velocity-verlet, step 0.01 was off by 3e-05; ...";
 * nothing where none did. */
void chosen_attempts(const struct selection *selection, struct text *text);

#endif
