/* The schema of an experiment: all groups of the config file, assembled from the tables of
 * parameters of other folders, and the function that reads a config by it. */
#ifndef ORRERY_RUN_SCHEMA_H
#define ORRERY_RUN_SCHEMA_H

#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"

enum { SCHEMA_GROUPS = 17 };

/* The values of the key compute.kernel: "auto", the kernels of CPUs, and those that only GPUs have;
 * NULL-terminated. A backend that has no kernel of the name refuses it with STATUS_CONFIG. */
extern const char *const schema_kernel_names[];

/* Room for the groups, lent by the caller, who may keep it on the stack: the lengths of the tables
 * are not constants, so the groups cannot be static. */
struct schema_room {
    struct group groups[SCHEMA_GROUPS];
    struct schema schema;
};

/* Fills the room and returns its schema; the rows of the groups are static. */
const struct schema *schema_experiment(struct schema_room *room);

/*
 * Loads the config of an experiment from the file `path` with overrides such as "time.end=2", by
 * config_load(). @include finds files beside the including file, in $ORRERY_DATA, in the installed
 * data directory, and in config/ beside the program (if it is not installed), in this order.
 */
enum status schema_load(const char *path, const char *const *overrides, size_t override_count,
                        struct config **config, struct error *error);

#endif
