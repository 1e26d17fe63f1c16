/* The criteria by which a run is judged: bounds on columns of diagnostics, from the list `expect`
 * of the config, and conditions on columns that end the run early, from its list `stop_when`. */
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

/* A criterion: the bounds on a column of a diagnostic, and what its rows have shown so far. */
struct criterion {
    const struct section *section;
    const char *quantity; /* name as written: "column" or "diagnostic.column" */
    /* Index of the diagnostic among those of the run, which are followed by their statistics over
     * an ensemble, in the same order. */
    size_t diagnostic;
    size_t column; /* index of the column in that diagnostic */
    /* The column is `energy_error` of the diagnostic `conservation`, which the accuracy watch of
     * the run also measures between rows. */
    bool of_energy;
    double lowest, highest; /* the bounds; infinite for none */
    /* Only rows from the time `after` to `before` count; infinite: no such limit. */
    double after, before;
    /* Units of the bounds and of the two times for messages: " km/s", " Myr"; or "". */
    char unit[UNITS_LABEL_SIZE + 1], time_unit[UNITS_LABEL_SIZE + 1];
    /* why values of the column can be undefined, as the end of a sentence: ", as it is without a
     * bound pair"; for messages if `worst` is undefined */
    char why_undefined[200];
    union {
        struct {
            double rows;  /* number of rows that counted */
            double last;  /* time of the last row that counted */
            double worst; /* the value that came nearest to breaking a bound, or is farthest beyond
                             one; NaN before the first row */
            double failures;
            double first_failure; /* time of the first failure; NaN before it */
            /* The systems, from 1, in which `worst` and the first failure were seen; 0: the run has
             * one system, or the row is a statistic over systems. */
            double worst_system, failed_system;
        };
        double state[CRITERION_STATE]; /* these numbers as an array, which checkpoints save */
    };
};

struct expectations {
    struct criterion *criteria;
    size_t count;
};

/* Creates the criteria of the list `group` of the config, "expect" or "stop_when". Messages show
 * the bounds in `units`. Each quantity is looked up among the columns of `diagnostics` (an entry
 * may be NULL); an unknown one is STATUS_CONFIG, with a suggestion. STATUS_MEMORY. */
enum status expectations_create(const struct config *config, const char *group,
                                const struct units *units,
                                const struct diagnostic *const *diagnostics,
                                size_t diagnostic_count, struct expectations *expectations,
                                struct error *error);
void expectations_destroy(struct expectations *expectations);

/* Judges a row, `values` of all columns, of the diagnostic at index `diagnostic` at `time`; an
 * undefined value (NaN) breaks a criterion. `system` counts from 1; 0 stands for a single system
 * and for statistics. `error` is the largest energy error of the system so far, which is also
 * measured between rows, and is judged in the place of a smaller energy_error. */
void expectations_row(struct expectations *expectations, size_t diagnostic, size_t system,
                      double time, const double *values, double error);

/* Returns the first criterion whose bounds and times this one row meets, whatever other rows did;
 * NULL if there is none. The arguments are as for expectations_row(). */
const struct criterion *expectations_met(const struct expectations *expectations, size_t diagnostic,
                                         double time, const double *values, double error);

/* Tells whether a row at `time` counts, between `after` and `before` of the criterion. */
bool criterion_counts(const struct criterion *criterion, double time);

/* Tell whether the criterion, or each one, holds: some row counted and none failed. */
bool criterion_holds(const struct criterion *criterion);
bool expectations_hold(const struct expectations *expectations);

/* Tells whether a run that has not ended says anything about the criterion: a row has failed, or a
 * row after the start of the run has counted. */
bool criterion_is_judged(const struct criterion *criterion);

/* Returns the reason why the worst value is undefined, as the end of a sentence: ", since E0 and U0
 * are 0; ..." or, from the definition of the column, ", as it is without a bound pair"; "" if the
 * value is defined. */
const char *criterion_why_undefined(const struct criterion *criterion);

/* Writes the criterion into `buffer`, which it returns: "energy_error <= 0.0001". */
enum { CRITERION_TEXT_SIZE = 360 };
const char *criterion_text(const struct criterion *criterion, char buffer[CRITERION_TEXT_SIZE]);

/* Adds a row for each criterion to the table of findings: how its worst value stands to its bound.
 * `ended`: the run has come to its end. */
void expectations_findings(const struct expectations *expectations, bool ended,
                           struct findings *findings);

/* Returns an array with an object for each criterion, for run.json; a new reference. Unless the run
 * has `ended`, `holds` is null for a criterion that has not failed. */
json_t *expectations_json(const struct expectations *expectations, bool ended);

struct criteria {
    struct expectations expect;
    struct expectations stop_when;
    /* The condition of stop_when that was met first, in words; "": none was. */
    char ended_by[CRITERION_TEXT_SIZE];
};

/* Creates both lists of criteria of the config, with the arguments of expectations_create(). The
 * errors of both lists are reported. */
enum status criteria_create(const struct config *config, const struct units *units,
                            const struct diagnostic *const *diagnostics, size_t diagnostic_count,
                            struct criteria *criteria, struct error *error);
void criteria_destroy(struct criteria *criteria);

/* Returns the smallest upper bound that `expect` puts on the size of an energy error; infinite if
 * there is none. After the run has `ended`, criteria without a value (undefined, or no row) are
 * left out: no shorter step would give them one. */
double criteria_energy_bound(const struct criteria *criteria, bool ended);

/* Tells whether a criterion of `expect` has failed, or got no row in a run that has `ended`, and no
 * shorter step would help: it does not bound the size of an energy error, or has no value. */
bool criteria_fail_otherwise(const struct criteria *criteria, bool ended);

/* Judges a row, given as to expectations_row(), by both lists. Notes in `ended_by` the first
 * condition of stop_when that is met. */
void criteria_row(struct criteria *criteria, size_t diagnostic, size_t system, double time,
                  const double *values, double error);

/* --- quantities by name ----------------------------------------------------------------------- */

/* A quantity is a column of a diagnostic, which `expect`, `stop_when` and --show give by name:
 * "energy_error" or "conservation.energy_error". */

struct quantity_index {
    size_t diagnostic, column; /* index of the diagnostic, and of the column in it */
};

/* Tells whether the name is that of an energy error: "energy_error", "test_energy_error",
 * "conservation.relative_energy_error", or a statistic of one. */
bool quantity_of_energy(const char *name);

/* Counts the columns of `diagnostics` (an entry may be NULL) that have this name; *quantity becomes
 * the last of them. Columns of tables, which have many rows at each event, are found only by
 * "diagnostic.column". */
size_t quantity_find(const char *name, const struct diagnostic *const *diagnostics, size_t count,
                     struct quantity_index *quantity);

/* Appends the reason why `name` is no quantity, as quantity_find() has found `found` columns and
 * not one: several have the name; or only a diagnostic that the run could add has it; or none, and
 * then the column that is spelt most alike. */
void quantity_explain(const char *name, size_t found, const struct diagnostic *const *diagnostics,
                      size_t count, struct text *reason);

#endif
