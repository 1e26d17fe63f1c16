/*
 * The shadows of a run (accuracy/trust.h): copies of its simulation, each with a backend
 * of the same class, so that no choice by the number of systems can see them, and nothing that
 * goes over the systems of the run comes upon them.
 */
#ifndef ORRERY_RUN_SHADOW_H
#define ORRERY_RUN_SHADOW_H

#include "run/parts.h"

/* The diagnostic of a run that is about to begin; sets run->observers.trust. With
 * run->continuation.checkpoint, or `measure` false, the forces are not looked at. */
enum status shadow_diagnostic(struct run *run, bool measure, struct diagnostic **diagnostic,
                              struct error *error);

/* Tells whether the criterion asks for a horizon that is later than `time`. */
bool shadow_horizon_beyond(const struct run *run, const struct criterion *criterion, double time);

/* The shadows as they are at the start, or in run->continuation.checkpoint; sets run->shadows. */
enum status shadow_create(struct run *run, struct error *error);
void shadow_destroy(struct run *run);

/* Before the bodies move on: what the last look at the shadows asked for. */
enum status shadow_adjust(struct run *run, struct error *error);
/* Behind the bodies, over as many of their steps. A shadow that is no longer finite is no failure
 * of the run. */
enum status shadow_advance(struct run *run, uint64_t steps, struct error *error);
/* Makes their positions and velocities current, to be measured or saved. */
enum status shadow_fetch(struct run *run, struct error *error);

/* Their sections of a checkpoint. */
void shadow_put(struct checkpoint_writer *writer, const struct run *run);

#endif
