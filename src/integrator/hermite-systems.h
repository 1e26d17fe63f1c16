/* The integrator `hermite4` for the systems of a run; see adaptive.h and hermite.h. */
#ifndef ORRERY_INTEGRATOR_HERMITE_SYSTEMS_H
#define ORRERY_INTEGRATOR_HERMITE_SYSTEMS_H

#include "config/parameter.h"
#include "integrator/adaptive.h"

extern const struct adaptive_class hermite_class;

enum { HERMITE_PARAMETERS = 2 };
extern const struct parameter hermite_parameters[HERMITE_PARAMETERS];

#endif
