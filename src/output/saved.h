/* The sections of a checkpoint that hold bodies and the state of their integrator: those of the run
 * itself, and, with a prefix before their names, those of the copies of the run that it computes
 * along with itself. */
#ifndef ORRERY_OUTPUT_SAVED_H
#define ORRERY_OUTPUT_SAVED_H

#include "backend/backend.h"
#include "model/bodies.h"
#include "output/checkpoint.h"

/* The arrays of bodies that are saved: masses, positions, velocities and ids; accelerations follow
 * from them. saved_arrays() lists them. */
enum { SAVED_ARRAYS = 8 };
struct saved_array {
    const char *name; /* name of its section */
    void *values;     /* one number of 64 bits for each body; borrowed from the bodies */
};
void saved_arrays(const struct bodies *bodies, struct saved_array arrays[SAVED_ARRAYS]);

/* Write, or read, the state of an integrator that chooses its own steps, in sections called
 * "PREFIXadaptive:NAME"; do nothing for another integrator. STATUS_DATA, STATUS_IO. */
void saved_put_adaptive(struct checkpoint_writer *writer, const char *prefix,
                        const struct backend *backend);
enum status saved_get_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                               struct backend *backend, struct error *error);
/* Counts the numbers of the integrator's state that differ in their bits from those of the
 * checkpoint. STATUS_DATA, STATUS_IO, STATUS_MEMORY. */
enum status saved_compare_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                                   const struct backend *backend, size_t *different,
                                   struct error *error);

#endif
