/*
 * A run: open, loop, close. The loop lets the backend advance to the next step at which anything
 * happens, and there shows the bodies to diagnostics and outputs.
 */
#ifndef ORRERY_RUN_RUN_H
#define ORRERY_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "config/config.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/watch.h"
#include "model/scales.h"
#include "output/checkpoint.h"
#include "output/directory.h"
#include "output/output.h"
#include "output/stream.h"
#include "run/aggregate.h"
#include "run/expect.h"
#include "run/experiment.h"
#include "run/input.h"
#include "run/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

struct run;
struct json_t;
struct save_memory;
struct shadows;

/* What a command asks of a run, and how it hears of it. */
struct run_options {
    const char *directory; /* where to write; NULL: "<name>.run" here */
    bool force;            /* replace a run that is there */
    bool restart;          /* continue it */
    bool restart_if_any;   /* with `restart`: where there is none, begin */
    double deadline;       /* clock_seconds() by which it has stopped, with a checkpoint; 0: none */
    /* Called a few times a second while it computes, and with a line for people, a `loud` one if
     * they must see it. May be NULL. */
    void (*progress)(void *context, const struct run *run);
    void (*notice)(void *context, bool loud, const char *line);
    void *context;
};

/* A diagnostic at work: its rows go to its CSV file and to the acceptance criteria. */
struct run_diagnostic {
    struct diagnostic *diagnostic;
    struct stream *stream;
    double *last_row;            /* of system 0, for the summary; undefined before the first */
    struct aggregate *aggregate; /* over the members of an ensemble; NULL without one */
    struct stream *aggregate_stream;
};

struct run {
    struct experiment experiment;
    struct run_options options; /* its texts are the caller's */
    struct backend *backend;
    struct backend_description description;
    struct directory *directory;
    struct stream *log;
    bool manifest_written; /* run.json is there and is this run's */

    size_t diagnostic_count, output_count; /* with `trust` and `energy_budget`, behind the others */
    struct run_diagnostic *diagnostics;
    struct output **outputs;
    const char **output_files; /* their names, borrowed from the config */
    uint64_t *output_events;   /* of each output in the whole run, as planned until it ends */
    struct trigger *triggers;  /* of the diagnostics, the outputs, the checkpoint and the watch */
    struct expectations expectations;
    struct expectations stops; /* stop_when */
    struct watch *watch;
    struct diagnostic *trust, *energy_budget; /* the last ones of `diagnostics`, or NULL */
    struct shadows *shadows; /* see run/shadow.h; NULL where they are not asked for */

    struct conserved *conserved; /* of every system, at the last event that needed them */
    struct conserved *first;     /* of every system at step 0 */
    double *member_error;        /* largest |dE/E0| of every system so far */
    bool *left_out;              /* systems over the limit, from statistics over members */
    double *phi, *psi;           /* allocated where something needs them */

    uint64_t step;          /* reached */
    uint64_t planned_steps; /* where stop_when ended it before experiment.steps; else 0 */
    bool events_done;       /* those of this step have happened */
    bool unresolved;        /* it was said that the precision does not resolve a pair */
    uint64_t first_step;    /* where this process began */
    double started;         /* clock_seconds() */
    double cpu_started;     /* clock_cpu_seconds() */
    double ended;           /* clock_seconds() when all was done but to say so; 0 before */
    double cpu_ended;       /* clock_cpu_seconds() then */
    double advance_seconds; /* of them, spent in the backend's advance */
    double last_look;       /* clock_seconds() when it was asked whether to stop */
    double longest_wait;    /* seconds from one such look to the next */
    char start_stamp[CLOCK_STAMP_SIZE];
    char stop_reason[64];   /* what ended it early, or "" */
    const char *error_text; /* the errors that ended it, or NULL; for run.json */
    bool failed;            /* by its numbers: failure.xyz holds the last frame */
    /* The condition of stop_when that ended it, or "". */
    char ended_by[CRITERION_TEXT_SIZE];

    struct checkpoint *checkpoint;   /* that it continues from; only while it opens */
    const char *continued_from;      /* its name; NULL for a run that begins */
    bool newest_damaged;             /* checkpoint.orr is, and must not become the previous one */
    bool goes_further;               /* beyond the end of the run that it continues */
    bool changed;                    /* its config, in ways that a restart allows */
    bool done_before;                /* that run is done, and stays as it is */
    struct json_t *before;           /* run.json of that run, or NULL */
    struct json_t *legs_before;      /* see run/legs.h; NULL for none */
    struct save_memory *before_last; /* see save_remember(); NULL where it is not needed */
    double last_checkpoint;          /* clock_seconds() */
    double save_seconds;             /* what the slowest one took */
    bool saved, saved_events;        /* at saved_step, before or after its events */
    uint64_t saved_step;
    bool checkpoint_wanted; /* by the clock, a signal or a control file */
    bool bitwise;           /* all of it was computed by one build on one kind of machine */
    bool checkpointed;      /* at least once: a restart is possible */
    struct text early_log;  /* what is said before run.log is open */
    struct scales scales;   /* of the initial bodies */
    char bodies_hash[INPUT_HASH_SIZE]; /* of bodies.file when the run began; "" without one */
};

/*
 * Opens everything that can be opened without writing: bodies, backend, diagnostics, outputs and
 * criteria. With `measure` false the initial conserved quantities, an O(N^2) sum, are left at
 * zero: enough for `orrery check`. Whatever is wrong with the config or its input shows here.
 */
enum status run_prepare(const struct config *config, const struct run_options *options,
                        bool measure, struct run **run, struct error *error);

/*
 * Only the experiment and the directory of a run that is there, locked, with its run.json: for a
 * replay. NULL with the error of either.
 */
struct run *run_open_bare(const struct config *config, const char *directory, struct error *error);

/*
 * Runs to the end and writes everything, run.json with the verdict last. STATUS_OK,
 * STATUS_EXPECT_FAILED, STATUS_STOPPED (a signal), or what went wrong.
 */
enum status run_execute(struct run *run, struct error *error);

/* Accepts NULL. */
void run_destroy(struct run *run);

/* The directory that the options choose: theirs, or "<name>.run". */
enum { RUN_DIRECTORY_SIZE = EXPERIMENT_NAME_SIZE + 8 };
const char *run_directory(const struct run *run, char buffer[RUN_DIRECTORY_SIZE]);

/* A line for people and for run.log; a warning is shown even to those who want it quiet. */
void run_notice(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_warning(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands all rows and frames to the system, and with `to_disk` to the disk. */
enum status run_flush(struct run *run, bool to_disk, struct error *error);

/* t of the step that it has reached. */
double run_time(const struct run *run);
/* The same for people: "3653 d", with so many digits. */
const char *run_time_text(const struct run *run, int digits, char buffer[UNITS_TEXT_SIZE]);

/* Pair interactions per second of the steps done so far by this process; 0 before any. */
double run_rate(const struct run *run);

/* (E - E0) / |E0| of one system at the last event that measured it; NaN where undefined. */
double run_energy_error(const struct run *run, size_t system);
/* The system whose error is the largest in size; an undefined one counts as larger. */
size_t run_worst_system(const struct run *run);

#ifdef __cplusplus
}
#endif

#endif
