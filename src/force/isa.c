#include "config.h"

#include "force/isa.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const force_isa_names[] = { "auto",     "avx512", "avx512-zen", "avx2",
                                        "avx2-zen", "neon",   "baseline",   NULL };

const char *const force_isa_help[] = {
    "The widest that this CPU has, in the form that suits its maker.",
    "AVX-512, for CPUs whose multipliers do the additions too (Intel).",
    "AVX-512, for CPUs whose additions have units of their own (AMD).",
    "AVX2 with fused multiply-adds, for CPUs whose multipliers do the additions too (Intel).",
    "AVX2 with fused multiply-adds, for CPUs whose additions have units of their own (AMD).",
    "NEON with fused multiply-adds, of every 64-bit ARM CPU (Apple's and servers').",
    "Plain C for any CPU; on x86-64, SSE2.",
    NULL
};

static bool always(void)
{
    return true;
}

/* Tells whether the instruction set is here, in the CPU and in the registers that the system
 * saves. */
#ifdef HAVE_X86_KERNELS
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* All of AMD's that have these instruction sets (Zen) add beside two multiplications a cycle; in
 * Intel's the units that multiply do the additions of wide vectors too. */
static bool is_zen(void)
{
    return __builtin_cpu_is("amd");
}
#endif

/* The sets of this build; the first one that suits is the best. */
static const struct isa {
    const char *name;
    bool (*runs)(void);
    bool (*suits)(void); /* where it runs */
} isas[] = {
#ifdef HAVE_X86_KERNELS
    { "avx512-zen", has_avx512, is_zen }, { "avx512", has_avx512, always },
    { "avx2-zen", has_avx2, is_zen },     { "avx2", has_avx2, always },
#endif
#ifdef HAVE_NEON_KERNELS
    { "neon", always, always },
#endif
    { "baseline", always, always },
};

static const struct isa *best_isa(void)
{
    const struct isa *isa = isas; /* the last one always runs */
    while (!isa->runs() || !isa->suits())
        isa++;
    return isa;
}

static const struct isa *find_isa(const char *name)
{
    if (!strcmp(name, "auto"))
        return best_isa();
    for (size_t k = 0; k < COUNT_OF(isas); k++)
        if (!strcmp(name, isas[k].name))
            return &isas[k];
    return NULL;
}

bool force_isa_runs(const char *name)
{
    const struct isa *isa = find_isa(name);
    return isa && isa->runs();
}

bool force_isa_suits(const char *name)
{
    const struct isa *isa = find_isa(name);
    return isa && isa->runs() && isa->suits();
}

bool force_isa_is(const char *isa, const char *name)
{
    const size_t length = strcspn(isa, "-");
    return strlen(name) == length && strncmp(name, isa, length) == 0;
}

enum status force_isa_find(const char *asked, const char **name, struct error *error)
{
    const char *key = "compute.isa";
    const char *const forced = getenv("ORRERY_ISA");
    if (!strcmp(asked, "auto") && forced && *forced) {
        key = "ORRERY_ISA";
        asked = forced;
    }
    const struct isa *isa = find_isa(asked);
    if (!isa)
        return error_set(error, STATUS_UNAVAILABLE,
                         "%s = %s: this program was built without such kernels", key, asked);
    if (!isa->runs())
        return error_set(error, STATUS_UNAVAILABLE,
                         "%s = %s: this CPU or its operating system does not support it", key,
                         asked);
    *name = isa->name;
    return STATUS_OK;
}
