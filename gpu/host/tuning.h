/*
 * The sizes of the kernels' launches (blocks, tiles, bodies per thread). To tune them changes the
 * speed and never the bits. `orrery bench --gpu` finds the best ones on a device and stores them in
 * a file in the user's cache; where nothing is stored, the defaults of the catalog hold.
 */
#ifndef ORRERY_GPU_TUNING_H
#define ORRERY_GPU_TUNING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "gpu/kernels/catalog.h"

/* The launch of one kernel in one precision on a device; gpu_tuning_fit() finds its split for the
 * bodies at hand. */
struct gpu_tuning_row {
    enum gpu_kernel_id kernel;
    enum precision precision;
    size_t count; /* number of bodies, of all systems, with which it was measured; 0: it is a
                     default */
    struct gpu_tuning tuning; /* tuning.split is not used */
};

struct gpu_device; /* devices.h */

enum { GPU_TUNING_ROWS = 128 };

/* The launches on a device: the catalog's defaults, and the launches that were measured on the
 * device. gpu_tuning_load() fills the table; it reads the measured ones from the file `path` (NULL:
 * the user's cache), and a file that cannot be read counts as none. */
struct gpu_tuning_table {
    struct gpu_tuning_row rows[GPU_TUNING_ROWS];
    size_t count;
};

void gpu_tuning_load(const struct gpu_device *device, const char *path,
                     struct gpu_tuning_table *table);
/* Writes the rows that were measured on a device to the file `path` (NULL: the user's cache), and
 * keeps the rows of other devices that are there. STATUS_CANT_CREATE, STATUS_MEMORY. */
enum status gpu_tuning_store(const struct gpu_device *device, const char *path,
                             const struct gpu_tuning_table *table, struct error *error);

/* Returns the row of a kernel and a precision that was measured with the number of bodies nearest
 * to `count`; the default if none was measured. */
const struct gpu_tuning_row *gpu_tuning_find(const struct gpu_tuning_table *table,
                                             enum gpu_kernel_id kernel, enum precision precision,
                                             size_t count);
/* Adds a row, or replaces the one of the same kernel, precision and number of bodies. A full table
 * stays as it is. */
void gpu_tuning_set(struct gpu_tuning_table *table, const struct gpu_tuning_row *row);

/* The sums for which gpu_tuning_fit() finds a launch. */
struct gpu_tuning_problem {
    size_t systems, bodies; /* systems; bodies of each system whose sums are computed */
    unsigned segments;      /* number of segments that the sum of a body is cut into */
    size_t segment;         /* bodies j of a segment */
    int multiprocessors;
    /* Returns how many blocks of a launch a multiprocessor runs at once, or 0 if that is not known.
     * NULL: as many as the kernel was built for. */
    unsigned (*at_once)(const void *context, const struct gpu_tuning *tuning);
    const void *context;
};

/* Returns the row's launch with the number of bodies per thread and the split that leave the least
 * of a device idle: blocks start in waves, and a last wave that is not full wastes time. For a
 * kernel of the third law the number of bodies per thread follows from the number of bodies alone,
 * because its bits depend on it. `used`, unless NULL, takes the part of the device's time, up to 1,
 * in which it works on pairs. */
struct gpu_tuning gpu_tuning_fit(const struct gpu_tuning_row *row,
                                 const struct gpu_tuning_problem *problem, double *used);

/* Tells whether systems are so small that each stays in a block of gpu_resident(): unless they are
 * very small there must be enough of them that no more of the device is idle than with a launch for
 * each pass. */
bool gpu_tuning_stays(size_t systems, size_t count, int multiprocessors);

/* Returns the launch `like` for gpu_resident(): with the number of bodies of a thread, within
 * `bodies`, for which the pairs of a step take the least time by a model, and with the threads that
 * share a sum where a multiprocessor would have fewer threads than a block may have. */
struct gpu_tuning gpu_tuning_resident(const struct gpu_tuning *like, enum precision precision,
                                      const struct gpu_tuning_problem *problem,
                                      struct gpu_range bodies);

/* The most bodies of a block of gpu_step(). The inner loop of a thread with one body has 6 % more
 * instructions for a pair than with four (instructions.h); so from some number of bodies on, the
 * two launches that gpu_step() replaces are faster. With this number, 4224 bodies of an H200, they
 * were measured to be some 10 % slower (docs/gpu.md). */
enum { GPU_STEP_BODIES = 32 };

/* Returns the number of bodies that a block of gpu_step() takes, so that each multiprocessor has a
 * block; or 0 if that is too many, and a step is faster by a launch for the forces and one for the
 * moves. */
unsigned gpu_tuning_step(size_t systems, size_t count, int multiprocessors);

#endif
