/*
 * The limits of a CPU's arithmetic. A stream is a loop with the operations of a force kernel's
 * inner loop in the same proportions, but from registers to registers, and no operation waits for
 * the one before it. A kernel cannot be faster than the stream of its own operations. Compiled once
 * for each instruction set, like the kernels.
 */
#ifndef ORRERY_BENCH_ARITHMETIC_H
#define ORRERY_BENCH_ARITHMETIC_H

#include <stddef.h>
#include <stdint.h>

#include "force/direct/kernel.h"
#include "force/isa.h"

enum stream_form { STREAM_PLAIN, STREAM_SYMMETRIC, STREAM_FORMS };

struct stream {
    size_t lanes; /* pairs of bodies in one vector; in a stream of a single kind of operation,
                     numbers that one round takes */
    void (*run)(size_t vectors); /* does the operations of one vector `vectors` times, which is a
                                    multiple of ARITHMETIC_UNROLLED */
};

enum { ARITHMETIC_UNROLLED = 12 };

struct arithmetic {
    const char *isa;
    /* Streams of a single kind of operation: fused multiply-adds, and estimates of 1/sqrt(x). */
    struct stream fused_double, fused_float;
    struct stream estimate_double, estimate_float;
    /* The streams of the kernels for open space, without and with equal masses. */
    struct stream kernels[PRECISION_COUNT][STREAM_FORMS][MASSES_COUNT];
};

#define DECLARED(family, set, ...) extern const struct arithmetic arithmetic_##set;
FORCE_ISAS(DECLARED)
#undef DECLARED

/* Returns the streams of an instruction set; NULL if this build has none. */
const struct arithmetic *arithmetic_find(const char *isa);

/* Returns the seconds in which each of `threads` threads does the operations of `vectors`
 * vectors. */
double arithmetic_seconds(const struct stream *stream, int threads, uint64_t vectors);

/* Returns a number of vectors that is enough for one measurement of the stream. */
uint64_t arithmetic_length(const struct stream *stream, int threads);

/* The measured rate of one kind of operation on this CPU, on all threads together. */
struct bench_rate {
    const char *isa, *operation, *type; /* "avx2", "multiply-add", "float" */
    int threads;
    double per_second; /* numbers per second, not vectors */
};

/* Measures the rates of operations, for every instruction set that runs here, each in at most
 * `seconds` if that is long enough for one measurement, and gives them to add(). */
void arithmetic_rates(void (*add)(void *context, const struct bench_rate *rate), void *context,
                      int threads, double seconds);

#endif
