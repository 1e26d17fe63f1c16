/*
 * The memory that a run will need, by its config alone, before bodies are made or anything else is
 * allocated. It is an upper bound, near to what runs were measured to take, for the memory of the
 * host and not of GPUs. Under mpirun it is that of the first rank (process); need_check_ranks()
 * counts the others that share a machine.
 */
#ifndef ORRERY_ESTIMATE_NEED_H
#define ORRERY_ESTIMATE_NEED_H

#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"

/* The memory of a run by its uses, in bytes, for `systems` systems of `count` bodies. */
struct memory_need {
    size_t systems, count;
    double bodies;      /* arrays of bodies and integrator, for the run and each copy of it */
    double forces;      /* arrays of the force kernels, for the run and each copy of it */
    double diagnostics; /* potentials, state of diagnostics and watch, and what they borrow */
    double outputs;     /* frames of outputs that are built in memory */
    double checkpoints; /* copies of the state of diagnostics and watch while one is written */
    double program;     /* the program itself, with its libraries and threads */
};

/* Returns the need of `systems` systems of `count` bodies, with the rest of the config as it is. */
struct memory_need need_of_bodies(const struct config *config, size_t systems, size_t count);

/* Returns the number of systems that the config asks for: one for each of bodies.files, else
 * ensemble.systems. */
size_t need_systems(const struct config *config);

/* Computes the need of the run; counts the bodies of a file by reading it. The errors of
 * initial_count(). */
enum status need_of_run(const struct config *config, struct memory_need *need, struct error *error);

double need_bytes(const struct memory_need *need);

/*
 * Checks that the machine has room for `runs` such runs at a time, each in a process of its own,
 * and that this process has room for one. STATUS_MEMORY, with the key that asks for the memory, the
 * need and the room.
 */
enum status need_check(const struct config *config, const struct memory_need *need, size_t runs,
                       struct error *error);

/* Checks, under mpirun, that each machine has room for all of its ranks. */
enum status need_check_ranks(const struct config *config, const struct memory_need *need,
                             struct error *error);

/* Compares the need of `runs` runs at a time with one limit, `room`; STATUS_MEMORY if larger. */
struct room;
enum status need_compare(const struct config *config, const struct memory_need *need, size_t runs,
                         const struct room *room, struct error *error);

/* Returns the class of the diagnostic that a section of the list `diagnostics` describes. */
struct diagnostic_class;
const struct diagnostic_class *need_diagnostic(const struct section *section);

/* Returns the class of a diagnostic that the run measures, and sets its section of the config:
 * those of the list `diagnostics`, and behind them those that a group asks for, which is their
 * section. NULL if `index` is beyond the last one. */
const struct diagnostic_class *need_measured(const struct config *config, size_t index,
                                             const struct section **section);

/* Writes "1.2 GB" into buffer, and returns it. */
enum { NEED_TEXT_SIZE = 32 };
const char *need_text(double bytes, char buffer[NEED_TEXT_SIZE]);

#endif
