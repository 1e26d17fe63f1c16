/*
 * The systems of a run with block steps (block-steps.h). If the systems are large and there are
 * fewer of them than threads, all threads move one system together, then the next one; otherwise
 * one thread moves each system. These functions are those of the class (adaptive.h) of every
 * integrator with block steps.
 */
#ifndef ORRERY_INTEGRATOR_BLOCK_SYSTEMS_H
#define ORRERY_INTEGRATOR_BLOCK_SYSTEMS_H

#include "config/parameter.h"
#include "integrator/block-steps.h"

/* The first parameter of every integrator with block steps: the config key `time.step`. */
/* clang-format off */
#define BLOCK_STEP_PARAMETER                                                                       \
    { KEY(REAL, step), OPTIONAL, POSITIVE, .dimension = DIMENSION_TIME,                            \
      .help = "Grid on which the run observes, and the longest step of a body: each takes this "   \
              "over a power of two. `every` and checkpoints count it. If the grid does not "       \
              "divide `end`, the program shortens it; unset: a thousandth of `end`." }
/* clang-format on */

/* Creates the state and the workspaces, and decides how many threads move a system. Copies the
 * `size` bytes of `rule` (struct block_worker). STATUS_MEMORY; errors of jerk_create(). */
enum status block_systems_create(const struct block_method *method, const void *rule, size_t size,
                                 const struct adaptive_options *options,
                                 const struct physics *physics, struct bodies *bodies,
                                 struct adaptive **adaptive, struct error *error);

/* Returns the bytes that block_systems_create() allocates. */
double block_systems_bytes(const struct block_method *method, const struct force_options *force,
                           double systems, double count);

/* Functions that a struct adaptive_class (adaptive.h) points to. */
void block_systems_copy(struct adaptive *to, size_t to_system, const struct adaptive *from,
                        size_t from_system);
void block_systems_destroy(struct adaptive *adaptive);
enum status block_systems_advance(struct adaptive *adaptive, double dt, uint64_t steps,
                                  struct error *error);
void block_systems_statistics(const struct adaptive *adaptive, size_t s,
                              struct work_done *statistics);
void block_systems_count_levels(const struct adaptive *adaptive, size_t s,
                                double levels[ADAPTIVE_LEVELS]);
const char *block_systems_kernel(const struct adaptive *adaptive);

/* Members of struct adaptive_method: the number of arrays of a system for methods without and with
 * jerks, and two functions. */
enum { BLOCK_ARRAYS = 4, BLOCK_ARRAYS_WITH_JERKS = 10 };
bool block_systems_makes_sense(const struct adaptive_systems *all, size_t s);
enum status block_systems_describe_stuck(const struct adaptive_systems *all, size_t s,
                                         struct error *error);

#endif
