/*
 * The size of the numbers of a run, with which a rounding error of one unit in the last place is
 * compared. Bodies count alike, whatever their mass, since each is rounded for itself.
 */
#ifndef ORRERY_MODEL_SCALES_H
#define ORRERY_MODEL_SCALES_H

#include "model/bodies.h"

struct scales {
    double length;           /* rms distance of a body from the origin */
    double velocity;         /* rms speed */
    double momentum;         /* sum m |v| of a system, the largest */
    double angular_momentum; /* sum m |r| |v| of a system, the largest */
};

void scales_measure(const struct bodies *bodies, struct scales *scales);

#endif
