/*
 * One backend over all ranks of a job. Rank 0 runs the program; the others serve its backends,
 * order by order. Each rank computes with a backend of its own, of the class that the experiment
 * chose.
 *
 *   systems    an ensemble of at least as many systems as ranks: every rank has some of them
 *   bodies     otherwise: every rank moves some bodies of each system, and all of them gather
 *              the positions before every force evaluation
 *
 * The GPUs of a machine are divided among its ranks: each takes the next compute.devices of them.
 *
 * The arrays of rank 0 have room for all bodies; they are current after fetch().
 */
#ifndef ORRERY_BACKEND_RANKS_H
#define ORRERY_BACKEND_RANKS_H

#include "backend/backend.h"

/* The class whose create(), on rank 0, creates a backend of the class options->within on every
 * rank. */
extern const struct backend_class backend_ranks;

/* Replaces the class by `backend_ranks`, if there are several ranks, and puts it into
 * options->within. */
void ranks_share(const struct backend_class **class_, struct backend_options *options);

/* Returns the number of ranks that divide the bodies of each of `systems` systems; 1: every rank
 * has whole systems. */
size_t ranks_dividing(size_t systems);

/* Returns the number of ranks. */
int ranks_count(void);

/*
 * Checks, for rank 0, that every machine of the job has the memory: `first` bytes for rank 0 and
 * `each` for any other rank; the ranks on one machine share its memory. STATUS_MEMORY with the
 * bytes that they need and that there are.
 */
enum status ranks_check_room(double first, double each, struct error *error);

/* Serves as a rank other than 0, until rank 0 calls ranks_dismiss(). */
void ranks_serve(void);
void ranks_dismiss(void);

#endif
