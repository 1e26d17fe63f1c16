/* The bodies of a species, for diagnostics that measure only a part of the bodies. */
#ifndef ORRERY_DIAGNOSTICS_SPECIES_H
#define ORRERY_DIAGNOSTICS_SPECIES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/configuration.h"
#include "model/bodies.h"

/* The table row that declares the config key `species`, for a struct with a member `species`, a
 * string; NULL there means all bodies. */
/* clang-format off */
#define SPECIES_PARAMETER(struct_)                                                                 \
    { BIND(STRING, struct_, species), OPTIONAL,                                                    \
      .help = "Which bodies are measured: those of this species, and of those whose names begin "  \
              "with it and a hyphen, as the parts of a galaxy of an encounter. Unset: all." }
/* clang-format on */

/* Tells whether the body at index i of the arrays belongs to the species; if `species` is NULL,
 * every body does. */
bool species_has(const char *species, const struct bodies *bodies, size_t i);

/* Refuses a species to which no body belongs. STATUS_CONFIG. */
enum status species_check(const struct section *section, const char *species,
                          const struct bodies *bodies, struct error *error);

#endif
