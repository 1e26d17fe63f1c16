/*
 * The corrector of Hermite's method (Makino & Aarseth 1992, PASJ 44, 141; Aarseth 2003,
 * Gravitational N-Body Simulations, 2.1): what the bodies of a block become at the end of their
 * steps, from accelerations and jerks at both ends, and which steps they ask for next.
 */
#ifndef ORRERY_INTEGRATOR_HERMITE_CORRECTOR_H
#define ORRERY_INTEGRATOR_HERMITE_CORRECTOR_H

#include <stdint.h>

#include "force/direct/reference.h"
#include "integrator/block-steps.h"

/* The rule that the steps follow. */
struct hermite_rule {
    double eta, eta_start; /* Aarseth's criterion, and the first step over |a| / |jerk| */
    double rounding;       /* of differences of accelerations, over the sum of the pulls' sizes */
    double others[ADAPTIVE_LEVELS]; /* see struct adaptive_options */
};

/* The bodies of a system that are due at one time. */
struct hermite_block {
    const struct physics *physics;
    struct reference_motion predicted; /* all bodies of the system, to that time */
    const uint32_t *body;              /* [count] who is due */
    size_t count;
    double *a[3], *jerk[3]; /* [count] acceleration and jerk of these, by all */
};

/*
 * Body number k takes in what it feels before its first step. Returns the step that it asks for:
 * eta_start |a| / |jerk|, or where that is no shorter than `longest`, as of bodies at rest, the
 * shortest time of its pairs times eta_start.
 */
double hermite_start(const struct block_system *system, const struct hermite_rule *rule,
                     const struct hermite_block *block, size_t k, double longest);

/*
 * Evaluates once more what the bodies of a small block do to each other, where the corrector puts
 * them: P(EC)^2 (Kokubo, Yoshinaga & Makino 1998, MNRAS 297, 1067). Two that are bound closely are
 * alone or nearly so in most of their blocks, and one evaluation leaves an error of the energy that
 * is of the same sign in each of their revolutions. Bodies without mass are evaluated beside the
 * bodies with mass that are not due, too. Returns how many pairs it evaluates, at most.
 */
enum { HERMITE_SMALL_BLOCK = 32 }; /* bodies, at most */
size_t hermite_refine(const struct block_system *system, const struct hermite_block *block);

/* Takes body number k of the block to the end of its step; returns the step that it asks for next,
 * INFINITY where it feels no force. */
double hermite_correct(const struct block_system *system, const struct hermite_rule *rule,
                       const struct hermite_block *block, size_t k);

#endif
