/* The place where a cluster is densest: the centre that profiles are taken about. */
#ifndef ORRERY_SPACE_DENSITY_CENTER_H
#define ORRERY_SPACE_DENSITY_CENTER_H

#include "base/status.h"
#include "model/bodies.h"

struct density_center {
    double x[3];
    double core_radius;
};

/*
 * x = sum rho_i x_i / sum rho_i, with the local density that the sixth neighbour gives,
 * rho_i = (mass of the five nearest) / (4 pi / 3 r_6^3), which is unbiased (Casertano & Hut 1985,
 * ApJ 298, 80); core radius r_c^2 = sum rho_i^2 |x_i - x|^2 / sum rho_i^2 (McMillan, Hut & Makino
 * 1990, ApJ 362, 522). Of fewer than seven bodies, or where no density is defined: the centre of
 * mass, and no core radius (NaN). Open space only. STATUS_MEMORY, STATUS_NUMERICAL as
 * neighbours_create().
 */
enum status density_center(const struct bodies *bodies, size_t system, int threads,
                           struct density_center *center, struct error *error);

/* The centre of mass, sum m_i x_i / sum m_i. */
void density_center_of_mass(const struct bodies *bodies, size_t system, double x[3]);

#endif
