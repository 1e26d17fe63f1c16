/*
 * The choice of an integrator and its steps for a run that asks for an error (estimate/asked.h):
 * pilots of some settings (estimate/pilot.h) tell the error of each at the end and what it costs,
 * and the cheapest that keeps the error is taken. It depends on the config and the program alone:
 * costs are counted, never timed. The pilots cost at most a tenth of the run, or a second or two.
 */
#ifndef ORRERY_ESTIMATE_SELECTION_H
#define ORRERY_ESTIMATE_SELECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/interruption.h"
#include "base/status.h"
#include "estimate/asked.h"
#include "estimate/setting.h"

/* A setting with what is expected of it. */
struct candidate {
    struct setting setting;
    double error; /* at the end of the run */
    double cost;  /* of the motion of the whole run, see integrator_time() */
    double least; /* the smallest error that a pilot of this integrator lets expect */
    double part;  /* of the run that the pilot with this setting saw; 0: by those of others */
    bool tried;   /* a pilot of it moved, or failed at once; else they would take too long */
    bool keeps;   /* the error that is asked for */
    char why[96]; /* it cannot be taken; "" */
};

enum { SELECTION_CANDIDATES = 4 };

struct selection {
    struct asked asked;
    size_t count, chosen;
    struct candidate candidates[SELECTION_CANDIDATES];
    double pilots;    /* work of all of them */
    json_t *attempts; /* that missed the error: a list for run.json; or NULL */
};

/* `work` of pilots, in pair interactions of a direct sum: SELECTION_WORK, but in tests.
 * STATUS_CONFIG, at time.energy_error, where nothing keeps the error; what experiment_create() and
 * pilots report. To be destroyed in any case. */
#define SELECTION_WORK 2e9 /* a second or two */
enum status selection_find(const struct config *config, double work,
                           struct interruption *interruption, struct selection *choice,
                           struct error *error);
void selection_destroy(struct selection *choice);

/* Another choice after a run with this one that was off by `error` after the part of the run;
 * false: there is none. Notes the attempt, with its work. */
bool selection_again(const struct config *config, double part, double error, double work,
                     struct selection *choice);

/* For run.json, and back: false where it is no choice. */
json_t *selection_json(const struct selection *choice);
bool selection_of_json(const json_t *json, struct selection *choice);

/* The config as it was for a run of which this is the choice, or NULL: there is none, or nothing
 * was to be chosen. */
enum status selection_recall(const json_t *json, const struct config *config,
                             struct config **recalled, struct error *error);

#endif
