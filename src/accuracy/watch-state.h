/* The state of the watch, for its own sources. */
#ifndef ORRERY_ACCURACY_WATCH_STATE_H
#define ORRERY_ACCURACY_WATCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy/watch.h"
#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"

/* The pair of a system that moves fastest. All members are doubles, as checkpoints save them, and
 * NaN but for `steps` if there was no pair. */
struct close_pair {
    double ids[2];
    double distance;
    double steps; /* in the period of a circular orbit of its size, over 2 pi; infinite: no pair */
    double time;
};

extern const struct close_pair close_pair_none;

/* Finds the pair with the shortest orbital period at this moment. STATUS_MEMORY. */
enum status close_pair_find(const struct moment *now, size_t system, struct close_pair *pair,
                            struct error *error);

enum on_jump { ON_JUMP_WARN, ON_JUMP_FAIL, ON_JUMP_STOP };

enum { FEW_BODIES = 64 };   /* in all; in one system: its fastest pair is sought at every check */
enum { JUMP_STEPS = 1000 }; /* within which a change is judged; a multiple of every stride */

/* The history of the energy is kept as means over WINDOWS windows of equal length. When they are
 * full, each two become one. So its size is fixed, and at least half of them always count. */
enum { WINDOWS = 16, LEAST_WINDOWS = WINDOWS / 2 };

/* The part of the history that all systems share, since they are judged at the same steps. All
 * members of this and of the following structs are doubles, as checkpoints save them. */
struct history {
    double judged;          /* the last step at which the energy was judged; -1: none */
    double seen;            /* the last step at which it was judged or looked at in between */
    double look, looks;     /* the next look in between, -1: none; the number of looks so far */
    double width;           /* of a window, in steps */
    double counts[WINDOWS]; /* checks in each window */
};

/* An energy, of a system or a test body, whose changes are judged, over `scale`. */
struct level {
    double scale;  /* the larger of |E| and |U| at the start */
    double start;  /* the energy at the start */
    double mark;   /* the energy from which its change within JUMP_STEPS is counted */
    double last;   /* the energy at the last check */
    double rate;   /* its change per step between the last two checks; NaN: not known yet */
    double usual;  /* the mean of |U| over the steps so far */
    double beyond; /* the step since which all checks saw it beyond the limit; NaN: it is within */
};

/* The findings about the orbits of bound bodies (watch-bound.h). */
struct bound_record {
    double work;              /* pair interactions of all trials */
    double next;              /* step from which the same body is tried again */
    double tried;             /* steps of the passage of the body that was tried last; NaN: none */
    double rate;              /* of the steady change that the method makes, per unit of time */
    double drift, drift_time; /* the change up to drift_time by that rate */
    double error;             /* of the worst orbit so far, over its potential energy */
    double body, centers[2];  /* ids of that body and of its centre; NaN: none */
    double steps;             /* in the period of that orbit */
    double time;              /* at which that orbit had this error */
    double first;             /* the time when an orbit was first beyond the limit; NaN: never */
    double due;               /* the time when that orbit passes the limit, by its trial */
    double pending, about[2]; /* indices of a body and its centre that are to be found again; NaN */
    double few;               /* 1: the period of the orbit had too few steps; or 0 */
    double holds;             /* the step, or value of the key, whose trial held; NaN: none */
};

/*
 * The state of one system. If a single body has mass, the energy of the system says nothing: then
 * the system is judged at each check by the worst of the specific energies of
 * its test bodies, the bodies without mass, and the sizes of their changes make its history.
 */
struct record {
    struct level level;               /* of the system */
    double by_tests;                  /* 1: judged by its test bodies, whose levels follow */
    double largest_error, error_time; /* |E - E0|, over scale, and when */
    double largest_judged;            /* the largest `judged` of a deviation (watch-energy.h) */
    double error_body;                /* id of the test body that had this error */
    double first_error;               /* the time when it was beyond the limit first */
    struct close_pair offending;      /* the faster of the fastest pairs at the checks before and
                                         after that time */
    double windows[WINDOWS];          /* sums of (E - E0) / scale */
    double inertia, virial;           /* sums of I and |W| over all checks */
    double time;                      /* of the last marks */
    double jumps, first_jump;         /* changes that were too large, and the time of the first */
    double sudden;                    /* how many of them were seen to be jumps */
    double jumped_body;               /* id of the test body that made the first */
    double largest_jump;              /* over scale */
    struct close_pair jumped;         /* the faster of the pairs before and after the first */
    double next_search;               /* step from which to look for the fastest pair again */
    struct close_pair last;           /* the pair that the last search found */
    struct close_pair fastest;        /* the fastest pair of all checks */
    double warned;                    /* 1: its step caused the warning; or 0 */
    double force_error, force_time;   /* the largest that an audit found, and when; 0: none */
    struct bound_record bound;
};

/*
 * The energy is judged at steps that depend on nothing but the number of bodies in all, so that the
 * verdict is the same whatever else is measured, and when. The stride between them grows with the
 * steps done: from strides[k] to strides[k + 1] when checks * strides[k + 1] steps are done, which
 * is a multiple of both. Few bodies are checked often, since their worst moments are short and a
 * check costs them little.
 */
struct pace {
    uint64_t checks;
    size_t count;
    uint64_t strides[8];
};

struct watch {
    uint64_t every;
    double energy_error, energy_drift, energy_jump; /* limits; infinite: none */
    double orbit_error;                             /* of bound bodies, likewise */
    double noise, least_steps;
    struct force_options force; /* of the run */
    enum on_jump on_jump;
    bool symplectic;      /* the method is, or chooses its steps, or has an order above 1 */
    double advised_steps; /* in a period; 0 if the integrator chooses its own */
    const struct integrator *integrator;
    size_t count;       /* bodies of a system */
    bool chooses_steps; /* the integrator does: dt says nothing about its steps */
    const struct pace *pace;
    bool looks; /* at the energy between two steps of this pace, where pairs pass pericentres */
    const struct units *units;   /* of the run, for the text */
    const struct bodies *bodies; /* of the run, borrowed, for their names */
    double dt, end;              /* of the run, in time */
    bool turns; /* the frame does: velocities in it do not give the ellipses of orbits */
    size_t systems;
    struct history *history; /* owns the numbers of the records and levels as well */
    struct record *records;
    size_t test_count;    /* levels of each system, for all its bodies; 0: no system needs them */
    struct level *levels; /* of the test bodies of all systems */
    size_t length;        /* of all these numbers, in reals */
};

/* Writes "bodies 3 and 7, 0.01 apart at t = 2, where a circular orbit would take 12 steps (200 are
 * advised)"; the advice only if there are fewer, and no steps if the integrator chooses its own.
 * Returns `buffer`. */
enum { CLOSE_PAIR_TEXT_SIZE = 320 };
const char *close_pair_text(const struct watch *watch, const struct close_pair *pair,
                            char buffer[CLOSE_PAIR_TEXT_SIZE]);

/* Tells whether the forces of the run leave something out, up to an error that was asked for. */
static inline bool watch_asks(const struct watch *watch)
{
    return force_traits(&watch->force).truncation > 0.0;
}

/* Return rows of a system: the largest error of the forces that an audit found; and the steps in
 * the period of the fastest pair, over 2 pi, which cause a warning at most. */
struct finding watch_row_of_forces(const struct watch *watch, const struct record *record);
struct finding watch_row_of_pair(const struct watch *watch, const struct record *record);

#endif
