/*
 * The part of the state that is common to all integrators that choose their own steps: for each
 * system some arrays and a clock. The functions carry this state through checkpoints and from one
 * simulation to another, and report the work of the integrator. The struct of such an integrator
 * begins with a struct adaptive_systems, and its struct adaptive_class holds these functions.
 */
#ifndef ORRERY_INTEGRATOR_ADAPTIVE_SYSTEMS_H
#define ORRERY_INTEGRATOR_ADAPTIVE_SYSTEMS_H

#include "integrator/adaptive.h"

enum adaptive_outcome {
    ADAPTIVE_DONE,
    ADAPTIVE_TOO_SMALL,  /* a step would be below the least that the integrator allows */
    ADAPTIVE_NOT_FINITE, /* a force is not finite */
    ADAPTIVE_INTERRUPTED /* the run is to stop at once; the advance is undone */
};

/* The clock of one system, since the beginning of the run. All members are doubles, so that a
 * checkpoint can save it as one array; an integrator leaves those at 0 that it does not use. */
struct adaptive_clock {
    double time, time_low; /* time + time_low is the time since the start of the run */
    double step;  /* next step to try; with block steps the step that was too short, if the system
                     cannot go on */
    double last;  /* last step that was taken; 0 before the first one */
    double known; /* 1: the forces at the start of the next step are known */
    double limiting; /* index, within the system, of the body that asks for `step` */
    double grid, dt; /* number of grid steps so far, and their length; both 0 before the first */
    /* The work so far. `sums` counts force evaluations, each of the sum of all pulls on one body; a
     * sum over a part of the pulls, or by fmm, counts as a fraction. */
    double steps, rejections, sums;
    double smallest, pair[2]; /* smallest step so far; indices of the body that asked for it and of
                                 the one that pulled it most */
    double stuck; /* enum adaptive_outcome: why the system cannot go on; ADAPTIVE_DONE: it can */
    double tolerance; /* how coarse the last sums of an approximate force method were (struct jerk,
                         force/jerk.h); 0: not known */
};

struct adaptive_systems;

/* The properties of an integrator that the functions of this header need. */
struct adaptive_method {
    const struct adaptive_class *class_;
    const char *name;
    size_t arrays; /* arrays of a system, each of bodies->stride numbers */
    /* Tells whether a run could have come to the state of system s, which was read from a
     * checkpoint. Members of the clock that all integrators use have been checked before. */
    bool (*makes_sense)(const struct adaptive_systems *all, size_t s);
    /* Sets STATUS_NUMERICAL with a message that says why, and at what time, system s cannot go
     * on. */
    enum status (*describe_stuck)(const struct adaptive_systems *all, size_t s,
                                  struct error *error);
    bool rejects; /* steps that were tried may be rejected, and the clock counts them */
};

struct adaptive_systems {
    struct adaptive adaptive;
    const struct adaptive_method *method;
    const struct physics *physics; /* borrowed, as are the bodies */
    struct bodies *bodies;
    double *arrays;                /* [systems][method->arrays][stride]; padding is 0 */
    struct adaptive_clock *clocks; /* [systems] */
    /* The state when the present advance began, to be restored if it is interrupted: `before` has
     * the arrays, then positions and velocities. NULL: nothing can interrupt an advance. */
    double *before;
    struct adaptive_clock *clocks_before;
};

/* Allocates the state of every system, all 0 except clock.smallest, which is INFINITY.
 * STATUS_MEMORY; the caller calls adaptive_systems_clear() after an error, too. */
enum status adaptive_systems_init(struct adaptive_systems *all,
                                  const struct adaptive_method *method,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct error *error);
void adaptive_systems_clear(struct adaptive_systems *all);

/* Returns the bytes of the arrays and clocks, and of the copies from before an advance, for
 * `systems` systems of `count` bodies. */
double adaptive_systems_bytes(const struct adaptive_method *method, double systems, double count);

/* Returns the arrays of system s: [method->arrays][stride]. */
double *adaptive_systems_arrays(const struct adaptive_systems *all, size_t s);

/* Sets the length of the clock's grid steps to dt. If their length was another, converts the number
 * of grid steps so far, so that the time stays. */
void adaptive_clock_fit(struct adaptive_clock *clock, double dt);

/* Copies time, step and limiting body to the clock of a system from that of its copy, which could
 * not reach the grid point: then the system cannot go on either. */
void adaptive_clock_copy_failure(struct adaptive_clock *clock, const struct adaptive_clock *copy);

/* Begin and end an advance of all systems. The first function copies the state; the second, if the
 * advance was interrupted, restores the copy and returns STATUS_STOPPED, and otherwise returns
 * adaptive_systems_check(). */
void adaptive_systems_begin(const struct adaptive_systems *all);
enum status adaptive_systems_end(const struct adaptive_systems *all, struct error *error);

/* Returns STATUS_OK if all systems can go on; otherwise STATUS_NUMERICAL, with a message about the
 * first system that cannot. */
enum status adaptive_systems_check(const struct adaptive_systems *all, struct error *error);

/* Sets STATUS_NUMERICAL with a message about the pair of bodies of system s that asks for too small
 * a step. `why` ends the sentence with the reason, as in "which t no longer resolves". */
enum status adaptive_systems_describe_pair(const struct adaptive_systems *all, size_t s,
                                           const char *why, struct error *error);

/* Functions of struct adaptive_class for objects that begin with a struct adaptive_systems. */
void adaptive_systems_save(const struct adaptive *adaptive, const struct adaptive_writer *writer);
enum status adaptive_systems_load(struct adaptive *adaptive, const struct adaptive_reader *reader,
                                  struct error *error);
void adaptive_systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                           size_t from_system);
void adaptive_systems_statistics(const struct adaptive *adaptive, size_t system,
                                 struct work_done *statistics);

#endif
