/* The continuation of a run from a checkpoint; save.h writes them. */
#ifndef ORRERY_RUN_RESTART_H
#define ORRERY_RUN_RESTART_H

#include "base/status.h"
#include "output/checkpoint.h"
#include "run/parts.h"

/*
 * Opens the newest whole checkpoint of the run's directory, into run->continuation.checkpoint. A
 * damaged checkpoint.orr gives way to the previous one, with a notice; both damaged are
 * STATUS_DATA.
 */
enum status restart_open(struct run *run, struct error *error);

/*
 * Refuses a config that changes the experiment (STATUS_CONFIG, a line for each difference); notes
 * those that are allowed: the end, cadences, checkpoints, threads, and the kind of machine.
 */
enum status restart_compare(struct run *run, struct error *error);

/* The bodies, the step and the first energies; before the backend sees them. */
enum status restart_load_bodies(struct run *run, struct error *error);

/* Loads the integrator's own state into the backend that was made of these bodies. */
enum status restart_load_integrator(struct run *run, struct error *error);

/* The step that a checkpoint is of. */
enum status restart_step(const struct checkpoint *checkpoint, uint64_t *step, struct error *error);

/* Tells whether it was written by this build, on this kind of machine, by this backend and
 * kernel. */
bool restart_same_build(const struct run *run, const struct checkpoint *checkpoint);

enum { RESTART_NO_BODY = -1 };

/* The difference between the state of the bodies and that of a checkpoint, bit by bit. */
struct restart_difference {
    size_t values;     /* that differ */
    const char *array; /* of the first of them: "vx", or the state of the integrator */
    int64_t id;        /* its body, or RESTART_NO_BODY */
};
enum status restart_differences(const struct run *run, const struct checkpoint *checkpoint,
                                struct restart_difference *difference, struct error *error);

/* The state of diagnostics, criteria, watch and ensemble, once these exist. */
enum status restart_load_observers(struct run *run, struct error *error);

/* Finds the mark of a file, for stream_open(): "series" or "aggregate" of a diagnostic, or
 * "output". */
enum status restart_mark(const struct run *run, const char *kind, size_t index,
                         struct stream_mark *mark, struct error *error);

/* The same of the files of an output that has one for each event: they must be as they were, all
 * bytes of them (STATUS_IO). */
enum status restart_files(const struct run *run, size_t index, struct error *error);

#endif
