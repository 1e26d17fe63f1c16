/*
 * A run: its parts, and the functions that the sources of src/run share; commands see run/run.h.
 * The sources work on a run in this order:
 *
 *   prepare, open      what can be checked without writing; then the files
 *   loop, events       the steps from one event to the next, and the events
 *   save, restart      a checkpoint, and the way back from it; restart names its sections, change
 *                      finds how the config differs from the earlier one
 *   verdict, remedy    the sentence about a run that failed, and a change that would have helped
 *   provenance, record the results of the run: run.json with its legs, and for commands
 */
#ifndef ORRERY_RUN_PARTS_H
#define ORRERY_RUN_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "accuracy/replay.h"
#include "accuracy/resolution.h"
#include "accuracy/shadow.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "estimate/choice.h"
#include "estimate/experiment.h"
#include "estimate/proportions.h"
#include "initial/body-files.h"
#include "integrator/adaptive.h"
#include "observation/criteria.h"
#include "observation/observers.h"
#include "observation/schedule.h"
#include "output/checkpoint.h"
#include "output/directory.h"
#include "output/stream.h"
#include "run/options.h"
#include "space/time-scales.h"

/* --- clocks ----------------------------------------------------------------------------------- */

/* The clocks of one leg of a run (what this process computes of it), in seconds. Moments are those
 * of clock_seconds() and clock_cpu_seconds(). */
struct clocks {
    double started, cpu_started;
    double ended, cpu_ended; /* moments when only the last run.json was left to write; 0 before */
    double advance_seconds;  /* seconds that the backend has spent in steps */
    char stamp[CLOCK_STAMP_SIZE]; /* date and time of the start */
};

void clocks_start(struct clocks *clocks);
void clocks_stop(struct clocks *clocks);

/* Return the seconds from the start to the end, or until now: by the clock, and as processor time
 * of all threads of the process. */
double clocks_wall(const struct clocks *clocks);
double clocks_cpu(const struct clocks *clocks);

/* --- the directory and its log ---------------------------------------------------------------- */

struct files {
    struct directory *directory;
    struct stream *log;
    struct text early_log; /* log lines that wait until run.log is open */
    bool manifest_written; /* run.json is in the directory, and was written by this run */
    bool failed; /* failure.xyz is of this run: the last frame before its numbers failed */
    char bodies_hash[INPUT_HASH_SIZE]; /* hash of the files that the bodies came from, as they were
                                          at the start; "": none */
    json_t *members; /* list for run.json of the files of bodies.files; owned; NULL: systems have no
                        files of their own */
};

/* Adds a line to the log, with the date and time before it. */
void files_log(struct files *files, const char *line);

void files_close(struct files *files, struct error *error);
void files_destroy(struct files *files);

/* --- when a checkpoint is due ----------------------------------------------------------------- */

struct saved_state;

/* The times at which a run saves checkpoints, and the state that the last one holds. */
struct autosave {
    bool wanted;    /* a checkpoint is asked for, by a cadence, a signal or a control file */
    bool any;       /* a checkpoint was saved, so that a restart is possible */
    double last;    /* clock_seconds() since when checkpoint.every_minutes counts */
    double longest; /* seconds that the slowest checkpoint took */
    /* The last checkpoint: whether there is one, whether it holds the state after the events of its
     * step, and that step. */
    bool saved, saved_events;
    uint64_t saved_step;
    /* Copy of the state before the events of the last step; NULL if not needed. */
    struct saved_state *before_last;
};

/* Tells whether a checkpoint is due at `now`, a time of clock_seconds(): checkpoint.every_minutes
 * have passed, or one is wanted. If so, `wanted` is cleared and the minutes begin anew. */
bool autosave_due(struct autosave *autosave, const struct section *checkpoint, double now);

/* Tells whether the last checkpoint holds the present state: that of the present step, with the
 * events of this step done or not, as now. */
bool autosave_is_current(const struct autosave *autosave, const struct schedule *schedule);
/* Notes that a checkpoint of the present step was written, which took `seconds` seconds. */
void autosave_note(struct autosave *autosave, const struct schedule *schedule, double seconds);

/* --- the run that is continued ---------------------------------------------------------------- */

/* The part of a run that comes from an earlier run, which it continues. */
struct json_t;
struct continuation {
    /* The checkpoint that the run goes on from; closed once the run is open. */
    struct checkpoint *checkpoint;
    const char *from;    /* name of that checkpoint; NULL for a run that begins */
    bool newest_damaged; /* checkpoint.orr is damaged, so the next checkpoint must not keep it as
                            checkpoint.orr.prev */
    bool goes_further;   /* the run goes beyond its old end, and takes back the events there, since
                            some were not due by their `every` */
    bool changed;        /* the config was changed, in ways that a restart allows */
    bool done;       /* the run had ended before this process began; its files stay as they are */
    bool other_bits; /* another build or kind of machine has computed a part of the run, so results
                        may have other bits than those of one uninterrupted run */
    struct json_t *before; /* run.json of the continued run, or NULL */
    struct json_t *legs;   /* list of the earlier legs (uninterrupted parts of the run), or NULL */
    struct work_done work; /* work done before this process or attempt began */
};

void continuation_close(struct continuation *continuation);
/* Forgets the run.json of the run that was to be continued, for a run that begins anew. */
void continuation_forget(struct continuation *continuation);
void continuation_destroy(struct continuation *continuation);

/* Tells whether run.json of the run that is continued lists the file of this name. */
bool continuation_owns(const struct continuation *continuation, const char *name);

/* --- a run ------------------------------------------------------------------------------------ */

/* The phases of a run, which decide how it may be interrupted (run/loop.c). */
enum run_phase {
    RUN_BEGINS,   /* before the first events and steps; control files interrupt nothing */
    RUN_STEPS,    /* steps from one event to the next; an interrupted step is taken back */
    RUN_OBSERVES, /* events of a step */
    RUN_ENDS      /* the end, which nothing interrupts */
};

struct run {
    struct run_options options; /* texts in the options belong to the caller */
    struct choice choice;       /* chosen integrator and step; none if choice.count is 0 */
    struct config *chosen;      /* the config with this choice; NULL without a choice */
    const struct config *given; /* the caller's config */
    double work_before; /* attempt_work() when this process or the present attempt began, whichever
                           was later */
    bool missed;        /* the run missed the accuracy that was asked for, and begins anew */
    bool exhausted; /* the run goes on although it misses the accuracy: there is no other choice */
    char why_again[512]; /* the reason for beginning anew; "" for a run that has not */
    char time_unit[UNITS_LABEL_SIZE + 1]; /* text behind a time: " Myr", "" */
    struct experiment experiment;
    struct simulation *simulation;    /* = &experiment.simulation */
    struct kernel_error kernel_error; /* error of the forces at the start; zero if they are as exact
                                         as double precision */
    struct scales scales; /* scales of the initial bodies: a length, a velocity, momenta */
    struct time_scales_structure structure; /* structure of the initial bodies of the first system,
                                               from which time scales follow */
    struct schedule schedule;
    struct ensemble ensemble;
    struct observers observers;
    struct criteria criteria;
    struct proportions proportions; /* warnings about numbers that look like slips, such as masses
                                       in kilograms while G is 1 */
    struct text verdict;            /* sentence about a run that has failed; empty for others */
    struct show show;
    struct replays replays;
    struct shadows *shadows; /* copies of the run that show how errors grow; NULL: not asked for */
    struct files files;
    struct autosave autosave;
    struct continuation continuation;
    struct clocks clocks;
    /* Asks whether signals, control files or time limits are to interrupt a computation; force sums
     * and other long work look at it, through struct physics. */
    struct interruption interruption;
    enum run_phase phase;
    double events_began; /* clock_seconds() when the latest events (rows, frames) began */
};

/* Hand a line to people and to run.log; a warning is shown even with --quiet. */
void run_notice(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_warning(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the name of this machine; "?" if it has none. */
enum { RUN_HOST_SIZE = 64 };
const char *run_host(char buffer[RUN_HOST_SIZE]);

/* Returns the time t of the step that the run has reached. */
double run_time(const struct run *run);
/* Writes the time that the run has reached for people, with `digits` digits: "3653 d". Returns
 * `buffer`. */
const char *run_time_text(const struct run *run, int digits, char buffer[UNITS_TEXT_SIZE]);

/* Returns the pair interactions per second in the steps of this process; 0 before any. */
double run_rate(const struct run *run);

/* The work of all systems since the beginning of the run. `sums` holds the sums over the systems;
 * the smallest step of all systems, taken by system number `system`, and the pair of bodies that
 * caused it; and the time at which the first system got stuck (could not go on, struct work_done),
 * INFINITY if none has. */
struct run_work {
    bool chosen; /* the integrator chooses its own steps; if not, all systems take the run's */
    size_t system;
    struct work_done sums;
};
struct run_work run_work(const struct run *run);

/* Returns the present step and the state of the bodies for observers (diagnostics, outputs,
 * accuracy watch). Only those parts are up to date that run_observe() was asked for. */
struct moment run_moment(const struct run *run);

/* Tells whether the criterion asks for a horizon (a time until which orbits are accurate or
 * reproducible, accuracy/trust.h) later than `time`. */
bool run_horizon_beyond(const struct run *run, const struct criterion *criterion, double time);

/* Brings up to date, from the backend, the data that observers need at this step: `needs`, enum
 * need or-ed. */
enum status run_observe(struct run *run, unsigned needs, struct error *error);

/* Hands all rows, frames and log lines to the operating system, and with `to_disk` to the disk. */
enum status run_flush(struct run *run, bool to_disk, struct error *error);

#endif
