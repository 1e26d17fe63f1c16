/* The findings of figures of the conserved quantities: the rows of the table in findings.c. */
#ifndef ORRERY_REPORT_FINDINGS_CONSERVATION_H
#define ORRERY_REPORT_FINDINGS_CONSERVATION_H

#include "base/text.h"
#include "report/drawn.h"

void tell_energy_error(const struct drawn *drawn, struct text *words);
void tell_energies(const struct drawn *drawn, struct text *words);
void tell_momentum(const struct drawn *drawn, struct text *words);
void tell_angular_momentum(const struct drawn *drawn, struct text *words);
void tell_virial_ratio(const struct drawn *drawn, struct text *words);

#endif
