/*
 * The step that an experiment needs, as its bodies at the start tell. It follows from the shortest
 * time in which two bodies turn about each other: now, at the pericentre of their orbit, in a
 * passage that a probe (a short integration of a few bodies) finds, or in the closest encounter to
 * be expected in a cluster, or after a collapse, until the end of the run. That time is divided
 * into as many steps as the integrator wants. A trial run, if not too long, tests the step.
 */
#ifndef ORRERY_ESTIMATE_ADVICE_H
#define ORRERY_ESTIMATE_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "estimate/experiment.h"
#include "estimate/trial-run.h"

enum advice_kind {
    ADVICE_NONE, /* no two bodies attract each other, or the integrator chooses its own steps */
    ADVICE_NOW,  /* limited by two bodies at their present distance */
    ADVICE_PERICENTER, /* limited by the pericentre of a pair that others hardly disturb */
    ADVICE_PASSAGE,    /* limited by the closest passage in an integration of few bodies */
    ADVICE_ENCOUNTER,  /* limited by the closest passage of any two to be expected by chance */
    ADVICE_COLLAPSE    /* limited by such a passage after a cold system has collapsed */
};

enum advice_trial {
    ADVICE_UNTRIED,  /* a trial run would take too long */
    ADVICE_TOO_MANY, /* not tried: the step is so small that no run would end */
    ADVICE_HOLDS,    /* the accuracy watch accepted the trial run with the advised step */
    ADVICE_FAILS     /* no step that was tried keeps the energy */
};

/* The advice, with the cause that limits the step. */
struct advice {
    enum advice_kind kind;
    const struct integrator *integrator; /* the integrator whose step is advised: the experiment's,
                                            or another if that keeps the energy with no step */
    size_t system;                       /* system that limits the step, from 0 */
    int64_t id_i, id_j; /* ids of the two bodies, for NOW, PERICENTER and PASSAGE */
    double distance; /* closest distance of the two bodies; for ENCOUNTER and COLLAPSE, the distance
                        to which, by expectation, one pair of bodies will come */
    double eccentricity;
    double time;      /* time of the passage, for PASSAGE */
    double free_fall; /* time until the collapse, for COLLAPSE */
    double period;    /* period of a circular orbit at `distance`, softened: 2 pi (s^3 / G (m_i +
                         m_j))^(1/2), s^2 = distance^2 + eps^2 */
    double steps;     /* steps of the present length, time.step, in `period` */
    double usual;     /* steps in a period that the integrator usually wants */
    double wanted;    /* steps in `period` that are advised: `usual`, or more for deep passages */
    double step; /* period / wanted, rounded down to one digit, or less if trial runs asked for it;
                    0: no step is small enough */
    enum advice_trial trial;
    struct trial_run last_trial; /* the last trial run; for ADVICE_HOLDS that with `step` */
};

/* The accuracy that advice must reach, and the work that it may cost. */
struct advice_wish {
    double bound;   /* largest energy error that is wanted; infinite: only the limits of the watch
                       count */
    double work;    /* work that all trial runs may do, in pair interactions */
    double present; /* error of a run that failed with the present step, over its limit; NaN: there
                       was none */
};

/* The usual `work` of struct advice_wish, in pair interactions: a second or two. */
#define ADVICE_USUAL_WORK 2e9

/* Finds the step for the experiment; ADVICE_NONE if its integrator chooses its own steps.
 * STATUS_MEMORY; STATUS_STOPPED if the experiment's interruption asks for it. */
enum status advice_find(const struct experiment *experiment, const struct advice_wish *wish,
                        struct advice *advice, struct error *error);

#endif
