/*
 * The accuracy watch, at work in every run: it looks at the bodies at every event and says when a
 * result can no longer be trusted, and because of whom. Numbers that are not finite end the run;
 * a jump of the energy fails it; a step too large for the fastest pair is said once.
 */
#ifndef ORRERY_DIAGNOSTICS_WATCH_H
#define ORRERY_DIAGNOSTICS_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "config/config.h"
#include "config/parameter.h"
#include "diagnostics/diagnostic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The group `watch` of the config: every, energy_jump, on_jump, least_steps. */
extern const struct parameter watch_parameters[];
extern const size_t watch_parameter_count;

struct watch; /* opaque */

/* `start` is the moment of step 0 with STATE and CONSERVED valid; not kept. STATUS_MEMORY. */
enum status watch_create(const struct section *section, const struct moment *start,
                         struct watch **watch, struct error *error);
void watch_destroy(struct watch *watch); /* accepts NULL */

/* Wishes to look, with STATE and CONSERVED, at least every so many steps. */
uint64_t watch_every(const struct watch *watch);

/* What must survive a restart, as of a diagnostic. */
double *watch_memory(struct watch *watch, size_t *count);

/*
 * Looks at a moment of which `valid` (enum need, or-ed) is there: state, sums or both. Warnings go
 * to `tell`, a line each, few in a run. STATUS_NUMERICAL, naming the body, when a position, a
 * velocity or an energy is not finite, and for a jump when on_jump = "stop"; STATUS_MEMORY.
 */
enum status watch_look(struct watch *watch, const struct moment *now, unsigned valid,
                       void (*tell)(void *context, const char *line), void *context,
                       struct error *error);

/* No jump so far, or on_jump = "warn". Systems with left_out[system] do not count; NULL: all do. */
bool watch_holds(const struct watch *watch, const bool *left_out);

/* What it has seen, in a line for the summary: "3 jumps of the energy, first at t = 1.88"; "" if
 * there is nothing to say. */
enum { WATCH_TEXT_SIZE = 200 };
const char *watch_text(const struct watch *watch, char buffer[WATCH_TEXT_SIZE]);

/* For run.json; a new reference. */
json_t *watch_json(const struct watch *watch, const bool *left_out);

#ifdef __cplusplus
}
#endif

#endif
