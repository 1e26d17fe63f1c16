/*
 * The part of the state that is common to all integrators that choose their own steps: for each
 * system some arrays and a clock. The functions carry it through checkpoints and from one run to
 * another, and report the work of the integrator. The struct of such an integrator begins with a
 * struct adaptive_systems, and its class has these functions.
 */
#ifndef ORRERY_INTEGRATOR_ADAPTIVE_SYSTEMS_H
#define ORRERY_INTEGRATOR_ADAPTIVE_SYSTEMS_H

#include "integrator/adaptive.h"

enum adaptive_outcome {
    ADAPTIVE_DONE,
    ADAPTIVE_TOO_SMALL,  /* a step would be below the floor */
    ADAPTIVE_NOT_FINITE, /* a force is not finite */
    ADAPTIVE_INTERRUPTED /* in the middle of an advance, which will be undone */
};

/* The clock of one system, since the beginning of the run. All members are doubles, so that a
 * checkpoint can save it as one array; an integrator leaves those at 0 that it does not use. */
struct adaptive_clock {
    double time, time_low; /* time + time_low is the time since the start of the run */
    double step;           /* next step to try; of block steps only one that was too short */
    double last;           /* last step that was taken; 0 before the first one */
    double known;          /* 1: the forces at the start of the next step are known */
    double limiting;       /* index in the system of the body that limits `step` */
    double grid, dt;       /* grid steps so far, and their length; 0 before the first */
    /* The work so far. A sum is the force on one body by all others; if a part of it was computed,
     * it counts as a fraction. */
    double steps, rejections, sums;
    double smallest, pair[2]; /* smallest step, and its two bodies (indices) */
    double stuck;             /* enum adaptive_outcome: why the system cannot go on */
    double tolerance;         /* of the forces on a block: see force/jerk.h */
};

struct adaptive_systems;

/* The properties of an integrator that this module needs. */
struct adaptive_method {
    const struct adaptive_class *class_;
    const char *name;
    size_t arrays; /* number of arrays of `stride` numbers for each system */
    /* Tells whether a run could have written the arrays of system s. Its clock has been checked
     * before. */
    bool (*makes_sense)(const struct adaptive_systems *all, size_t s);
    /* Sets STATUS_NUMERICAL with the reason and the time why system s cannot go on. */
    enum status (*describe_stuck)(const struct adaptive_systems *all, size_t s,
                                  struct error *error);
};

struct adaptive_systems {
    struct adaptive adaptive;
    const struct adaptive_method *method;
    const struct physics *physics; /* borrowed, as are the bodies */
    struct bodies *bodies;
    double *arrays;                /* [systems][method->arrays][stride]; padding is 0 */
    struct adaptive_clock *clocks; /* [systems] */
    /* A copy of these, and of positions and velocities, from before an advance, which an
     * interrupted advance restores. NULL: nothing interrupts it. */
    double *before;
    struct adaptive_clock *clocks_before;
};

/* Allocates the state of every system, all 0 except `smallest`, which is INFINITY. STATUS_MEMORY;
 * the caller calls adaptive_systems_clear() in any case. */
enum status adaptive_systems_init(struct adaptive_systems *all,
                                  const struct adaptive_method *method,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct error *error);
void adaptive_systems_clear(struct adaptive_systems *all);

/* Returns the bytes of the arrays and clocks, and of their copy from before an advance. */
double adaptive_systems_bytes(const struct adaptive_method *method, double systems, double count);

/* Returns the arrays of system s: [method->arrays][stride]. */
double *adaptive_systems_arrays(const struct adaptive_systems *all, size_t s);

/* Sets the length of grid steps to dt, and converts the number of those so far to this unit. */
void adaptive_clock_fit(struct adaptive_clock *clock, double dt);

/* Copies time, step and limiting body to `clock` from the clock of a copy of the system that could
 * not go on: the system itself can then not go on either. */
void adaptive_clock_copy_failure(struct adaptive_clock *clock, const struct adaptive_clock *copy);

/* Begin and end an advance. The first remembers the state; the second, if the advance was
 * interrupted, restores it and returns STATUS_STOPPED, and otherwise returns
 * adaptive_systems_check(). */
void adaptive_systems_begin(const struct adaptive_systems *all);
enum status adaptive_systems_end(const struct adaptive_systems *all, struct error *error);

/* Returns STATUS_OK if all systems can go on; otherwise describes the first one that cannot. */
enum status adaptive_systems_check(const struct adaptive_systems *all, struct error *error);

/* Sets STATUS_NUMERICAL with the pair of system s that asks for too small a step. `why` ends the
 * sentence with the reason, as in "which t no longer resolves". */
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
