/*
 * The search for a setting that keeps the error that a run is asked for: pilots of some
 * (estimate/pilot.h) tell the error of each at the end and what it costs. It depends on the config
 * and the program alone: costs are counted, never timed.
 */
#ifndef ORRERY_ESTIMATE_SEARCH_H
#define ORRERY_ESTIMATE_SEARCH_H

#include "base/interruption.h"
#include "base/status.h"
#include "estimate/selection.h"

/* The work of all pilots together, in pair interactions of a direct sum: as much in any case, or
 * that part of the run's where it is more. */
struct search_limits {
    double work, part;
};

/* A second or two, or a tenth of the run. */
extern const struct search_limits search_usual;

/* STATUS_CONFIG, at time.energy_error, where nothing keeps the error; what experiment_create() and
 * pilots report. `choice` is to be destroyed in any case. */
enum status search_setting(const struct config *config, const struct search_limits *limits,
                           struct interruption *interruption, struct selection *choice,
                           struct error *error);

#endif
