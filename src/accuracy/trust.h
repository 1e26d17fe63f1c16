/*
 * Trust until t: how long the orbits of a run are those of the system, and how long another machine
 * would find the same ones. Up to two shadows of every system (keys trust.shadow and
 * trust.half_step) are carried along until they can find nothing more:
 *
 *   the twin starts a rounding error away and shows how errors grow;
 *   the fine one starts at the same place and takes half the step: its distance from the run shows
 *   the error of the step.
 *
 * Both are compared with the bodies whenever the diagnostic of this file, whose rows are trust.csv,
 * is measured. shadow.h advances the shadows, and asks functions of this file whether to drop one
 * (trust_is_done()) or to bring a twin nearer (trust_take_nearing()). See docs/theory.md.
 */
#ifndef ORRERY_ACCURACY_TRUST_H
#define ORRERY_ACCURACY_TRUST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"
#include "diagnostics/diagnostic.h"
#include "integrator/integrator.h"
#include "model/bodies.h"

extern const struct parameter trust_parameters[]; /* the keys of the config's group `trust` */
extern const size_t trust_parameter_count;

enum trust_shadow { TRUST_TWIN, TRUST_FINE, TRUST_SHADOWS };
/* The number of steps that a shadow takes in one step of the run. */
extern const unsigned trust_steps[TRUST_SHADOWS];

/* The forces of the run at its start, on a sample of ACCURACY_SAMPLE bodies (force/accuracy.h). */
struct trust_force {
    double scale; /* root mean square of the accelerations */
    double error; /* rms of their rounding errors, over `scale`; with fmm by force_traits() */
};

/*
 * Creates the diagnostic "trust" of a run, which diagnostic_destroy() destroys. On a restart the
 * state of the diagnostic is loaded afterwards: the positions and velocities of `start` and the
 * values of `force`, which only decide how that state begins, do not matter. STATUS_MEMORY.
 */
enum status trust_create(const struct section *section, const struct moment *start,
                         const struct integrator *integrator, const struct trust_force *force,
                         struct diagnostic **trust, struct error *error);

/* Tells whether a column of trust.csv is a horizon: a time until which orbits are accurate or
 * reproducible. Such a column is infinite until the horizon is reached, so that a criterion of
 * `expect` with `at_least` holds before. */
bool trust_is_horizon(size_t column);

/* Sets the bodies of a shadow, which are borrowed: the shadow of system s is the system slots[s] of
 * `bodies`, or slots[s] is TRUST_NOT_CARRIED, since it could find nothing more and was dropped. If
 * `bodies` and `slots` are NULL, no system has this shadow. */
enum { TRUST_NOT_CARRIED = -1 };
void trust_show(struct diagnostic *trust, enum trust_shadow shadow, const struct bodies *bodies,
                const int64_t *slots);

/* Returns the length by which each body of a system's twin, the shadow that shows how errors grow,
 * is displaced at the start. */
double trust_displacement(const struct diagnostic *trust, size_t system);

/* Tells whether the shadow of a system can find nothing more, since the error that it measures has
 * reached trust.tolerance. */
bool trust_is_done(const struct diagnostic *trust, enum trust_shadow shadow, size_t system);

/* Returns the factor by which the distance of a system's twin from the run is to be multiplied
 * before the next step; 1: the twin stays. The factor is handed out once: the next answer is 1. */
double trust_take_nearing(struct diagnostic *trust, size_t system);

/* Notes that the shadow of a system has numbers that are not finite, or can take no further step:
 * from now on it counts as infinitely far from the run. */
void trust_lose(struct diagnostic *trust, size_t system, enum trust_shadow shadow);

/*
 * The outlook of a run whose orbits shall be accurate until a given time: that of the system, or of
 * the orbit within a system, that misses the accuracy or, if none or several do, has the largest
 * error. Errors after the last sample are extrapolated by the growth that was seen. Accuracy is due
 * for at most nine tenths of the time in which rounding errors in double precision reach
 * trust.tolerance. Until then they are still small: they grow from 1e-16 to 0.01, some e^30 times,
 * so by a factor of e in a thirtieth of that time.
 */
#define TRUST_CARRIED_PART 0.9
struct trust_outlook {
    double carried;  /* time when rounding errors reach the tolerance, past or extrapolated */
    double bound;    /* time until which the accuracy is due: the time that was asked for, or
                        TRUST_CARRIED_PART of `carried` if that is less */
    double accurate; /* time when the error reached the tolerance; INFINITY: not yet */
    double error;    /* error of positions expected at `bound`, over the size of system or orbit */
    bool missed;     /* the error reached the tolerance while the accuracy was due */
    bool whole;      /* every system was seen until the time asked for, or until its roundings
                        reached the tolerance */
    size_t system;   /* the system to which all this belongs, from 0 */
};

struct trust_outlook trust_outlook(const struct diagnostic *trust, double asked);

/* Returns the number of steps of all shadows up to the last sample, over that of the run. */
double trust_cost(const struct diagnostic *trust);

/* Writes "accurate until t = 12, reproducible until t = 31, e-folding time 1.2 +- 0.1", for several
 * systems with their medians, and returns `buffer`. A horizon that is not reached is said to be
 * beyond `time`, or beyond the last sample if that was earlier. */
enum { TRUST_TEXT_SIZE = 640 };
const char *trust_text(const struct diagnostic *trust, double time, char buffer[TRUST_TEXT_SIZE]);

/* Returns an object for run.json, a new reference. A horizon that is not yet reached is null. */
json_t *trust_json(const struct diagnostic *trust, double time);

#endif
