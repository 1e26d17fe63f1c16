/*
 * The choice of an integrator and its steps for a run whose config asks for an accuracy
 * (estimate/accuracy-target.h). choice_make() makes it: it tries some candidates by pilot runs,
 * which are copies that move through a part of the run (estimate/pilot.h); they predict the error
 * of each candidate at the end of the run, and its cost. choice_take_cheapest() takes the cheapest
 * candidate that keeps the error, and choice_after_miss() another one if the run misses it. A
 * choice depends only on the config and the program: costs are counted, never timed.
 */
#ifndef ORRERY_ESTIMATE_CHOICE_H
#define ORRERY_ESTIMATE_CHOICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/interruption.h"
#include "base/status.h"
#include "estimate/accuracy-target.h"
#include "estimate/setting.h"
#include "force/method.h"

/* A setting (integrator and steps, estimate/setting.h), with the error and the cost that are
 * expected of it. */
struct candidate {
    struct setting setting;
    double error; /* error expected at the end of the run; for orbits, at the time until which they
                     must be accurate */
    /* Computing time of the motion in the whole run, as the number of pairs that a direct sum sums
     * in it (integrator_time()). */
    double cost;
    double least; /* smallest `error` by pilot runs of this integrator */
    double part;  /* part of the run that a pilot run with this setting saw, 1 if that was all that
                     decides about the error; 0: `error` follows from other settings' pilot runs */
    double carried; /* time when, by pilot runs, rounding errors will have ended the accuracy of
                       orbits; INFINITY: not in the run, or no orbits are asked for */
    bool tried; /* a pilot run of this integrator has moved, or has failed at once; false: it would
                   have taken too long */
    bool keeps; /* the setting is expected to keep the error that is asked for */
    char why[96]; /* why this integrator cannot be taken, in words; "" if it can */
};

enum { CHOICE_CANDIDATES = 4, CHOICE_ATTEMPTS = 8 /* the most of each */ };

struct choice {
    struct accuracy_target target;
    size_t count, chosen;
    struct candidate candidates[CHOICE_CANDIDATES];
    double pilots;    /* work of all pilot runs, in pair interactions */
    double expected;  /* work of the run that was expected when it was first chosen */
    json_t *attempts; /* list for run.json of runs that missed the error; NULL: none */
};

/* Size of the text about a run far costlier than expected: attempt_cost_text() in run/phases.h. */
enum { CHOICE_DEARER_SIZE = 320 };

void choice_destroy(struct choice *choice);

/* --- the candidates: choice-candidates.c ------------------------------------------------------ */

struct experiment;

/* The properties of the start that decide in which order candidates are tried. */
struct choice_start {
    bool hidden;     /* close encounters do not decide the steps: softening is longer than their
                        distance, or there are at most three bodies */
    double collapse; /* part of the run after which all cold systems that collapse in it have done
                        so; or 0 */
};

/* Puts the candidates into `choice`, in the order in which they are tried, and fills *start.
 * STATUS_CONFIG, at time.energy_error, if it is known already that none of them keeps the error;
 * STATUS_MEMORY, STATUS_UNAVAILABLE, STATUS_STOPPED. */
enum status choice_list_candidates(const struct experiment *experiment, const struct config *config,
                                   struct choice *choice, struct choice_start *start,
                                   struct error *error);

/* Returns the words for what would make forces more exact that are not as exact as those by direct
 * sums in double precision: "take compute.precision = "double"", for instance. */
const char *choice_exacter(const struct force_options *force);

/* --- the choice: choice.c --------------------------------------------------------------------- */

/* The largest work of all pilot runs together: `work` pair interactions of a direct sum, or the
 * part `part` of the run's work if that is more. */
struct choice_limits {
    double work, part;
};

/* The usual limits: a second or two, or a tenth of the run. */
extern const struct choice_limits choice_usual_limits;

/* Makes the choice of integrator and step. STATUS_CONFIG, at time.energy_error or time.trust_until,
 * if no candidate keeps the error; and the errors of experiment_create() and of pilot runs. The
 * caller destroys `choice` in any case. */
enum status choice_make(const struct config *config, const struct choice_limits *limits,
                        struct interruption *interruption, struct choice *choice,
                        struct error *error);

/* Returns the words for a softening length with which close encounters would need fewer steps: "a
 * larger physics.softening", or "physics.softening > 0" if `softening` is 0. */
const char *choice_softer(double softening);

/* Chooses the cheapest candidate that keeps the error; returns false if none does. */
bool choice_take_cheapest(struct choice *choice);

/* --- finer, and to and from run.json: choice-refine.c ----------------------------------------- */

/* Returns "; double precision carries them until about t = 12.3, and no setting further" ("them":
 * the orbits) if rounding errors end their accuracy before the time that is asked for; else "". */
enum { CHOICE_CARRIED_SIZE = 192 };
const char *choice_carried_text(const struct choice *choice, char buffer[CHOICE_CARRIED_SIZE]);

/* Makes the chosen setting finer after a run with it has had an error of `error` at the part `part`
 * of the run and has done `work`; and makes settings of other candidates finer by as much where the
 * same may happen. For orbits `error` is the error expected at the time until which they must be
 * accurate, and is not extrapolated. */
void choice_refine(const struct config *config, double part, double error, double work,
                   struct choice *choice);

/* Returns the energy error by which integrators are compared before any is tried: that of the
 * target, or 1e-10 if the target is the accuracy of orbits. */
double choice_usual_error(const struct accuracy_target *target);

/* Returns the largest expected error with which a setting counts as keeping `target`: less than
 * target->asked, above all for orbits, or if pilot runs saw only a part of the run (`whole` is
 * false). */
double choice_error_aim(const struct accuracy_target *target, bool whole);

/* Returns the exponent g of the least growth t^g of the integrator's error with the time. */
double choice_error_growth(const struct integrator *integrator);

/* Returns the factor in the number of steps that divides the integrator's error by `factor`. */
double choice_steps_factor(const struct integrator *integrator, double factor);

/* Notes an attempt at the run that had an error of `error` at the part `part` of the run and had
 * done `work`, and makes another choice; false if none is left, if CHOICE_ATTEMPTS are done, or if
 * choice_is_limited(). */
bool choice_after_miss(const struct config *config, double part, double error, double work,
                       double force_error, struct choice *choice);

/* Tells whether the relative error of the forces, `force_error` (0: they are exact), is what keeps
 * the energy error from falling: the last attempt had steps shorter than those of an earlier one
 * and was no nearer to the end, with an error no smaller and less than that of the forces. False
 * for orbits. */
bool choice_is_limited(const struct choice *choice, double force_error);

/* Return the choice for run.json, and read it back; false if `json` is no choice. */
json_t *choice_json(const struct choice *choice);
bool choice_of_json(const json_t *json, struct choice *choice);

/* Makes *recalled, the config with the choice that the run.json `json` records; NULL if it records
 * none, or if `config` leaves nothing to be chosen. */
enum status choice_recall(const json_t *json, const struct config *config, struct config **recalled,
                          struct error *error);

#endif
