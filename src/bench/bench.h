/*
 * The speed of the CPU's backends, beside the limit that the arithmetic of the CPU sets, and the
 * error of the forces.
 *
 * All cases with the same number of bodies are measured in rounds, and their limits with them, so
 * that whatever else the machine does hits all of them alike. Nothing is printed meanwhile.
 */
#ifndef ORRERY_BENCH_BENCH_H
#define ORRERY_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "bench/arithmetic.h"
#include "bench/multipoles.h"
#include "simulation/simulation.h"

enum { BENCH_MOST = 32 }; /* values on an axis */

/* Every combination of what stands on the axes; ends with NULL or 0. */
struct bench_plan {
    const char *title;
    size_t sizes[BENCH_MOST + 1];
    const char *backends[BENCH_MOST + 1];
    const char *kernels[BENCH_MOST + 1];    /* as compute.kernel has them */
    const char *precisions[BENCH_MOST + 1]; /* of precision_names */
    const char *isas[BENCH_MOST + 1];       /* of force_isa_names; "auto": the best one */
    int threads[BENCH_MOST + 1];            /* 0 ends; those of backends with one thread are 1 */
    /* Fast multipoles of these are measured with every backend, isa and number of threads after the
     * direct sums, or, with `multipoles_only`, without these. */
    double accuracies[BENCH_MOST + 1];
    bool multipoles_only;
};

/* Bodies that move, their interaction, and the steps that they take. */
struct bench_subject {
    struct physics physics;
    const struct integrator *integrator;
    const struct bodies *bodies; /* NULL: a cube of random ones of any size */
    int devices;                 /* GPUs that share them */
    bool equal;                  /* the masses of those in the cube are equal, else 1 ... 2 */
};

/* The case that was measured, and the results. */
struct bench_row {
    const char *title; /* of the plan */
    const char *backend, *kernel, *precision, *isa;
    const char *device; /* a GPU's name, or "" */
    int threads;
    size_t systems, count;
    const char *skipped;    /* why nothing was measured, or NULL; then nothing below is set */
    double seconds, median; /* for one step; least and median of `repeats` */
    size_t repeats;
    double rate;      /* pair interactions per second: N^2 for a force evaluation, also of fast
                         multipoles, which do not look at every pair */
    double limit;     /* the same, if the stream of the kernel's arithmetic were all; 0: unknown */
    double error;     /* see force/accuracy.h */
    double far_error; /* with two cubes that stand 10^4 of their sides apart; NaN: not measured */
    double accuracy;  /* that was asked of fast multipoles; 0: direct sums */
    struct multipoles multipoles; /* of which it is then */
};

/* One vector operation alone, as this CPU does it. */
struct bench_rate {
    const char *isa, *operation, *type; /* "multiply-add", "float" */
    int threads;
    double per_second; /* numbers, not vectors */
};

struct bench_sink {
    void (*rate)(void *context, const struct bench_rate *rate);
    void (*row)(void *context, const struct bench_row *row);
    /* Before and after each measurement; `part` of 1 is done. May be NULL. */
    void (*progress)(void *context, double part);
    void *context;
};

/* The rates of operations, for every instruction set that runs here. */
void bench_rates(const struct bench_sink *sink, int threads);

/*
 * Measures the plans, in about `seconds` if that is long enough for one measurement of each case;
 * rows in order. STATUS_MEMORY, STATUS_USAGE: too many cases of one size.
 */
enum status bench_run(const struct bench_plan *plans, size_t count,
                      const struct bench_subject *subject, double seconds,
                      const struct bench_sink *sink, struct error *error);

#endif
