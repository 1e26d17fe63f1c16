/* The CPU cores that this process may use, and the number of threads that it starts on them. */
#ifndef ORRERY_MACHINE_CORES_H
#define ORRERY_MACHINE_CORES_H

#include "base/status.h"

/* Returns the number of cores that this process may use: OMP_NUM_THREADS if it is set, otherwise
 * the cores of its affinity mask, but no more than the CPU quota of its control groups
 * (cores_quota()), rounded up. At least 1. */
int cores_available(void);

/* The largest value of OMP_NUM_THREADS that is accepted. A larger one is taken for a typing error:
 * with it the runtime of OpenMP would run out of memory and end the process, or crash. */
enum { CORES_THREADS_MOST = 4096 };

/* Fails with STATUS_USAGE if OMP_NUM_THREADS asks for more than CORES_THREADS_MOST. */
enum status cores_check_threads(struct error *error);

/* Sets the number of threads of the OpenMP parallel regions that do not name a number themselves;
 * `threads` = 0 stands for cores_available(). Returns the number that was set before. */
int cores_limit_threads(int threads);

/* Returns the least CPU quota of the Linux control groups of this process, in cores; infinite if
 * none sets a quota. Their files are read below the folder `root`: "" for this machine, another
 * folder in tests. */
double cores_quota(const char *root);

/* Restarts the program by execv(), with environment variables that make OpenMP's threads spin for
 * only some tenths of a millisecond while they wait for the next parallel region. By default they
 * spin for many milliseconds; if other work runs on these cores, they take time from the very
 * threads that they wait for. The OpenMP runtime reads the variables before main(), so only a
 * restart can set them. main() calls this first, with its arguments, NULL at the end. Returns
 * without a restart if these variables or OMP_WAIT_POLICY are set (also by an earlier restart), if
 * one core is available, or if execv() fails. */
void cores_wait_briefly(char *const arguments[]);

/* Returns the name of the CPU in /proc/cpuinfo, such as "AMD EPYC 9R14", which it writes into
 * `buffer`; "unknown CPU" if the file has no such name. */
enum { CORES_MODEL_SIZE = 96 };
const char *cores_model(char buffer[CORES_MODEL_SIZE]);

#endif
