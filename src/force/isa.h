/* The CPU instruction sets for which the program has kernels (the inner loops that sum forces), and
 * which of these sets this machine runs. */
#ifndef ORRERY_FORCE_ISA_H
#define ORRERY_FORCE_ISA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/*
 * The instruction sets, a row each, those with the widest registers first: ROW(family of CPUs, set,
 * registers, name, does this CPU run it, does it suit the CPU's maker, help). All tables of kernels
 * are made from these rows, in their order. Sets of the same registers stand together; the last of
 * them that suits the CPU is the best.
 */
#define FORCE_ISAS(ROW)                                                                            \
    ROW(X86, avx512, avx512, "avx512", has_avx512, always,                                         \
        "AVX-512, for CPUs whose multipliers do the additions too (Intel).")                       \
    ROW(X86, avx512_zen, avx512, "avx512-zen", has_avx512, is_zen,                                 \
        "AVX-512, for CPUs whose additions have units of their own (AMD).")                        \
    ROW(X86, avx2, avx2, "avx2", has_avx2, always,                                                 \
        "AVX2 with fused multiply-adds, for CPUs whose multipliers do the additions too (Intel).") \
    ROW(X86, avx2_zen, avx2, "avx2-zen", has_avx2, is_zen,                                         \
        "AVX2 with fused multiply-adds, for CPUs whose additions have units of their own (AMD).")  \
    ROW(ARM, neon, neon, "neon", always, always,                                                   \
        "NEON with fused multiply-adds, of every 64-bit ARM CPU (Apple's and servers').")          \
    ROW(ANY, baseline, baseline, "baseline", always, always,                                       \
        "Plain C for any CPU; on x86-64, SSE2.")

/* The registers of these sets, a row each, for kernels that are the same for CPUs of all makers. */
#define FORCE_ISA_REGISTERS(ROW) ROW(avx512) ROW(avx2) ROW(neon) ROW(baseline)

/* FORCE_ISA_X86(x), and likewise ARM and ANY, is x if the kernels of that family of CPUs are built,
 * otherwise NULL; for sources that include config.h before all other headers. */
#ifdef PACKAGE_VERSION
#ifdef HAVE_X86_KERNELS
#define FORCE_ISA_X86(x) x
#else
#define FORCE_ISA_X86(x) NULL
#endif
#ifdef HAVE_NEON_KERNELS
#define FORCE_ISA_ARM(x) x
#else
#define FORCE_ISA_ARM(x) NULL
#endif
#define FORCE_ISA_ANY(x) x
#endif

extern const char *const force_isa_names[]; /* "auto", then those of the rows; NULL-terminated */
extern const char *const force_isa_help[];  /* a sentence for each */

/* Tells whether this build has kernels for the set of that name, and this CPU and its operating
 * system run them; true for "auto". */
bool force_isa_runs(const char *name);
/* Tells whether the kernels for the set run and are meant for CPUs of this one's maker:
 * "avx512-zen" runs wherever "avx512" does, but suits AMD's CPUs alone. */
bool force_isa_suits(const char *name);

/* Returns the number of the row of FORCE_ISAS that has this name; -1 if this build has no such
 * kernels. */
int force_isa_row(const char *name);

/* Finds the name of the set that compute.isa = `asked` stands for; "auto" stands for that of the
 * environment variable ORRERY_ISA or, without one, for the best set. STATUS_UNAVAILABLE if this
 * build or this machine does not have the set. */
enum status force_isa_find(const char *asked, const char **name, struct error *error);

#endif
