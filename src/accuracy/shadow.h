/*
 * The shadows of a run (accuracy/trust.h): copies of its simulation that are advanced beside it to
 * see how errors grow, each with a backend of its own, of the class that the run's backend has.
 * They are kept apart from the systems of the run, so that neither loops over systems nor choices
 * by their number meet the shadows.
 */
#ifndef ORRERY_ACCURACY_SHADOW_H
#define ORRERY_ACCURACY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "accuracy/trust.h"
#include "base/status.h"
#include "config/configuration.h"
#include "output/checkpoint.h"
#include "simulation/simulation.h"

struct shadows;

/* Creates the diagnostic "trust" (trust.h) of a run that is about to begin at `step`, from the
 * config's group `trust`. If `measure` is true, the error of the forces is measured first: the
 * displacement of the shadows and the estimate of rounding errors depend on it. */
enum status shadow_diagnostic(const struct section *section, struct simulation *original,
                              uint64_t step, bool measure, struct diagnostic **diagnostic,
                              struct error *error);

/* Creates the shadows as they are at the start of a run or, if `checkpoint` is not NULL, as the
 * checkpoint has them. They borrow the simulation and the diagnostic. The caller destroys *shadows,
 * after an error, too. */
enum status shadow_create(const struct config *config, struct simulation *original,
                          struct diagnostic *trust, const struct checkpoint *checkpoint,
                          struct shadows **shadows, struct error *error);
void shadow_destroy(struct shadows *shadows); /* accepts NULL, as all functions below do */

/* Does what the last measurement of the diagnostic asks for, before the bodies move on: drops
 * shadows that can find nothing more, and brings twins (shadows that began displaced) nearer to the
 * run if they have gone too far. */
enum status shadow_adjust(struct shadows *shadows, struct error *error);
/* Advances the shadows by the time of `steps` steps of the run, after the run's own bodies. A
 * shadow that is no longer finite is no failure of the run. */
enum status shadow_advance(struct shadows *shadows, uint64_t steps, struct error *error);
/* Makes the shadows' positions and velocities current, to be measured or saved. */
enum status shadow_fetch(struct shadows *shadows, struct error *error);

/* Writes the shadows' sections of a checkpoint. */
void shadow_put(struct checkpoint_writer *writer, const struct shadows *shadows);

#endif
