/*
 * A setting: an integrator with all that decides its steps, as keys of the config. One number, the
 * refinement, tells how fine it is: the number of steps in the whole run or, for an integrator that
 * chooses its own steps, how many times as many steps as by default. If the config gives no step,
 * its cadences (such as `every` of a diagnostic) count thousandths of the run; a setting translates
 * them into steps.
 */
#ifndef ORRERY_ESTIMATE_SETTING_H
#define ORRERY_ESTIMATE_SETTING_H

#include <jansson.h>
#include <stdint.h>

#include "base/status.h"
#include "estimate/accuracy-target.h"

struct setting {
    const struct integrator *integrator;
    double refinement; /* steps in the run; or a multiple of the default's (see the head) */
    double step;       /* time.step; for an integrator that chooses its own, the grid step */
    double key; /* value of the key that sets the integrator's accuracy, such as eta; NaN for fixed
                   steps */
    /* A cadence of n thousandths of the run becomes n * times / over steps. */
    uint64_t times, over;
};

/* Returns the setting of the integrator nearest to `refinement` that the config allows, not coarser
 * if possible. The value of a key is rounded to two digits. A step divides a thousandth of the run,
 * or is a multiple of it by which all cadences are divisible. */
struct setting setting_of(const struct config *config, const struct integrator *integrator,
                          double refinement);

/* Makes *applied, a copy of the config with the setting in it; `config` must outlive it. The errors
 * of config_vary(). */
enum status setting_apply(const struct config *config, const struct setting *setting,
                          struct config **applied, struct error *error);

/* Returns the greatest common divisor of the config's cadences: the least number of steps between
 * two moments at which there may be an event. */
uint64_t setting_cadence(const struct config *config);

/* Writes "pefrl, step 0.001" or "hermite4, eta 0.02". */
enum { SETTING_TEXT_SIZE = 96 };
const char *setting_text(const struct setting *setting, char buffer[SETTING_TEXT_SIZE]);

/* Return a setting for run.json, and read one from an object there; its step is 0 if that fails. */
json_t *setting_json(const struct setting *setting);
struct setting setting_of_json(const json_t *json);

#endif
