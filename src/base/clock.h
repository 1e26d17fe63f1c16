/* Wall-clock time, and that of the processors. */
#ifndef ORRERY_BASE_CLOCK_H
#define ORRERY_BASE_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary start; never goes back. */
double clock_seconds(void);

/* Seconds that the processors have spent on this process, all its threads together. */
double clock_cpu_seconds(void);

/* Now, UTC, as 2026-11-21T04:00:47Z; and the same of any time. */
enum { CLOCK_STAMP_SIZE = 32 };
const char *clock_stamp(char buffer[CLOCK_STAMP_SIZE]);
const char *clock_stamp_of(time_t moment, char buffer[CLOCK_STAMP_SIZE]);

#endif
