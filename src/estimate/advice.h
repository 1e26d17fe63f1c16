/*
 * The step that an experiment needs, as its bodies at the start tell. It follows from the shortest
 * time in which two bodies turn about each other: now, at the pericentre of their orbit, in a
 * passage that a probe (a short integration of a few bodies) finds, or in the closest encounter to
 * be expected in a cluster or a collapse until the end. That time is divided into as many steps as
 * the integrator wants. Where it is no great work, a trial run is made with the step.
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
    ADVICE_NOW,        /* limited by two bodies at their present distance */
    ADVICE_PERICENTER, /* limited by the pericentre of a pair that others hardly disturb */
    ADVICE_PASSAGE,    /* limited by the closest passage in an integration of few bodies */
    ADVICE_ENCOUNTER,  /* limited by the closest passage of any two to be expected by chance */
    ADVICE_COLLAPSE    /* limited by the closest passage to be expected by chance once a cold system
                          has collapsed */
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
                                            or another one if that keeps the energy with no step */
    size_t system;                       /* system that limits the step, from 0 */
    int64_t id_i, id_j;                  /* the two bodies, for NOW, PERICENTER and PASSAGE */
    double distance; /* distance at which two bodies pass; for ENCOUNTER and COLLAPSE, the distance
                        that is expected to be reached once */
    double eccentricity; /* eccentricity of the pair's orbit, for PERICENTER */
    double time;         /* time of the passage, for PASSAGE */
    double free_fall;    /* time until the collapse, for COLLAPSE */
    double period; /* orbital period at `distance`: 2 pi sqrt((distance^2 + eps^2)^(3/2) / (G (m_i +
                      m_j))) */
    double steps;  /* steps of the present length, time.step, in `period` */
    double usual;  /* steps in a period that the integrator usually wants */
    double wanted; /* steps in a period that are advised: `usual`, or more for deep passages
                      and for chance */
    double step;   /* period / wanted, rounded down to one digit, or a smaller step if trial
                      runs asked for one; 0: no step is small enough */
    enum advice_trial trial;
    struct trial_run last_trial; /* the last trial run; if `trial` is ADVICE_HOLDS, the one with
                                    `step` */
};

/* The accuracy that advice must reach, and the work that it may cost. */
struct advice_wish {
    double bound;   /* bound of the energy error, see trial_run_make() */
    double work;    /* work that all trial runs may do, in pair interactions */
    double present; /* energy error of the run that failed with the present step, over its limit;
                       NaN: not known */
};

/* The usual `work` of a wish, in pair interactions: a second or two. */
#define ADVICE_USUAL_WORK 2e9

/* Finds the step for the experiment. An integrator that chooses its own steps needs none:
 * ADVICE_NONE. STATUS_MEMORY; STATUS_STOPPED if the experiment's interruption asks for it. */
enum status advice_find(const struct experiment *experiment, const struct advice_wish *wish,
                        struct advice *advice, struct error *error);

#endif
