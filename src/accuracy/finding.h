/*
 * The table of findings: how each quantity by which a run is judged compares with its bound. Every
 * judge (the accuracy watch, the criteria of `expect`, the choice of integrator and step for a
 * required accuracy) makes rows of what it has seen; the sentence of a failed run, run.json and the
 * HTML page are made from the rows. The table has no state of its own: each judge keeps what it has
 * seen through a restart.
 */
#ifndef ORRERY_ACCURACY_FINDING_H
#define ORRERY_ACCURACY_FINDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/bodies.h"

/* How a value compares with its bound: not known yet (OPEN), within it (HELD), beyond it without
 * failing the run (WARNING), beyond it so that the run fails (FAILURE). */
enum finding_severity { FINDING_OPEN, FINDING_HELD, FINDING_WARNING, FINDING_FAILURE };

/* The subject of a row, which decides how its bound is described and which remedy is looked for.
 * "The watch" is the accuracy watch (watch.h). */
enum finding_subject {
    FINDING_OF_MOTION,  /* energies and orbits, judged by the watch */
    FINDING_OF_STEPS,   /* steps in the period of an orbit, judged by the watch */
    FINDING_OF_FORCES,  /* errors of the forces, measured by the watch */
    FINDING_OF_PAIR,    /* steps of the fastest pair; the watch warns, but the run does not fail */
    FINDING_OF_TARGET,  /* the energy error that time.energy_error asks for */
    FINDING_OF_HORIZON, /* the time until which time.trust_until asks for accurate orbits */
    FINDING_OF_ENERGY,  /* a criterion on an energy error */
    FINDING_OF_ROWS     /* a criterion on another column */
};

/* One row of the table. Times are NaN where there is none. */
struct finding {
    enum finding_subject subject;
    const char *name; /* "energy error", "orbit error", or a column as the config has it */
    const char *unit; /* unit of value and bound, with a blank: " km"; NULL: none */
    double value, bound;
    double uncertainty; /* standard error of a value that was measured on a sample; otherwise 0 */
    bool from_below;    /* the bound is the least value that holds; otherwise the largest */
    double times;       /* the value in units of the bound: 1 at the bound, more beyond it */
    double since;       /* the time when the value was first beyond the bound */
    /* Ids of a pair, or of a body and the centre of its orbit, or of one test body; NaN: none.
     * `named` has the bodies of the run, borrowed, for their names; NULL only if there is no id. */
    double bodies[2];
    const struct bodies *named;
    size_t system; /* the system of the value, from 1; 0: the only one, or all */
    /* The system that was beyond the bound first, at `since`, from 1; 0: there is only one, or the
     * value is of all. */
    size_t since_system;
    size_t systems; /* how many systems of an ensemble are beyond the bound; 0: not counted */
    enum finding_severity severity;
    bool unseen; /* no row of the diagnostic counted, so that nothing was judged */
    /* Only values between these times are judged; infinite: no such limit. */
    double after, before;
    const char *why_undefined; /* the reason if there is no value; NULL: none is known */
    char *sentence; /* "the energy is off by 0.657 (limit 0.005)", or ""; owned by the table */
};

/* Returns the row of a value with an upper bound and without a body: a failure since the time
 * `since` if `beyond` says that the value is beyond its bound, otherwise held. */
struct finding finding_row(const char *name, double value, double bound, bool beyond, double since);

/* A table to which rows are added. All members are zero while it is empty. */
struct findings {
    struct finding *rows;
    size_t count;
    bool failed; /* an allocation failed; rows are missing */
};

/* Adds a row, with a copy of the sentence; without memory sets `failed`. */
void findings_add(struct findings *findings, const struct finding *row, const char *sentence);
void findings_free(struct findings *findings);

/* Returns, among the rows of a subject whose severity is FINDING_FAILURE, the one with the largest
 * `times`, the first of equal ones; NULL if there is none. */
const struct finding *findings_worst(const struct findings *findings, enum finding_subject subject);

/* Tells whether row a is worse than row b: by severity, then by `times`, then by its value. */
bool finding_is_worse(const struct finding *a, const struct finding *b);

/* Writes " of body 3 about body 1", " of test body 7" or " of bodies 3 and 7", with the names of
 * bodies that have some, and "" without a body. Returns `buffer`. */
enum { FINDING_WHOSE_SIZE = 96 };
const char *finding_whose(const struct finding *finding, char buffer[FINDING_WHOSE_SIZE]);

/* Writes "test body 7", or the name of the body with this id if it has one. Returns `buffer`. */
enum { FINDING_TEST_BODY_SIZE = BODIES_NAME_SIZE + 8 };
const char *finding_test_body(const struct bodies *bodies, double id,
                              char buffer[FINDING_TEST_BODY_SIZE]);

/* Returns the rows as a list for run.json, in their order: a new reference; NULL without memory. */
json_t *findings_json(const struct findings *findings);

#endif
