/* A finished (or stopped, or running) run, as its directory tells of it. */
#ifndef ORRERY_REPORT_RESULT_H
#define ORRERY_REPORT_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/units.h"
#include "report/series.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RESULT_PATH_SIZE = 4096 };

struct result {
    char path[RESULT_PATH_SIZE]; /* of the directory, no slash at the end */
    json_t *json;                /* run.json */
};

/* STATUS_NO_INPUT where the directory holds no run, STATUS_DATA where run.json is no JSON,
 * STATUS_MEMORY, STATUS_IO. */
enum status result_open(const char *path, struct result *result, struct error *error);
void result_close(struct result *result);

/* By keys and list indices with dots between them: "config.time.step"; NULL where it is not. */
json_t *result_find(const struct result *result, const char *keys);
const char *result_string(const struct result *result, const char *keys); /* "" where it is not */
double result_real(const struct result *result, const char *keys);        /* NaN where it is not */

/* The units of its numbers; NULL where it does not say. */
const struct units *result_units(const struct result *result);

/* Did Orrery write it? Other programs have files of that name too. */
bool result_is_of_orrery(const struct result *result);

/* The largest |dE/E0| of the run, from the last row of its conservation diagnostic; NaN without. */
double result_energy_error(const struct result *result);

/* The file `name` of the directory; *series is NULL where there is no such file. */
enum status result_series(const struct result *result, const char *name, struct series **series,
                          struct error *error);

/* The path of the trajectory in extended XYZ, into buffer; NULL where the run has none. */
const char *result_trajectory(const struct result *result, char buffer[RESULT_PATH_SIZE]);

/* The path of a file of the directory, into buffer. */
const char *result_file(const struct result *result, const char *name,
                        char buffer[RESULT_PATH_SIZE]);
bool result_has(const struct result *result, const char *name);

#ifdef __cplusplus
}
#endif

#endif
