#include "config.h"

#include "bench/arithmetic.h"

#include "force/isa.h"

static const struct arithmetic *const table[] = {
#define ROW(family, set, registers, ...) FORCE_ISA_##family(&arithmetic_##set),
    FORCE_ISAS(ROW)
#undef ROW
};

const struct arithmetic *arithmetic_find(const char *isa)
{
    const int row = force_isa_row(isa);
    return row < 0 ? NULL : table[row];
}
