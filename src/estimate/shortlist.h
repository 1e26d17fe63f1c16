/*
 * The integrators of which pilots are made for a run that asks for an error, in the order in which
 * they are tried, and the properties of the start by which that order goes.
 */
#ifndef ORRERY_ESTIMATE_SHORTLIST_H
#define ORRERY_ESTIMATE_SHORTLIST_H

#include <stdbool.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "estimate/selection.h"

struct shortlist {
    bool hidden;     /* no close encounter decides the steps: softening is longer, or there are no
                        bodies that meet by chance */
    double collapse; /* part of the run until a cold system has fallen in; 0: none does */
};

/* Puts the candidates into `choice`. STATUS_MEMORY, STATUS_UNAVAILABLE, STATUS_STOPPED. */
enum status shortlist_candidates(const struct experiment *experiment, const struct config *config,
                                 struct selection *choice, struct shortlist *list,
                                 struct error *error);

#endif
