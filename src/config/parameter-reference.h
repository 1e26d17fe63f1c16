/* The parameter table in words: defaults.cfg, orrery.cfg(5), `orrery info`. */
#ifndef ORRERY_CONFIG_PARAMETER_REFERENCE_H
#define ORRERY_CONFIG_PARAMETER_REFERENCE_H

#include <stdbool.h>

#include "base/text.h"
#include "config/parameter.h"

enum { REFERENCE_WIDTH = 80 }; /* columns */

/* Appends `indent`, `name` and, from column `column` on, `help`, wrapped at REFERENCE_WIDTH. */
void reference_item(const char *indent, const char *name, size_t column, const char *help,
                    struct text *text);

/* Appends a variant of a group: its help, its own keys and those that its group shares. */
void reference_variant(const struct group *group, const struct variant *variant, struct text *text);

/* Appends a group: its help, the names of its variants, and the keys that these share. */
void reference_group(const struct group *group, struct text *text);

/*
 * Appends every row whose key or path ("step", "time.step") is `name`, each after its path. `more`
 * says that there is text before, from which an empty line parts the rows. Returns whether there is
 * any text now.
 */
bool reference_key(const struct schema *schema, const char *name, bool more, struct text *text);

/*
 * Appends every choice called `name` that a row explains ("tiled" of compute.kernel); `more` and
 * the result are those of reference_key().
 */
bool reference_choice(const struct schema *schema, const char *name, bool more, struct text *text);

/* Appends config/defaults.cfg: a config file with every key of the schema in a comment. */
void reference_defaults(const struct schema *schema, struct text *text);

/* Appends the man page orrery.cfg(5). */
void reference_manual(const struct schema *schema, struct text *text);

#endif
