/*
 * The energy of test bodies. Bodies without mass are in no sum over masses, so that nothing tells
 * how well their motion is integrated. Around a single body with mass each has a constant of its
 * own, the specific energy 1/2 |v - V|^2 - G M / sqrt(r^2 + eps^2); with two or more masses that
 * move there is none.
 */
#ifndef ORRERY_MODEL_TEST_ENERGY_H
#define ORRERY_MODEL_TEST_ENERGY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"
#include "model/physics.h"

/* Tells whether one body of the system has mass, and others have none. *center becomes the index,
 * in the arrays, of the first with mass. */
bool test_energy_applies(const struct bodies *bodies, size_t system, size_t *center);

/* The motion of a body without mass about the one that has it, per unit mass; all 0 if both are at
 * one place without softening. */
struct test_motion {
    double kinetic;   /* 1/2 |v - V|^2 */
    double potential; /* - G M / sqrt(r^2 + eps^2) */
    double r2;        /* r^2, to the nearest image */
    double virial;    /* r . a */
};

/* Both by their indices in the arrays. */
struct test_motion test_energy_motion(const struct physics *physics, const struct bodies *bodies,
                                      size_t center, size_t body);

/* The sum of the specific energies of the bodies without mass; NaN where it does not apply. */
double test_energy(const struct physics *physics, const struct bodies *bodies, size_t system);

#endif
