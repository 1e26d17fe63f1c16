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

/* Begins the definition of a function that CUDA sources compile for the GPU too, from the same
 * lines. */
#ifdef __CUDACC__
#define DEVICE_INLINE static inline __host__ __device__
#else
#define DEVICE_INLINE static inline
#endif

struct external; /* declared in external/external.h */

enum boundary {
    BOUNDARY_OPEN,
    BOUNDARY_PERIODIC /* a cube of side box_length; a body acts on another by its nearest image */
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
    double box_length; /* side of the periodic box; unused in open space */
    /* Omega, the angular speed about the z axis, in radians per unit of time, of the frame in which
     * positions and velocities are given; 0: it does not rotate. The centrifugal force is among the
     * external fields. */
    double rotation;
    const struct units *units;
    const struct external *external; /* fields that act besides the bodies, borrowed; NULL: none */
    struct interruption *interruption; /* may end long sums before they are complete, so that they
                                          mean nothing; or NULL */
};

/* Returns the separation d along one axis, from the nearest image in a periodic box of side L:
 * within [-L/2, L/2]. */
static inline double physics_nearest_image(double d, double L)
{
    return d - L * rint(d / L);
}

/* Returns the image of the coordinate x in [0, L) of a periodic box of side L; the last line keeps
 * rounding from making it L. */
static inline double physics_wrap(double x, double L)
{
    const double y = x - L * floor(x / L);
    return y < L ? y : 0.0;
}

/* Returns the coordinate x, in a periodic box that of the image in [0, L). */
static inline double physics_inside(const struct physics *physics, double x)
{
    return physics->boundary == BOUNDARY_PERIODIC ? physics_wrap(x, physics->box_length) : x;
}

#ifdef __cplusplus
}
#endif

#endif
