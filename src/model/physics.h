/* The interaction of a pair: softened Newtonian gravity in open space or in a periodic box; and
 * the external fields in which the bodies move. Every function that sums over pairs has a struct
 * physics, which therefore also brings the interruption that may end a long sum before it is
 * done. */
#ifndef ORRERY_MODEL_PHYSICS_H
#define ORRERY_MODEL_PHYSICS_H

#include <math.h>

#include "base/interruption.h"
#include "model/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a function that CUDA sources compile for the GPU too, from the same lines. */
#ifdef __CUDACC__
#define DEVICE_INLINE static inline __host__ __device__
#else
#define DEVICE_INLINE static inline
#endif

struct external; /* external/external.h */

enum boundary {
    BOUNDARY_OPEN,
    BOUNDARY_PERIODIC /* cube of side box_length; the nearest image of each body acts */
};

/*
 * The physics of a run. Pairs act by Plummer softening, with r_ij = x_j - x_i:
 * phi_i = -G sum_j m_j / sqrt(r_ij^2 + eps^2),
 * a_i   =  G sum_j m_j r_ij / (r_ij^2 + eps^2)^(3/2).
 */
struct physics {
    double gravitational_constant;
    double softening; /* eps >= 0; a length */
    enum boundary boundary;
    double box_length; /* periodic only */
    /* Omega, the angular speed about the z axis, angle per time, of the frame in which positions
     * and velocities are; 0: at rest. The centrifugal force is among the external fields. */
    double rotation;
    const struct units *units;
    const struct external *external;   /* fields beside the bodies, borrowed; NULL: none */
    struct interruption *interruption; /* may end long sums, which then mean nothing; or NULL */
};

/* Returns the minimum image of the separation d in a box of side L: within [-L/2, L/2]. */
static inline double physics_nearest_image(double d, double L)
{
    return d - L * rint(d / L);
}

/* Returns the image of x in [0, L), which rounding must not put at L. */
static inline double physics_wrap(double x, double L)
{
    const double y = x - L * floor(x / L);
    return y < L ? y : 0.0;
}

#ifdef __cplusplus
}
#endif

#endif
