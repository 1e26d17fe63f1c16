/* Blocks of threads: one after another, their threads as fibers that take turns on one CPU. */
#ifndef ORRERY_EXECUTOR_BLOCK_H
#define ORRERY_EXECUTOR_BLOCK_H

#include <cuda_runtime.h>
#include <functional>
#include <vector>

/* Behind every array lie bytes that nobody may write; those of 0xff are NaN in every real type. */
enum { GUARD = 64, POISON = 0xff };

/* A broken rule (a barrier that not all threads reach, a write past the end) is a wrong kernel. */
[[noreturn]] void executor_broken(const char *what);

/* 0 ... n - 1 in the order of the test's choice. */
std::vector<unsigned> executor_order_of(unsigned n);

/* All blocks of a launch; `body` is what each thread does. If the launch may begin early, each
 * thread must wait for the kernels before (wait_for_kernels()). */
void block_run_grid(const cudaLaunchConfig_t &config, const std::function<void()> &body);

#endif
