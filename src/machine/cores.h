/* The number of threads that are worth starting. */
#ifndef ORRERY_MACHINE_CORES_H
#define ORRERY_MACHINE_CORES_H

#include "base/status.h"

/* Returns the number of cores that this process may use: OMP_NUM_THREADS if it is set, otherwise
 * the cores of its affinity mask, and no more than the CPU quota of its control groups, rounded up.
 * At least 1. */
int cores_available(void);

/* The most threads that OMP_NUM_THREADS may ask for. More are a slip: the runtime of OpenMP would
 * end the process for want of memory, or crash. */
enum { CORES_THREADS_MOST = 4096 };

/* Fails with STATUS_USAGE if OMP_NUM_THREADS asks for more than CORES_THREADS_MOST. */
enum status cores_check_threads(struct error *error);

/* Sets the number of threads of all teams for which nobody asks for a number; 0: cores_available().
 * Returns the number before. */
int cores_limit_threads(int threads);

/* Returns the least CPU quota of the control groups of this process, in cores; infinite if there is
 * none. `root` is that of room_of_machine() (room.h). */
double cores_quota(const char *root);

/* Begins the program anew, with an environment in which OpenMP's threads that wait for the next
 * team spin for some tenths of a millisecond. By default they spin for many milliseconds; if other
 * work is on the cores, they take them from the very threads that they wait for. The runtime reads
 * the time from the environment before main(), so this is to be called first in main(), with its
 * arguments. Returns if the user has set the time, or if a new beginning is not needed or not
 * possible. */
void cores_wait_briefly(char *const arguments[]);

/* Returns the name that the system has for the CPU, "AMD EPYC 9R14"; "unknown CPU" if it has
 * none. */
enum { CORES_MODEL_SIZE = 96 };
const char *cores_model(char buffer[CORES_MODEL_SIZE]);

#endif
