#include "bench/cube.h"

#include "base/random.h"
#include "estimate/need.h"
#include "force/method.h"
#include "machine/room.h"

enum { FAR = 20000 };

enum status cube_check_room(size_t count, struct error *error)
{
    const struct force_options force = { .precision = PRECISION_DOUBLE, .threads = 1 };
    const double bytes =
        2.0 * bodies_bytes(1, (double)count) + force_bytes(&force, 1, (double)count);
    const struct room room = room_left();
    char wanted[NEED_TEXT_SIZE], there[NEED_TEXT_SIZE];
    if (bytes <= room.bytes)
        return STATUS_OK;
    return error_set(error, STATUS_MEMORY,
                     "orrery bench: %zu bodies need %s of memory; %s has %s left", count,
                     need_text(bytes, wanted), room.limit, need_text(room.bytes, there));
}

enum status cube_create(size_t count, bool equal, bool far, struct bodies **bodies,
                        struct error *error)
{
    *bodies = NULL;
    if (cube_check_room(count, error))
        return error->status;
    gsl_rng *random = random_create(42, error);
    if (!random || bodies_create(1, count, bodies, error)) {
        random_destroy(random);
        return error->status;
    }
    struct bodies *const b = *bodies;
    for (size_t i = 0; i < count; i++) {
        b->m[i] = equal ? 1 : random_uniform(random, 1, 2);
        b->x[i] = random_uniform(random, -1, 1) + (far && i % 2 ? FAR : 0);
        b->y[i] = random_uniform(random, -1, 1);
        b->z[i] = random_uniform(random, -1, 1);
    }
    random_destroy(random);
    return STATUS_OK;
}
