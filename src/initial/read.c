#include "initial/read.h"

#include <string.h>

#include "base/memory.h"

enum status read_check_systems(const struct read_request *request, size_t systems,
                               const struct bodies *bodies, struct error *error)
{
    if (systems == 1 || systems == bodies->systems)
        return STATUS_OK;
    return error_set(error, STATUS_DATA,
                     "%s: the file holds %zu systems, the run %zu: ensemble.systems must be %zu",
                     request->path, systems, bodies->systems, systems);
}

void read_repeat(struct bodies *bodies)
{
    double *const arrays[] = { bodies->m,  bodies->x,  bodies->y, bodies->z,
                               bodies->vx, bodies->vy, bodies->vz };
    for (size_t s = 1; s < bodies->systems; s++) {
        const size_t first = s * bodies->stride;
        for (size_t k = 0; k < COUNT_OF(arrays); k++)
            memcpy(arrays[k] + first, arrays[k], bodies->count * sizeof(double));
        memcpy(bodies->id + first, bodies->id, bodies->count * sizeof *bodies->id);
    }
}
