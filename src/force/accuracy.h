/* The error of forces, against sums in long double. */
#ifndef ORRERY_FORCE_ACCURACY_H
#define ORRERY_FORCE_ACCURACY_H

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

/* Accelerations of a sample of the bodies of the first system, evenly spread over their indices. */
struct accuracy;

enum { ACCURACY_SAMPLE = 256 }; /* bodies at most */

/* Sums by the formula of model/physics.h, in long double, and the fields, for `most` bodies.
 * STATUS_MEMORY; STATUS_STOPPED if the run is interrupted. */
enum status accuracy_create(const struct physics *physics, const struct bodies *bodies, size_t most,
                            struct accuracy **accuracy, struct error *error);
void accuracy_destroy(struct accuracy *accuracy); /* accepts NULL */

/* sqrt(sum |a - a_exact|^2 / sum |a_exact|^2) over the sample, for the same bodies with ax, ay, az
 * by some kernel. */
double accuracy_error(const struct accuracy *accuracy, const struct bodies *bodies);

/* sum (a - a_exact) . a_exact / sum |a_exact|^2: the part of the error that is the same of all
 * forces, by which they are too strong. */
double accuracy_bias(const struct accuracy *accuracy, const struct bodies *bodies);

/* The root mean square of |a_exact| over the sample. */
double accuracy_scale(const struct accuracy *accuracy);

#endif
