#include "config.h"

#include "bench/arithmetic.h"

#include <string.h>

#include "base/memory.h"

static const struct arithmetic *const table[] = {
#ifdef HAVE_X86_KERNELS
    &arithmetic_avx512,   &arithmetic_avx512_zen, &arithmetic_avx2, &arithmetic_avx2_zen,
#endif
#ifdef HAVE_NEON_KERNELS
    &arithmetic_neon,
#endif
    &arithmetic_baseline,
};

const struct arithmetic *arithmetic_find(const char *isa)
{
    for (size_t k = 0; k < COUNT_OF(table); k++)
        if (strcmp(table[k]->isa, isa) == 0)
            return table[k];
    return NULL;
}
