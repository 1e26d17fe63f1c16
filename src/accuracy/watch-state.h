/* The state of the accuracy watch, for its own sources. */
#ifndef ORRERY_ACCURACY_WATCH_STATE_H
#define ORRERY_ACCURACY_WATCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy/watch.h"
#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"

/* The pair of bodies of a system with the shortest orbital period. All members are doubles, as
 * checkpoints save them, and NaN but for `steps` if there was no pair. */
struct close_pair {
    double ids[2];
    double distance;
    double steps; /* steps in the period of a circular orbit of its size, over 2 pi; infinite: no
                     pair */
    double time;
};

extern const struct close_pair close_pair_none;

/* Finds the pair with the shortest orbital period at this moment. STATUS_MEMORY. */
enum status close_pair_find(const struct moment *now, size_t system, struct close_pair *pair,
                            struct error *error);

enum on_jump { ON_JUMP_WARN, ON_JUMP_FAIL, ON_JUMP_STOP };

/* The most bodies in all systems together with which the energy is judged often, and the most
 * bodies of a system whose fastest pair is sought at every check. */
enum { FEW_BODIES = 64 };
enum { JUMP_STEPS = 1000 }; /* steps within which a change is judged; a multiple of every stride */

/* The history of the energy is kept as means over WINDOWS windows of equal length. When they are
 * full, each two become one. So its size is fixed, and at least half of them always count. */
enum { WINDOWS = 16, LEAST_WINDOWS = WINDOWS / 2 };

/* The part of the history that all systems share, since they are judged at the same steps. All
 * members of this and of the following structs are doubles, as checkpoints save them. */
struct history {
    double judged; /* the last step at which the energy was judged; -1: none */
    double seen;   /* the last step at which the energy was judged, or looked at between two regular
                      checks */
    /* The step of the next look between two regular checks, -1: none; the number of looks so
     * far. */
    double look, looks;
    double width;           /* steps in a window */
    double counts[WINDOWS]; /* checks in each window */
};

/* An energy, of a system or a test body, whose changes are judged in units of `scale`. */
struct level {
    double scale; /* the larger of |E| and |U| at the start */
    double start; /* the energy at the start */
    double mark;  /* the energy from which its change within JUMP_STEPS is counted */
    double last;  /* the energy at the last check */
    double rate; /* change of the energy per step between the last two checks; NaN: not known yet */
    double usual;   /* the mean of |U| over the steps so far */
    double beyond;  /* the step since which all checks saw its change beyond the limit; NaN: it is
                       within */
    double deepest; /* the largest |U| so far */
};

/* The findings about the orbits of bound bodies (watch-bound.h). */
struct bound_record {
    double work;  /* pair interactions of all trials of orbits so far */
    double next;  /* step from which the same body is tried again */
    double tried; /* steps in the pericentre passage of the orbit that was tried last; NaN: none */
    /* rate of the steady energy drift that the last trial found: energy by the run's method less
     * that by gauss-radau, over the orbit's |E|, per unit of time; 0 if the method is symplectic,
     * or if no orbit is in doubt */
    double rate;
    double drift, drift_time; /* the change of the energy by that rate up to the time drift_time,
                                 over the orbit's energy */
    double error;            /* energy error of the worst orbit so far, over its potential energy */
    double body, centers[2]; /* ids of that body and of its centre; NaN: none */
    double steps;            /* steps in the period of that orbit */
    double time;             /* time at which that orbit had this error */
    double first;            /* the time when an orbit was first beyond the limit; NaN: never */
    double due;              /* the time when that orbit passes the limit, by its trial */
    double pending, about[2]; /* indices of a body and of its centre whose orbit must be found again
                                 at the next check; NaN: none */
    double few;               /* 1: the period of the orbit had too few steps; or 0 */
    /* The step, or value of the integrator's key, with which a trial held; NaN: none. */
    double holds;
};

/*
 * The state of one system. If a single body has mass, the energy of the system says nothing: then
 * at each check the worst of the specific energies of its test bodies, the bodies without mass,
 * judges the system, and the sizes of their changes make its history.
 */
struct record {
    struct level level;               /* the energy of the system */
    double by_tests;                  /* 1: judged by its test bodies, whose levels follow */
    double largest_error, error_time; /* |E - E0| / scale, and the time when it was found */
    double largest_judged;            /* the largest `judged` of a deviation (watch-energy.h) */
    double error_body;  /* id of the test body that had `largest_error`; NaN: the system's */
    double first_error; /* the time when the error was first beyond the limit; NaN: never */
    double hiding;      /* watch_hiding() at that time if only |U| showed the error; else 0 */
    struct close_pair offending; /* the faster of the fastest pairs at the checks before and after
                                    `first_error` */
    double windows[WINDOWS];     /* sums of (E - E0) / scale over the checks in each window */
    double inertia, virial;      /* sums of I and |W| over all checks */
    double time; /* time of the last mark, from which changes within JUMP_STEPS are counted */
    double large_changes;      /* number of changes within JUMP_STEPS that were too large */
    double first_jump;         /* the time of the first such change */
    double sudden;             /* how many of these changes were seen to be jumps */
    double jumped_body;        /* id of the test body of the first such change; NaN: the system's */
    double largest_jump;       /* the largest of these changes, over scale */
    struct close_pair jumped;  /* the faster of the fastest pairs at the checks before and after the
                                  first such change */
    double next_search;        /* step from which to look for the fastest pair again */
    struct close_pair last;    /* the pair that the last search found */
    struct close_pair fastest; /* the fastest pair of all checks */
    double warned;             /* 1: the warning of too large a step was about this system; or 0 */
    /* The largest error of the forces that an audit found, and its time; 0: none. */
    double force_error, force_time;
    struct bound_record bound;
};

/*
 * The steps at which the energy is judged. They depend on nothing but the number of bodies in all
 * systems, so that the verdict is the same whatever else is measured, and when. The stride between
 * them grows with the steps done: from strides[k] to strides[k + 1] when checks * strides[k + 1]
 * steps are done, which is a multiple of both. Few bodies are checked often, since their worst
 * moments are short and a check costs them little.
 */
struct pace {
    uint64_t checks;
    size_t count;
    uint64_t strides[8];
};

struct watch {
    uint64_t every;
    /* Limits over the scale of the energy; infinite: none. */
    double energy_error, energy_drift, energy_jump;
    double orbit_error; /* limit of the orbits of bound bodies; infinite: none */
    double noise, least_steps;
    struct force_options force; /* options of the run's forces */
    enum on_jump on_jump;
    bool method_drifts;   /* not symplectic, with fixed steps and of order 1: its error is drift */
    double advised_steps; /* advised steps in a period; 0 if the integrator chooses its own */
    const struct integrator *integrator;
    size_t count;       /* bodies of a system */
    bool chooses_steps; /* the integrator chooses its own steps: dt says nothing about them */
    const struct pace *pace;
    bool looks; /* the energy is also looked at between two steps of this pace, where pairs pass
                   pericentres */
    const struct units *units;   /* units of the run, for texts */
    const struct bodies *bodies; /* bodies of the run, borrowed, for their names */
    double dt, end;              /* step and end of the run, in the unit of time */
    bool may_hide; /* fast bodies may hide what happens to bound ones, and U is that of pairs alone
                    */
    bool turns; /* the frame of the coordinates rotates: velocities in it do not give the ellipses
                   of orbits */
    size_t systems;
    struct history *history; /* owns the numbers of the records and levels as well */
    struct record *records;
    size_t test_count;    /* levels of each system, for all its bodies; 0: no system needs them */
    struct level *levels; /* [systems x test_count], of the test bodies */
    size_t length;        /* of history, records and levels together, in reals */
};

/* Writes "bodies 3 and 7, 0.01 apart at t = 2, where a circular orbit would take 12 steps (200 are
 * advised)"; the advice only if there are fewer steps than advised, and no steps if the integrator
 * chooses its own. Returns `buffer`. */
enum { CLOSE_PAIR_TEXT_SIZE = 320 };
const char *close_pair_text(const struct watch *watch, const struct close_pair *pair,
                            char buffer[CLOSE_PAIR_TEXT_SIZE]);

/* Tells whether the run's force method leaves a part of the forces out, up to an error that the
 * config asks for. */
static inline bool watch_asks(const struct watch *watch)
{
    return force_traits(&watch->force).truncation > 0.0;
}

/* Return rows of findings of a system: the largest error of the forces that an audit found; and the
 * steps in the period of the fastest pair, over 2 pi, which cause a warning at most. */
struct finding watch_row_of_forces(const struct watch *watch, const struct record *record);
struct finding watch_row_of_pair(const struct watch *watch, const struct record *record);

#endif
