/*
 * The phases of a run, in their order, each in a source of its name. attempt.c, and restart.c with
 * the content of checkpoints, serve several of them. The parts of a run are in run/parts.h.
 */
#ifndef ORRERY_RUN_PHASES_H
#define ORRERY_RUN_PHASES_H

#include "base/status.h"
#include "model/conserved.h"
#include "output/saved.h"
#include "run/parts.h"

/* --- prepare.c: what can be checked without writing ------------------------------------------- */

/* Prepares a run of which only the options are set; see run_prepare(), also for `measure`. After an
 * error the caller gives the run to run_destroy(). */
enum status prepare_whole(struct run *run, const struct config *config, bool measure,
                          struct error *error);

/* Prepares an existing run whose steps are computed again to verify them: creates experiment,
 * observers, schedule and ensemble, locks the run's directory and reads its run.json. */
enum status prepare_bare(struct run *run, const struct config *config, struct error *error);

/* --- attempt.c: the attempts of a run whose setting is chosen --------------------------------- */

/* The config may ask for an accuracy (estimate/accuracy-target.h), so that integrator and steps (a
 * setting) are chosen. The run begins with the chosen setting or, on a restart, with the one that
 * run.json names. If it misses the accuracy, it begins anew with a finer setting, so that its files
 * are those of a run with that setting from the start. */

/* Chooses integrator and steps if `config` leaves them to the program: sets run->choice, and
 * run->chosen to the config with the chosen setting in it. Keeps a choice that is in run->choice
 * already. Returns the errors of choice_make(). */
enum status attempt_choose(struct run *run, const struct config *config, struct error *error);

/* Judges the run so far by the accuracy that its config asks for. If it misses that and another
 * setting may be tried, sets run->missed and returns STATUS_NUMERICAL. */
enum status attempt_judge(struct run *run, struct error *error);

/* Returns the work of the present attempt and of those that missed the accuracy, in the unit of
 * integrator_time(). */
double attempt_work(const struct run *run);

/* Tells whether the run has cost ten times what its pilots (short runs on copies) predicted, and
 * more than time.work_limit: bodies have come closer than in the pilots. False if it had cost as
 * much before this process began: whoever restarted it wants it to go on. */
bool attempt_costs_too_much(const struct run *run);

/* Writes "it has cost 12 times what was expected; ...", with the cause and what would avoid it; ""
 * if the run has not cost ten times as much. */
const char *attempt_cost_text(const struct run *run, char buffer[CHOICE_DEARER_SIZE]);

/* Writes ", which shorter steps do not lower: ...", with what would lower the energy error, if the
 * attempts show that the error of the forces limits it (choice_is_limited()); else "". Returns
 * `buffer`. */
enum { ATTEMPT_LIMIT_SIZE = 192 };
const char *attempt_limit_text(const struct run *run, char buffer[ATTEMPT_LIMIT_SIZE]);

/* Tells whether a run that has ended with `status` shall begin anew, and makes the next choice for
 * it. False if its steps were not chosen or are not why it ended. If no choice is left, a run that
 * missed its accuracy is made once more with the last one, to its end. */
bool attempt_again(struct run *run, enum status status);

/* Returns the finding (accuracy/finding.h) about the accuracy that the run was asked for: the
 * energy error by accuracy_target_error(), or the time until which its orbits are accurate. Its
 * bound is NaN if nothing was asked for. */
struct finding attempt_finding(const struct run *run);

/* --- open.c: the files ------------------------------------------------------------------------ */

/* Opens the outputs; if `directory` is NULL, only checks their parameters. */
enum status open_outputs(struct run *run, struct directory *directory, struct error *error);

/* Opens all files and writes run.json. A new run, and one that goes beyond its old end, also writes
 * a checkpoint; for a run that was done before, nothing is written. */
enum status open_files(struct run *run, struct error *error);

/* --- loop.c: the steps between events --------------------------------------------------------- */

/* Advances the run to its last step, or until something asks to stop (STATUS_STOPPED; with a new
 * checkpoint, unless it stops during the events of a step). */
enum status loop_run(struct run *run, struct error *error);

/* --- events.c: the events of a step ----------------------------------------------------------- */

/* Returns the first step after the present one at which there are events. */
uint64_t events_next(struct run *run);

/* Makes all events of the step that was reached happen; ends the run there if a condition of
 * stop_when is met. */
enum status events_happen(struct run *run, struct error *error);

/* Returns the seconds that the events of this step may take, judged by the longest so far; INFINITY
 * if a diagnostic that may take long is due for the first time in this process. */
double events_seconds(const struct run *run);

/* --- loop.c: requests of the outside to end early, or to save --------------------------------- */

/* The seconds that the events of a step may take before they can be interrupted. */
#define ENDING_LONG_EVENTS 0.5

/* Sets up run->interruption, by which all work for the run can be interrupted; called before the
 * experiment is made. */
void ending_begin(struct run *run);

/* Tells whether the run should end now, with the reason in `reason`: a signal, or a time limit that
 * could come within the next `wait` seconds. A reason that is in `reason` already, from a control
 * file, also ends the run. */
enum { ENDING_REASON_SIZE = 64 };
bool ending_wanted(const struct run *run, double wait, char reason[ENDING_REASON_SIZE]);

/* Removes the control files from the run's directory: `stop` becomes a reason in `reason`,
 * `checkpoint` sets run->autosave.wanted. */
void ending_take_files(struct run *run, char reason[ENDING_REASON_SIZE]);

/* --- save.c: checkpoints, and the last frame of a run that failed ----------------------------- */

/* Keeps the marks (lengths and hashes) of the files and the state of diagnostics in
 * run->autosave.before_last. Called before the events of the last step if some are due only because
 * it is the last, not by their `every`: a restart with a later end takes these events back. */
enum status save_keep_early(struct run *run, struct error *error);
void save_free(struct saved_state *state); /* accepts NULL */

/*
 * Writes checkpoint.orr at the step that the run has reached, with all that belongs to this step,
 * unless the last checkpoint holds the same state; tries twice. STATUS_IO, STATUS_MEMORY,
 * STATUS_NUMERICAL (a body is not finite): the last checkpoint is intact.
 */
enum status save_checkpoint(struct run *run, struct error *error);

/* --- the last frame of a run whose numbers failed --------------------------------------------- */

extern const char failure_name[]; /* "failure.xyz" */

/* Writes all bodies as they are now into failure.xyz, one frame of extended XYZ; its column
 * `finite` is 0 for bodies whose position or velocity is not finite. Replaces an older failure.xyz
 * only if the run wrote it. STATUS_IO, STATUS_CANT_CREATE, STATUS_MEMORY, or the error of the
 * device. */
enum status failure_save(struct run *run, struct error *error);

/* Removes the failure.xyz that the continued run has left, if there is one, since the run goes
 * on. */
void failure_forget(struct run *run);

/* --- restart.c: the continuation of a run from a checkpoint ----------------------------------- */

/*
 * Opens the newest whole checkpoint of the run's directory, into run->continuation.checkpoint. If
 * checkpoint.orr is damaged, the previous one takes its place, with a notice; if both are,
 * STATUS_DATA.
 */
enum status restart_open(struct run *run, struct error *error);

/*
 * Compares the config with that of the checkpoint. Refuses one that changes the experiment
 * (STATUS_CONFIG, with a line for each difference), and notes the differences that are allowed,
 * such as in the end, in any `every`, in threads or, if kernels agree to rounding, in kernel.
 */
enum status restart_compare(struct run *run, struct error *error);

/* Loads from the checkpoint the bodies, the step, the conserved quantities of step 0 and the legs,
 * before the backend is created. */
enum status restart_load_bodies(struct run *run, struct error *error);

/* Loads the state of an integrator that chooses its own steps into the backend, which was created
 * with the loaded bodies. */
enum status restart_load_integrator(struct run *run, struct error *error);

/* Reads the step at which a checkpoint was written. */
enum status restart_step(const struct checkpoint *checkpoint, uint64_t *step, struct error *error);

/* Tells whether the checkpoint was written by this build, on this kind of machine, by the same
 * backend and kernel. */
bool restart_same_build(const struct run *run, const struct checkpoint *checkpoint);

struct restart_difference;

/* Compares the present state of bodies and integrator with that of a checkpoint, bit by bit. */
enum status restart_differences(const struct run *run, const struct checkpoint *checkpoint,
                                struct restart_difference *difference, struct error *error);

/* Loads the state of diagnostics, criteria, accuracy watch and ensemble, once these exist. Warns if
 * another build or kind of machine wrote the checkpoint. */
enum status restart_load_observers(struct run *run, struct error *error);

/* Reads the mark of a file (its length and hash) from the checkpoint, for stream_open(). `kind` is
 * "series" for the table of diagnostic number `index`, "aggregate" for the table of its statistics
 * over systems, "output" for an output. */
enum status restart_mark(const struct run *run, const char *kind, size_t index,
                         struct stream_mark *mark, struct error *error);

/* Reads the marks of the files of an output that writes a file at each event, and checks that the
 * files are unchanged, all bytes of them (STATUS_IO). */
enum status restart_files(const struct run *run, size_t index, struct error *error);

/* --- restart.c: the content of a checkpoint --------------------------------------------------- */

/* The names and shapes of the sections of a checkpoint, which saving and loading share. Some
 * sections have names of their own: `config`, `build`, `ended_by` and `legs` are text, `counts` has
 * the numbers of the enum below, `first` the conserved quantities of every system at step 0.
 * content_name() names those of diagnostics, outputs and criteria. */

/* The `kind` (see content_name()) of the sections with the marks (length and hash) of all files of
 * an output that writes a file at each event. */
extern const char content_files[]; /* "files" */
/* The name of the section with the legs of the run (run/record.h), as JSON. */
extern const char content_legs[]; /* "legs" */

enum { CONSERVED_REALS = sizeof(struct conserved) / sizeof(double), CONTENT_BUILD_SIZE = 1024 };

/* The indices of the numbers in the section `counts` of a checkpoint. The last three are 0 or 1:
 * the events of the step have happened; no other build or machine has computed a part of the run;
 * sections with the prefix content_early exist. */
enum { COUNT_SYSTEMS, COUNT_BODIES, COUNT_STEP, COUNT_EVENTS, COUNT_BITWISE, COUNT_EARLY, COUNTS };

/* Calls `visit` for each array of numbers besides the bodies that must survive a restart, which the
 * run keeps: the state of diagnostics, criteria, accuracy watch and ensemble. `kind` and `index`
 * name the section of the array, see content_name(). */
void content_visit_state(const struct run *run,
                         void (*visit)(void *context, const char *kind, size_t index,
                                       double *numbers, size_t count),
                         void *context);

/* The prefix of the sections with the state before the events of the last step, "early:". They
 * exist if some of these events were not due by their `every`, but because it was the last step: a
 * restart with a later end takes the events back. */
extern const char content_early[];

/* Writes the name of a section, "output:2" or "early:row:0", and returns `buffer`. It has the index
 * of a diagnostic or output instead of its name, which may be of any length. */
const char *content_name(const char *prefix, const char *kind, size_t index,
                         char buffer[CHECKPOINT_NAME_SIZE]);

/* Reads a section of JSON into *json, a new reference; NULL if the section is not JSON. STATUS_DATA
 * if there is no such section, STATUS_IO, STATUS_MEMORY. */
enum status content_get_json(const struct checkpoint *checkpoint, const char *name,
                             struct json_t **json, struct error *error);

/* Writes all that decides the bits of results besides the config: build, backend, kernel,
 * instruction set and device; returns `buffer`. A restart is exact if this text equals that in the
 * checkpoint. */
const char *content_build(const struct run *run, char buffer[CONTENT_BUILD_SIZE]);

/* --- verdict.c: whether a run has failed, and what is said of it ------------------------------ */

/* Decides whether a run that came to its end has failed. STATUS_EXPECT_FAILED if the run misses the
 * accuracy that it was asked for, breaks a criterion of `expect`, or is not accepted by the
 * accuracy watch; else STATUS_OK. Each of these three is a row of verdict_findings(). */
enum status verdict_status(const struct run *run);

/*
 * Writes the sentence about a run that failed into run->verdict, for summary, run.json and reports:
 * "failed: energy error 0.22, bound 0.0005 (447 times): the step is too long; time.step = 0.0009,
 * 10 times shorter, holds (tried)". It is empty for a run that did not fail, was stopped, or met an
 * error that is not its own, as of the disk. `reason` is the message of a run that ended with
 * STATUS_NUMERICAL; NULL: none.
 */
void verdict_make(struct run *run, enum status status, const char *reason);

/* Makes the table of findings (accuracy/finding.h) of a run as it stands; `ended` says that the run
 * has come to its end. Returns the worst failure by the accuracy watch (watch_findings()). */
struct finding verdict_findings(const struct run *run, bool ended, struct findings *findings);

/* Reads the sentence of a run that was done before from its run.json. */
void verdict_recall(struct run *run);

/* --- provenance.c: run.json ------------------------------------------------------------------- */

/* run.json says what was run, by which program, where, how it ended, and which files belong to
 * it. */

/* The end of a run: its status, and its error messages, one per line; NULL: none. */
struct provenance_end {
    enum status status;
    const char *errors;
};

/* Makes room for the files of a run that begins: removes, by directory_claim(), the files of a run
 * that it replaces. */
enum status provenance_claim(const struct run *run, struct error *error);

/* Writes run.json into the run's directory, whole or not at all; `end` is NULL while the run goes
 * on. */
enum status provenance_write(const struct run *run, const struct provenance_end *end,
                             struct error *error);

/* Writes into the existing run.json, whose other members stay, that the run ended with *error; the
 * run need not be prepared. Returns error->status, and adds what kept it from that. */
enum status provenance_break_off(const struct run *run, struct error *error);

/* Reads the run.json of the run that is continued, which lists restarts and files, into
 * run->continuation.before. Sets run->autosave.any if run.json says that a checkpoint was written,
 * or cannot be read. STATUS_MEMORY. */
enum status provenance_resume(struct run *run, struct error *error);

/* Adds a member to the existing run.json (run->continuation.before), or replaces the one of this
 * name, and leaves the rest as it is. Takes over `value`. STATUS_DATA if run.json was not
 * readable. */
enum status provenance_add(struct run *run, const char *key, struct json_t *value,
                           struct error *error);

/* --- remedy.c: what would have helped --------------------------------------------------------- */

/*
 * Adds to `text` a remedy for a run whose energy was not kept or whose numbers are not finite: "the
 * step is too long; time.step = 0.0009, 10 times shorter, holds (tried)". `beyond` is the run's
 * energy error over the bound, more than 1; infinite if numbers failed.
 */
void remedy_of_energy(const struct run *run, double beyond, struct text *text);

/* Adds to `text` a remedy for a broken criterion that no shorter step would mend: the reason why no
 * row was judged, or what may help; nothing if its value is undefined. */
void remedy_of_criterion(const struct run *run, const struct finding *criterion, struct text *text);

#endif
