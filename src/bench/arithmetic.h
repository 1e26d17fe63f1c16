/*
 * The limits of a CPU's arithmetic: streams of the operations of the force kernels' inner loops, in
 * their proportions, from registers to registers, with no result that another one waits for. A
 * kernel cannot be faster than the stream of its own operations. Compiled once for each instruction
 * set, like the kernels.
 */
#ifndef ORRERY_BENCH_ARITHMETIC_H
#define ORRERY_BENCH_ARITHMETIC_H

#include <stddef.h>

#include "force/direct/kernel.h"
#include "force/isa.h"

/* The stream of Hermite's method is measured against its kernel by validation/cli/bench.py
 * alone. */
enum stream_form { STREAM_PLAIN, STREAM_SYMMETRIC, STREAM_HERMITE, STREAM_FORMS };

struct stream {
    size_t lanes;                /* pairs that one vector's operations are for */
    void (*run)(size_t vectors); /* repeats these `vectors` times; a multiple of
                                  * ARITHMETIC_UNROLLED */
};

enum { ARITHMETIC_UNROLLED = 12 };

struct arithmetic {
    const char *isa;
    /* Streams of one operation alone; their lanes are all numbers that it takes at a time. */
    struct stream fused_double, fused_float;
    struct stream estimate_double, estimate_float;
    /* The streams of the kernels for open space, without and with equal masses; the kernels of
     * Hermite's method gain nothing from equal masses. */
    struct stream kernels[PRECISION_COUNT][STREAM_FORMS][MASSES_COUNT];
};

#define DECLARED(family, set, ...) extern const struct arithmetic arithmetic_##set;
FORCE_ISAS(DECLARED)
#undef DECLARED

#endif
