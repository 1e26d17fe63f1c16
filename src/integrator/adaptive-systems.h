/*
 * The state that all integrators with steps of their own keep of the systems of a run, beside the
 * bodies: some arrays and a clock for each. Here these go through checkpoints and from one run to
 * another, and report the work of the integrator. Such an integrator begins its own struct with a
 * struct adaptive_systems, and takes these functions into its class.
 */
#ifndef ORRERY_INTEGRATOR_ADAPTIVE_SYSTEMS_H
#define ORRERY_INTEGRATOR_ADAPTIVE_SYSTEMS_H

#include "integrator/adaptive.h"

enum adaptive_outcome {
    ADAPTIVE_DONE,
    ADAPTIVE_TOO_SMALL,  /* a step would be below the floor */
    ADAPTIVE_NOT_FINITE, /* a force is not */
    ADAPTIVE_INTERRUPTED /* in the midst of an advance, which will be undone */
};

/* The clock of one system, since the beginning of the run. All members are doubles, so that a
 * checkpoint has one array of them; an integrator leaves 0 in those that it has no use for. */
struct adaptive_clock {
    double time, time_low; /* t + t_low since the start of the run */
    double step;           /* to be tried next; of blocks: that was asked for in vain */
    double last;           /* done last; 0 before the first one */
    double known;          /* 1: the forces that the next step begins from are known */
    double limiting;       /* the body that limits `step`; from 0 */
    double grid, dt;       /* grid steps so far, and their length; 0 before the first */
    /* The work up to now; a sum is the force on a body by all others, or the part of it that was
     * computed. */
    double steps, rejections, sums;
    double smallest, pair[2]; /* step, and the two bodies behind it; from 0 */
    double stuck;             /* enum adaptive_outcome: why it cannot go on */
    double tolerance;         /* of the forces on blocks: see jerk.h */
};

struct adaptive_systems;

/* The differences between the integrators in this module. */
struct adaptive_method {
    const struct adaptive_class *class_;
    const char *name;
    size_t arrays; /* of `stride` numbers, for each system */
    /* Tells whether a run could have written the numbers of system s. Clocks have been checked. */
    bool (*makes_sense)(const struct adaptive_systems *all, size_t s);
    /* STATUS_NUMERICAL: why system s cannot go on, and since when. */
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
    /* The same, positions and velocities as they were before an advance, which goes back to them
     * where it is interrupted. NULL: nothing interrupts it. */
    double *before;
    struct adaptive_clock *clocks_before;
};

/* For every system of the bodies, all zero but for the smallest step. STATUS_MEMORY; what was
 * allocated is for adaptive_systems_clear() in any case. */
enum status adaptive_systems_init(struct adaptive_systems *all,
                                  const struct adaptive_method *method,
                                  const struct physics *physics, struct bodies *bodies,
                                  struct error *error);
void adaptive_systems_clear(struct adaptive_systems *all);

/* Returns the bytes of the arrays and clocks, and of their copy from before an advance. */
double adaptive_systems_bytes(const struct adaptive_method *method, double systems, double count);

/* [method->arrays][stride] */
double *adaptive_systems_arrays(const struct adaptive_systems *all, size_t s);

/* From here on grid steps are dt long; those so far count in its units. */
void adaptive_clock_fit(struct adaptive_clock *clock, double dt);

/* The motion cannot go on because a copy, whose clock this is, could not: takes over what it
 * asked for, and when. */
void adaptive_clock_copy_failure(struct adaptive_clock *clock, const struct adaptive_clock *copy);

/* Around an advance: remembers the state; and where the advance was interrupted brings it back,
 * with STATUS_STOPPED. Otherwise the result is that of adaptive_systems_check(). */
void adaptive_systems_begin(const struct adaptive_systems *all);
enum status adaptive_systems_end(const struct adaptive_systems *all, struct error *error);

/* Tells whether all of them can go on. Describes the first one that cannot. */
enum status adaptive_systems_check(const struct adaptive_systems *all, struct error *error);

/* STATUS_NUMERICAL: which pair of a system asks for a step that is too small. `why` says for what,
 * as in "which t no longer resolves". */
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
