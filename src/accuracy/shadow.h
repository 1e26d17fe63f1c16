/*
 * The shadows of a run (accuracy/trust.h): copies of its simulation, each with a backend
 * of the same class, so that no choice by the number of systems can see them, and nothing that
 * goes over the systems of the run comes upon them.
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

/* Creates the diagnostic of a run that is about to begin at `step`, from the group `trust`. With
 * `measure` false the forces are not looked at. */
enum status shadow_diagnostic(const struct section *section, struct simulation *original,
                              uint64_t step, bool measure, struct diagnostic **diagnostic,
                              struct error *error);

/* Creates the shadows as they are at the start, or in `checkpoint`. They borrow the simulation and
 * the diagnostic. *shadows is to be destroyed in any case. */
enum status shadow_create(const struct config *config, struct simulation *original,
                          struct diagnostic *trust, const struct checkpoint *checkpoint,
                          struct shadows **shadows, struct error *error);
void shadow_destroy(struct shadows *shadows); /* accepts NULL, as all of these */

/* Before the bodies move on: what the last look at the shadows asked for. */
enum status shadow_adjust(struct shadows *shadows, struct error *error);
/* Behind the bodies, over as many of their steps. A shadow that is no longer finite is no failure
 * of the run. */
enum status shadow_advance(struct shadows *shadows, uint64_t steps, struct error *error);
/* Makes their positions and velocities current, to be measured or saved. */
enum status shadow_fetch(struct shadows *shadows, struct error *error);

/* Their sections of a checkpoint. */
void shadow_put(struct checkpoint_writer *writer, const struct shadows *shadows);

#endif
