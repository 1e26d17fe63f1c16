/*
 * One backend over all ranks (processes) of a job. Rank 0 runs the program; the other ranks execute
 * its orders. Each rank computes with an inner backend of its own, of the class that the experiment
 * chose. Ranks divide the work by
 *
 * systems: if an ensemble has at least as many systems as there are ranks, every rank has some of
 * them; or by
 *
 * bodies: otherwise every rank moves some bodies of each system, and all ranks gather the positions
 * of all bodies before every force evaluation.
 *
 * The GPUs of a machine are divided among its ranks: each rank takes the next compute.devices of
 * them. The arrays of rank 0 have room for all bodies; their values are current after fetch().
 */
#ifndef ORRERY_BACKEND_RANKS_H
#define ORRERY_BACKEND_RANKS_H

#include "backend/backend.h"

/* The class of a backend over all ranks. Its create(), on rank 0, creates a backend of the class
 * options->within on every rank. */
extern const struct backend_class backend_ranks;

/* Puts the class *class_ into options->within and replaces it by `backend_ranks`, if there are
 * several ranks. */
void ranks_share(const struct backend_class **class_, struct backend_options *options);

/* Returns the number of ranks that divide the bodies of each of `systems` systems; 1 if every rank
 * has whole systems. */
size_t ranks_dividing(size_t systems);

int ranks_count(void);

/*
 * Checks, when rank 0 calls it, that every machine of the job has enough memory: `first` bytes for
 * rank 0 and `each` bytes for any other rank; the ranks on one machine share its memory.
 * STATUS_MEMORY, with the bytes that are needed and that there are.
 */
enum status ranks_check_room(double first, double each, struct error *error);

/* Executes the orders of rank 0, on any other rank, until rank 0 calls ranks_dismiss(). */
void ranks_serve(void);
void ranks_dismiss(void);

#endif
