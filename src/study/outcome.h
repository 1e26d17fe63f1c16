/* How the runs of a study have ended, and why, as their directories tell of it. */
#ifndef ORRERY_STUDY_OUTCOME_H
#define ORRERY_STUDY_OUTCOME_H

#include <stddef.h>

#include "base/text.h"
#include "study/study.h"

#ifdef __cplusplus
extern "C" {
#endif

enum outcome {
    OUTCOME_HELD,      /* every criterion did */
    OUTCOME_FINISHED,  /* and had none */
    OUTCOME_FAILED,    /* a criterion or the accuracy watch */
    OUTCOME_ERROR,     /* it could not go on */
    OUTCOME_STOPPED,   /* in order; the same command goes on */
    OUTCOME_SILENT,    /* killed, or still at work */
    OUTCOME_NOT_BEGUN, /* no run is there */
    OUTCOMES
};

/*
 * How the run of one member in the directory of the study has ended. Appends to `why` what went
 * wrong, with the names of the criteria that failed; nothing where nothing did.
 */
enum outcome outcome_of(const char *directory, size_t member, struct text *why);

#ifdef __cplusplus
}
#endif

#endif
