/* The systems of an ensemble, or the one system of a run: their conserved quantities, and their
 * energy errors. */
#ifndef ORRERY_RUN_ENSEMBLE_H
#define ORRERY_RUN_ENSEMBLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/conserved.h"

/* Conserved quantities and energy errors; all arrays have an element for each system. */
struct ensemble {
    size_t systems;
    double time;             /* time to which `now` belongs */
    struct conserved *now;   /* conserved quantities of the last event that needed them */
    struct conserved *first; /* conserved quantities at step 0; both arrays are the simulation's */
    double *largest_error;   /* largest |energy error| so far; NaN from the moment when it was
                                undefined */
    bool *left_out; /* true: statistics and accuracy watch leave the system out, since its energy
                       error exceeded the limit or was undefined */
    double error_limit; /* limit of the energy error; infinite: none */
};

/* Creates an ensemble that borrows the conserved quantities `now` and `first` of the simulation,
 * and knows no error yet. STATUS_MEMORY. */
enum status ensemble_create(size_t systems, double error_limit, struct conserved *now,
                            struct conserved *first, struct ensemble *ensemble,
                            struct error *error);
void ensemble_destroy(struct ensemble *ensemble);

/* Copies the conserved quantities `now` to `first`, at step 0. */
void ensemble_begin(struct ensemble *ensemble);
/* Updates the largest energy errors by the present ones, and leaves out the systems beyond the
 * limit. */
void ensemble_judge(struct ensemble *ensemble);
/* Leaves out the systems whose largest energy error so far is beyond the limit; for a restart,
 * after largest_error was loaded. */
void ensemble_leave_out(struct ensemble *ensemble);
size_t ensemble_left_out(const struct ensemble *ensemble);

/* Returns the present energy error of a system (conserved_energy_error()); NaN if it is
 * undefined. */
double ensemble_error(const struct ensemble *ensemble, size_t system);
/* Returns the largest |energy error| of all systems so far, at rows and at the checks of the
 * accuracy watch between them; NaN if one was undefined. */
double ensemble_largest_error(const struct ensemble *ensemble);
/* Returns the system, from 0, with the largest present |energy error|; an undefined one counts as
 * larger than all others. */
size_t ensemble_worst(const struct ensemble *ensemble);

#endif
