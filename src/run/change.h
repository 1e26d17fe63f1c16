/*
 * The differences between the config of a run and the one with which it began, and what each means:
 * a restart goes on despite some, and the results of a finished run stay true despite fewer.
 */
#ifndef ORRERY_RUN_CHANGE_H
#define ORRERY_RUN_CHANGE_H

#include <jansson.h>

#include "base/status.h"
#include "config/configuration.h"

enum change_kind {
    CHANGE_NOTHING,  /* the same results to the bit: compute.threads, checkpoint.*, and such */
    CHANGE_ROUNDING, /* the same results but for rounding: backend, kernel and instruction set, if
                        all kernels agree (else CHANGE_EXPERIMENT) */
    CHANGE_OBSERVES, /* the same motion, but other rows and frames, or other limits of watch and
                        stop_when */
    CHANGE_END,      /* time.end: the same motion, to a later or an earlier end */
    CHANGE_INPUT,    /* bodies.file(s): the same motion if a file was only moved; another one if its
                        bytes differ */
    CHANGE_EXPERIMENT, /* another experiment; a restart refuses it */
};

/* A key whose value differs. Its texts are valid during the call of `visit` only. */
struct change {
    enum change_kind kind;
    const char *path;               /* path of the key, "time.step" */
    const char *before, *now;       /* both values as text in JSON, or "unset" */
    const json_t *was_set, *is_set; /* the two values as JSON; NULL: unset */
};

/* Calls `visit` for each key whose value differs between `before`, an earlier config_json(), and
 * `config`. STATUS_MEMORY. */
enum status change_visit(const json_t *before, const struct config *config,
                         void (*visit)(void *context, const struct change *change), void *context,
                         struct error *error);

/* Returns the grid step (the spacing of the times at which the run can be observed) by the config
 * `before`, if the integrator of `config` chooses its own steps; NAN if it does not. */
double change_old_grid(const struct config *config, const json_t *before);

/* Refuses (STATUS_CONFIG) a time.end that would change the grid step, the spacing of the rows in
 * the files. It does if time.step is left out, or does not divide time.end. */
enum status change_check_end(const struct config *config, const json_t *before,
                             struct error *error);

#endif
