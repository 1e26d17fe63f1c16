/*
 * The error that a run is asked for, `time.energy_error`, in the place of an integrator and its
 * steps: the largest |E' - E0'| / max(|E0'|, |U0'|) that it may have at any row, any frame and any
 * look of its watch. What the config leaves out is chosen (estimate/selection.h).
 */
#ifndef ORRERY_ESTIMATE_ASKED_H
#define ORRERY_ESTIMATE_ASKED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "integrator/integrator.h"

enum asked_of { ASKED_OF_WORST, ASKED_OF_Q90 };

struct asked {
    double error;     /* NaN: none is */
    enum asked_of of; /* of which system of an ensemble */
    bool integrator;  /* is to be chosen */
    bool step;        /* is: time.step is not given */
};

/* The choices of `energy_error_of`, as enum asked_of, and a sentence for each. */
extern const char *const asked_of_names[], *const asked_of_help[];

/* Reports an `energy_error_of` that stands alone. */
void asked_check(const struct section *time, struct error *error);

struct asked asked_of(const struct config *config);

/* Tells whether anything is left to be chosen. The echo of a run has all of it. */
bool asked_to_choose(const struct config *config);

/* The error that counts of those of all systems: the largest, or the one that nine of ten are not
 * beyond. NaN where that is undefined. STATUS_MEMORY. */
enum status asked_error_among(const struct asked *asked, const double *errors, size_t systems,
                              double *counts, struct error *error);

#endif
