/* A test for runs in a comparison that have systems in common, though their seeds differ. */
#ifndef ORRERY_REPORT_SHARED_SEEDS_H
#define ORRERY_REPORT_SHARED_SEEDS_H

#include "base/status.h"
#include "report/differences.h"

enum { SHARED_SEEDS_TEXT_SIZE = 768 };

/*
 * The systems of an ensemble take its seed and those after it, so that the one with seed 43 has all
 * but one of the systems of that with seed 42. The warning names the first two runs of which that
 * holds; "" where it holds of none. Runs with the same first seed are paired on purpose, and not
 * meant. STATUS_MEMORY.
 */
enum status shared_seeds_warning(const struct differences *runs,
                                 char warning[SHARED_SEEDS_TEXT_SIZE], struct error *error);

#endif
