/*
 * A run: its parts, and what all that work on it share; commands see run/run.h. They work on it in
 * this order:
 *
 *   prepare, open      what can be checked without writing; then the files
 *   loop, events       from one event to the next, and what happens there
 *   save, restart      a checkpoint, and the way back from it; content names its sections, change
 *                      says how the config differs, continuation what is known of the run before
 *   verdict, remedy    what is said of a run that failed, and what would have helped
 *   provenance, record what the run has come to: run.json, with its legs, and for commands
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
#include "initial/body-files.h"
#include "integrator/adaptive.h"
#include "observation/criteria.h"
#include "observation/observers.h"
#include "observation/schedule.h"
#include "output/checkpoint.h"
#include "output/directory.h"
#include "output/stream.h"
#include "run/ensemble.h"
#include "run/options.h"
#include "run/show.h"
#include "space/time-scales.h"

/* --- clocks ----------------------------------------------------------------------------------- */

/* The clocks of one leg of a run, in seconds: how long this process has been at it; moments are
 * those of clock_seconds() and clock_cpu_seconds(). */
struct clocks {
    double started, cpu_started;
    double ended, cpu_ended;      /* when all was done but to say so; 0 before */
    double advance_seconds;       /* spent in the backend's advance */
    char stamp[CLOCK_STAMP_SIZE]; /* of the start */
};

void clocks_start(struct clocks *clocks);
void clocks_stop(struct clocks *clocks);

/* Seconds until the end, or until now. */
double clocks_wall(const struct clocks *clocks);
double clocks_cpu(const struct clocks *clocks); /* of all threads of the process */

/* --- the directory and its log ---------------------------------------------------------------- */

struct files {
    struct directory *directory;
    struct stream *log;
    struct text early_log; /* what is said before run.log is open */
    bool manifest_written; /* run.json is there and is this run's */
    bool failed;           /* failure.xyz holds the last frame of a run whose numbers failed */
    char bodies_hash[INPUT_HASH_SIZE]; /* of its files of bodies as it began; "" without one */
    json_t *members; /* of bodies.files; owned; NULL: the systems come from no files of their own */
};

/* Adds a line to the log, with the time. */
void files_log(struct files *files, const char *line);

/* Closes the log. */
void files_close(struct files *files, struct error *error);
void files_destroy(struct files *files);

/* --- when a checkpoint is due ----------------------------------------------------------------- */

struct saved_state;

/* When a run saves its checkpoints, and what the last one holds. */
struct autosave {
    bool wanted;    /* by the schedule, a signal or a control file */
    bool any;       /* one was saved: a restart is possible */
    double last;    /* clock_seconds() when the clock last had one saved */
    double longest; /* seconds that the slowest one took */
    /* The step of the last checkpoint, which holds the state before or after its events. */
    bool saved, saved_events;
    uint64_t saved_step;
    struct saved_state *before_last; /* see save_keep_early(); NULL where it is not needed */
};

/* Tells whether one is due, by the clock of the group `checkpoint` or because it is wanted. Then
 * it no longer is. */
bool autosave_due(struct autosave *autosave, const struct section *checkpoint, double now);

/* Tells whether the last one is of this very moment. */
bool autosave_is_current(const struct autosave *autosave, const struct schedule *schedule);
/* Notes that a checkpoint is written now, and took `seconds` seconds. */
void autosave_note(struct autosave *autosave, const struct schedule *schedule, double seconds);

/* --- the run that is continued ---------------------------------------------------------------- */

/* The knowledge of a continued run about the run that it continues. */
struct json_t;
struct continuation {
    struct checkpoint *checkpoint; /* that it goes on from; only while it opens */
    const char *from;              /* its name; NULL for a run that begins */
    bool newest_damaged;           /* checkpoint.orr is, and must not become the previous one */
    bool goes_further;             /* beyond the end of the run that it continues */
    bool changed;                  /* its config, in ways that a restart allows */
    bool done;                     /* that run is done, and stays as it is */
    bool other_bits;               /* another build or kind of machine has computed a part of it */
    struct json_t *before;         /* run.json of that run, or NULL */
    struct json_t *legs;           /* see run/record.h; NULL for none */
    struct work_done work;         /* until then; see run_work() */
};

/* The run has been opened: its checkpoint is no longer needed. */
void continuation_close(struct continuation *continuation);
/* Forgets the run.json of the run that was to be continued, for a run that begins anew. */
void continuation_forget(struct continuation *continuation);
void continuation_destroy(struct continuation *continuation);

/* Tells whether the file belongs to the run that is continued. */
bool continuation_owns(const struct continuation *continuation, const char *name);

/* --- a run ------------------------------------------------------------------------------------ */

/* The phases of a run, for those who may interrupt it (run/loop.c). */
enum run_phase {
    RUN_BEGINS,   /* nothing is written yet */
    RUN_STEPS,    /* from one event to the next; an interrupted step is taken back */
    RUN_OBSERVES, /* at the events of a step */
    RUN_ENDS      /* nothing interrupts what is left */
};

enum { VERDICT_TEXT_SIZE = 1024 };

struct run {
    struct run_options options;           /* its texts are the caller's */
    struct choice choice;                 /* what was chosen for it: nothing if `count` is 0 */
    struct config *chosen;                /* the config with that; NULL for nothing */
    const struct config *given;           /* the caller's */
    double work_before;                   /* of all attempts, when this process began with it */
    bool missed;                          /* the error that was asked for, and it begins anew */
    bool exhausted;                       /* it goes on though: there is no other choice */
    char why_again[320];                  /* said when it has begun anew */
    char time_unit[UNITS_LABEL_SIZE + 1]; /* behind a time: " Myr", "" */
    struct experiment experiment;
    struct simulation *simulation;          /* that of the experiment */
    struct kernel_error kernel_error;       /* at its start; zero where it does not count */
    struct scales scales;                   /* of the initial bodies */
    struct time_scales_structure structure; /* of those of the first system */
    struct schedule schedule;
    struct ensemble ensemble;
    struct observers observers;
    struct criteria criteria;
    struct proportions proportions;  /* of its numbers at the start */
    char verdict[VERDICT_TEXT_SIZE]; /* once it has failed: see run/verdict.c */
    struct show show;
    struct replays replays;
    struct shadows *shadows; /* NULL where they are not asked for */
    struct files files;
    struct autosave autosave;
    struct continuation continuation;
    struct clocks clocks;
    struct interruption interruption; /* lent to all that works for it, by way of its physics */
    enum run_phase phase;
    double events_began; /* by clock_seconds(): those of the last step that had any */
};

/* A line for people and for run.log; a warning is shown even to those who want it quiet. */
void run_notice(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_warning(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name of this machine; "?" where it has none. */
enum { RUN_HOST_SIZE = 64 };
const char *run_host(char buffer[RUN_HOST_SIZE]);

/* t of the step that it has reached. */
double run_time(const struct run *run);
/* Writes the same for people: "3653 d", with `digits` digits. */
const char *run_time_text(const struct run *run, int digits, char buffer[UNITS_TEXT_SIZE]);

/* Pair interactions per second of the steps done so far by this process; 0 before any. */
double run_rate(const struct run *run);

/*
 * The work done in all systems since the beginning of the run: the sums, the smallest step of all
 * with the pair behind it, of `system`, and the time at which the first of them got stuck.
 */
struct run_work {
    bool
        chosen; /* the integrator chooses its own steps; else every system takes those of the run */
    size_t system;
    struct work_done sums;
};
struct run_work run_work(const struct run *run);

/* The bodies as they are now; valid is what was observed. */
struct moment run_moment(const struct run *run);

/* Tells whether the criterion asks for a horizon that is later than `time`. */
bool run_horizon_beyond(const struct run *run, const struct criterion *criterion, double time);

/* Gets from the backend what observers need (enum need, or-ed), once for all of them. */
enum status run_observe(struct run *run, unsigned needs, struct error *error);

/* Hands all rows, frames and log lines to the system, and with `to_disk` to the disk. */
enum status run_flush(struct run *run, bool to_disk, struct error *error);

#endif
