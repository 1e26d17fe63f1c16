/*
 * The schema of an experiment: every group of the config file, assembled from the tables of all
 * floors below, and the reader that goes with it.
 */
#ifndef ORRERY_RUN_SCHEMA_H
#define ORRERY_RUN_SCHEMA_H

#include <stddef.h>

#include "base/status.h"
#include "config/configuration.h"
#include "config/parameter.h"

enum { SCHEMA_GROUPS = 17 };

/* compute.kernel: "auto", those of CPUs, those that GPUs alone have; NULL-terminated. A backend
 * refuses the names that it has no kernel for with STATUS_CONFIG. */
extern const char *const schema_kernel_names[];

/* The lengths of the tables are not constants, so the caller lends the room for the groups. */
struct schema_room {
    struct group groups[SCHEMA_GROUPS];
    struct schema schema;
};

/* Fills the room and returns its schema. Rows are static. */
const struct schema *schema_experiment(struct schema_room *room);

/*
 * config_load() of an experiment. @include finds presets beside the including file, in
 * $ORRERY_DATA, in the installed data directory, and in config/ beside the program (a build that
 * is not installed), in this order.
 */
enum status schema_load(const char *path, const char *const *overrides, size_t override_count,
                        struct config **config, struct error *error);

#endif
