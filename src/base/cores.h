/* How many threads are worth starting. */
#ifndef ORRERY_BASE_CORES_H
#define ORRERY_BASE_CORES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Cores that this process may use: OMP_NUM_THREADS where it is set, otherwise those of its
 * affinity mask, and no more than the CPU quota of its control group. At least 1. */
int cores_available(void);

/* What the system calls the CPU, "AMD EPYC 9R14"; "unknown CPU" where it does not say. */
enum { CORES_MODEL_SIZE = 96 };
const char *cores_model(char buffer[CORES_MODEL_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
