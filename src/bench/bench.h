/*
 * The speed of the backends, beside the limit that the arithmetic of the CPU sets, and the error of
 * the forces.
 *
 * All cases with the same number of bodies are measured in rounds, together with their limits, so
 * that other work of the machine hits all of them alike. Nothing is printed meanwhile.
 */
#ifndef ORRERY_BENCH_BENCH_H
#define ORRERY_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "bench/arithmetic.h"
#include "diagnostics/force-error.h"
#include "simulation/simulation.h"

enum { BENCH_MOST = 32 }; /* the most values on an axis of a plan */

/* The axes whose combinations are measured; each ends with NULL or 0. */
struct bench_plan {
    const char *title;
    size_t sizes[BENCH_MOST + 1];
    const char *backends[BENCH_MOST + 1];
    const char *kernels[BENCH_MOST + 1];    /* values of compute.kernel */
    const char *precisions[BENCH_MOST + 1]; /* "double", "mixed" or "single" */
    const char *isas[BENCH_MOST + 1];       /* from force_isa_names; "auto": the best one */
    int threads[BENCH_MOST + 1];            /* a backend that has one thread is measured once */
    /* Accuracies asked of fast multipoles, which are measured with every backend, instruction set
     * and number of threads, after the direct sums; if `multipoles_only`, without direct sums. */
    double accuracies[BENCH_MOST + 1];
    bool multipoles_only;
};

/* The bodies that move, their interaction, and their integrator. */
struct bench_subject {
    struct physics physics;
    const struct integrator *integrator;
    const struct bodies *bodies; /* NULL: random bodies in a cube, as many as a size says */
    int devices;                 /* number of GPUs that share the bodies */
    bool stream;                 /* systems pass through these GPUs in batches */
    bool equal;                  /* bodies in the cube have the mass 1, else masses from 1 to 2 */
};

/* One force evaluation by fast multipoles: its errors beside direct sums, and the parts of its
 * time. */
struct multipoles {
    struct force_audit errors;    /* for a sample: the bodies with the least hashes of ids */
    struct force_profile profile; /* shares of the time; NaN: not measured */
};

enum { MULTIPOLES_COMPARED = 10000 /* the most bodies that are compared with direct sums */ };

/* A case that was measured, and its results. */
struct bench_row {
    const char *title;
    const char *backend, *kernel, *precision, *isa;
    const char *device;
    int threads;
    size_t systems, count;
    const char *skipped;    /* why the case was not measured, so that the members below are not set;
                               NULL: it was */
    double seconds, median; /* seconds of one step: least and median of `repeats` */
    size_t repeats;
    double rate;      /* pair interactions per second: N^2 for a force evaluation, also of fast
                         multipoles, although they do not sum every pair */
    double limit;     /* the rate if the kernel's arithmetic took all the time; 0: unknown */
    double error;     /* rms error of the forces over their rms, beside sums in long double; fast
                         multipoles by openmp: in double */
    double far_error; /* like `error`, for bodies in two cubes that are 10^4 of their sides apart;
                         NaN: not measured */
    double accuracy;  /* accuracy asked of fast multipoles; 0: direct sums */
    struct multipoles multipoles; /* errors and profile of fast multipoles by the openmp backend;
                                     NaN for others */
};

struct bench_sink {
    void (*rate)(void *context, const struct bench_rate *rate); /* of arithmetic_rates() alone */
    void (*row)(void *context, const struct bench_row *row);
    /* Called before the measurement of each number of bodies and at the end, with the part of all
     * numbers that is done, 0 to 1. May be NULL. */
    void (*progress)(void *context, double part);
    void *context;
};

/* Creates `count` bodies at rest in a cube of side 2; with `far`, in two cubes far apart. Masses
 * are 1 if `equal`, else 1 to 2. STATUS_MEMORY. */
enum status cube_create(size_t count, bool equal, bool far, struct bodies **bodies,
                        struct error *error);

/*
 * Measures the plans, in about `seconds` if that is long enough for one measurement of each case;
 * gives the rows to the sink in order. STATUS_MEMORY, STATUS_USAGE (too many cases of one size).
 */
enum status bench_run(const struct bench_plan *plans, size_t count,
                      const struct bench_subject *subject, double seconds,
                      const struct bench_sink *sink, struct error *error);

#endif
