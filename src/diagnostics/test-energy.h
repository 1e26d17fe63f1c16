/*
 * The energy of test bodies. Bodies without mass are in no sum over masses, so that nothing tells
 * how well their motion is integrated. Around a single body with mass each has a constant of its
 * own, the specific energy 1/2 |v - V|^2 - G M / sqrt(r^2 + eps^2); with two or more masses that
 * move there is none.
 */
#ifndef ORRERY_DIAGNOSTICS_TEST_ENERGY_H
#define ORRERY_DIAGNOSTICS_TEST_ENERGY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"
#include "model/physics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One body of the system has mass, and others have none? */
bool test_energy_applies(const struct bodies *bodies, size_t system);

/* The sum of the specific energies of the bodies without mass; NaN where it does not apply. */
double test_energy(const struct physics *physics, const struct bodies *bodies, size_t system);

#ifdef __cplusplus
}
#endif

#endif
