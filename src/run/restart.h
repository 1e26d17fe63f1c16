/* The continuation of a run from a checkpoint, which save.c writes. */
#ifndef ORRERY_RUN_RESTART_H
#define ORRERY_RUN_RESTART_H

#include "base/status.h"
#include "output/checkpoint.h"
#include "run/parts.h"

/*
 * Opens the newest whole checkpoint of the run's directory, into run->continuation.checkpoint. If
 * checkpoint.orr is damaged, the previous one takes its place, with a notice; if both are,
 * STATUS_DATA.
 */
enum status restart_open(struct run *run, struct error *error);

/*
 * Compares the config with that of the checkpoint. Refuses one that changes the experiment
 * (STATUS_CONFIG, with a line for each difference), and notes the differences that are allowed,
 * such as in the end, in any `every`, in threads or, if kernels agree to rounding, in kernel.
 */
enum status restart_compare(struct run *run, struct error *error);

/* Loads from the checkpoint the bodies, the step, the conserved quantities of step 0 and the legs,
 * before the backend is created. */
enum status restart_load_bodies(struct run *run, struct error *error);

/* Loads the state of an integrator that chooses its own steps into the backend, which was created
 * with the loaded bodies. */
enum status restart_load_integrator(struct run *run, struct error *error);

/* Reads the step at which a checkpoint was written. */
enum status restart_step(const struct checkpoint *checkpoint, uint64_t *step, struct error *error);

/* Tells whether the checkpoint was written by this build, on this kind of machine, by the same
 * backend and kernel. */
bool restart_same_build(const struct run *run, const struct checkpoint *checkpoint);

enum { RESTART_NO_BODY = -1 };

/* The difference, bit by bit, between the present state of bodies and integrator and that of a
 * checkpoint. */
struct restart_difference {
    size_t values; /* number of 64-bit values that differ */
    /* Array with the first value that differs: "vx", or "the integrator's state" */
    const char *array;
    int64_t id; /* id of the body with the first value that differs, or RESTART_NO_BODY */
};
enum status restart_differences(const struct run *run, const struct checkpoint *checkpoint,
                                struct restart_difference *difference, struct error *error);

/* Loads the state of diagnostics, criteria, accuracy watch and ensemble, once these exist. Warns if
 * another build or kind of machine wrote the checkpoint. */
enum status restart_load_observers(struct run *run, struct error *error);

/* Reads the mark of a file (its length and hash) from the checkpoint, for stream_open(). `kind` is
 * "series" for the table of diagnostic number `index`, "aggregate" for the table of its statistics
 * over systems, "output" for an output. */
enum status restart_mark(const struct run *run, const char *kind, size_t index,
                         struct stream_mark *mark, struct error *error);

/* Reads the marks of the files of an output that writes a file at each event, and checks that the
 * files are unchanged, all bytes of them (STATUS_IO). */
enum status restart_files(const struct run *run, size_t index, struct error *error);

#endif
