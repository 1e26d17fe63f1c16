/*
 * A setting: an integrator with all that decides its steps, as the config says it. How fine it is
 * is one number: the steps of the whole run, or, of an integrator that chooses its own, how many
 * times as many as by default. Where the config names no step, cadences count thousandths of the
 * run, whatever the step that is chosen: they are translated into steps.
 */
#ifndef ORRERY_ESTIMATE_SETTING_H
#define ORRERY_ESTIMATE_SETTING_H

#include <jansson.h>
#include <stdint.h>

#include "base/status.h"
#include "estimate/accuracy-target.h"

struct setting {
    const struct integrator *integrator;
    double refinement;    /* see above */
    double step;          /* time.step: of an integrator that chooses its own, the grid */
    double key;           /* its own key, integrator_key(); NaN for stages */
    uint64_t times, over; /* a cadence of n becomes one of n times / over steps */
};

/* The setting of the integrator next to `refinement` that the config allows, and no coarser one if
 * there is one: the step divides a thousandth of the run, or the cadences all let it be a multiple
 * of that; the key has two digits. */
struct setting setting_of(const struct config *config, const struct integrator *integrator,
                          double refinement);

/* The config with the setting in it; `config` must outlive it. */
enum status setting_apply(const struct config *config, const struct setting *setting,
                          struct config **applied, struct error *error);

/* Grid steps, in units of which cadences are given, between two events of the config: the greatest
 * common divisor of its cadences. */
uint64_t setting_cadence(const struct config *config);

/* "pefrl, step 0.001", "hermite4, eta 0.02". */
enum { SETTING_TEXT_SIZE = 96 };
const char *setting_text(const struct setting *setting, char buffer[SETTING_TEXT_SIZE]);

/* Returns a setting for run.json, and reads one from an element of its lists; its step is 0 if that
 * is no setting. */
json_t *setting_json(const struct setting *setting);
struct setting setting_of_json(const json_t *json);

#endif
