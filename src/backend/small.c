#include "config.h"

#include "backend/small.h"

static const struct small_kernels *const kernels[] = {
#define ROW(family, set, registers, ...) FORCE_ISA_##family(&small_##registers),
    FORCE_ISAS(ROW)
#undef ROW
};

const struct small_kernels *small_find(const char *isa, const struct bodies *bodies)
{
    const int row = force_isa_row(isa);
    return row < 0 || bodies->count > SMALL_COUNT ? NULL : kernels[row];
}
