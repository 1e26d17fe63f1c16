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
    double steps; /* steps in a circular orbit of that size, over 2 pi; infinite: no pair */
    double time;
};

extern const struct close_pair close_pair_none;

/* Finds the pair with the shortest orbital period at this moment. STATUS_MEMORY. */
enum status close_pair_find(const struct moment *now, size_t system, struct close_pair *pair,
                            struct error *error);

enum on_jump { ON_JUMP_WARN, ON_JUMP_FAIL, ON_JUMP_STOP };

/* The most bodies in all systems together with which the energy is judged often; and the most
 * bodies of one system whose fastest pair is sought at every check. */
enum { FEW_BODIES = 64 };
enum { JUMP_STEPS = 1000 }; /* steps within which a change is judged; a multiple of every stride */

/* The history of the energy error is kept as means over WINDOWS windows (equal parts of the run so
 * far). When all are full, each two are joined, so that the history has a fixed size. A drift is
 * sought once LEAST_WINDOWS are full. */
enum { WINDOWS = 16, LEAST_WINDOWS = WINDOWS / 2 };

/* The part of the history that all systems share, since they are judged at the same steps. All
 * members of this and of the following structs are doubles, as checkpoints save them. */
struct history {
    double judged; /* the last step at which the energy was judged; -1: none */
    double seen;   /* the last step at which the energy was judged or looked at, see `look` */
    /* The next step between two judged ones at which the energy is looked at (watch-check.c), -1:
     * none; the number of such looks so far. */
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
    double beyond;  /* step since which all changes were beyond the limit; NaN: the last was not */
    double deepest; /* the largest |U| so far */
};

/* The findings about the orbits of bound bodies (watch-bound.h). A trial is a short integration of
 * an orbit that measures the error of the run's method in it. */
struct bound_record {
    double work;  /* pair interactions of all trials of orbits so far */
    double next;  /* step from which an orbit is tried again */
    double tried; /* steps in the pericentre passage of the orbit that was tried last; NaN: none */
    /* rate of the steady energy drift that the last trial found: energy by the run's method less
     * that by gauss-radau, over the orbit's |E|, per unit of time; 0 if the method is symplectic,
     * or if no orbit is in doubt */
    double rate;
    double drift, drift_time; /* change of the energy by `rate`, over |E|, until drift_time */
    double error;             /* the largest error of a trial so far or, if larger, |drift| */
    double body, centers[2];  /* ids of body and centre of that orbit; NaN: none */
    double steps;             /* steps in the period of that orbit */
    double time;              /* time at which that orbit had this error */
    double first;             /* the time when an orbit was first beyond the limit; NaN: never */
    double due; /* time when the orbit passes the limit, as its trial foresees; may lie ahead */
    double pending, about[2]; /* indices of a body and of its centre whose orbit must be found again
                                 at the next check; NaN: none */
    double few;               /* 1: the orbit has too few steps in a period to be tried; else 0 */
    /* The step, or value of the integrator's key, whose trial kept within the limit; NaN: none. */
    double holds;
};

/*
 * The state of one system. If a single body has mass, the energy of the system says nothing: then
 * at each check the worst of the specific energies of its test bodies, the bodies without mass,
 * judges the system, and the sizes of their changes make its history.
 */
struct record {
    struct level level; /* the energy of the system */
    double own; /* |U| at the start of a cluster that moves in external fields or about the heaviest
                   body, without these; INFINITY if there is no such cluster */
    double by_tests; /* 1: judged by its test bodies (watch->levels); 0: by `level` */
    double largest_error, error_time; /* |E - E0| / scale, and the time when it was found */
    double largest_judged; /* largest such error so far as it is judged: less in encounters, more
                              beside fast bodies (struct watch_deviation) */
    double error_body;     /* id of the test body that had `largest_error`; NaN: the system's */
    double first_error;    /* the time when the error was first beyond the limit; NaN: never */
    double hiding; /* if the first error beyond the limit was so only over the largest |U|, since
                      fast bodies make `scale` large: scale / |U| then (watch_hiding()); else 0 */
    struct close_pair offending; /* fastest pair at `first_error` or the check before */
    double windows[WINDOWS];     /* sums of (E - E0) / scale over the checks in each window */
    double inertia, virial;      /* sums of I and |W| over the checks of the history */
    double time; /* time of the last mark, from which changes within JUMP_STEPS are counted */
    double large_changes;      /* number of changes within JUMP_STEPS beyond watch.energy_jump */
    double first_jump;         /* the time of the first such change */
    double sudden;             /* how many of these changes were seen to be jumps */
    double jumped_body;        /* id of the test body of the first such change; NaN: the system's */
    double largest_jump;       /* size of the largest of these changes, over scale */
    struct close_pair jumped;  /* fastest pair at `first_jump` or the check before */
    double next_search;        /* step from which to look for the fastest pair again */
    struct close_pair last;    /* the pair that the last search found */
    struct close_pair fastest; /* the fastest pair of all checks */
    double warned; /* 1: the run's one warning of too large a step named this system; or 0 */
    /* The largest relative error of the forces that was measured, its standard error, and its time;
     * 0: none. */
    double force_error, force_uncertainty, force_time;
    struct bound_record bound;
};

/*
 * The steps at which the energy is judged. They depend on nothing but the number of bodies in all
 * systems, so that the verdict does not depend on what else is measured, and when. From one judged
 * step to the next is a stride, which grows from strides[k] to strides[k + 1] once checks *
 * strides[k + 1] steps are done, a multiple of both. Few bodies are checked often, since their
 * worst moments are short and a check costs little.
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
    bool method_drifts; /* not symplectic, fixed steps, order 1: the whole energy error is drift */
    double advised_steps; /* advised steps in a period; 0 if the integrator chooses its own */
    const struct integrator *integrator;
    size_t count;       /* bodies of a system */
    bool chooses_steps; /* the integrator chooses its own steps: dt says nothing about them */
    const struct pace *pace;
    bool looks; /* the energy is also looked at when bound pairs pass pericentres (watch-check.c) */
    const struct units *units;     /* units of the run, for texts */
    const struct physics *physics; /* physics and bodies of the run, borrowed */
    const struct bodies *bodies;
    double dt, end; /* step and end of the run, in the unit of time */
    bool may_hide;  /* fast bodies may have so much energy that errors of bound ones do not show
                       beside it, and |U|, which is that of pairs alone, can serve as a scale */
    bool turns; /* the frame of the coordinates rotates: velocities in it do not tell the orbits */
    size_t systems;
    struct history *history; /* owns the numbers of the records and levels as well */
    struct record *records;
    size_t test_count; /* levels of each system: one for each body, or 0 if no system needs any */
    struct level *levels; /* [systems][test_count], of the test bodies */
    size_t length;        /* number of doubles in history, records and levels together */
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

/* Return rows of findings of a system: the largest error of the forces; and the steps in the period
 * of the fastest pair, over 2 pi, which cause a warning at most. */
struct finding watch_row_of_forces(const struct watch *watch, const struct record *record);
struct finding watch_row_of_pair(const struct watch *watch, const struct record *record);

#endif
