/*
 * Which step an experiment wants, from its start: the shortest time in which two bodies will turn
 * about each other, now, at the pericentre of their orbit, or at the closest encounter that a
 * cluster or a collapse lets expect until the end; and into how many steps to divide it.
 */
#ifndef ORRERY_RUN_ADVICE_H
#define ORRERY_RUN_ADVICE_H

#include <stdint.h>

#include "base/status.h"
#include "run/experiment.h"

#ifdef __cplusplus
extern "C" {
#endif

enum advice_kind {
    ADVICE_NONE,       /* no two bodies attract each other */
    ADVICE_NOW,        /* two bodies as far apart as they are */
    ADVICE_PERICENTER, /* two bodies that others hardly disturb */
    ADVICE_ENCOUNTER,  /* any two, by chance */
    ADVICE_COLLAPSE    /* any two, when a cold system has fallen in */
};

/* What rules the step. */
struct advice {
    enum advice_kind kind;
    int64_t id_i, id_j;  /* of NOW and PERICENTER */
    double distance;     /* at which they pass */
    double eccentricity; /* of PERICENTER */
    double free_fall;    /* of COLLAPSE: time until then */
    double period;       /* 2 pi sqrt((distance^2 + eps^2)^(3/2) / (G (m_i + m_j))) */
    double steps;        /* of the present time.step in a period */
    double wanted;       /* WATCH_STEPS_PER_PERIOD, more for a deep passage */
    double step;         /* gives it these, rounded down to one digit */
};

/* STATUS_MEMORY. */
enum status advice_find(const struct experiment *experiment, struct advice *advice,
                        struct error *error);

#ifdef __cplusplus
}
#endif

#endif
