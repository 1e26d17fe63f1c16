/* The number of threads that are worth starting. */
#ifndef ORRERY_MACHINE_CORES_H
#define ORRERY_MACHINE_CORES_H

#include "base/status.h"

/* Cores that this process may use: OMP_NUM_THREADS where it is set, otherwise those of its
 * affinity mask, and no more than the CPU quota of its control groups, rounded up. At least 1. */
int cores_available(void);

/* More threads than this are a slip: the runtime of OpenMP ends the process for want of memory, or
 * crashes. */
enum { CORES_THREADS_MOST = 4096 };

/* STATUS_USAGE where OMP_NUM_THREADS asks for more. */
enum status cores_check_threads(struct error *error);

/* Limits the threads of every team for which nobody asks for a number; 0: as many as there are
 * cores. Returns the limit before. */
int cores_limit_threads(int threads);

/* The least quota of the control groups, in cores; infinite where there is none. `root`: as
 * room_of_machine() has it. */
double cores_quota(const char *root);

/* To be called first in main(), with its arguments. Threads of OpenMP that wait for the next team
 * spin for many milliseconds by default; where other work is on the cores, they take them from the
 * very threads that they wait for. How long they spin, the runtime reads from the environment
 * before main(): so where nobody has said it, this says some tenths of a millisecond, and begins
 * the program anew. Returns where that is not needed or not possible. */
void cores_wait_briefly(char *const arguments[]);

/* Returns the name that the system has for the CPU, "AMD EPYC 9R14"; "unknown CPU" if it has
 * none. */
enum { CORES_MODEL_SIZE = 96 };
const char *cores_model(char buffer[CORES_MODEL_SIZE]);

#endif
