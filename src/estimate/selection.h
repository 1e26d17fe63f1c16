/*
 * The choice of an integrator and its steps for a run that asks for an error (estimate/asked.h):
 * the settings that were tried (estimate/search.h), with the error of each at the end and what it
 * costs. The cheapest that keeps the error is taken, and another one where a run misses it.
 */
#ifndef ORRERY_ESTIMATE_SELECTION_H
#define ORRERY_ESTIMATE_SELECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "estimate/asked.h"
#include "estimate/setting.h"

/* A setting with what is expected of it. */
struct candidate {
    struct setting setting;
    double error; /* at the end of the run */
    double cost;  /* of the motion of the whole run, see integrator_time() */
    double least; /* the smallest error that is expected after a pilot of this integrator */
    double part;  /* of the run that the pilot with this setting saw; 0: by those of others */
    bool tried;   /* a pilot of it moved, or failed at once; else they would take too long */
    bool keeps;   /* the error that is asked for */
    char why[96]; /* it cannot be taken; "" */
};

enum { SELECTION_CANDIDATES = 4, SELECTION_ATTEMPTS = 8 /* at most */ };

struct selection {
    struct asked asked;
    size_t count, chosen;
    struct candidate candidates[SELECTION_CANDIDATES];
    double pilots;    /* work of all of them */
    json_t *attempts; /* that missed the error: a list for run.json; or NULL */
};

/* To be destroyed in any case where there are attempts. */
void selection_destroy(struct selection *choice);

/* Chooses the cheapest that keeps the error; false where none does. */
bool selection_choose(struct selection *choice);

/* Makes what was chosen finer after it was off by `error` at a part of the run, and had done that
 * work; and others by as much where the same may befall them. */
void selection_refine(const struct config *config, double part, double error, double work,
                      struct selection *choice);

/* The error that may be expected where that of `asked` is to be kept: less where only a part of the
 * run was seen. */
double selection_target(const struct asked *asked, bool whole);

/* The error grows like t^growth at least. */
double selection_growth(const struct integrator *integrator);

/* The factor in the number of steps that changes the error by `factor`. */
double selection_finer_by(const struct integrator *integrator, double factor);

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
