/*
 * Trust until t: how long the orbits of a run are those of the system, and how long another machine
 * would find the same ones. Every system has two shadows that are carried along:
 *
 *   the twin starts a rounding error away and shows how errors grow;
 *   the fine one starts at the same place and takes half the step: what parts them is the error of
 *   the step, and grows as errors do.
 *
 * Both are compared with the bodies as a diagnostic is measured: its rows are trust.csv. Who
 * carries the shadows along asks here what is to be done with them. See docs/theory.md.
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

extern const struct parameter trust_parameters[]; /* of the group `trust` */
extern const size_t trust_parameter_count;

enum trust_shadow { TRUST_TWIN, TRUST_FINE, TRUST_SHADOWS };
extern const unsigned trust_steps[TRUST_SHADOWS]; /* of a shadow in one of the run */

/* The forces of the run at its start. */
struct trust_force {
    double scale; /* root mean square of the accelerations */
    double error; /* that of their errors, over it */
};

/*
 * The diagnostic of a run, named "trust"; diagnostic_class destroys it. On a restart `start` and
 * `force` do not matter: what follows from them is in the state. STATUS_MEMORY.
 */
enum status trust_create(const struct section *section, const struct moment *start,
                         const struct integrator *integrator, const struct trust_force *force,
                         struct diagnostic **trust, struct error *error);

/* Tells whether it is a horizon. Such a column is infinite until it is reached, so that `at_least`
 * holds before. */
bool trust_is_horizon(size_t column);

/* The shadow to measure with, borrowed: that of system s is the system slots[s] of `bodies`, or it
 * is not carried along any more (TRUST_NOT_CARRIED), since it has told all. NULL: that of no
 * system. */
enum { TRUST_NOT_CARRIED = -1 };
void trust_show(struct diagnostic *trust, enum trust_shadow shadow, const struct bodies *bodies,
                const int64_t *slots);

/* The length that bodies of the twin are displaced by at the start; a length. */
double trust_displacement(const struct diagnostic *trust, size_t system);

/* Tells whether the shadow of a system can find nothing more. */
bool trust_is_done(const struct diagnostic *trust, enum trust_shadow shadow, size_t system);

/* By how much the twin of a system is to be brought nearer before the next step; 1: it stays. It is
 * asked once: the next answer is 1. */
double trust_take_nearing(struct diagnostic *trust, size_t system);

/* The shadow of a system is no longer finite; it counts as infinitely far away from now on. */
void trust_lose(struct diagnostic *trust, size_t system, enum trust_shadow shadow);

/*
 * The outlook of a run that is asked for orbits that are accurate until some time: of the system,
 * or of the orbit within one, that is the farthest from it. What lies ahead is told by the growth
 * that was seen. Double precision lets the accuracy last for nine tenths of the time until
 * roundings end it: there they are small, since they grow by e in a thirtieth of that time.
 */
#define TRUST_CARRIED_PART 0.9
struct trust_outlook {
    double carried;  /* when roundings will reach, or have reached, the tolerance */
    double bound;    /* the accuracy is due until then: the time that was asked for, or this part of
                        `carried`, if that is less */
    double accurate; /* until then it is; INFINITY: it has been so far */
    double error;    /* expected at `bound`, over the size */
    bool missed;     /* it was accurate for less long than it should */
    bool whole;      /* all that decides that was seen, of every system */
    size_t system;   /* whose all this is, from 0 */
};

struct trust_outlook trust_outlook(const struct diagnostic *trust, double asked);

/* Steps of all shadows over those of the run, by the last sample. */
double trust_cost(const struct diagnostic *trust);

/* "accurate until t = 12, reproducible until t = 31, e-folding time 1.2 +- 0.1", with what is not
 * known by `time` as beyond it; of many systems their medians. */
enum { TRUST_TEXT_SIZE = 640 };
const char *trust_text(const struct diagnostic *trust, double time, char buffer[TRUST_TEXT_SIZE]);

/* For run.json; a new reference. A horizon that was not reached by `time` is null. */
json_t *trust_json(const struct diagnostic *trust, double time);

#endif
