/*
 * The phases of a run, in their order, each in a source of its name; a run's parts are in
 * run/parts.h.
 */
#ifndef ORRERY_RUN_PHASES_H
#define ORRERY_RUN_PHASES_H

#include "base/status.h"
#include "run/parts.h"

/* --- prepare.c: what can be checked without writing ------------------------------------------- */

/* Prepares a run that has its options alone; see run_prepare(). The parts that exist after an
 * error are for run_destroy(). */
enum status prepare_whole(struct run *run, const struct config *config, bool measure,
                          struct error *error);

/* Only the experiment and the directory of a run that is there, locked, with its run.json: for a
 * replay. */
enum status prepare_bare(struct run *run, const struct config *config, struct error *error);

/* --- open.c: the files ------------------------------------------------------------------------ */

/* Opens the outputs; if `directory` is NULL, only checks their parameters. */
enum status open_outputs(struct run *run, struct directory *directory, struct error *error);

/* Opens all files, and writes a first run.json and checkpoint. */
enum status open_files(struct run *run, struct error *error);

/* --- loop.c: from one event to the next ------------------------------------------------------- */

/* Runs to the last step, or until something asks to stop (STATUS_STOPPED, with a checkpoint). */
enum status loop_run(struct run *run, struct error *error);

/* --- events.c: what happens there ------------------------------------------------------------- */

/* The first step after the present one at which anything happens. */
uint64_t events_next(struct run *run);

/* Everything that happens at the step that was reached; ends the run there where a condition of
 * stop_when is met. */
enum status events_happen(struct run *run, struct error *error);

/* Returns the seconds that the events of this step may take, by what each of them has taken before.
 * INFINITY where something that may take long has not been measured in this process.
 */
double events_seconds(const struct run *run);

/* --- loop.c: requests of the outside to end early, or to save --------------------------------- */

/* The seconds after which the events of a step are interrupted. */
#define ENDING_LONG_EVENTS 0.5

/* Lends run->interruption to all that will work for the run; before its experiment is made. */
void ending_begin(struct run *run);

/* Says why the run should end now, into `reason`, and in time where the next `wait` seconds could
 * be too long for the time limit; false if it should go on. What `reason` has from a control file
 * stays. */
enum { ENDING_REASON_SIZE = 64 };
bool ending_wanted(const struct run *run, double wait, char reason[ENDING_REASON_SIZE]);

/* Takes the control files: `stop` into `reason`, `checkpoint` into run->autosave.wanted. */
void ending_take_files(struct run *run, char reason[ENDING_REASON_SIZE]);

/* --- save.c: checkpoints, and the last frame of a run that failed ----------------------------- */

/*
 * Keeps where the files stand and the state of diagnostics, before the last step makes its events
 * off their cadence: a restart with a later end takes these back. Into run->autosave.before_last.
 */
enum status save_keep_early(struct run *run, struct error *error);
void save_free(struct saved_state *state); /* accepts NULL */

/*
 * Writes checkpoint.orr at the step that the run has reached, after everything that belongs to
 * this step was written, unless that is done already; tries twice. STATUS_IO, STATUS_MEMORY,
 * STATUS_NUMERICAL (a body is not finite): the last checkpoint is intact.
 */
enum status save_checkpoint(struct run *run, struct error *error);

/* --- the last frame of a run whose numbers failed --------------------------------------------- */

/* The snapshot of a run whose numbers have failed: the bodies as they are, for a look at them. */

extern const char failure_name[]; /* "failure.xyz" */

/*
 * Writes all bodies as one frame of extended XYZ; its column `finite` is 0 for those whose position
 * or velocity is not. In place of one that is there only if that is the run's own. STATUS_IO,
 * STATUS_CANT_CREATE, STATUS_MEMORY, or what the device reports.
 */
enum status failure_save(struct run *run, struct error *error);

/* Removes that of an earlier attempt, for a run that goes on. */
void failure_forget(struct run *run);

/* --- verdict.c: whether a run has failed, and what is said of it ------------------------------ */

/*
 * Decides whether a run that came to its end has failed, and nobody else does: STATUS_EXPECT_FAILED
 * if it misses the energy error that it was asked for, if a criterion of `expect` is broken, or if
 * the watch does not hold; else STATUS_OK. Each of these is a row of verdict_findings().
 */
enum status verdict_status(const struct run *run);

/*
 * "failed: energy error 0.22, bound 0.0005 (447 times): the step is too long; time.step = 0.0009,
 * 10 times shorter, holds (tried)", into the run's own `verdict`, for summary, run.json and
 * reports; "" for a run that did not fail, or was stopped, or met an error of the outside. `reason`
 * is what ended a run of STATUS_NUMERICAL.
 */
void verdict_make(struct run *run, enum status status, const char *reason);

/* Makes the table of findings of a run as it stands; `ended`: it has come to its end. Returns the
 * worst failure by the watch (watch_findings()). */
struct finding verdict_findings(const struct run *run, bool ended, struct findings *findings);

/* Takes the sentence of a run that was done before from its run.json. */
void verdict_recall(struct run *run);

/* --- provenance.c: run.json ------------------------------------------------------------------- */

/* It says what was run, by what, where, how it ended, and which files belong to it. */

/* The end of a run: `errors` are its messages, a line each, or NULL. */
struct provenance_end {
    enum status status;
    const char *errors;
};

/* Makes room for the files of a run that begins: directory_claim() for all of its manifest. */
enum status provenance_claim(const struct run *run, struct error *error);

/* Writes run.json into the run's directory, whole or not at all; `end` is NULL while it runs. */
enum status provenance_write(const struct run *run, const struct provenance_end *end,
                             struct error *error);

/* Takes over what run.json says of the run that is continued: its restarts and its files, and
 * in run->autosave.any whether it says that a checkpoint was written. STATUS_MEMORY. */
enum status provenance_resume(struct run *run, struct error *error);

/* Adds a member to the run.json that is there, in place of one of that name; everything else in it
 * stays. Takes over `value`. STATUS_DATA where run.json cannot be read. */
enum status provenance_add(struct run *run, const char *key, struct json_t *value,
                           struct error *error);

/* --- remedy.c: what would have helped --------------------------------------------------------- */

enum { REMEDY_TEXT_SIZE = 512 };

/*
 * "the step is too long; time.step = 0.0009, 10 times shorter, holds (tried)", for a run whose
 * energy was not kept or whose numbers are not finite. `beyond` is its energy error over the bound,
 * more than 1; infinite where the numbers failed.
 */
const char *remedy_of_energy(const struct run *run, double beyond, char buffer[REMEDY_TEXT_SIZE]);

/* The same for a criterion on something else. */
const char *remedy_of_criterion(const struct run *run, const struct finding *criterion,
                                char buffer[REMEDY_TEXT_SIZE]);

#endif
