/* Bodies for tests of Hermite's method (integrator/hermite.h), and a function that creates the
 * integrator for them. */
#ifndef ORRERY_VALIDATION_HERMITE_CASE_H
#define ORRERY_VALIDATION_HERMITE_CASE_H

#include "block-case.h"
#include "integrator/hermite.h"

static const struct physics case_newton = { .gravitational_constant = 1 };

/* Returns two bodies at the apocentre of their orbit; semi-major axis and total mass are 1, so the
 * period is 2 pi. */
static inline struct bodies *case_pair(double eccentricity)
{
    struct bodies *const b = motion_bodies(1, 2);
    const double m[2] = { 0.75, 0.25 }, share[2] = { -0.25, 0.75 };
    for (int k = 0; k < 2; k++) {
        b->m[k] = m[k];
        b->x[k] = share[k] * (1 + eccentricity);
        b->vy[k] = share[k] * sqrt((1 - eccentricity) / (1 + eccentricity));
    }
    return b;
}

static inline struct adaptive *case_start(const struct physics *physics, struct bodies *bodies,
                                          enum precision precision, int threads, double refinement)
{
    const struct force_options force = {
        .precision = precision, .kernel = "auto", .isa = "auto", .threads = threads
    };
    static struct error error;
    const struct adaptive_options options = { .refinement = refinement, .force = &force };
    struct adaptive *adaptive;
    assert_int_equal(hermite_class.create(&options, physics, bodies, &adaptive, &error), STATUS_OK);
    return adaptive;
}

#endif
