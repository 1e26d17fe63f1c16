/* The options with which forces are computed: method, precision, kernel, instruction set, threads,
 * and the share of one process in the sums. */
#ifndef ORRERY_FORCE_FORCE_OPTIONS_H
#define ORRERY_FORCE_FORCE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The precision of the pair terms, the contributions of single bodies to the force on a body.
 * Positions and velocities and sums over many bodies are always fp64; energies are too, except on
 * some GPUs (docs/gpu.md). */
enum precision {
    PRECISION_DOUBLE,
    PRECISION_MIXED, /* pair terms in fp32, from positions in two fp32 parts, high and low */
    PRECISION_SINGLE /* pair terms in fp32, from positions rounded to fp32 */
};

extern const char *const precision_names[]; /* the choices of compute.precision, in the order of the
                                               enum; NULL-terminated */
extern const char *const precision_help[];  /* a sentence for each */
/* The kernels of CPUs: ROW(ID, name, "a sentence"). */
#define FORCE_KERNEL_ROWS(ROW)                                                                     \
    ROW(AUTO, auto, "The fastest kernel of the backend for this number of bodies.")                \
    ROW(PLAIN, plain, "CPUs: every body sums over all others.")                                    \
    ROW(SYMMETRIC, symmetric,                                                                      \
        "CPUs and GPUs: each pair is worked out once, for both bodies, by Newton's third law.")    \
    ROW(REFERENCE, reference,                                                                      \
        "CPUs: plain loops in double precision, the specification of all others.")                 \
    ROW(PORTABLE, portable, "CPUs and GPUs, in double: the bits of `reference` on every machine.")

/* The names of these kernels, with "auto" as the first; NULL-terminated. Other names are refused
 * with STATUS_CONFIG. */
extern const char *const force_kernel_names[];
enum force_kernel_id {
#define FORCE_KERNEL_ID(id, name, help) FORCE_##id,
    FORCE_KERNEL_ROWS(FORCE_KERNEL_ID)
#undef FORCE_KERNEL_ID
        FORCE_KERNELS
};

/*
 * The share of one process in the sums over pairs, if several processes divide them. Each process
 * holds the masses and positions of all bodies. Process number `part` of `parts` owns the bodies
 * [first, last) of every system, counted with the padding: `first` and `last` are multiples of
 * BODIES_PADDING, and the ranges of all parts together are the stride of a system. All members are
 * zero if one process computes all sums.
 */
struct force_share {
    size_t part, parts;
    size_t first, last;
    /* Passes sums from process to process, for kernels that use Newton's third law; borrowed. */
    const struct force_relay *relay;
};

/*
 * The relay by which one part (process) passes sums to another: three arrays, one for each axis, of
 * `count` numbers. Only the first thread of the team calls it. `part` is the other part: receive()
 * replaces the numbers in `sums` by what it sent, in the order in which it sent them; send() may
 * wait until they are received.
 */
struct force_relay {
    void *context;
    void (*receive)(void *context, size_t part, double *const sums[3], size_t count);
    void (*send)(void *context, size_t part, double *const sums[3], size_t count);
};

struct force_method;

struct force_options {
    enum precision precision;
    const char *kernel; /* one of force_kernel_names */
    const char *isa;    /* instruction set: one of force_isa_names (isa.h) */
    int threads;        /* threads of the team that will compute the forces; at least 1 */
    struct force_share share;
    const struct force_method *method; /* a row of the table in method.h; NULL: direct sums */
    double accuracy; /* of methods that are not exact: the wanted rms |error of a| / rms |a| */
    bool profiled;   /* the parts of each force are timed, for the method's profile() */
};

#endif
