/* ptx.cuh for the executor: the estimates err as far as a device's may, and the shared memory is
 * one array. */
#ifndef ORRERY_EXECUTOR_PTX_CUH
#define ORRERY_EXECUTOR_PTX_CUH

#include "estimates.cuh"

enum { WAITING_CODE = 90 };

void executor_wait_for_kernels();
void *executor_shared_memory();

static inline void wait_for_kernels()
{
    executor_wait_for_kernels();
}

static inline void let_next_begin()
{
}

static inline void *shared_memory()
{
    return executor_shared_memory();
}

#endif
