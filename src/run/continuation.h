/* The knowledge of a continued run about the run that it continues. */
#ifndef ORRERY_RUN_CONTINUATION_H
#define ORRERY_RUN_CONTINUATION_H

#include <stdbool.h>

#include "integrator/adaptive.h"
#include "output/checkpoint.h"

struct json_t;

struct continuation {
    struct checkpoint *checkpoint; /* that it goes on from; only while it opens */
    const char *from;              /* its name; NULL for a run that begins */
    bool newest_damaged;           /* checkpoint.orr is, and must not become the previous one */
    bool goes_further;             /* beyond the end of the run that it continues */
    bool changed;                  /* its config, in ways that a restart allows */
    bool done;                     /* that run is done, and stays as it is */
    bool other_bits;               /* another build or kind of machine has computed a part of it */
    struct json_t *before;         /* run.json of that run, or NULL */
    struct json_t *legs;           /* see run/legs.h; NULL for none */
    struct work_done work;         /* until then; see run_work() */
};

/* The run has been opened: its checkpoint is no longer needed. */
void continuation_close(struct continuation *continuation);
/* There is none to go on from. */
void continuation_forget(struct continuation *continuation);
void continuation_destroy(struct continuation *continuation);

/* Tells whether the file belongs to the run that is continued. */
bool continuation_owns(const struct continuation *continuation, const char *name);

#endif
