/*
 * The choice of an integrator and its steps for a run that asks for an error (estimate/asked.h):
 * pilots of some settings (estimate/pilot.h) tell the error of each at the end and what it costs,
 * and the cheapest that keeps the error is taken. It depends on the config and the program alone:
 * costs are counted, never timed. The pilots cost at most a tenth of the run, or a second or two.
 */
#ifndef ORRERY_ESTIMATE_CHOICE_H
#define ORRERY_ESTIMATE_CHOICE_H

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
    bool keeps;   /* the error that is asked for */
    char why[96]; /* it cannot be taken; "" */
};

enum { CHOICE_CANDIDATES = 4 };

struct choice {
    struct asked asked;
    size_t count, chosen;
    struct candidate candidates[CHOICE_CANDIDATES];
    double pilots;    /* work of all of them */
    json_t *attempts; /* that missed the error: a list for run.json; or NULL */
};

/* STATUS_CONFIG, at time.energy_error, where nothing keeps the error; what experiment_create() and
 * pilots report. To be destroyed in any case. */
enum status choice_find(const struct config *config, struct interruption *interruption,
                        struct choice *choice, struct error *error);
void choice_destroy(struct choice *choice);

/* Another choice after a run with this one that was off by `error` after the part of the run;
 * false: there is none. Notes the attempt, with its work. */
bool choice_again(const struct config *config, double part, double error, double work,
                  struct choice *choice);

/* For run.json, and back: false where it is no choice. */
json_t *choice_json(const struct choice *choice);
bool choice_of_json(const json_t *json, struct choice *choice);

#endif
