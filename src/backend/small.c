#include "config.h"

#include "backend/small.h"

#include <string.h>

#include "base/memory.h"

static const struct small_kernels *const kernels[] = {
#ifdef HAVE_X86_KERNELS
    &small_avx512,
    &small_avx2,
#endif
#ifdef HAVE_NEON_KERNELS
    &small_neon,
#endif
    &small_baseline,
};

/* What comes after a dash is a matter of many bodies. */
const struct small_kernels *small_find(const char *isa, const struct bodies *bodies)
{
    const size_t length = strcspn(isa, "-");
    for (size_t k = 0; k < COUNT_OF(kernels) && bodies->count <= SMALL_COUNT; k++)
        if (strlen(kernels[k]->isa) == length && !strncmp(kernels[k]->isa, isa, length))
            return kernels[k];
    return NULL;
}
