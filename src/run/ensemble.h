/* The systems of an ensemble, one for a run of one system: their conserved quantities, and how well
 * these were kept. */
#ifndef ORRERY_RUN_ENSEMBLE_H
#define ORRERY_RUN_ENSEMBLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/conserved.h"

/* Arrays over the systems. */
struct ensemble {
    size_t systems;
    double time;             /* of ... */
    struct conserved *now;   /* ... the last event that needed them */
    struct conserved *first; /* at step 0; both are the simulation's */
    double *largest_error;   /* of the energy so far; once undefined, it stays so */
    bool *left_out;          /* from statistics, since its error was beyond the limit */
    double error_limit;      /* infinite: none */
};

/* Borrows the conserved quantities of the simulation; no error is known yet. STATUS_MEMORY. */
enum status ensemble_create(size_t systems, double error_limit, struct conserved *now,
                            struct conserved *first, struct ensemble *ensemble,
                            struct error *error);
void ensemble_destroy(struct ensemble *ensemble);

/* Takes the present values as those of the beginning. */
void ensemble_begin(struct ensemble *ensemble);
/* Takes what they are now into the largest errors, and leaves out whom that excludes. */
void ensemble_judge(struct ensemble *ensemble);
/* Leaves out by the largest errors as they stand. */
void ensemble_leave_out(struct ensemble *ensemble);
/* Returns the number of systems that are left out. */
size_t ensemble_left_out(const struct ensemble *ensemble);

/* The energy error now (conserved_energy_error()); NaN where it is undefined. */
double ensemble_error(const struct ensemble *ensemble, size_t system);
/* The largest size of it so far, of all systems: at rows, and where the watch saw it between them;
 * NaN where one was undefined. */
double ensemble_largest_error(const struct ensemble *ensemble);
/* Returns the system whose error is the largest in size now; an undefined one counts as larger. */
size_t ensemble_worst(const struct ensemble *ensemble);

#endif
