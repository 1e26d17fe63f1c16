/* By what a run is judged: what the config file expects of the columns of its diagnostics, and the
 * conditions on them under which it ends the run (stop_when). */
#ifndef ORRERY_OBSERVATION_CRITERIA_H
#define ORRERY_OBSERVATION_CRITERIA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "accuracy/finding.h"
#include "base/status.h"
#include "base/text.h"
#include "config/configuration.h"
#include "diagnostics/diagnostic.h"
#include "model/units.h"

enum { CRITERION_STATE = 7 };

/* One criterion: the bounds on a column, and how the run has done so far. */
struct criterion {
    const struct section *section;
    const char *quantity;   /* as written: "column" or "diagnostic.column" */
    size_t diagnostic;      /* index of the diagnostic in the config */
    size_t column;          /* of that diagnostic */
    bool of_energy;         /* that is the largest energy error, which others than rows know too */
    double lowest, highest; /* the bounds; infinite where there is none */
    double after, before;   /* the times within which rows count */
    /* " km/s", " Myr": units of the bounds and of times, for people; "" where there is none. */
    char unit[UNITS_LABEL_SIZE + 1], time_unit[UNITS_LABEL_SIZE + 1];
    union {
        struct {
            double rows;  /* that counted */
            double last;  /* time of the last of them */
            double worst; /* the value that came nearest to breaking, or broke, a bound; NaN before
                             any */
            double failures;
            double first_failure;               /* its time */
            double worst_system, failed_system; /* of these two, counted from 1; 0: of all, or
                                                   alone */
        };
        double state[CRITERION_STATE]; /* the same as what must survive a restart */
    };
};

struct expectations {
    struct criterion *criteria;
    size_t count;
};

/* The criteria of the list `group`, in these units. Finds the quantities among the columns of
 * `diagnostics` (NULL entries have none); an unknown one is STATUS_CONFIG with a suggestion. */
enum status expectations_create(const struct config *config, const char *group,
                                const struct units *units,
                                const struct diagnostic *const *diagnostics,
                                size_t diagnostic_count, struct expectations *expectations,
                                struct error *error);
void expectations_destroy(struct expectations *expectations);

/* A row of diagnostic `diagnostic` at `time`; `system` counts from 1 and is 0 for a system alone
 * and for statistics. An undefined value breaks a criterion. `error`: the largest energy error of
 * the system so far, of all rows and of what the watch saw between them, in the place of a smaller
 * conservation.energy_error. */
void expectations_row(struct expectations *expectations, size_t diagnostic, size_t system,
                      double time, const double *values, double error);

/* The first criterion that this row meets by itself, its window of time included; or NULL. */
const struct criterion *expectations_met(const struct expectations *expectations, size_t diagnostic,
                                         double time, const double *values, double error);

/* A criterion holds when at least one row counted and none failed. */
bool criterion_holds(const struct criterion *criterion);
bool expectations_hold(const struct expectations *expectations);

/* Tells whether anything can be said of it before the end. The rows of the start say nothing of a
 * run, unless they fail. */
bool criterion_is_judged(const struct criterion *criterion);

/* Returns the reason why its worst value is undefined, and the quantity to judge instead: ", since
 * E0 and U0 are 0; ..."; "" where it is defined, or nothing is known of it. */
const char *criterion_why_undefined(const struct criterion *criterion);

/* "energy_error <= 0.0001", into buffer. */
enum { CRITERION_TEXT_SIZE = 360 };
const char *criterion_text(const struct criterion *criterion, char buffer[CRITERION_TEXT_SIZE]);

/* Adds a row for each; whether the run has come to its end decides as for run.json, below. */
void expectations_findings(const struct expectations *expectations, bool ended,
                           struct findings *findings);

/* For run.json: an array of objects; a new reference. Of a run that has not come to its end, what
 * has held so far neither holds nor fails: null. */
json_t *expectations_json(const struct expectations *expectations, bool ended);

/* The criteria of a run, in two lists. */
struct criteria {
    struct expectations expect;
    struct expectations stop_when;
    char ended_by[CRITERION_TEXT_SIZE]; /* the condition of stop_when that was met first, or "" */
};

/* Creates the criteria of the config, on the columns of these diagnostics; see
 * expectations_create(). All errors of both lists are reported. */
enum status criteria_create(const struct config *config, const struct units *units,
                            const struct diagnostic *const *diagnostics, size_t diagnostic_count,
                            struct criteria *criteria, struct error *error);
void criteria_destroy(struct criteria *criteria);

/* The least bound that the criteria have on an energy error; infinite where they have none. A
 * criterion that wants a large error has none. */
double criteria_energy_bound(const struct criteria *criteria);

/* Shows a row of a diagnostic to both. */
void criteria_row(struct criteria *criteria, size_t diagnostic, size_t system, double time,
                  const double *values, double error);

/* --- quantities by name ----------------------------------------------------------------------- */

/* Quantities: columns of the diagnostics of a run by name, as `expect`, `stop_when` and --show give
 * them: "energy_error" or "conservation.energy_error". */

struct quantity_index {
    size_t diagnostic, column; /* indices: of the diagnostic, and of the column in it */
};

/* Counts the columns of the diagnostics with that name (NULL entries have none; those of tables
 * with many rows for each event need their "diagnostic."); *quantity is the last of them. */
size_t quantity_find(const char *name, const struct diagnostic *const *diagnostics, size_t count,
                     struct quantity_index *quantity);

/* Appends why a name of which quantity_find() has `found` columns, not one, is no quantity: the
 * diagnostic to add, the nearest column, or that there are several. */
void quantity_explain(const char *name, size_t found, const struct diagnostic *const *diagnostics,
                      size_t count, struct text *reason);

#endif
