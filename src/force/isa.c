#include "config.h"

#include "force/isa.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const force_isa_names[] = { "auto",
#define ROW(family, set, registers, name, ...) name,
                                        FORCE_ISAS(ROW)
#undef ROW
                                            NULL };

const char *const force_isa_help[] = {
    "The widest that this CPU has, in the form that suits its maker.",
#define ROW(family, set, registers, name, runs, suits, help) help,
    FORCE_ISAS(ROW)
#undef ROW
        NULL
};

static bool always(void)
{
    return true;
}

/* Tell whether the CPU has an instruction set and the operating system saves the registers of that
 * set. */
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

/* Tells whether AMD made the CPU. AMD's CPUs with these instruction sets (Zen) have units for
 * additions beside those for two multiplications per cycle; in Intel's CPUs the units that multiply
 * do the additions of wide vectors, too. */
static bool is_zen(void)
{
    return __builtin_cpu_is("amd");
}
#endif

static const struct isa {
    const char *name, *registers;
    bool (*runs)(void);  /* whether this machine runs the set; NULL: its kernels are not built */
    bool (*suits)(void); /* whether the set suits the maker of this CPU; called only if it runs */
} isas[] = {
#define ROW(family, set, registers, name, runs, suits, ...)                                        \
    { name, #registers, FORCE_ISA_##family(runs), FORCE_ISA_##family(suits) },
    FORCE_ISAS(ROW)
#undef ROW
};

static bool runs(const struct isa *isa)
{
    return isa->runs && isa->runs();
}

/* Returns the best set: finds the widest registers that this machine runs, and, among the rows of
 * these registers, the last one that suits the CPU. The last row of the table, plain C, always runs
 * and suits. */
static const struct isa *best_isa(void)
{
    const struct isa *isa = isas;
    while (!runs(isa) || !isa->suits())
        isa++;
    for (const struct isa *next = isa + 1; next < isas + COUNT_OF(isas); next++)
        if (strcmp(next->registers, isa->registers) == 0 && next->suits())
            isa = next;
    return isa;
}

int force_isa_row(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(isas); k++)
        if (isas[k].runs && !strcmp(name, isas[k].name))
            return (int)k;
    return -1;
}

static const struct isa *find_isa(const char *name)
{
    if (!strcmp(name, "auto"))
        return best_isa();
    const int row = force_isa_row(name);
    return row < 0 ? NULL : &isas[row];
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
