/* The bodies of a benchmark: random ones in a cube. */
#ifndef ORRERY_BENCH_CUBE_H
#define ORRERY_BENCH_CUBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"

/* `count` bodies in a cube of side 2, or in two of them that stand far apart. STATUS_MEMORY. */
enum status cube_create(size_t count, bool equal, bool far, struct bodies **bodies,
                        struct error *error);

/* Checks that there is room for as many. The cases of one size stand side by side, each with bodies
 * and copies of its own; only the least is demanded: the bodies, and those of one case.
 * STATUS_MEMORY. */
enum status cube_check_room(size_t count, struct error *error);

#endif
