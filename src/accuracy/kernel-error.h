/*
 * How exact the forces of a run are, where their precision or their method leaves out more than the
 * rounding of double precision: error bars need it, since no smaller step shows what all runs of a
 * study have in common.
 */
#ifndef ORRERY_ACCURACY_KERNEL_ERROR_H
#define ORRERY_ACCURACY_KERNEL_ERROR_H

#include <stdbool.h>

#include "base/status.h"
#include "simulation/simulation.h"

struct kernel_error {
    double whole; /* root mean square, over that of the forces */
    double bias;  /* the part of it that makes all forces too strong alike, likewise */
};

/* Tells whether the forces err by more than the rounding of double precision. */
bool kernel_error_counts(const struct simulation *simulation);

/* Measures the forces of the bodies as they are. STATUS_MEMORY, and what the backend says. */
enum status kernel_error_measure(struct simulation *simulation, struct kernel_error *kernel_error,
                                 struct error *error);

#endif
