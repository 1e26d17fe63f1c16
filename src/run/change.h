/*
 * The differences of a run's config from the one that it began with, and their meaning: a restart
 * goes on past some, and the results of a run that has finished stay true under fewer.
 */
#ifndef ORRERY_RUN_CHANGE_H
#define ORRERY_RUN_CHANGE_H

#include <jansson.h>

#include "base/status.h"
#include "config/configuration.h"

enum change_kind {
    CHANGE_NOTHING,    /* the same results to the bit: a name, threads, checkpoints */
    CHANGE_ROUNDING,   /* the same results but for rounding: who sums the forces */
    CHANGE_OBSERVES,   /* the same motion, but other rows and frames, or another judgement */
    CHANGE_END,        /* time.end: the same motion, further or less far */
    CHANGE_INPUT,      /* bodies.file(s): the same motion if they have moved, another if not */
    CHANGE_EXPERIMENT, /* another experiment; a restart refuses it */
};

/* One key whose value differs. All texts are valid during the call only. */
struct change {
    enum change_kind kind;
    const char *path;               /* "time.step" */
    const char *before, *now;       /* in JSON, or "unset" */
    const json_t *was_set, *is_set; /* the two values as JSON; NULL: unset */
};

/* Calls `visit` for each difference between `before`, a config_json() of earlier, and `config`.
 * STATUS_MEMORY. */
enum status change_visit(const json_t *before, const struct config *config,
                         void (*visit)(void *context, const struct change *change), void *context,
                         struct error *error);

#endif
