/* The bodies of a benchmark, at random places in a cube. */
#ifndef ORRERY_BENCH_CUBE_H
#define ORRERY_BENCH_CUBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "model/bodies.h"

/* Creates `count` bodies at rest in a cube of side 2; with `far`, in two cubes far apart. Masses
 * are 1 if `equal`, else 1 to 2. STATUS_MEMORY. */
enum status cube_create(size_t count, bool equal, bool far, struct bodies **bodies,
                        struct error *error);

/* Checks that there is memory for the bodies and for one case, which is the least that `count`
 * bodies need. All cases with this number of bodies are in memory together, each with bodies of its
 * own. STATUS_MEMORY. */
enum status cube_check_room(size_t count, struct error *error);

#endif
