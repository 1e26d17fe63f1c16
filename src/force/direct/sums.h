/* The accelerations and the potentials of the systems of a work item, from the sums of kernels. */
#ifndef ORRERY_FORCE_DIRECT_SUMS_H
#define ORRERY_FORCE_DIRECT_SUMS_H

#include "force/force.h"

/* To be called by every thread that works on the item. A system's bits are the same whether one
 * thread works on it or all. */
void direct_accelerations(struct force *force, const struct bodies *bodies,
                          const struct force_item *item);
void direct_potentials(struct force *force, const struct bodies *bodies,
                       const struct force_item *item, double *phi, double *psi);

#endif
