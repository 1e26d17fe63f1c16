/*
 * How well the floating-point numbers of a force kernel resolve the positions of bodies. The
 * measure is the separation of a pair in steps, where a step is the spacing of neighbouring numbers
 * at the position of the pair; the pair with the fewest steps counts.
 */
#ifndef ORRERY_ACCURACY_RESOLUTION_H
#define ORRERY_ACCURACY_RESOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/status.h"
#include "model/bodies.h"
#include "model/physics.h"
#include "simulation/simulation.h"

/* The number of steps in a softened separation that is enough: the force of each pair is then good
 * to a thousandth. */
enum { RESOLUTION_STEPS = 1000 };

struct resolution {
    bool found; /* a pair was found; never if the kernel works in double */
    size_t system;
    int64_t id_i, id_j;
    double distance;       /* separation r, to the nearest image in a periodic box */
    double offset;         /* largest |coordinate| of the two, from the kernel's origin */
    double spacing;        /* spacing of neighbouring numbers of the kernel at that offset */
    double steps;          /* sqrt(r^2 + eps^2) / spacing */
    enum precision enough; /* the fastest precision with at least RESOLUTION_STEPS steps that is not
                              faster than the run's; double if none has them */
};

/*
 * Finds the pair with the fewest steps: in open space among all pairs of a body and its nearest
 * neighbour, in a periodic box the nearest pair. A pair at one place does not count, and if a body
 * has no finite position nothing is found. STATUS_MEMORY.
 */
enum status resolution_measure(const struct physics *physics, const struct bodies *bodies,
                               const struct backend_description *backend,
                               struct resolution *resolution, struct error *error);

/* Writes a warning to users that the pair is not resolved, without "warning: ", or "" if the steps
 * are enough. `precision` is that of the run's forces. Returns `buffer`. */
enum { RESOLUTION_TEXT_SIZE = 320 };
const char *resolution_text(const struct resolution *resolution, const struct bodies *bodies,
                            enum precision precision, char buffer[RESOLUTION_TEXT_SIZE]);

/* --- the error of the forces ------------------------------------------------------------------ */

/*
 * The error of the forces of a run, if their precision or their method leaves out more than the
 * rounding of double precision. Error bars (study/errorbar.h), which compare runs with different
 * steps, need it: all these runs have the error in common, so that no smaller step shows it.
 */

struct kernel_error {
    double whole; /* root mean square of the errors, over that of the forces */
    /* The part of `whole` by which all forces are too strong (> 0) or too weak alike. */
    double bias;
};

/* Tells whether the forces have an error beyond the rounding of double precision. */
bool kernel_error_counts(const struct simulation *simulation);

/* Measures the error of the forces on the bodies at their present positions. STATUS_MEMORY, and the
 * errors of the backend. */
enum status kernel_error_measure(struct simulation *simulation, struct kernel_error *kernel_error,
                                 struct error *error);

#endif
