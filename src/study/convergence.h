/*
 * The result of a convergence study: for every column of every diagnostic, measured with steps dt,
 * dt/2 and dt/4, the order at which it converges and the error that is left.
 */
#ifndef ORRERY_STUDY_CONVERGENCE_H
#define ORRERY_STUDY_CONVERGENCE_H

#include <stddef.h>

#include "base/status.h"
#include "study/errorbar.h"

enum { CONVERGENCE_LEVELS = ERRORBAR_LEVELS, CONVERGENCE_NAME_SIZE = 128 };

struct convergence_row {
    char column[CONVERGENCE_NAME_SIZE]; /* diagnostic and its column: "conservation.energy" */
    char unit[CONVERGENCE_NAME_SIZE];
    double value; /* value with the smallest step, at the last time that all runs have */
    struct errorbar bar;
};

struct convergence {
    struct convergence_row *rows;
    size_t count;
};

/* Reads the three runs of the study in `path`, measures their convergence, and writes the study's
 * convergence.csv. STATUS_NO_INPUT if a run is missing; STATUS_CANT_CREATE if another process is at
 * work there. The caller calls convergence_free(). */
enum status convergence_measure(const char *path, struct convergence *convergence,
                                struct error *error);
void convergence_free(struct convergence *convergence);

#endif
