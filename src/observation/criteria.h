/* The criteria by which a run is judged: bounds that the config has for columns of diagnostics
 * (expect), and conditions on them that end the run (stop_when). */
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

/* A criterion: the bounds on a column, and the values that the run has had so far. */
struct criterion {
    const struct section *section;
    const char *quantity;   /* name as written: "column" or "diagnostic.column" */
    size_t diagnostic;      /* index among the diagnostics, then their statistics */
    size_t column;          /* index of the column in that diagnostic */
    bool of_energy;         /* column is conservation.energy_error, which the watch measures too */
    double lowest, highest; /* the bounds; infinite for none */
    double after, before;   /* the times within which rows count */
    /* Units of the bounds and of times, for people: " km/s", " Myr"; "" if there is none. */
    char unit[UNITS_LABEL_SIZE + 1], time_unit[UNITS_LABEL_SIZE + 1];
    union {
        struct {
            double rows;  /* number of rows that counted */
            double last;  /* time of the last of these rows */
            double worst; /* the value that came nearest to breaking a bound, or is farthest beyond
                             one; NaN before any */
            double failures;
            double first_failure;               /* time of the first failure */
            double worst_system, failed_system; /* systems of `worst` and of the first failure, from
                                                   1; 0: a single one, or all */
        };
        double state[CRITERION_STATE]; /* the same numbers, as an array that must survive a
                                          restart */
    };
};

struct expectations {
    struct criterion *criteria;
    size_t count;
};

/* Creates the criteria of the list `group`, with these units. Finds their quantities among the
 * columns of `diagnostics` (a NULL entry has none); an unknown quantity is STATUS_CONFIG with a
 * suggestion. STATUS_MEMORY. */
enum status expectations_create(const struct config *config, const char *group,
                                const struct units *units,
                                const struct diagnostic *const *diagnostics,
                                size_t diagnostic_count, struct expectations *expectations,
                                struct error *error);
void expectations_destroy(struct expectations *expectations);

/* Judges a row of the diagnostic at index `diagnostic` at `time`. `system` counts from 1; 0 stands
 * for a single system and for statistics. An undefined value breaks a criterion. `error` is the
 * largest energy error of the system so far, at all rows and at the checks of the watch between
 * them; it replaces a smaller conservation.energy_error. */
void expectations_row(struct expectations *expectations, size_t diagnostic, size_t system,
                      double time, const double *values, double error);

/* Returns the first criterion that this row alone meets, in value and time; or NULL. */
const struct criterion *expectations_met(const struct expectations *expectations, size_t diagnostic,
                                         double time, const double *values, double error);

/* Tell whether the criterion holds, or all criteria do: at least one row counted and none
 * failed. */
bool criterion_holds(const struct criterion *criterion);
bool expectations_hold(const struct expectations *expectations);

/* Tells whether the criterion can be judged before the end of the run: a row failed, or one after
 * the start counted. */
bool criterion_is_judged(const struct criterion *criterion);

/* Returns the reason why the worst value is undefined, and the quantity to use instead: ", since E0
 * and U0 are 0; ..."; "" if the value is defined or the reason is not known. */
const char *criterion_why_undefined(const struct criterion *criterion);

/* Writes the criterion into buffer: "energy_error <= 0.0001". */
enum { CRITERION_TEXT_SIZE = 360 };
const char *criterion_text(const struct criterion *criterion, char buffer[CRITERION_TEXT_SIZE]);

/* Adds a finding for each criterion; `ended` as for expectations_json(). */
void expectations_findings(const struct expectations *expectations, bool ended,
                           struct findings *findings);

/* Returns an array of objects for run.json, a new reference. `ended` says that the run has come to
 * its end; before, a criterion that has not failed neither holds nor fails: null. */
json_t *expectations_json(const struct expectations *expectations, bool ended);

/* The criteria of a run, in two lists. */
struct criteria {
    struct expectations expect;
    struct expectations stop_when;
    char ended_by[CRITERION_TEXT_SIZE]; /* condition of stop_when that was met first, or "" */
};

/* Creates both lists of criteria of the config, on columns of these diagnostics; see
 * expectations_create(). The errors of both lists are reported. */
enum status criteria_create(const struct config *config, const struct units *units,
                            const struct diagnostic *const *diagnostics, size_t diagnostic_count,
                            struct criteria *criteria, struct error *error);
void criteria_destroy(struct criteria *criteria);

/* Returns the least upper bound in `expect` on the size of an energy error; infinite if there is
 * none. A criterion that asks for a large error has none. */
double criteria_energy_bound(const struct criteria *criteria);

/* Judges a row by both lists, see expectations_row(); notes the first condition of stop_when that
 * is met. */
void criteria_row(struct criteria *criteria, size_t diagnostic, size_t system, double time,
                  const double *values, double error);

/* --- quantities by name ----------------------------------------------------------------------- */

/* A quantity is a column of a diagnostic, which `expect`, `stop_when` and --show give by name:
 * "energy_error" or "conservation.energy_error". */

struct quantity_index {
    size_t diagnostic, column; /* index of the diagnostic, and of the column in it */
};

/* Counts the columns of the diagnostics with this name; *quantity becomes the last of them. A NULL
 * entry has none. Columns of tables, with many rows at each event, are found only by
 * "diagnostic.column". */
size_t quantity_find(const char *name, const struct diagnostic *const *diagnostics, size_t count,
                     struct quantity_index *quantity);

/* Appends the reason why a name is no quantity, if quantity_find() has found `found` columns and
 * not one: several have the name, or a diagnostic to add has it, or which column is nearest. */
void quantity_explain(const char *name, size_t found, const struct diagnostic *const *diagnostics,
                      size_t count, struct text *reason);

#endif
