/*
 * Hermite's method of 4th order with block steps, for one system (Makino & Aarseth 1992, PASJ 44,
 * 141; Aarseth 2003, Gravitational N-Body Simulations, 2.1 and 2.6). Every body has a step of its
 * own: the grid step over a power of two. Bodies that are due at the same time make a block. All
 * bodies are predicted to that time, accelerations and jerks are summed for the block, and its
 * bodies are corrected and choose their next steps. At grid points all bodies are due.
 */
#ifndef ORRERY_INTEGRATOR_HERMITE_H
#define ORRERY_INTEGRATOR_HERMITE_H

#include <stdint.h>

#include "config/parameter.h"
#include "force/direct/reference.h"
#include "integrator/block-steps.h"

/* The method for block-steps.h; its rule is a struct hermite_rule. */
extern const struct block_method hermite_method;

extern const struct adaptive_class hermite_class;

enum { HERMITE_PARAMETERS = 2 };
extern const struct parameter hermite_parameters[HERMITE_PARAMETERS];

/* --- the corrector ---------------------------------------------------------------------------- */

/*
 * From accelerations and jerks at both ends of a step the corrector finds the state of the bodies
 * of a block at the end, and the next steps that they ask for.
 */

/* The rule by which steps are chosen. */
struct hermite_rule {
    double eta, eta_start; /* eta of Aarseth's criterion; first step over |a| / |jerk| */
    double rounding; /* rounding error of differences of accelerations, relative to the sum of the
                        sizes of the pulls on the body */
    double others[ADAPTIVE_LEVELS]; /* others[k]: number of bodies outside a sample whose step is
                                       the grid step over 2^k */
};

/* The bodies of a system that are due at one time. */
struct hermite_block {
    const struct physics *physics;
    struct reference_motion predicted; /* all bodies of the system, predicted for that time */
    const uint32_t *body;              /* [count] indices of the bodies that are due */
    size_t count;
    double *a[3], *jerk[3]; /* [count] acceleration and jerk of the bodies that are due */
};

/*
 * Copies acceleration and jerk of body number k of the block before its first step. Returns the
 * step that it asks for: eta_start |a| / |jerk|; or, if that is not shorter than `longest`, as for
 * bodies at rest, eta_start times the shortest time of its pairs or of the external fields.
 */
double hermite_start(const struct block_system *system, const struct hermite_rule *rule,
                     const struct hermite_block *block, size_t k, double longest);

/* Evaluates the forces between the bodies of a small block a second time, at the positions that the
 * corrector finds: P(EC)^2 (Kokubo, Yoshinaga & Makino 1998, MNRAS 297, 1067). Two bodies in a
 * close orbit are alone, or nearly so, in most of their blocks, and one evaluation would leave an
 * energy error of the same sign in each revolution. The pulls on a body without mass include those
 * of bodies with mass that are not due. Returns the number of pairs that it evaluates, at most. */
enum { HERMITE_SMALL_BLOCK = 32 }; /* the most bodies of a small block */
size_t hermite_refine(const struct block_system *system, const struct hermite_block *block);

/* Takes body number k of the block to the end of its step. Returns the next step that it asks for;
 * INFINITY if no force acts on it. */
double hermite_correct(const struct block_system *system, const struct hermite_rule *rule,
                       const struct hermite_block *block, size_t k);

#endif
