/* The integrator `gauss-radau` for the systems of a run; see adaptive.h and gauss-radau.h. */
#ifndef ORRERY_INTEGRATOR_GAUSS_RADAU_SYSTEMS_H
#define ORRERY_INTEGRATOR_GAUSS_RADAU_SYSTEMS_H

#include "config/parameter.h"
#include "integrator/adaptive.h"

extern const struct adaptive_class gauss_radau_class;

enum { GAUSS_RADAU_PARAMETERS = 2 };
extern const struct parameter gauss_radau_parameters[GAUSS_RADAU_PARAMETERS];

#endif
