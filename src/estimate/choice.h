/*
 * The choice of an integrator and its steps for a run that asks for an error
 * (estimate/accuracy-target.h). choice_make() makes it: some candidates are tried by pilots
 * (estimate/pilot.h), which tell the error of each at the end and its cost; choice_take_cheapest()
 * takes the cheapest that keeps the error, and choice_after_miss() another one where a run misses
 * it. A choice depends on the config and the program alone: costs are counted, never timed.
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

/* A setting with what is expected of it. */
struct candidate {
    struct setting setting;
    double error; /* at the end of the run; of orbits, when they are to be accurate */
    double cost;  /* of the motion of the whole run, see integrator_time() */
    double least; /* the smallest error that is expected after a pilot of this integrator */
    double part;  /* of the run that the pilot with this setting saw, or of what decides about
                     orbits; 0: by those of others */
    double
        carried; /* when roundings will have ended the accuracy of orbits, by pilots; or INFINITY */
    bool tried;  /* a pilot of it moved, or failed at once; else they would take too long */
    bool keeps;  /* the error that is asked for */
    char why[96]; /* it cannot be taken; "" */
};

enum { CHOICE_CANDIDATES = 4, CHOICE_ATTEMPTS = 8 /* at most */ };

struct choice {
    struct accuracy_target target;
    size_t count, chosen;
    struct candidate candidates[CHOICE_CANDIDATES];
    double pilots;    /* work of all of them */
    double expected;  /* work of the run by the first choice */
    json_t *attempts; /* that missed the error: a list for run.json; or NULL */
};

/* Size of the text about a run that costs far more than was expected, see run/attempt.h. */
enum { CHOICE_DEARER_SIZE = 320 };

/* To be destroyed in any case where there are attempts. */
void choice_destroy(struct choice *choice);

/* --- the candidates: choice-candidates.c ------------------------------------------------------ */

struct experiment;

/* The properties of the start by which candidates are listed, in the order in which they are tried.
 */
struct choice_start {
    bool hidden;     /* no close encounter decides the steps: softening is longer, or there are no
                        bodies that meet by chance */
    double collapse; /* part of the run until a cold system has fallen in; 0: none does */
};

/* Puts the candidates into `choice`. STATUS_MEMORY, STATUS_UNAVAILABLE, STATUS_STOPPED. */
enum status choice_list_candidates(const struct experiment *experiment, const struct config *config,
                                   struct choice *choice, struct choice_start *start,
                                   struct error *error);

/* --- the choice: choice.c --------------------------------------------------------------------- */

/* The work of all pilots together, in pair interactions of a direct sum: as much in any case, or
 * that part of the run's where it is more. */
struct choice_limits {
    double work, part;
};

/* A second or two, or a tenth of the run. */
extern const struct choice_limits choice_usual_limits;

/* Makes the choice of integrator and step. STATUS_CONFIG, at time.energy_error, where nothing keeps
 * the error; what experiment_create() and pilots report. `choice` is to be destroyed in any case.
 */
enum status choice_make(const struct config *config, const struct choice_limits *limits,
                        struct interruption *interruption, struct choice *choice,
                        struct error *error);

/* Names the softening with which encounters would take fewer steps: "a larger physics.softening",
 * or "physics.softening > 0" where there is none. */
const char *choice_softer(double softening);

/* Chooses the cheapest that keeps the error; false where none does. */
bool choice_take_cheapest(struct choice *choice);

/* --- finer, and to and from run.json: choice-refine.c ----------------------------------------- */

/* ", until t = 12.3, where roundings of double precision end it" where orbits cannot be accurate
 * for as long as they should; else "". */
enum { CHOICE_CARRIED_SIZE = 192 };
const char *choice_carried_text(const struct choice *choice, char buffer[CHOICE_CARRIED_SIZE]);

/* Makes what was chosen finer after it was off by `error` at a part of the run, and had done that
 * work; and others by as much where the same may befall them. The error of orbits is that which is
 * expected at the time until which they are to be accurate, and does not grow after the part. */
void choice_refine(const struct config *config, double part, double error, double work,
                   struct choice *choice);

/* The error of the energy that goes with that of the target, by which methods are compared before
 * any is tried. */
double choice_usual_error(const struct accuracy_target *target);

/* The error that may be expected where that of `target` is to be kept: less where only a part of
 * the run was seen. */
double choice_error_aim(const struct accuracy_target *target, bool whole);

/* The error grows like t^growth at least. */
double choice_error_growth(const struct integrator *integrator);

/* The factor in the number of steps that changes the error by `factor`. */
double choice_steps_factor(const struct integrator *integrator, double factor);

/* Another choice after a run with this one that was off by `error` after the part of the run;
 * false: there is none. Notes the attempt, with its work. */
bool choice_after_miss(const struct config *config, double part, double error, double work,
                       struct choice *choice);

/* For run.json, and back: false where it is no choice. */
json_t *choice_json(const struct choice *choice);
bool choice_of_json(const json_t *json, struct choice *choice);

/* The config as it was for a run of which this is the choice, or NULL: there is none, or nothing
 * was to be chosen. */
enum status choice_recall(const json_t *json, const struct config *config, struct config **recalled,
                          struct error *error);

#endif
