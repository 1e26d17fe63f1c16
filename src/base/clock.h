/* Wall-clock time, and the CPU time of the process. */
#ifndef ORRERY_BASE_CLOCK_H
#define ORRERY_BASE_CLOCK_H

#include <time.h>

/* Returns the seconds since an arbitrary start; this clock never goes back. */
double clock_seconds(void);

/* Returns the seconds that the processors have spent on all threads of this process; 0 if the
 * system does not tell. */
double clock_cpu_seconds(void);

/* Print the present time, or `moment`, in UTC, as 2026-11-21T04:00:47Z, and return `buffer`. */
enum { CLOCK_STAMP_SIZE = 32 };
const char *clock_stamp(char buffer[CLOCK_STAMP_SIZE]);
const char *clock_stamp_of(time_t moment, char buffer[CLOCK_STAMP_SIZE]);

#endif
