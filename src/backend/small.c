#include "config.h"

#include "backend/small.h"

#include "base/memory.h"
#include "force/method.h"

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

const struct small_kernels *small_find(const char *isa, const struct bodies *bodies)
{
    for (size_t k = 0; k < COUNT_OF(kernels) && bodies->count <= SMALL_COUNT; k++)
        if (force_isa_is(isa, kernels[k]->isa))
            return kernels[k];
    return NULL;
}
