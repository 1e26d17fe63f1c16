#include "catalog.h"

#include <string.h>

const struct gpu_kernel_facts gpu_catalog[GPU_KERNELS] = {
#define GPU_KERNEL(id, name_, help, ...) { .name = #name_, __VA_ARGS__ },
#include "catalog.inc"
};

enum gpu_kernel_id gpu_catalog_find(const char *name)
{
    int id = 0;
    while (id < GPU_KERNELS && strcmp(gpu_catalog[id].name, name) != 0)
        id++;
    return (enum gpu_kernel_id)id;
}

/* Chooses, of the kernels that may be taken for `count` bodies, the one with the largest `from`. */
enum gpu_kernel_id gpu_catalog_choose(size_t count, bool whole)
{
    enum gpu_kernel_id best = GPU_BLOCKED;
    for (int id = 0; id < GPU_KERNELS; id++)
        if (gpu_catalog[id].from > gpu_catalog[best].from && gpu_catalog[id].from <= count &&
            (whole || !gpu_catalog[id].third_law))
            best = (enum gpu_kernel_id)id;
    return best;
}

static bool in_range(int value, struct gpu_range range, int unit)
{
    return value >= range.least && value <= range.most && value % unit == 0;
}

bool gpu_limits_allow(const struct gpu_limits *limits, const struct gpu_tuning *tuning)
{
    const struct gpu_range at_once = limits->at_once;
    const bool power = tuning->bodies > 0 && (tuning->bodies & (tuning->bodies - 1)) == 0;
    return in_range(tuning->block, limits->block, 32) && in_range(tuning->tile, limits->tile, 32) &&
           power && in_range(tuning->bodies, limits->bodies, 1) &&
           (tuning->at_once == at_once.least || tuning->at_once == at_once.most);
}
