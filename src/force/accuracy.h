/* The error of forces: the difference from sums over all pairs in long double. */
#ifndef ORRERY_FORCE_ACCURACY_H
#define ORRERY_FORCE_ACCURACY_H

#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"

/* The exact accelerations of a sample of the bodies of the first system; the indices of the sample
 * are spread evenly. */
struct accuracy;

enum { ACCURACY_SAMPLE = 256 }; /* bodies at most */

/* Creates the sample: sums the accelerations of `most` bodies, or of ACCURACY_SAMPLE if that is
 * less, by the formula of model/physics.h in long double, and adds those of the external fields.
 * STATUS_MEMORY; STATUS_STOPPED if the run is interrupted. */
enum status accuracy_create(const struct physics *physics, const struct bodies *bodies, size_t most,
                            struct accuracy **accuracy, struct error *error);
void accuracy_destroy(struct accuracy *accuracy); /* accepts NULL */

/* Returns sqrt(sum |a - a_exact|^2 / sum |a_exact|^2) over the sample, where a is in the arrays ax,
 * ay, az of the same bodies, as the forces to be judged have computed it; 0 if all a_exact are
 * 0. */
double accuracy_error(const struct accuracy *accuracy, const struct bodies *bodies);

/* Returns sum (a - a_exact) . a_exact / sum |a_exact|^2 over the sample: the relative error that
 * all forces have in common, > 0 if they are too strong; 0 if all a_exact are 0. */
double accuracy_bias(const struct accuracy *accuracy, const struct bodies *bodies);

/* Returns the root mean square of |a_exact| over the sample. */
double accuracy_scale(const struct accuracy *accuracy);

#endif
