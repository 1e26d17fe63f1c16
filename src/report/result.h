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

/* Tells whether it has ended. */
enum result_state {
    RESULT_ENDED,   /* run.json says how */
    RESULT_AT_WORK, /* no: a process is at it */
    RESULT_LEFT     /* no, but nobody is at it: it was killed */
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
    } identity; /* of its run.cfg, which a run writes once */
};

/* Nothing is locked but for an instant. STATUS_NO_INPUT where the directory holds no run,
 * STATUS_DATA where run.json is no JSON, or has a name or a field that no run could have written,
 * or run.cfg is no regular file; STATUS_MEMORY, STATUS_IO. */
enum status result_open(const char *path, struct result *result, struct error *error);
void result_close(struct result *result);

/* Tells whether the run that was opened is still the one in its directory. */
bool result_is_current(const struct result *result);

/* Undefined fields are NULL, "", NaN and false. What is returned is the result's. */
json_t *result_find(const struct result *result, enum run_field field);
const char *result_string(const struct result *result, enum run_field field);
double result_real(const struct result *result, enum run_field field);
bool result_flag(const struct result *result, enum run_field field);

/* The value of a key of the config, as the config names it ("time.step"); NULL without. */
json_t *result_config(const struct result *result, const char *key);

/* The number of a column in the last row of the diagnostic of that name; NaN without. */
double result_measured(const struct result *result, const char *diagnostic, const char *column);

/* The time between its steps, or of the grid of one that chooses its own, which a config need not
 * name; NaN where it does not say. */
double result_step(const struct result *result);

/* The command that continues it, as the shell takes it. */
void result_way_on(const struct result *result, struct text *text);

/* NULL for one that this program does not know. */
const struct integrator *result_integrator(const struct result *result);
bool result_is_periodic(const struct result *result);
bool result_rotates(const struct result *result); /* its frame */

/* The units of its numbers; NULL where it does not say. */
const struct units *result_units(const struct result *result);

/* The unit in which figures and sentences give its times; an orbit is that of the diagnostic. */
struct time_unit result_time_unit(const struct result *result);

/* Writes "9.6 yr", with `digits` significant digits, in that unit. */
const char *result_time(const struct result *result, double time, int digits,
                        char buffer[UNITS_TEXT_SIZE]);

/* Did Orrery write it? Other programs have files of that name too. */
bool result_is_of_orrery(const struct result *result);

/* Did it end in an error? Then its last rows are of some time before its end. */
bool result_broke_off(const struct result *result);

/* Tells whether it was stopped in order, to be continued. */
bool result_was_stopped(const struct result *result);

/* Tells whether its numbers are those of its end. They are not if it broke off, was killed or is
 * at work; one that was stopped has come to an end too. */
bool result_has_end(const struct result *result);

/* Tells whether that is the end which its config asks for. */
bool result_is_whole(const struct result *result);

/* The largest energy error of the run, which it is judged by: that of the rows and of what the
 * watch saw between them; NaN without. Of an ensemble: that at the end, of the worst system. */
double result_energy_error(const struct result *result);

/* Systems of an ensemble whose energy error leaves them out of the statistics; 0 where none are, or
 * where the run has not ended. */
double result_left_out(const struct result *result);

/* The file `name` of the directory; *series is NULL where there is no such file, or where a run
 * that has not ended has written nothing into it. */
enum status result_series(const struct result *result, const char *name, struct series **series,
                          struct error *error);

/* The path of the trajectory in extended XYZ, into buffer; NULL where the run has none. */
const char *result_trajectory(const struct result *result, char buffer[RESULT_PATH_SIZE]);

/* The path of a file of the directory, into buffer. */
const char *result_file(const struct result *result, const char *name,
                        char buffer[RESULT_PATH_SIZE]);

#endif
