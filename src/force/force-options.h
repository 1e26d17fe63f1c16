/* The options of forces: method, precision, kernel, instruction set, threads, a share of the
 * sums. */
#ifndef ORRERY_FORCE_FORCE_OPTIONS_H
#define ORRERY_FORCE_FORCE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The precision of the pair terms of the force. State, sums over many bodies and energies are
 * always fp64. */
enum precision {
    PRECISION_DOUBLE,
    PRECISION_MIXED, /* fp32 pair terms from hi+lo positions, fp64 accumulation */
    PRECISION_SINGLE /* fp32 pair terms; partial sums flushed so that errors do not grow with N */
};

extern const char *const precision_names[]; /* in the order of enum precision; NULL-terminated */
extern const char *const precision_help[];  /* a sentence for each */
/* The names of kernels, "auto" and those of CPUs (force/kernels.inc); NULL-terminated. Other names
 * are refused with STATUS_CONFIG. */
extern const char *const force_kernel_names[];
enum force_kernel_id {
#define FORCE_KERNEL(id, name, help) FORCE_##id,
#include "force/kernels.inc"
    FORCE_KERNELS
};

/*
 * The share of one process in the sums over pairs, if processes divide them. Each holds the masses
 * and positions of all bodies, and part k of n owns the bodies [first, last) of every system,
 * counted with the padding: `first` and `last` are multiples of BODIES_PADDING, and the parts
 * together make up the stride. All members are zero if one process does it all.
 */
struct force_share {
    size_t part, parts;
    size_t first, last;
    /* Hands sums from process to process, for kernels that use Newton's third law; borrowed. */
    const struct force_relay *relay;
};

/*
 * The relay by which one part hands sums to another: three arrays of `count` numbers. Only the
 * first thread of the team calls it. A part receives sums in the order in which another part sends
 * them, and send() may wait until they are received.
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
    const char *isa;    /* one of force_isa_names (isa.h) */
    int threads;        /* of the team that will call; at least 1 */
    struct force_share share;
    const struct force_method *method; /* a row of FORCE_METHODS in method.h; NULL: direct sums */
    double accuracy; /* of methods that are not exact: the wanted rms |error of a| / rms |a| */
    bool profiled;   /* the parts of each evaluation are timed, for the method's profile() */
};

#endif
