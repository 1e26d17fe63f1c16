/* A finished (or stopped, or running) run, as its directory tells of it. */
#ifndef ORRERY_REPORT_RESULT_H
#define ORRERY_REPORT_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "formats/csv.h"
#include "integrator/integrator.h"
#include "model/time-unit.h"
#include "model/units.h"
#include "output/directory.h"
#include "output/run-fields.h"

enum { RESULT_PATH_SIZE = 4096 };

/* The state of a run at the time when it was opened. */
enum result_state {
    RESULT_ENDED,   /* it has ended; run.json says how */
    RESULT_AT_WORK, /* a process works on it */
    RESULT_LEFT     /* it was killed: it has not ended, and no process works on it */
};

struct result {
    char path[RESULT_PATH_SIZE]; /* of the directory, no slash at the end */
    json_t *json;                /* run.json */
    enum result_state state;
    struct progress progress; /* of one that has not ended */
    struct result_identity {
        bool found;
        unsigned long long device, inode;
        long long seconds, nanoseconds;
    } identity;               /* of its run.cfg, which a run writes once */
    struct integrator listed; /* the integrator whose stages the config lists; no stages: none */
};

/* Opens the run of a directory, without a lock but for an instant. STATUS_NO_INPUT if the directory
 * holds no run, STATUS_DATA if run.json is no JSON, or has a name or a field that no run could have
 * written, or run.cfg is no regular file; STATUS_MEMORY, STATUS_IO. */
enum status result_open(const char *path, struct result *result, struct error *error);
void result_close(struct result *result);

/* Tells whether the run that was opened is still the one in its directory. */
bool result_is_current(const struct result *result);

/* Return a field of run.json: NULL, "", NaN or false if it is undefined. Objects and strings belong
 * to the result. */
json_t *result_find(const struct result *result, enum run_field field);
const char *result_string(const struct result *result, enum run_field field);
double result_real(const struct result *result, enum run_field field);
bool result_flag(const struct result *result, enum run_field field);

/* Returns the value of a key of the config, as the config names it ("time.step"); NULL if it has
 * none. */
json_t *result_config(const struct result *result, const char *key);

/* Returns the number of a column in the last row of the diagnostic of that name; NaN if there is
 * none. */
double result_measured(const struct result *result, const char *diagnostic, const char *column);

/* Returns the time between the steps of a run, or the steps of the grid if its integrator chooses
 * its own, which a config need not name; NaN if it is not known. */
double result_step(const struct result *result);

/* Appends the command that continues the run, as the shell takes it. */
void result_way_on(const struct result *result, struct text *text);

/* Returns the integrator of the run; NULL if this program does not know it. */
const struct integrator *result_integrator(const struct result *result);
bool result_is_periodic(const struct result *result);
bool result_rotates(const struct result *result); /* the frame does */

/* Returns the units of the run's numbers; NULL if run.json does not say. */
const struct units *result_units(const struct result *result);

/* Returns the unit in which figures and sentences give the run's times. If that is the period of an
 * orbit, it is the orbit of the diagnostic. */
struct time_unit result_time_unit(const struct result *result);

/* Writes "9.6 yr", with `digits` significant digits, in that unit. */
const char *result_time(const struct result *result, double time, int digits,
                        char buffer[UNITS_TEXT_SIZE]);

/* Appends a sentence of run.json, in which times have the unit of the config: "at t = 3652.5 d" is
 * "at t = 10 yr" here. */
void result_put_words(const struct result *result, const char *words, struct text *text);

/* Tells whether Orrery has written run.json: other programs have files of that name too. */
bool result_is_of_orrery(const struct result *result);

/* Tells whether the run ended in an error: then its last rows are of some time before its end. */
bool result_broke_off(const struct result *result);

/* Tells whether the run failed: a criterion, the watch or the accuracy asked for was not kept. */
bool result_has_failed(const struct result *result);

/* Tells whether the run was stopped in order, to be continued. */
bool result_was_stopped(const struct result *result);

/* Tells whether a run has come to an end, good or bad. A run that was stopped has not. */
bool result_is_over(const struct result *result);

/* Tells whether the numbers of a run are those of its end. They are not if it broke off, was killed
 * or is at work; a run that was stopped has come to an end too. */
bool result_has_end(const struct result *result);

/* Tells whether the run has come to the end that its config asks for. */
bool result_is_whole(const struct result *result);

/* Returns the largest energy error of the run, by which it is judged: in its rows and at the checks
 * of the watch between them; NaN if it is not known. For an ensemble that of all systems. */
double result_energy_error(const struct result *result);

/* Returns the number of systems of an ensemble that are left out of the statistics for their energy
 * error; 0 also if the run has not ended. */
double result_left_out(const struct result *result);

/* Reads the CSV file `name` of the directory; *series is NULL if there is no such file, or if a run
 * that has not ended has written nothing into it. */
enum status result_series(const struct result *result, const char *name, struct series **series,
                          struct error *error);

/* Writes the path of the extended XYZ trajectory and returns `buffer`; NULL if there is none. */
const char *result_trajectory(const struct result *result, char buffer[RESULT_PATH_SIZE]);

/* Writes the path of a file of the directory and returns `buffer`. */
const char *result_file(const struct result *result, const char *name,
                        char buffer[RESULT_PATH_SIZE]);

#endif
