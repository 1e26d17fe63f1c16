/* A run that has ended, was stopped or is at work, as the files in its directory describe it. */
#ifndef ORRERY_REPORT_RESULT_H
#define ORRERY_REPORT_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "formats/csv.h"
#include "integrator/integrator.h"
#include "model/units.h"
#include "output/directory.h"
#include "output/run-fields.h"

enum { RESULT_PATH_SIZE = 4096 };

/* The state of a run at the time when it was opened. */
enum result_state {
    RESULT_ENDED,   /* ended; run.json says how */
    RESULT_AT_WORK, /* a process works on it */
    RESULT_LEFT     /* killed: not ended, and no process works on it */
};

struct result {
    char path[RESULT_PATH_SIZE]; /* path of the directory, without a slash at the end */
    json_t *json;                /* content of run.json, owned */
    enum result_state state;
    struct progress progress; /* how far it is, if it has not ended */
    struct result_identity {
        bool found;
        unsigned long long device, inode;
        long long seconds, nanoseconds;
    } identity; /* which file run.cfg is, and when it last changed: each run writes a new one */
    /* the integrator that the config gives as a list of stages (integrator/stage-list.h); without
     * stages if it gives none */
    struct integrator listed;
    /* time.end of the study that the run is a member of; 0: the caller compares it with none */
    double study_end;
};

/* Reads run.json of a directory and finds the state of the run, whose lock it takes only for the
 * instant in which it looks whether a process holds it. STATUS_NO_INPUT if the directory holds no
 * run, STATUS_DATA if run.json is no JSON, or has a name or a field that no run could have written,
 * or if run.cfg is no regular file; STATUS_MEMORY, STATUS_IO. */
enum status result_open(const char *path, struct result *result, struct error *error);
void result_close(struct result *result);

/* Tells whether the directory still holds the run that was opened, not a later one. */
bool result_is_current(const struct result *result);

/* Return a field of run.json; NULL, "", NaN or false if it is undefined. Objects and strings belong
 * to the result. */
json_t *result_find(const struct result *result, enum run_field field);
const char *result_string(const struct result *result, enum run_field field);
double result_real(const struct result *result, enum run_field field);
bool result_flag(const struct result *result, enum run_field field);

/* Returns the value of a config key such as "time.step"; NULL if the config has no such key. */
json_t *result_config(const struct result *result, const char *key);

/* Returns the value of a column in the last row of the diagnostic of this name, as run.json has it;
 * NaN if there is none. */
double result_measured(const struct result *result, const char *diagnostic, const char *column);

/* Returns the length of a run's steps, in its unit of time. If its integrator chooses its own
 * steps, that is the spacing of the grid at which the run observes. NaN if it is not known. */
double result_step(const struct result *result);

/* Appends the command that continues the run, "orrery run ... --restart", quoted for a shell. */
void result_way_on(const struct result *result, struct text *text);

/* Returns the integrator of the run; NULL if this program does not know it. */
const struct integrator *result_integrator(const struct result *result);
bool result_is_periodic(const struct result *result);
bool result_rotates(const struct result *result); /* its frame of reference rotates */

/* Returns the units of the run's numbers; NULL if run.json does not say. */
const struct units *result_units(const struct result *result);

/* Returns the unit in which figures and sentences give the run's times, such as years
 * (model/units.h). It may be the period of the orbit that the diagnostic `orbit` measures. */
struct time_unit result_time_unit(const struct result *result);

/* Writes a time, given in the run's own unit, in that of result_time_unit(): "9.6 yr", with
 * `digits` significant digits. Returns `buffer`. */
const char *result_time(const struct result *result, double time, int digits,
                        char buffer[UNITS_TEXT_SIZE]);

/* Appends a sentence of run.json, with its times converted from the unit of the config to that of
 * result_time_unit(): "at t = 3652.5 d" may become "at t = 10 yr". */
void result_put_words(const struct result *result, const char *words, struct text *text);

/* Tells whether Orrery has written run.json: other programs write files of this name too. */
bool result_is_of_orrery(const struct result *result);

/* Tells whether the run broke off with an error: the last rows of its files are then from some time
 * before the error. */
bool result_broke_off(const struct result *result);

/* Tells whether the run failed: it did not keep an expectation of its config, the limits of the
 * accuracy watch, or the accuracy asked for. */
bool result_has_failed(const struct result *result);

/* Tells whether the run was stopped early, so that it can be continued. */
bool result_was_stopped(const struct result *result);

/* Tells whether a run ended, well or badly, and was not merely stopped. */
bool result_is_over(const struct result *result);

/* Tells whether the numbers in run.json are those of the run's last step: the run came to its end
 * or was stopped; it did not break off, was not killed and is not at work. */
bool result_has_end(const struct result *result);

/* Tells whether the run has finished at an earlier time.end than `study_end`: it was not continued
 * when its study was, and counts as stopped. */
bool result_falls_short(const struct result *result);

/* Tells whether the run has come to its end, that of its config or where stop_when has ended it,
 * and does not fall short of its study's. */
bool result_is_whole(const struct result *result);

/* Returns the largest |ΔE|/max(|E₀|, |U₀|) of the run, by which it is judged: in the rows of its
 * diagnostics and at the checks of the accuracy watch, over all systems. NaN if it is not known. */
double result_energy_error(const struct result *result);

/* Returns the number of systems that the statistics of an ensemble leave out for their energy
 * error; 0 if the run has not ended. */
double result_left_out(const struct result *result);

/* Reads the CSV file `name` of the directory; *series is NULL if there is none, or if it is still
 * empty in a run that has not ended. */
enum status result_series(const struct result *result, const char *name, struct series **series,
                          struct error *error);

/* Writes the path of the extended XYZ trajectory and returns `buffer`; NULL if there is none. */
const char *result_trajectory(const struct result *result, char buffer[RESULT_PATH_SIZE]);

/* Writes the path of a file of the directory and returns `buffer`. */
const char *result_file(const struct result *result, const char *name,
                        char buffer[RESULT_PATH_SIZE]);

#endif
