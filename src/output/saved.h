/* The sections of a checkpoint that hold bodies and the state of their integrator: those of a run,
 * and under a prefix those of the copies that it carries along. */
#ifndef ORRERY_OUTPUT_SAVED_H
#define ORRERY_OUTPUT_SAVED_H

#include "backend/backend.h"
#include "model/bodies.h"
#include "output/checkpoint.h"

/* The arrays of bodies that make the state; accelerations follow from them. */
enum { SAVED_ARRAYS = 8 };
struct saved_array {
    const char *name; /* of its section */
    void *values;     /* borrowed from the bodies */
};
void saved_arrays(const struct bodies *bodies, struct saved_array arrays[SAVED_ARRAYS]);

/* Writes, or reads, the state of an integrator that chooses its own steps, in sections
 * "PREFIXadaptive:NAME"; does nothing with another integrator. STATUS_DATA, STATUS_IO. */
void saved_put_adaptive(struct checkpoint_writer *writer, const char *prefix,
                        const struct backend *backend);
enum status saved_get_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                               struct backend *backend, struct error *error);
/* Counts the words of the state that differ from those of the checkpoint. STATUS_DATA, STATUS_IO,
 * STATUS_MEMORY. */
enum status saved_compare_adaptive(const struct checkpoint *checkpoint, const char *prefix,
                                   const struct backend *backend, size_t *different,
                                   struct error *error);

#endif
