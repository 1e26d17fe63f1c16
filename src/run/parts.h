/* The parts of a run that call each other; only src/run includes this. */
#ifndef ORRERY_RUN_PARTS_H
#define ORRERY_RUN_PARTS_H

#include <stddef.h>

#include "base/status.h"
#include "diagnostics/diagnostic.h"
#include "output/directory.h"
#include "run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- events.c --- */

/* Behind the triggers of the diagnostics and of the outputs. */
size_t run_checkpoint_trigger(const struct run *run);
size_t run_watch_trigger(const struct run *run);
size_t run_trigger_count(const struct run *run);

/* The first step after the present one at which anything happens. */
uint64_t run_next_event(struct run *run);

/* The bodies as they are now; valid is what was observed. */
struct moment run_moment(const struct run *run);

/* Gets from the backend what observers need (enum need, or-ed), once for all of them. */
enum status run_observe(struct run *run, unsigned needs, struct error *error);

/* Everything that happens at the step that was reached; ends the run there where a condition of
 * stop_when is met. */
enum status run_events(struct run *run, struct error *error);

/* Which members no longer count, by what is known of their energies. */
void run_leave_out(struct run *run);

/* --- prepare.c --- */

/* With `directory` NULL only checks the parameters. */
enum status run_open_outputs(struct run *run, struct directory *directory, struct error *error);

/* --- open.c --- */

enum status run_open_files(struct run *run, struct error *error);

/* --- loop.c --- */

/* To the last step, or until something asks to stop (STATUS_STOPPED, with a checkpoint). */
enum status run_loop(struct run *run, struct error *error);

#ifdef __cplusplus
}
#endif

#endif
