/*
 * How exact the forces of a run are, where their precision or their method leaves out more than the
 * rounding of double precision: error bars need it, since no smaller step shows what all runs of a
 * study have in common.
 */
#ifndef ORRERY_RUN_KERNEL_ERROR_H
#define ORRERY_RUN_KERNEL_ERROR_H

#include <jansson.h>

#include "run/parts.h"

/* Measures run->kernel_error with the forces of the bodies as they are; a run that is continued
 * takes it from its run.json. STATUS_MEMORY, and what the backend says. */
enum status kernel_error_measure(struct run *run, struct error *error);

/* For run.json: null where the forces are those of double precision; a new reference. */
json_t *kernel_error_json(const struct run *run);

#endif
