/*
 * The fast multipole method written as simply as possible (the plain form): the specification of
 * fmm.c, and what the serial backend computes. It has one thread, double precision, no vectors, and
 * an opening angle in place of the search for a tolerance.
 */
#ifndef ORRERY_FORCE_FMM_PLAIN_H
#define ORRERY_FORCE_FMM_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

/* The plain form for systems of one size, with the opening angle of an accuracy. */
struct fmm_plain;

/* Fails with STATUS_CONFIG in a periodic box, where neither fmm.c nor the plain form has forces. */
enum status fmm_check_space(const struct physics *physics, struct error *error);

/* Creates the plain form for systems as large as those of `bodies` and for an accuracy.
 * STATUS_CONFIG as fmm_check_space(), STATUS_MEMORY. */
enum status fmm_plain_create(const struct physics *physics, const struct bodies *bodies,
                             double accuracy, struct fmm_plain **plain, struct error *error);
void fmm_plain_destroy(struct fmm_plain *plain); /* accepts NULL */

/* Returns the most bytes that the plain form takes for systems of `count` bodies. */
double fmm_plain_bytes(double count);

/* Computes the accelerations of one system or, if phi is not NULL, phi and psi of
 * force_potentials() (force/method.h) instead. The numbers mean nothing once the interruption of
 * the physics has ended the sums. */
void fmm_plain_sum(struct fmm_plain *plain, const struct bodies *bodies, size_t system, double *phi,
                   double *psi);

/* Sums a[axis][k], the acceleration of body active[k] for k < count, in the first system. */
void fmm_plain_sum_due(struct fmm_plain *plain, const struct bodies *bodies, const uint32_t *active,
                       size_t count, double *const a[3]);

#endif
