/*
 * The results of `orrery check`, and how they are printed: an estimate of memory, disk and time;
 * the integrator and step that were chosen if the config asks for an accuracy; the steps that
 * suffice.
 */
#ifndef ORRERY_COMMANDS_CHECK_REPORT_H
#define ORRERY_COMMANDS_CHECK_REPORT_H

#include "accuracy/resolution.h"
#include "commands/commands.h"
#include "estimate/advice.h"
#include "estimate/estimate.h"
#include "run/record.h"

/* The parts of the check, in the order in which they are done until the time of the check is over;
 * the number of parts is last. */
enum check_part { CHECK_BODIES, CHECK_ESTIMATE, CHECK_RESOLUTION, CHECK_ADVICE, CHECK_PARTS };

struct check_results {
    struct prepared prepared;
    struct estimate estimate;
    struct run_record record;
    struct resolution resolution;
    struct advice advice;
    struct text warnings; /* sentences by prospects_check(), on rows that will lack; owned */
};

/* Prints the results of the parts before part `done`, which were ready in time; names the parts
 * that were not; and prints the disk space that the runs of a sweep take together. */
void check_report(const struct check_results *check, int done, const struct sweep_estimate *sweep);

#endif
