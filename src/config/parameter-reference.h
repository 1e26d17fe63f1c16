/* Writes the table of all config keys in words: for config/defaults.cfg, the man page orrery.cfg(5)
 * and `orrery info`. */
#ifndef ORRERY_CONFIG_PARAMETER_REFERENCE_H
#define ORRERY_CONFIG_PARAMETER_REFERENCE_H

#include <stdbool.h>

#include "base/text.h"
#include "config/parameter.h"

enum { REFERENCE_WIDTH = 80 }; /* columns, at which text is wrapped */

/* Appends `indent`, `name` and, from column `column` on, `help`, wrapped at REFERENCE_WIDTH. */
void reference_item(const char *indent, const char *name, size_t column, const char *help,
                    struct text *text);

/* Appends a variant of a group, such as the initial condition "plummer": its help, its own keys,
 * and the keys that all variants of the group share. */
void reference_variant(const struct group *group, const struct variant *variant, struct text *text);

/* Appends a group of keys: its help, the names of its variants, and the keys that all its variants
 * share. */
void reference_group(const struct group *group, struct text *text);

/* Appends every row of the table whose key or path ("step", "time.step") is `name`, each with its
 * path. `more` says that text was appended before, which an empty line then separates from the
 * rows. Returns whether there is any text now. */
bool reference_key(const struct schema *schema, const char *name, bool more, struct text *text);

/* Appends every choice called `name` that a row of the table explains, such as "tiled" of
 * compute.kernel; `more` and the result mean what they mean for reference_key(). */
bool reference_choice(const struct schema *schema, const char *name, bool more, struct text *text);

/* Appends the text of config/defaults.cfg: a config file with every key of the schema in a
 * comment. */
void reference_defaults(const struct schema *schema, struct text *text);

/* Appends the man page orrery.cfg(5), in roff. */
void reference_manual(const struct schema *schema, struct text *text);

#endif
