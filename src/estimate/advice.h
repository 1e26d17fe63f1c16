/*
 * Which step an experiment wants, from its start: the shortest time in which two bodies will turn
 * about each other, now, at the pericentre of their orbit, as a probe of a few bodies finds, or at
 * the closest encounter that is expected in a cluster or a collapse until the end; and into how
 * many steps to divide it. Where it is no great work a trial run is made with that step.
 */
#ifndef ORRERY_ESTIMATE_ADVICE_H
#define ORRERY_ESTIMATE_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "estimate/trial-run.h"

enum advice_kind {
    ADVICE_NONE,       /* no two bodies attract each other */
    ADVICE_NOW,        /* by two bodies at their present distance */
    ADVICE_PERICENTER, /* by the pericentre of a pair that others hardly disturb */
    ADVICE_PASSAGE,    /* by the closest passage that a probe saw */
    ADVICE_ENCOUNTER,  /* by the closest passage of any two to be expected by chance */
    ADVICE_COLLAPSE    /* the same, when a cold system has collapsed */
};

enum advice_trial {
    ADVICE_UNTRIED,  /* a trial run would take too long */
    ADVICE_TOO_MANY, /* so small a step that no run would end */
    ADVICE_HOLDS,    /* the watch passed it */
    ADVICE_FAILS     /* no step that was tried keeps the energy */
};

/* The advice, with the cause that limits the step. */
struct advice {
    enum advice_kind kind;
    const struct integrator *integrator; /* whose step is advised: that of the experiment, but
                                            where no step keeps the energy, another */
    size_t system;                       /* whose it is, from 0 */
    int64_t id_i, id_j;                  /* of NOW, PERICENTER and PASSAGE */
    double distance;     /* at which they pass; of ENCOUNTER and COLLAPSE, expected once */
    double eccentricity; /* of PERICENTER */
    double time;         /* of PASSAGE */
    double free_fall;    /* of COLLAPSE: time until then */
    double period;       /* 2 pi sqrt((distance^2 + eps^2)^(3/2) / (G (m_i + m_j))) */
    double steps;        /* of the present time.step in a period */
    double usual;        /* steps of a period that the integrator wants */
    double wanted;       /* as many; more for deep passages and for chance */
    double step;         /* gives it these, rounded down to one digit; a smaller one where a
                            trial run asked for it; 0: none is small enough */
    enum advice_trial trial;
    struct trial_run last_trial; /* the last one: that of `step` where it HOLDS */
};

/* The wish for advice, and the work that it may cost. */
struct advice_wish {
    double bound;   /* of the energy error, see trial_run_make() */
    double work;    /* of all trial runs, in pair interactions */
    double present; /* the error over its limit with the present step, where that failed; NaN: not
                       known */
};

/* In pair interactions: a second or two. */
#define ADVICE_USUAL_WORK 2e9

/* STATUS_MEMORY; STATUS_STOPPED where the experiment's interruption asks for it. */
enum status advice_find(const struct experiment *experiment, const struct advice_wish *wish,
                        struct advice *advice, struct error *error);

#endif
