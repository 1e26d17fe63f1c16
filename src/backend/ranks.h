/*
 * One backend over all ranks of a job. Rank 0 runs the program; the others serve its backends,
 * order by order. What a rank computes with is a backend of its own, of the class that the
 * experiment chose.
 *
 *   systems    an ensemble of at least as many systems as ranks: every rank keeps some of them
 *   bodies     otherwise: every rank moves some bodies of each system, and all of them gather
 *              the positions before every force evaluation
 *
 * The GPUs of a machine are shared out among its ranks, compute.devices to each, in turn.
 *
 * Rank 0's arrays have room for everything; they are current after fetch().
 */
#ifndef ORRERY_BACKEND_RANKS_H
#define ORRERY_BACKEND_RANKS_H

#include "backend/backend.h"

/* Creates backends of the class options->within on every rank; for rank 0 to use. */
extern const struct backend_class backend_ranks;

/* Puts, if there are several ranks, `backend_ranks` in the place of the class, and that class into
 * options->within. */
void ranks_share(const struct backend_class **class_, struct backend_options *options);

/* Returns the number of ranks that divide the bodies of each of `systems` systems; 1: every rank
 * has whole systems. */
size_t ranks_dividing(size_t systems);

/* Returns the number of ranks. */
int ranks_count(void);

/*
 * Is there so much memory on every machine of the job: `first` bytes for rank 0, `each` for any
 * other, of which those on one machine share what it has? Rank 0 asks. STATUS_MEMORY, with what
 * they need and what there is.
 */
enum status ranks_check_room(double first, double each, struct error *error);

/* Serves as a rank other than 0 until rank 0 calls ranks_dismiss(). */
void ranks_serve(void);
void ranks_dismiss(void);

#endif
